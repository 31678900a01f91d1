//! What the test files share: every device that is here.

use parloop_device::{Device, DeviceKind};
use parloop_kernel::Context;

/// Every device that is here, and CPUs with one thread and with more threads than cores.
pub fn devices() -> Vec<Device> {
    let mut devices = Device::list();
    devices.extend(["cpu:1", "cpu:5"].map(|name| Device::open(name).unwrap()));
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert!(devices.iter().any(|device| device.kind() == DeviceKind::OpenCl), "CI needs an OpenCL device (PoCL)");
    }
    devices
}

pub fn on_every_device(test: impl Fn(&Context)) {
    for device in devices() {
        println!("on {device:?}");
        test(&Context::on(device.default_stream().unwrap()));
    }
}
