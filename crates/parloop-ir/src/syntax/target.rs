//! The languages of generated code.

use std::fmt;

/// The target of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Target {
    C,
    OpenCl,
    Cuda,
    Hip,
    Ispc,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::C => "c",
            Target::OpenCl => "opencl",
            Target::Cuda => "cuda",
            Target::Hip => "hip",
            Target::Ispc => "ispc",
        })
    }
}
