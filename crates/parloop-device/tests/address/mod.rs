//! A CPU, and bytes at addresses.

use parloop_device::{Device, GrowableMemory, Stream};

pub fn cpu() -> (Device, Stream) {
    let device = Device::open("cpu:1").unwrap();
    let stream = device.default_stream().unwrap();
    (device, stream)
}

pub fn address(memory: &GrowableMemory) -> usize {
    memory.host_pointer().unwrap() as usize
}

/// Bytes at an address that is known to be valid: that of live memory, or one that is held.
pub fn peek(address: usize, len: usize) -> Vec<u8> {
    // SAFETY: every caller has `len` bytes there, and nobody writes them meanwhile.
    unsafe { std::slice::from_raw_parts(address as *const u8, len) }.to_vec()
}

pub fn poke(address: usize, bytes: &[u8]) {
    // SAFETY: as in `peek`.
    unsafe { (address as *mut u8).copy_from(bytes.as_ptr(), bytes.len()) };
}
