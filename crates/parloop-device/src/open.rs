//! Opens a device by name. Only this file knows all backends.

use std::collections::BTreeMap;

use crate::device::Device;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;
use crate::identity::DeviceId;
use crate::kind::DeviceKind;
use crate::{cpu, cuda, hip, opencl};

impl Device {
    /// Every device that can be reached, the CPU first.
    pub fn list() -> Vec<Device> {
        Device::probe().into_iter().filter_map(|(_, found)| found.ok()).flatten().collect()
    }

    /// For each kind, its devices or the reason why there are none.
    pub fn probe() -> Vec<(DeviceKind, Result<Vec<Device>>)> {
        DeviceKind::ALL.into_iter().map(|kind| (kind, Device::list_kind(kind))).collect()
    }

    /// The devices of one kind; no other driver is asked.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`].
    pub fn list_kind(kind: DeviceKind) -> Result<Vec<Device>> {
        let ids = match kind {
            DeviceKind::Cpu => vec![DeviceId::Cpu { threads: None }],
            DeviceKind::OpenCl => opencl::list()?,
            DeviceKind::Cuda => cuda::list()?,
            DeviceKind::Hip => hip::list()?,
        };
        ids.into_iter().map(Device::open_id).collect()
    }

    /// Opens the device of that name, for example `cpu`, `cpu:4`, `opencl:0.1`, `cuda:0`.
    ///
    /// # Errors
    /// [`DeviceError::UnknownName`], [`DeviceError::NotFound`], [`DeviceError::DriverMissing`].
    pub fn open(name: &str) -> Result<Device> {
        Device::open_id(name.parse()?)
    }

    /// The GPU whose memory is at an address, as its driver knows it.
    ///
    /// # Errors
    /// [`DeviceError::UnknownPointer`] for an address that is not memory of this kind of device, [`DeviceError::DriverMissing`].
    pub fn of_pointer(kind: DeviceKind, address: u64) -> Result<Device> {
        match kind {
            DeviceKind::Cuda => Device::open_id(cuda::device_of(address)?),
            DeviceKind::Hip => Device::open_id(hip::device_of(address)?),
            DeviceKind::Cpu | DeviceKind::OpenCl => Err(DeviceError::UnknownPointer { kind, address }),
        }
    }

    /// Opens a device by its parsed name; the same name gives the same device.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open_id(id: DeviceId) -> Result<Device> {
        static OPEN: Lock<BTreeMap<DeviceId, Device>> = Lock::new(BTreeMap::new());
        let mut open = OPEN.lock_or(BTreeMap::new);
        if let Some(device) = open.get(&id) {
            return Ok(device.clone());
        }
        let raw = match id {
            DeviceId::Cpu { threads } => cpu::open(threads)?,
            DeviceId::OpenCl { platform, device } => opencl::open(platform, device)?,
            DeviceId::Cuda { index } => cuda::open(index)?,
            DeviceId::Hip { index } => hip::open(index)?,
        };
        let device = Device::from_raw(raw);
        open.insert(id, device.clone());
        Ok(device)
    }
}
