//! Whether the parameters of a kernel in C take the arguments of a loop.

use parloop_device::DType;
use parloop_kernel::{ParamType, Pointee, Signature};

use crate::Result;
use crate::declare::arg::{Arg, ArgData};
use crate::error::MeshError;

/// Compares each parameter with its argument: indirection, type, and what may be written.
pub fn check(signature: &Signature, args: &[Arg]) -> Result<()> {
    let kernel = &signature.name;
    if signature.params.len() != args.len() {
        return Err(MeshError::Count { kernel: kernel.clone(), takes: signature.params.len(), given: args.len() });
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
        let ParamType::Pointer { to, constant } = &param.ty else {
            return wrong("declare a pointer");
        };
        let declared = match to {
            Pointee::Scalar(dtype) => *dtype,
            Pointee::Char => DType::I8,
            Pointee::Pointers(dtype) => match arg.map {
                Some(_) => *dtype,
                None => return wrong("only an argument through a map has pointers to rows; declare one pointer"),
            },
            Pointee::Rows(dtype, lengths) => match arg.map {
                Some(_) if numbers(lengths) == arg.axes().last().map(|&length| length as u64) => *dtype,
                Some(_) => return wrong("the length of a row must be the number of values of an element"),
                None => return wrong("only an argument through a map has rows; declare one pointer"),
            },
            Pointee::Void | Pointee::Class(_) | Pointee::Other(_) => return wrong("declare a pointer to numbers of the type of the data"),
        };
        if declared != arg.dtype() {
            return wrong("both must have the same type of numbers");
        }
        if *constant && arg.access.writes() {
            return wrong("leave out `const`, or pass it with READ");
        }
    }
    Ok(())
}

/// How many numbers rows of these lengths hold.
fn numbers(lengths: &[u64]) -> Option<u64> {
    lengths.iter().try_fold(1u64, |numbers, &length| numbers.checked_mul(length))
}

/// What an argument is, in a few words.
pub fn described(arg: &Arg) -> String {
    let kind = match &arg.data {
        ArgData::Dat(_) => "Dat".to_owned(),
        ArgData::Component(_, component) => format!("component {component} of Dat"),
        ArgData::Global(_) => "Global".to_owned(),
        ArgData::Mat(..) => "Mat".to_owned(),
    };
    let map = arg.map.as_ref().map(|map| format!(" through map `{}`", map.name())).unwrap_or_default();
    format!("{kind} `{}` of {} with {}{map}", arg.name(), arg.dtype(), arg.access)
}
