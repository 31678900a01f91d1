//! Adapters between generated code and a C function: they take flat pointers and pass what the C function declares. They exist where an
//! argument cannot be passed directly: pointers to rows, rows of a length, types that two languages spell differently.

use parloop_device::DType;
use parloop_ir::callable::{ArgDescriptor, ArgId, CallableError};
use parloop_ir::fold;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{AddressSpace, Layout, Preamble, Target};
use parloop_isl::Name;
use parloop_kernel::{Language, Param, ParamType, Pointee, Signature};

use crate::target::scalar_name;

/// The language of the code around a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallDialect {
    pub(super) target: Target,
    pub(super) language: Language,
}

impl CallDialect {
    /// Whether the code is compiled as C++, where `void *` does not convert implicitly.
    fn is_cpp(self) -> bool {
        self.is_gpu() || self.language == Language::Cpp
    }

    fn is_gpu(self) -> bool {
        matches!(self.target, Target::Cuda | Target::Hip)
    }
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassingMode {
    /// Unchanged.
    Same,
    /// As a pointer to the declared type.
    Cast,
    /// As pointers to that many rows, with that stride in elements.
    Pointers { rows: u64, apart: u64 },
}

/// An argument of a call, and how it is passed.
#[derive(Debug)]
pub(super) struct Passed {
    /// Its type, or the type it points to, in the target's language.
    ty: String,
    /// Whether it is a pointer, and whether it is read-only.
    pointer: Option<(AddressSpace, bool)>,
    way: PassingMode,
}

impl Passed {
    /// How an argument with that descriptor is passed to the parameter.
    pub(super) fn of(
        function: &Name,
        id: ArgId,
        param: &Param,
        descriptor: Option<&ArgDescriptor>,
        dialect: CallDialect,
    ) -> Result<Passed, CallableError> {
        let target = dialect.target;
        let call = ArgumentOf { function, id, param, target };
        let (to, constant) = match &param.ty {
            ParamType::Scalar(dtype) => return call.typed(*dtype, None, PassingMode::Same),
            ParamType::Pointer { to, constant } => (to, *constant),
        };
        let (space, layout) = match descriptor {
            Some(ArgDescriptor::Array { space, layout }) => (space.unwrap_or(AddressSpace::Private), Some(layout)),
            _ => (AddressSpace::Private, None),
        };
        let pointer = Some((space, constant));
        match to {
            Pointee::Scalar(dtype) => call.typed(*dtype, pointer, flat(*dtype, space, dialect)),
            Pointee::Char if space == AddressSpace::Private || target != Target::OpenCl => {
                call.typed(DType::I8, pointer, PassingMode::Cast)
            }
            Pointee::Char => call.typed(DType::I8, pointer, PassingMode::Same),
            Pointee::Pointers(dtype) => {
                call.needs_private(space)?;
                let Rows { count, apart, .. } = call.rows(layout)?;
                call.typed(*dtype, pointer, PassingMode::Pointers { rows: count, apart })
            }
            Pointee::Rows(dtype, lengths) => {
                call.needs_private(space)?;
                let expected: u64 = lengths.iter().product();
                let Rows { count, apart, length } = call.rows(layout)?;
                if length != expected || (count > 1 && apart != length) {
                    return Err(call.misfit(&format!("takes rows of length {expected}"), layout));
                }
                call.typed(*dtype, pointer, PassingMode::Cast)
            }
            Pointee::Void => Ok(Passed { ty: "void".into(), pointer, way: PassingMode::Same }),
            Pointee::Class(name) => Ok(Passed { ty: name.clone(), pointer: None, way: PassingMode::Same }),
            Pointee::Other(name) if is_number(name) => {
                Err(call.misfit("is not `T *`, `T **` or a pointer to rows of known length", layout))
            }
            Pointee::Struct(name) | Pointee::Other(name) => Ok(Passed { ty: name.clone(), pointer, way: PassingMode::Same }),
        }
    }

