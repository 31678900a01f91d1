//! Products of matrices with data, on the device of a context.

use std::collections::HashMap;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_device::{DType, DeviceId, Memory, as_bytes, refuse_recording};
use parloop_kernel::{Context, KernelError};
use parloop_loop::run::{Executable, Repeat};
use smallvec::{SmallVec, smallvec};

use super::exchange::Exchange;
use super::job::machine_of;
use super::staged::Table;
use super::written::{What, written};
use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::dataset::DataSet;
use crate::declare::identity::{self, Id};
use crate::declare::mat::Mat;
use crate::declare::sparsity::Sparsity;
use crate::error::MeshError;
use crate::lower::{Array, Machine, Number, Product};
use crate::storage::{Layout, Storage, take_turns};

/// A product made ready for a context, for all matrices of one sparsity and type.
struct Ready {
    repeat: Repeat,
    /// Which memory each of its arrays is.
    arrays: SmallVec<[Array; 6]>,
    starts: Memory,
    list: Memory,
    entries: Option<Memory>,
}

/// What tells products of one sparsity apart.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    device: DeviceId,
    stream: u64,
    what: Product,
}

/// The products with the matrices of each sparsity, by the set of its blocks.
type Products = HashMap<Id, HashMap<Key, Arc<Ready>>>;

/// They are forgotten with the set.
static KNOWN: Lock<Option<Products>> = Lock::new(None);

fn known<R>(with: impl FnOnce(&mut Products) -> R) -> R {
    with(KNOWN.lock_or(|| None).get_or_insert_default())
}

impl Mat {
    /// `y = A x` on the device of a context.
    ///
    /// ```
    /// use parloop_kernel::Context;
    /// use parloop_device::DType;
    /// use parloop_mesh::{Dat, Map, Mat, Set, Sparsity};
    /// let (edges, nodes) = (Set::new(1, "edges")?, Set::new(2, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[0, 1], "ends")?;
    /// let on_nodes = nodes.data(1)?;
    /// let a = Mat::zeros(&Sparsity::new(&on_nodes, &on_nodes, &[(&ends, &ends)], "s")?, DType::F64, "a")?;
    /// a.storage().write(&[1.0, 2.0, 3.0, 4.0])?;
    /// let (x, y) = (Dat::new(&on_nodes, &[1.0, 10.0], "x")?, Dat::zeros(&on_nodes, DType::F64, "y")?);
    /// a.multiply(&x, &y, &Context::open("cpu")?)?;
    /// assert_eq!(y.to_vec::<f64>()?, [21.0, 43.0]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::Product`] for data of another set, dimension or type, or a result in the memory of the others; what the device says.
    pub fn multiply(&self, x: &Dat, y: &Dat, context: &Context) -> Result<()> {
        self.product(x, y, false, context)
    }

    /// `y = Aᵀ x` on the device of a context. Of a distributed matrix all processes must call it: what rows of one add to columns of another
    /// is added in the order of the ranks.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply).
    pub fn multiply_transposed(&self, x: &Dat, y: &Dat, context: &Context) -> Result<()> {
        self.product(x, y, true, context)
    }

    fn product(&self, x: &Dat, y: &Dat, transposed: bool, context: &Context) -> Result<()> {
        self.check_current()?;
        let (x, y) = (x.current(), y.current());
        let sparsity = self.sparsity();
        let (rows, columns) = match transposed {
            false => (sparsity.rows(), sparsity.columns()),
            true => (sparsity.columns(), sparsity.rows()),
        };
        self.check(x, columns)?;
        self.check(y, rows)?;
        if x.storage().overlaps(y.storage()) {
            return Err(self.wrong(y, "it shares memory with the factor; use other data"));
        }
        if y.storage().overlaps(self.storage()) {
            return Err(self.wrong(y, "it shares memory with the matrix; use other data"));
        }
        let halo = y.dataset().set().halo();
        if transposed && halo.is_some() != x.dataset().set().halo().is_some() {
            return Err(self.wrong(y, "only one of the sets of its rows and columns is distributed, so its transpose is not available"));
        }
        if transposed && halo.is_some() {
            refuse_recording(|| "a product with the transpose of a distributed matrix".to_owned()).map_err(KernelError::from)?;
        } else if x.dataset().set().halo().is_some() {
            // Columns of ghosts are multiplied too.
            x.renew_ghosts()?;
        }
        let tables = [self.storage(), x.storage(), y.storage()];
        let layouts = tables.map(|table| table.settle_layout(context, Layout::Rows));
        if layouts[0] != Layout::Rows {
            return Err(self.wrong(y, "the blocks of the matrix are stored column by column"));
        }
        let machine = machine_of(context);
        // On threads narrow indices would be widened one by one.
        let wide = machine == Machine::Threads || tables.iter().any(|table| table.len() > i32::MAX as usize);
        let what = Product {
            dtype: self.dtype(),
            block: (sparsity.rows().count(), sparsity.columns().count()),
            transposed,
            layouts: [layouts[1], layouts[2]],
            machine,
            index: if wide { DType::I64 } else { DType::I32 },
        };
        let ready = ready(sparsity, &what, context)?;
        let _turns = take_turns([(tables[0], false), (tables[1], false), (tables[2], true)])?;
        let place = |table: &Storage, reads, writes| table.place(context, reads, writes);
        let memory = [place(tables[0], true, false)?, place(tables[1], true, false)?, place(tables[2], false, true)?];
        let given: SmallVec<[&Memory; 6]> = ready.arrays.iter().map(|array| ready.memory(*array, &memory)).collect();
        ready.repeat.run(&given)?;
        if let Some(halo) = halo.filter(|_| transposed) {
            // Each process has what its rows add to the columns of others.
            Exchange::start_sums(smallvec![Table { halo, storage: y.storage() }], halo.comm())?.finish()?;
        }
        // Rows of ghosts lack what other processes add to them.
        y.storage().set_ghosts_fresh(halo.is_none());
        Ok(())
    }

