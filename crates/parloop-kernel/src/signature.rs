//! Signatures: what a kernel takes and returns, as its C source says.

use std::fmt;

use parloop_device::DType;

use crate::count::Count;

/// A function of a program, as its source declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Its name in the source.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// What it returns, which only a CPU gives back; `None` is `void`.
    pub returns: Option<ParamType>,
    /// Whether it is marked `GPUKERN`; the others are functions, which only a CPU can call from outside.
    pub is_kernel: bool,
    /// Whether only a description makes it callable from outside: it is static, `GPUFUN` or part of an API.
    pub(crate) needs_description: bool,
    /// Whether it receives the record of failed checks behind its parameters.
    pub(crate) is_recorded: bool,
    /// The counts of its `VECTORIZE_OVER` loops.
    pub(crate) loops: Vec<Count>,
    /// Whether iteration `i` of each of its loops falls to the same part of the work when CPU threads share it out, as it falls to
    /// the same work item on a GPU.
    pub(crate) loops_align: bool,
    /// The line of its definition.
    pub line: usize,
}

impl Signature {
    /// The position of the parameter with that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| param.name == name)
    }

    /// The same under another name.
    pub fn renamed(&self, name: impl Into<String>) -> Signature {
        Signature { name: name.into(), ..self.clone() }
    }

    /// Whether a caller does the same for both. Kernels may be called with the names of parameters.
    pub(crate) fn is_called_like(&self, other: &Signature) -> bool {
        let is_alike = |(own, other): (&Param, &Param)| own.ty == other.ty && (own.name == other.name || !self.is_kernel);
        let is_of_kind = (self.is_kernel, &self.returns, &self.loops) == (other.is_kernel, &other.returns, &other.loops);
        let are_alike = self.params.len() == other.params.len() && self.params.iter().zip(&other.params).all(is_alike);
        is_of_kind && self.loops_align == other.loops_align && are_alike
    }

    /// The parameters as they are declared, in parentheses.
    pub fn params_text(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::declaration).collect();
        format!("({})", params.join(", "))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.returns {
            Some(returns) => write!(f, "{returns} {}{}", self.name, self.params_text()),
            None => write!(f, "void {}{}", self.name, self.params_text()),
        }
    }
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: ParamType,
}

impl Param {
    /// The parameter as it is declared.
    ///
    /// ```
    /// use parloop_kernel::{Param, ParamType, Pointee};
    /// let ty = ParamType::Pointer { to: Pointee::Rows(parloop_device::DType::F64, vec![2]), constant: true };
    /// assert_eq!(Param { name: "x".into(), ty }.declaration(), "const double (*x)[2]");
    /// ```
    pub fn declaration(&self) -> String {
        match &self.ty {
            ParamType::Pointer { to: Pointee::Rows(dtype, lengths), constant } => {
                let constant = if *constant { "const " } else { "" };
                format!("{constant}{} (*{}){}", dtype.c_name(), self.name, brackets(lengths))
            }
            ty => format!("{ty} {}", self.name),
        }
    }
}

/// The type of a parameter or of a returned value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A value.
    Scalar(DType),
    /// An address.
    Pointer {
        /// What is there.
        to: Pointee,
        /// Whether the function promises not to write there.
        constant: bool,
    },
}

/// What a pointer points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// Scalars of one type.
    Scalar(DType),
    /// `char`: text, or bytes.
    Char,
    /// `void`: anything.
    Void,
    /// Pointers to scalars of one type: the parameter is a `double **`.
    Pointers(DType),
    /// Rows of scalars of one type, with the lengths of the axes of a row: the parameter is a `double (*)[2]`.
    Rows(DType, Vec<u64>),
    /// An object of this class, opaque to C: the type of the parameter is a pointer by that name.
    Class(String),
    /// A struct or union of the source, by its C name: any memory, any object and any array is accepted.
    Struct(String),
    /// Something only the compiler knows, by its C name: any memory and any object is accepted. The name of pointers ends in their stars.
    Other(String),
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamType::Scalar(dtype) => f.write_str(dtype.c_name()),
            ParamType::Pointer { to, constant } => {
                let constant = if *constant { "const " } else { "" };
                let (name, pointer) = match to {
                    Pointee::Class(name) => return write!(f, "{constant}{name}"),
                    Pointee::Scalar(dtype) => (dtype.c_name(), "*"),
                    Pointee::Char => ("char", "*"),
                    Pointee::Void => ("void", "*"),
                    Pointee::Pointers(dtype) => (dtype.c_name(), "**"),
                    Pointee::Rows(dtype, lengths) => return write!(f, "{constant}{} (*){}", dtype.c_name(), brackets(lengths)),
                    Pointee::Other(name) if name.ends_with('*') => return write!(f, "{constant}{name}*"),
                    Pointee::Struct(name) | Pointee::Other(name) => (name.as_str(), "*"),
                };
                write!(f, "{constant}{name} {pointer}")
            }
        }
    }
}

fn brackets(lengths: &[u64]) -> String {
    lengths.iter().map(|length| format!("[{length}]")).collect()
}

impl ParamType {
    /// The class whose object it is.
    pub fn class(&self) -> Option<&str> {
        match self {
            ParamType::Pointer { to: Pointee::Class(name), .. } => Some(name),
            _ => None,
        }
    }

    /// Whether host data given for it must be copied back after a launch.
    pub fn is_written(&self) -> bool {
        matches!(self, ParamType::Pointer { constant: false, .. })
    }
}