    /// Whether the argument must go through an adapter.
    fn is_changed(&self) -> bool {
        self.way != PassingMode::Same
    }
}

/// How a flat array is passed: types that are the same in C may differ in a target's language.
fn flat(dtype: DType, space: AddressSpace, dialect: CallDialect) -> PassingMode {
    // `long` and `long long`, complex numbers of C and of C++.
    let has_two = |dtype: DType| matches!(dtype, DType::I64 | DType::U64) || dtype.is_complex();
    let differs = match dialect.target {
        _ if dialect.language == Language::Cpp && has_two(dtype) => true,
        Target::C | Target::Ispc => false,
        Target::OpenCl => dtype == DType::Bool && space == AddressSpace::Private,
        // `char` is a third type there.
        Target::Cuda | Target::Hip => dtype == DType::I8,
    };
    if differs { PassingMode::Cast } else { PassingMode::Same }
}

/// Whether a C type is a type of numbers.
fn is_number(name: &str) -> bool {
    const WORDS: [&str; 9] = ["double", "float", "int", "char", "long", "short", "unsigned", "bool", "_Bool"];
    name.split_whitespace().any(|word| WORDS.contains(&word) || DType::ALL.iter().any(|dtype| dtype.c_name() == word))
}

struct Rows {
    count: u64,
    /// The stride between rows, in elements.
    apart: u64,
    length: u64,
}

/// An argument of a call, for error messages.
struct ArgumentOf<'a> {
    function: &'a Name,
    id: ArgId,
    param: &'a Param,
    target: Target,
}

impl ArgumentOf<'_> {
    fn typed(&self, dtype: DType, pointer: Option<(AddressSpace, bool)>, way: PassingMode) -> Result<Passed, CallableError> {
        if dtype.is_complex() && !matches!(self.target, Target::C | Target::Ispc) {
            let (function, target) = (self.function.clone(), self.target);
            return Err(CallableError::NoVersion { function, types: format!("{dtype}, which only C has,"), target });
        }
        Ok(Passed { ty: scalar_name(self.target, dtype).to_owned(), pointer, way })
    }

    fn needs_private(&self, space: AddressSpace) -> Result<(), CallableError> {
        if self.target != Target::OpenCl || space == AddressSpace::Private {
            return Ok(());
        }
        Err(self.misfit_of("takes private memory on OpenCL", &format!("an array in {space} memory")))
    }

    /// The rows of an array along its first axis; a number is a row by itself.
    fn rows(&self, layout: Option<&Layout>) -> Result<Rows, CallableError> {
        let Some(layout) = layout else { return Ok(Rows { count: 1, apart: 1, length: 1 }) };
        let wants = "takes contiguous rows of known length";
        let found = static_rows(&self.param.name.as_str().into(), layout);
        found.ok_or_else(|| self.misfit(wants, Some(layout)))
    }

    fn misfit(&self, wants: &str, layout: Option<&Layout>) -> CallableError {
        let lengths = layout.and_then(Layout::lengths);
        let lengths = lengths.map(|lengths| lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let here = lengths.map_or("an array".into(), |lengths| format!("an array of shape ({lengths})"));
        self.misfit_of(wants, &here)
    }

    fn misfit_of(&self, wants: &str, here: &str) -> CallableError {
        let there = self.param.declaration().into();
        CallableError::Rows { function: self.function.clone(), id: self.id.clone(), there, wants: wants.into(), here: here.into() }
    }
}

fn static_rows(name: &Name, layout: &Layout) -> Option<Rows> {
    let lengths = layout.static_lengths()?;
    let axes = layout.axes(name).ok()?;
    let stride = |axis: &Axis| match axis {
        Axis::Stride(stride) => u64::try_from(fold::as_int(stride)?).ok(),
        _ => None,
    };
    let strides: Vec<u64> = axes.iter().map(stride).collect::<Option<_>>()?;
    let (Some((&count, inner)), Some((&apart, inner_strides))) = (lengths.split_first(), strides.split_first()) else {
        return Some(Rows { count: 1, apart: 1, length: 1 });
    };
    let mut length = 1u64;
    for (&axis, &stride) in inner.iter().zip(inner_strides).rev() {
        if axis > 1 && stride != length {
            return None;
        }
        length = length.checked_mul(axis)?;
    }
    Some(Rows { count, apart, length })
}

/// A function that forwards arguments.
#[derive(Debug)]
pub(super) struct Adapter<'a> {
    /// The function that it calls.
    function: &'a Name,
    signature: &'a Signature,
    passed: Vec<Passed>,
    dialect: CallDialect,
}

