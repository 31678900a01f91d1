//! What a device is, as data: its name, its properties, its memory at one moment.

use std::fmt;
use std::str::FromStr;

use crate::error::{DeviceError, Result};
use crate::kind::DeviceKind;

/// The most threads a CPU device may have.
pub const MAX_THREADS: usize = 1024;

/// The name of a device, parsed.
///
/// ```
/// use parloop_device::DeviceId;
/// let id: DeviceId = "opencl:0.1".parse()?;
/// assert_eq!(id, DeviceId::OpenCl { platform: 0, device: 1 });
/// assert_eq!("cuda".parse::<DeviceId>()?.to_string(), "cuda:0");
/// assert!("gpu".parse::<DeviceId>().is_err());
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DeviceId {
    /// CPU threads; `None` is as many as the machine runs at once.
    Cpu {
        threads: Option<usize>,
    },
    OpenCl {
        platform: usize,
        device: usize,
    },
    Cuda {
        index: usize,
    },
    Hip {
        index: usize,
    },
}

impl DeviceId {
    /// The kind of device that the name asks for.
    pub const fn kind(self) -> DeviceKind {
        match self {
            DeviceId::Cpu { .. } => DeviceKind::Cpu,
            DeviceId::OpenCl { .. } => DeviceKind::OpenCl,
            DeviceId::Cuda { .. } => DeviceKind::Cuda,
            DeviceId::Hip { .. } => DeviceKind::Hip,
        }
    }
}

impl FromStr for DeviceId {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<DeviceId> {
        let unknown = || DeviceError::UnknownName { asked: name.to_owned() };
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse::<usize>().ok()).flatten().ok_or_else(unknown)
        };
        let (kind, rest) = match name.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (name, None),
        };
        match (kind, rest) {
            ("cpu", None) => Ok(DeviceId::Cpu { threads: None }),
            ("cpu", Some(rest)) => match number(rest)? {
                threads @ 1..=MAX_THREADS => Ok(DeviceId::Cpu { threads: Some(threads) }),
                _ => Err(unknown()),
            },
            ("opencl", None) => Ok(DeviceId::OpenCl { platform: 0, device: 0 }),
            ("opencl", Some(rest)) => {
                let (platform, device) = rest.split_once('.').unwrap_or((rest, "0"));
                Ok(DeviceId::OpenCl { platform: number(platform)?, device: number(device)? })
            }
            ("cuda", rest) => Ok(DeviceId::Cuda { index: rest.map_or(Ok(0), number)? }),
            ("hip", rest) => Ok(DeviceId::Hip { index: rest.map_or(Ok(0), number)? }),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceId::Cpu { threads: None } => f.write_str("cpu"),
            DeviceId::Cpu { threads: Some(threads) } => write!(f, "cpu:{threads}"),
            DeviceId::OpenCl { platform, device } => write!(f, "opencl:{platform}.{device}"),
            DeviceId::Cuda { index } => write!(f, "cuda:{index}"),
            DeviceId::Hip { index } => write!(f, "hip:{index}"),
        }
    }
}

/// Where a device sits on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PciAddress {
    pub domain: u32,
    pub bus: u32,
    pub device: u32,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.0", self.domain, self.bus, self.device)
    }
}

/// The properties and limits of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    /// The name that opens it.
    pub id: DeviceId,
    /// The maker's name for it.
    pub name: String,
    /// What code is compiled for: `sm_90`, `gfx90a`, `x86_64`, …
    pub arch: String,
    /// The driver and its version.
    pub driver: String,
    /// Cores, compute units or multiprocessors.
    pub compute_units: u32,
    /// Work items that run in step: warp or wavefront, or doubles in a CPU vector.
    pub simd_width: u32,
    /// All of its memory, in bytes.
    pub memory_total: u64,
    /// The largest single allocation, in bytes.
    pub max_allocation: u64,
    /// The most work items in a block.
    pub max_block: u32,
    /// The most work items in a block along each axis.
    pub max_block_dims: [u32; 3],
    /// The most blocks along each axis.
    pub max_grid: [u32; 3],
    /// Memory shared by a block, in bytes.
    pub shared_memory: u64,
    /// Addresses of allocations are multiples of this many bytes on OpenCL, where a sub-buffer must begin at one; 1 elsewhere.
    pub memory_alignment: usize,
    /// The 16 bytes that identify the device forever.
    pub uuid: Option<[u8; 16]>,
    /// Its place on the PCI bus.
    pub pci: Option<PciAddress>,
}

/// Memory of a device at one moment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MemoryInfo {
    pub free: u64,
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_read_back_as_they_print() {
        for name in ["cpu", "cpu:1", "cpu:64", "opencl:0.0", "opencl:3.12", "cuda:0", "cuda:7", "hip:1"] {
            assert_eq!(name.parse::<DeviceId>().unwrap().to_string(), name);
        }
        assert_eq!("opencl".parse::<DeviceId>().unwrap().to_string(), "opencl:0.0");
        assert_eq!("opencl:2".parse::<DeviceId>().unwrap().to_string(), "opencl:2.0");
        assert_eq!("hip".parse::<DeviceId>().unwrap().to_string(), "hip:0");
    }

    #[test]
    fn names_that_are_no_device_are_refused() {
        for name in
            ["", "gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:+2", "cpu:99999", "opencl:a", "opencl:1.", "cuda:x", "cuda:1.2", "CPU", "hip: 1"]
        {
            let error = name.parse::<DeviceId>().unwrap_err();
            assert_eq!(error, DeviceError::UnknownName { asked: name.into() });
        }
    }
}
