//! What the cuda and hip backends share: both drivers have the same model, and their functions match one to one.
//!
//! A backend supplies a [`driver::Driver`]: the names of its functions, the numbers of its device attributes and the few things
//! that differ. Everything else is written once, over that trait.

mod binary;
pub(crate) mod calls;
pub(crate) mod compiler;
mod context;
mod device;
pub(crate) mod driver;
mod event;
mod fft;
pub(crate) mod fft_library;
mod graph;
mod memory;
mod module;
mod stream;

pub(crate) use device::{device_of, list, open};
