//! Objects: their bytes, their values, what changes them, what keeps them alive, and how kernels see them.

#[path = "../capi/lay.rs"]
#[allow(dead_code)]
mod lay;
#[path = "../capi/plans.rs"]
mod plans;
#[path = "../capi/probe.rs"]
#[allow(dead_code)]
mod probe;
#[path = "../capi/samples.rs"]
#[allow(dead_code)]
mod samples;

mod buffers;
mod devices;
mod layout;
mod messages;
mod references;
mod set;
mod typed;
mod words;

use parloop_kernel::Context;
use parloop_object::{Buffer, View};

/// The CPU with one thread.
fn host() -> Context {
    Context::open("cpu:1").unwrap()
}

/// All bytes of a buffer.
fn all_bytes(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.capacity()];
    buffer.read(0, &mut bytes).unwrap();
    bytes
}

/// The words of an object.
fn words(view: &View) -> Vec<i64> {
    view.to_bytes().unwrap().chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The word that holds a double.
fn real(value: f64) -> i64 {
    value.to_bits() as i64
}

/// The word that holds up to eight bytes.
fn packed(content: &[u8]) -> i64 {
    let mut word = [0; 8];
    word[..content.len()].copy_from_slice(content);
    i64::from_le_bytes(word)
}