impl<'a> Adapter<'a> {
    /// The adapter of a call; `None` if the function can be called directly.
    pub(super) fn of(function: &'a Name, signature: &'a Signature, passed: Vec<Passed>, dialect: CallDialect) -> Option<Adapter<'a>> {
        passed.iter().any(Passed::is_changed).then_some(Adapter { function, signature, passed, dialect })
    }

    /// Its name, which encodes how arguments are passed.
    pub(super) fn name(&self) -> Name {
        let mut name = format!("pl_call_{}", self.signature.name);
        for passed in &self.passed {
            match passed.way {
                PassingMode::Same => {}
                PassingMode::Cast => name.push_str("_c"),
                PassingMode::Pointers { rows, apart } => name.push_str(&format!("_{rows}x{apart}")),
            }
            if let Some((AddressSpace::Global | AddressSpace::Local | AddressSpace::Constant, _)) = passed.pointer
                && self.dialect.target == Target::OpenCl
            {
                name.push_str("_g");
            }
        }
        name.into()
    }

    pub(super) fn preambles(&self) -> Vec<Preamble> {
        // SAFETY: the adapter calls the function by its signature; both texts define names of their own.
        let (own, address) =
            unsafe { (Preamble::new(format!("71_{}", self.name()), self.text()), Preamble::new("70_pl_address", self.address())) };
        if self.dialect.is_cpp() { vec![address, own] } else { vec![own] }
    }

    /// In C++ `void *` does not convert implicitly.
    fn address(&self) -> String {
        let inlined = if self.dialect.is_gpu() { "__device__ __forceinline__" } else { "inline __attribute__((always_inline))" };
        format!("struct pl_address {{\n  void const *at;\n  template <class T> {inlined} operator T *() const {{ return (T *)at; }}\n}};\n")
    }

    fn text(&self) -> String {
        let head = if self.dialect.is_gpu() { "static __device__ __forceinline__" } else { "static inline __attribute__((always_inline))" };
        let params: Vec<String> = self.passed.iter().enumerate().map(|(place, passed)| self.param(place, passed)).collect();
        let (mut rows, mut args) = (String::new(), Vec::new());
        for (place, passed) in self.passed.iter().enumerate() {
            args.push(match passed.way {
                PassingMode::Same => format!("a{place}"),
                PassingMode::Cast => self.any(&format!("a{place}")),
                PassingMode::Pointers { rows: count, apart } => {
                    let each: Vec<String> = (0..count.max(1)).map(|row| format!("a{place} + {}", row * apart)).collect();
                    rows.push_str(&format!("  {}r{place}[{}] = {{{}}};\n", self.pointer(passed), count.max(1), each.join(", ")));
                    self.any(&format!("r{place}"))
                }
            });
        }
        let (returned, returns) = match &self.signature.returns {
            Some(ParamType::Scalar(dtype)) => (scalar_name(self.dialect.target, *dtype), "return "),
            _ => ("void", ""),
        };
        let call = format!("{returns}{}({});", self.function, args.join(", "));
        format!("{head} {returned} {}({})\n{{\n{rows}  {call}\n}}\n", self.name(), params.join(", "))
    }

    fn param(&self, place: usize, passed: &Passed) -> String {
        match passed.pointer {
            None => format!("{} a{place}", passed.ty),
            Some(_) => format!("{}a{place}", self.pointer(passed)),
        }
    }

    fn pointer(&self, passed: &Passed) -> String {
        let (space, constant) = passed.pointer.unwrap_or((AddressSpace::Private, false));
        let space = match space {
            _ if self.dialect.target != Target::OpenCl => "",
            AddressSpace::Private => "",
            AddressSpace::Local => "__local ",
            AddressSpace::Global => "__global ",
            AddressSpace::Constant => "__constant ",
        };
        let constant = if constant { " const" } else { "" };
        format!("{space}{}{constant} *", passed.ty)
    }

    /// An address that converts to any pointer type.
    fn any(&self, address: &str) -> String {
        if self.dialect.is_cpp() { format!("pl_address{{{address}}}") } else { format!("(void *){address}") }
    }
}
