//! The best way to run a loop, kept on disk beside compiled kernels, so that the next process starts with it and tries no others.

use parloop_kernel::{Cache, Context, Key};

use super::options::LoopOptions;
use super::scheme::Way;
use crate::kernel::Kernel;
use crate::shape::Shape;

/// Where the best way to run a loop is kept: under the kernel, the shape of the loop, its size by powers of two, and the device.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    key: Key,
}

/// Measurements of other code are ignored: this version is incremented when the code of a plan changes.
const WAYS: u32 = 3;

/// What decides which way is the best.
pub struct Remembered<'a> {
    pub kernel: &'a Kernel,
    pub shape: &'a Shape,
    pub options: LoopOptions,
    pub elements: usize,
    /// Whether neighbouring elements lead to places far from each other.
    pub scattered: bool,
    /// Whether the loop is over all elements of a set.
    pub whole: bool,
    pub context: &'a Context,
}

impl Kept {
    /// Where the way of such a loop is kept.
    pub fn of(what: &Remembered<'_>) -> Kept {
        let Remembered { kernel, shape, options, elements, scattered, whole, context } = what;
        let properties = context.device().properties();
        let size = elements.checked_ilog2().unwrap_or(0);
        let loop_ = format!("{shape:?} {options:?} {size} {scattered} {whole}");
        let device = format!("{} {} {}", context.device().kind(), properties.name, properties.compute_units);
        let ways = format!("the best way to run a loop, {} {WAYS}", env!("CARGO_PKG_VERSION"));
        Kept { key: Key::of(&[ways.as_bytes(), kernel.text().as_bytes(), loop_.as_bytes(), device.as_bytes()]) }
    }

    /// The way that was kept, if it is one of these.
    pub fn recall(self, ways: &[Way]) -> Option<Way> {
        let kept = Cache::user().get(self.key)?;
        ways.iter().copied().find(|way| format!("{way:?}").as_bytes() == &kept[..])
    }

    /// Keeps a way.
    pub fn keep(self, way: Way) {
        Cache::user().put(self.key, format!("{way:?}").into_bytes());
    }
}
