//! The best strategy of a loop, kept on disk beside compiled kernels, so that the next process starts with it and tries no others.

use parloop_kernel::{Cache, Context, Key};

use super::options::LoopOptions;
use super::scheme::Strategy;
use crate::kernel::Kernel;
use crate::shape::Shape;

/// Where the best strategy of a loop is kept: under the kernel, the shape of the loop, its size by powers of two, and the device.
#[derive(Clone, Copy, Debug)]
pub struct StrategyEntry {
    key: Key,
}

/// Measurements of other code are ignored: this version is incremented when the code of a plan changes.
const STRATEGIES: u32 = 3;

/// What decides which strategy is the best.
pub struct LoopTraits<'a> {
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

impl StrategyEntry {
    /// Where the strategy of such a loop is kept.
    pub fn of(what: &LoopTraits<'_>) -> StrategyEntry {
        let LoopTraits { kernel, shape, options, elements, scattered, whole, context } = what;
        let properties = context.device().properties();
        let size = elements.checked_ilog2().unwrap_or(0);
        let loop_ = format!("{shape:?} {options:?} {size} {scattered} {whole}");
        let device = format!("{} {} {}", context.device().kind(), properties.name, properties.compute_units);
        let strategies = format!("the best strategy of a loop, {} {STRATEGIES}", env!("CARGO_PKG_VERSION"));
        StrategyEntry { key: Key::of(&[strategies.as_bytes(), kernel.text().as_bytes(), loop_.as_bytes(), device.as_bytes()]) }
    }

    /// The strategy that was kept, if it is one of these.
    pub fn recall(self, strategies: &[Strategy]) -> Option<Strategy> {
        let kept = Cache::user().get(self.key)?;
        strategies.iter().copied().find(|strategy| format!("{strategy:?}").as_bytes() == &kept[..])
    }

    /// Keeps a strategy.
    pub fn keep(self, strategy: Strategy) {
        Cache::user().put(self.key, format!("{strategy:?}").into_bytes());
    }
}
