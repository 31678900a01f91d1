//! The kinds of device.

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

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
