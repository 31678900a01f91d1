//! The second step of a reduction: what all groups have, combined with the number before the loop.

use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::syntax::Program;

use super::body::{combined, operation};
use super::{Machine, names, planned, tagged};
use crate::shape::ArgShape;

/// Work items that combine on a GPU.
const ITEMS: usize = 256;

/// The loop kernel that combines the `pl_count` rows of `pl_partial0` into `pl_dat0`, in a fixed order.
///
/// # Errors
/// What the loop compiler says.
pub fn combine(arg: &ArgShape, machine: Machine) -> Result<Program, LoopError> {
    let (count, partial, table) = (names::COUNT, names::partial(0), names::table(0));
    let (operation, numbers) = (operation(arg.access), arg.count);
    let there = format!("{table}[d]");
    let builder = KernelBuilder::new()
        .name("combine")
        .data(Data::global(&table).dtype(arg.dtype).unknown_shape().strides("1"))
        .data(Data::global(&partial).dtype(arg.dtype).unknown_shape().strides(format!("{numbers}, 1")))
        .data(Data::value(count).dtype("int32"))
        .assumptions(format!("{count} >= 1"))
        .options(planned(["w"].into_iter()));
    let (domain, sum, tags) = match machine {
        Machine::Threads => (format!("{{[d,k]: 0<=d<{numbers} and 0<=k<{count}}}"), format!("{operation}(k, {partial}[k, d])"), vec![]),
        Machine::Gpu => (
            format!("{{[d,l,k]: 0<=d<{numbers} and 0<=l<{ITEMS} and 0<=k and {ITEMS}*k+l<{count}}}"),
            format!("{operation}(l, {operation}(k, {partial}[{ITEMS}*k+l, d]))"),
            vec!["l:l.0"],
        ),
    };
    let program = builder
        .domain(domain)
        .instructions(format!("{there} = {} {{id=w, dep=*, inames=d}}", combined(arg.access, &there, &sum)))
        .build()?;
    tagged(program, tags.into_iter())
}
