//! The kinds of device, and the languages of their kernels.

use std::fmt;

/// The four kinds of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DeviceKind {
    Cpu,
    OpenCl,
    Cuda,
    Hip,
}

impl DeviceKind {
    /// Every kind, in the order in which devices are listed.
    pub const ALL: [DeviceKind; 4] = [DeviceKind::Cpu, DeviceKind::OpenCl, DeviceKind::Cuda, DeviceKind::Hip];

    /// The name, as it begins a device's name.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::OpenCl => "opencl",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Hip => "hip",
        }
    }
}

/// A language in which kernels are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// C, which every kind of device takes.
    #[default]
    C,
    /// C++, on cpu, cuda and hip.
    Cpp,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::C => "C",
            Language::Cpp => "C++",
        })
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
