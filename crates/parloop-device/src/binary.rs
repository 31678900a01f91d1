//! Compiled code as bytes: what a compiler makes and a device loads.

/// The bytes of a compiled module: a shared library, an OpenCL program binary, a cubin or a HIP code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleBinary {
    /// The bytes, as the compiler made them.
    pub bytes: Vec<u8>,
}
