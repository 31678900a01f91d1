//! Whether the parameters of a kernel in C take the arguments of a loop.

use parloop_device::DType;
use parloop_kernel::{ParamType, Pointee, Signature};

use crate::Result;
use crate::access::Access;
use crate::declare::arg::{Arg, ArgData, Part};
use crate::error::MeshError;

/// Compares each parameter with its argument: indirection, type, and what may be written.
pub fn check(signature: &Signature, args: &[Arg], gets_layer: bool) -> Result<()> {
    let (kernel, given) = (&signature.name, args.len() + usize::from(gets_layer));
    if signature.params.len() != given {
        return Err(MeshError::Count { kernel: kernel.clone(), takes: signature.params.len(), given });
    }
    if let Some(last) = signature.params.last().filter(|last| gets_layer && last.ty != ParamType::Scalar(DType::I32)) {
        let (name, declared, given) = (last.name.clone(), last.declaration(), "the layer number".to_owned());
        return Err(MeshError::Parameter { kernel: kernel.clone(), index: args.len(), name, declared, given, advice: "declare an int" });
    }
    for (index, (param, arg)) in signature.params.iter().zip(args).enumerate() {
        let wrong = |advice: &'static str| {
            Err(MeshError::Parameter {
                kernel: kernel.clone(),
                index,
                name: param.name.clone(),
                declared: param.declaration(),
                given: described(arg),
                advice,
            })
        };
        let (to, constant) = match &param.ty {
            ParamType::Pointer { to, constant } => (to, constant),
            ParamType::Scalar(dtype) => match by_value(arg) {
                Err(advice) => return wrong(advice),
                Ok(()) if *dtype != arg.dtype() => return wrong("both must have the same element type"),
                Ok(()) => continue,
            },
        };
        let declared = match to {
            Pointee::Scalar(dtype) => *dtype,
            Pointee::Char => DType::I8,
            Pointee::Pointers(dtype) => match has_rows(arg) {
                true => *dtype,
                false if arg.only().is_none() => return wrong("its parts have rows of different lengths; declare one pointer"),
                false => return wrong("only an argument through a map has pointers to rows; declare one pointer"),
            },
            Pointee::Rows(dtype, lengths) => match has_rows(arg) {
                true if numbers(lengths) == arg.axes().last().map(|&length| length as u64) => *dtype,
                true => return wrong("the row length must be the number of values per element"),
                false if arg.only().is_none() => return wrong("its parts have rows of different lengths; declare one pointer"),
                false => return wrong("only an argument through a map has rows; declare one pointer"),
            },
            Pointee::Void | Pointee::Class(_) | Pointee::Struct(_) | Pointee::Other(_) => {
                return wrong("declare a pointer to the element type of the data");
            }
        };
        if declared != arg.dtype() {
            return wrong("both must have the same element type");
        }
        if *constant && arg.access().writes() {
            return wrong("remove `const`, or pass it with READ");
        }
    }
    Ok(())
}

/// Whether the kernel can get the argument by value, or what to do instead.
pub fn by_value(arg: &Arg) -> Result<(), &'static str> {
    match arg.axes().iter().product::<usize>() {
        1 if arg.access() == Access::Read => Ok(()),
        1 => Err("only an argument passed with READ can be taken by value; declare a pointer"),
        _ => Err("it has several numbers per element; declare a pointer"),
    }
}

/// Whether the kernel can get a pointer to each row.
fn has_rows(arg: &Arg) -> bool {
    arg.axes().len() == 2
}

/// How many numbers rows of these lengths hold.
fn numbers(lengths: &[u64]) -> Option<u64> {
    lengths.iter().try_fold(1u64, |numbers, &length| numbers.checked_mul(length))
}

/// What an argument is, in a few words.
pub fn described(arg: &Arg) -> String {
    let parts: Vec<String> = arg.parts().iter().map(described_part).collect();
    parts.join(" and ")
}

fn described_part(part: &Part) -> String {
    let kind = match &part.data {
        ArgData::Dat(_) => "Dat".to_owned(),
        ArgData::Component(_, component) => format!("component {component} of Dat"),
        ArgData::Global(_) => "Global".to_owned(),
        ArgData::Mat(..) => "Mat".to_owned(),
    };
    let map = part.map.as_ref().map(|map| format!(" through map `{}`", map.name())).unwrap_or_default();
    format!("{kind} `{}` of {} with {}{map}", part.name(), part.dtype(), part.access)
}
