//! Loop kernels with their code. What was written once is kept, so that the same loop over another mesh takes no compiler.

use std::collections::HashMap;
use std::sync::Arc;

use parloop_device::DType;
use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_kernel::Context;
use parloop_loop::error::LoopError;
use parloop_loop::prelude::*;
use parloop_loop::prepare::Generated;
use parloop_loop::run::target_of;
use parloop_loop::syntax::Target;

use crate::Result;
use crate::declare::identity::{self, Id};
use crate::kernel::Kernel;
use crate::lower::{self, Form, Lowered, Machine, Permute, Product, RowMove, RowWords};
use crate::shape::{PartShape, Shape};

/// A loop kernel, and what was generated from it.
#[derive(Debug)]
pub struct Written {
    pub lowered: Lowered,
    pub generated: Generated,
}

/// What a loop kernel does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Calls a kernel for elements.
    Loop { shape: Shape, form: Form, machine: Machine, checked: bool },
    /// Combines what groups have of a number.
    Combine { part: PartShape, machine: Machine },
    /// Copies rows in another order.
    Permute { what: Permute, dtype: DType, row: usize, index: DType },
    /// Gathers rows side by side, or puts them back.
    Rows { what: RowMove, words: RowWords, index: DType },
    /// Multiplies a matrix with data.
    Multiply(Product),
}

/// More loop kernels than this are not kept.
const MOST: usize = 1024;

type OfKernel = HashMap<(What, Target), Arc<Written>>;

/// Those of each kernel, and those without one.
#[derive(Default)]
struct WrittenCache {
    written: HashMap<Option<Id>, OfKernel>,
    count: usize,
}

/// They are forgotten with the kernel.
static KEPT: Lock<Option<WrittenCache>> = Lock::new(None);

fn kept<R>(with: impl FnOnce(&mut WrittenCache) -> R) -> R {
    with(KEPT.lock_or(|| None).get_or_insert_default())
}

/// The loop kernel that does that on the device of a context; written when it is not.
///
/// # Errors
/// What the loop compiler says.
pub fn written(kernel: Option<&Kernel>, what: What, context: &Context) -> Result<Arc<Written>> {
    static WATCH: Once<()> = Once::new();
    WATCH.get_or_init(|| identity::when_dropped(forget));
    let id = kernel.map(Kernel::id);
    let key = (what, target_of(context.device().kind()));
    if let Some(known) = kept(|kept| kept.written.get(&id).and_then(|written| written.get(&key)).cloned()) {
        return Ok(known);
    }
    // Outside of the lock: it takes its time. Of two that are written at once one is kept.
    let lowered = lower(kernel, &key.0)?;
    let made = Arc::new(Written { generated: lowered.program.generate(key.1)?, lowered });
    // What is forgotten is dropped outside of the lock.
    drop(kept(|kept| (kept.count >= MOST).then(|| std::mem::take(kept))));
    Ok(kept(|kept| kept.add(id, key, made)))
}

fn lower(kernel: Option<&Kernel>, what: &What) -> Result<Lowered, LoopError> {
    match what {
        What::Loop { shape, form, machine, checked } => {
            lower::lower(kernel.expect("invariant: a loop calls a kernel"), shape, form, *machine, *checked)
        }
        What::Combine { part, machine } => lower::combine(part, *machine),
        What::Permute { what, dtype, row, index } => lower::permute(*what, *dtype, *row, *index),
        What::Rows { what, words, index } => lower::move_rows(*what, *words, *index),
        What::Multiply(product) => lower::product(product),
    }
}

fn forget(id: Id) {
    let forgotten = kept(|kept| {
        let gone = kept.written.remove(&Some(id))?;
        kept.count -= gone.len();
        Some(gone)
    });
    drop(forgotten);
}

impl WrittenCache {
    fn add(&mut self, kernel: Option<Id>, key: (What, Target), made: Arc<Written>) -> Arc<Written> {
        let of_kernel = self.written.entry(kernel).or_default();
        let before = of_kernel.len();
        let kept = of_kernel.entry(key).or_insert(made).clone();
        self.count += of_kernel.len() - before;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Layout;

    #[test]
    fn what_was_written_is_not_written_again() {
        let context = Context::open("cpu:1").unwrap();
        let product = |rows: usize| Product {
            dtype: DType::F64,
            block: (rows, 1),
            transposed: false,
            layouts: [Layout::Rows; 2],
            machine: Machine::Threads,
            index: DType::I64,
        };
        let multiply = |rows: usize| written(None, What::Multiply(product(rows)), &context).unwrap();
        assert!(Arc::ptr_eq(&multiply(1), &multiply(1)));
        assert!(!Arc::ptr_eq(&multiply(1), &multiply(2)));
    }
}
