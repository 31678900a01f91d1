//! The text put in front of every portable kernel, for each target: qualifiers, loops, integer types and atomics.

use parloop_device::DeviceKind;

/// Atomics are a page of text that a compiler reads for some milliseconds, so they are there only for sources that use them.
pub(crate) fn prelude(target: DeviceKind, with_atomics: bool) -> String {
    let (parts, atomics): (&[&str], &str) = match target {
        DeviceKind::Cpu => (&[include_str!("cpu.h")], ""),
        DeviceKind::OpenCl => (&[include_str!("opencl.h")], include_str!("opencl_atomics.h")),
        DeviceKind::Cuda => (&[include_str!("cuda.h"), include_str!("device.h")], include_str!("device_atomics.h")),
        DeviceKind::Hip => (&[include_str!("hip.h"), include_str!("device.h")], include_str!("device_atomics.h")),
    };
    let mut text = parts.concat();
    text.push_str(include_str!("common.h"));
    if with_atomics {
        text.push_str(atomics);
    }
    text
}