    /// Refuses data that the matrix cannot be multiplied with.
    pub(crate) fn check(&self, dat: &Dat, wanted: &DataSet) -> Result<()> {
        match dat.dataset() == wanted {
            false if dat.dataset().set() != wanted.set() => Err(self.wrong(dat, "it is on a different set than the matrix")),
            false => Err(self.wrong(dat, "it has a different dimension than the matrix")),
            true if dat.dtype() != self.dtype() => Err(self.wrong(dat, "it has a different type than the matrix")),
            true => Ok(()),
        }
    }

    fn wrong(&self, dat: &Dat, reason: &'static str) -> MeshError {
        MeshError::Product { mat: self.name().to_owned(), dat: dat.name().to_owned(), reason }
    }
}

impl Ready {
    fn memory<'a>(&'a self, array: Array, tables: &'a [Memory; 3]) -> &'a Memory {
        match array {
            Array::Table(table) => &tables[table],
            Array::Starts => &self.starts,
            Array::List => &self.list,
            Array::Entries => self.entries.as_ref().expect("invariant: only turned products take entries"),
            _ => unreachable!("invariant: a product takes no other arrays"),
        }
    }
}

/// The product made ready; made when it is not.
fn ready(sparsity: &Sparsity, what: &Product, context: &Context) -> Result<Arc<Ready>> {
    static WATCH: Once<()> = Once::new();
    WATCH.get_or_init(|| identity::when_dropped(|blocks| drop(known(|known| known.remove(&blocks)))));
    let key = Key { device: context.device().id(), stream: context.stream().handle(), what: *what };
    let blocks = sparsity.blocks().id();
    if let Some(ready) = known(|known| known.get(&blocks).and_then(|products| products.get(&key)).cloned()) {
        return Ok(ready);
    }
    let made = Arc::new(make(sparsity, what, context)?);
    Ok(known(|known| known.entry(blocks).or_default().entry(key).or_insert(made).clone()))
}

fn make(sparsity: &Sparsity, what: &Product, context: &Context) -> Result<Ready> {
    let written = written(None, What::Multiply(*what), context)?;
    let (lowered, executable) = (&written.lowered, Executable::compile(&written.generated, context)?);
    let pattern = sparsity.pattern();
    let (rows, columns) = (pattern.rows() as i64, pattern.width() as i64);
    let (from, to) = if what.transposed { (rows, columns) } else { (columns, rows) };
    let value = |number: Number| match number {
        Number::Count | Number::Rows(2) => to,
        Number::Rows(_) => from,
        _ => unreachable!("invariant: a product takes no other numbers"),
    };
    let numbers = lowered.numbers.iter().filter(|(name, _)| executable.plan().position(name).is_some());
    let given: Vec<(&str, i64)> = numbers.map(|(name, number)| (name.as_str(), value(*number))).collect();
    let repeat = executable.repeat(&given)?;
    let array = |name: &str| lowered.arrays.iter().find(|(known, _)| known.as_str() == name).map(|(_, array)| *array);
    let arrays = repeat.arrays().iter().map(|name| array(name).expect("invariant: the product takes these arrays")).collect();
    let upload = |values: &[i32]| -> Result<Memory> {
        let memory = context.device().allocate((values.len() * 4).max(4)).map_err(KernelError::from)?;
        context.stream().write_at_once(&memory, 0, as_bytes(values)).map_err(KernelError::from)?;
        Ok(memory)
    };
    // A set has no more elements than 32 bits count, so that neither have the blocks.
    let starts: Vec<i32> = pattern.starts().iter().map(|&start| start as i32).collect();
    if !what.transposed {
        return Ok(Ready { repeat, arrays, starts: upload(&starts)?, list: upload(pattern.columns())?, entries: None });
    }
    // Of a distributed matrix, rows of ghosts are multiplied by their owners.
    let row_set = sparsity.rows().set();
    let owned = &starts[..=if row_set.halo().is_some() { row_set.size() } else { pattern.rows() }];
    let turned = Turned::new(owned, &pattern.columns()[..owned[owned.len() - 1] as usize], pattern.width());
    Ok(Ready { repeat, arrays, starts: upload(&turned.starts)?, list: upload(&turned.rows)?, entries: Some(upload(&turned.blocks)?) })
}

/// The blocks of each column: where they begin, their rows, and which they are.
struct Turned {
    starts: Vec<i32>,
    rows: Vec<i32>,
    blocks: Vec<i32>,
}

impl Turned {
    fn new(starts: &[i32], columns: &[i32], width: usize) -> Turned {
        let mut ends = vec![0i32; width + 1];
        columns.iter().for_each(|&column| ends[column as usize + 1] += 1);
        for column in 0..width {
            ends[column + 1] += ends[column];
        }
        let begins = ends.clone();
        let (mut rows, mut blocks) = (vec![0; columns.len()], vec![0; columns.len()]);
        for row in 0..starts.len() - 1 {
            for block in starts[row]..starts[row + 1] {
                let place = &mut ends[columns[block as usize] as usize];
                (rows[*place as usize], blocks[*place as usize]) = (row as i32, block);
                *place += 1;
            }
        }
        Turned { starts: begins, rows, blocks }
    }
}
