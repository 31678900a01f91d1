//! Copies of tables whose rows lie in another order.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::syntax::Program;

use super::{names, planned, tagged};

/// What is done with each row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permute {
    /// It becomes zeros.
    Clear,
    /// It becomes the row of the other table that the list says.
    Copy,
    /// It gets that row added.
    Add,
}

/// Rows that a thread takes at a time.
const ROWS: usize = 4096;

/// Rows of up to so many numbers are copied without a loop.
const UNROLLED: usize = 16;

/// The loop kernel that does it with the `pl_count` rows of `pl_dat0`; the other table is `pl_dat1`.
///
/// # Errors
/// What the loop compiler says.
pub fn permute(what: Permute, dtype: DType, row: usize, index: DType) -> Result<Program, LoopError> {
    let (count, list, to, from) = (names::COUNT, names::LIST, names::table(0), names::table(1));
    let (here, there) = (format!("{to}[{ROWS}*g+k, d]"), format!("{from}[{list}[{ROWS}*g+k], d]"));
    let value = match what {
        Permute::Clear => "0".to_owned(),
        Permute::Copy => there,
        Permute::Add => format!("{here} + {there}"),
    };
    let table = |name: &str| Data::global(name).dtype(dtype).unknown_shape().strides(format!("{row}, 1"));
    let mut builder = KernelBuilder::new()
        .name("permute")
        .domain(format!("{{[g]: 0<=g and {ROWS}*g<{count}}}"))
        .domain(format!("[g,{count}]->{{[k]: 0<=k<{ROWS} and {ROWS}*g+k<{count}}}"))
        .domain(format!("{{[d]: 0<=d<{row}}}"))
        .instructions(format!("{here} = {value} {{id=w, inames=g:k:d}}"))
        .data(table(&to))
        .data(Data::value(count).dtype(index))
        .index_type(index)
        .options(planned(["w"].into_iter()));
    if what != Permute::Clear {
        builder = builder.data(table(&from)).data(Data::global(list).dtype("int32").unknown_shape().strides("1"));
    }
    let tags = if row <= UNROLLED { vec!["g:g.0", "d:unr"] } else { vec!["g:g.0"] };
    tagged(builder.build()?, tags.into_iter())
}
