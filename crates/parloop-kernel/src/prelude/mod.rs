//! The text put in front of every portable kernel, for each target: qualifiers, loops, integer types, atomics and checks.

mod declared_opencl;

use parloop_device::{DeviceKind, Language};

pub(crate) use declared_opencl::declarations;

/// What a source needs of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Atomics are a page of text that a compiler reads for some milliseconds, so they are there only for sources that use them.
    pub(crate) atomics: bool,
    /// Loops whose count the launch cannot know go on in steps of the grid, at a few percent of the bandwidth.
    pub(crate) strides: bool,
    /// Checks in accessors, and the record of the first that fails.
    pub(crate) checked: bool,
    /// Memory of who accessed what, for accesses that only the data orders; in checked mode on a CPU.
    pub(crate) shadow: bool,
}

/// Defined where the C library is to be declared in few lines instead of by its headers.
pub(crate) const DECLARED: &str = "PARLOOP_DECLARED";

/// The headers of the C library that are in front of every source on a CPU.
pub(crate) const CPU_HEADERS: [&str; 7] = ["math.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h", "stdio.h"];

pub(crate) fn prelude(target: DeviceKind, language: Language, needs: Needs) -> String {
    let (parts, atomics): (&[&str], &str) = match target {
        DeviceKind::Cpu => {
            let declared = concat!("#ifdef PARLOOP_DECLARED\n", include_str!("math_constants.h"), "#endif\n");
            (&[include_str!("library_cpu.h"), declared, include_str!("cpu.h")], "")
        }
        DeviceKind::OpenCl => (&[include_str!("opencl.h")], include_str!("opencl_atomics.h")),
        DeviceKind::Cuda => (&[include_str!("cuda.h"), include_str!("device.h")], include_str!("device_atomics.h")),
        DeviceKind::Hip => (&[include_str!("hip.h"), include_str!("device.h")], include_str!("device_atomics.h")),
    };
    let mut text = if needs.strides { "#define PARLOOP_STRIDE 1\n".to_owned() } else { String::new() };
    text.push_str(&parts.concat());
    text.push_str(include_str!("common.h"));
    if language == Language::Cpp && target != DeviceKind::Cpu {
        text.push_str(include_str!("std_device.h"));
    }
    if needs.atomics {
        text.push_str(atomics);
    }
    if needs.checked {
        text.push_str(match target {
            DeviceKind::Cpu => include_str!("check_cpu.h"),
            DeviceKind::OpenCl => include_str!("check_opencl.h"),
            DeviceKind::Cuda | DeviceKind::Hip => include_str!("check_device.h"),
        });
    }
    if needs.shadow {
        text.push_str(include_str!("shadow_cpu.h"));
    }
    text
}
