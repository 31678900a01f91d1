//! Arguments of loops: which data, how it is reached, and what is done with it.

use std::ops::Range;

use parloop_device::DType;
use smallvec::{SmallVec, smallvec};

use super::dat::Dat;
use super::global::Global;
use super::iteration::Iteration;
use super::map::Map;
use super::mat::Mat;
use super::meeting::{Dropped, Meeting};
use crate::Result;
use crate::access::Access;
use crate::block::Block;
use crate::error::MeshError;
use crate::storage::Storage;

/// The data of an argument.
#[derive(Clone, Debug)]
pub enum ArgData {
    /// On the elements of a set.
    Dat(Dat),
    /// One component of each element's data.
    Component(Dat, usize),
    /// The same for all elements.
    Global(Global),
    /// The blocks of a matrix where the targets of two maps meet.
    Mat(Mat, Meeting),
}

/// An argument of a loop: what the kernel gets for one parameter, the numbers of one or of several parts as one array.
#[derive(Clone, Debug)]
pub struct Arg {
    parts: SmallVec<[Part; 1]>,
    /// How many parts are beside each other: the parts of a matrix are a grid, row by row; others are one after another.
    across: usize,
}

/// Data, how it is reached, and what is done with it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The data.
    pub data: ArgData,
    /// What the kernel does with it.
    pub access: Access,
    /// Through which map elements lead to the data; `None` is directly.
    pub map: Option<Map>,
    /// How many cells of a column the kernel sees at a time.
    height: usize,
}

/// The parts of a loop that the kernel gets as one parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub parts: Range<usize>,
    /// See [`Arg::across`].
    pub across: usize,
}

/// The parts of all arguments, one after another, and which of them are for each parameter.
pub(crate) fn flattened(args: Vec<Arg>) -> (Vec<Param>, Vec<Part>) {
    let (mut params, mut parts) = (Vec::with_capacity(args.len()), Vec::with_capacity(args.len()));
    for arg in args {
        let first = parts.len();
        parts.extend(arg.parts);
        params.push(Param { parts: first..parts.len(), across: arg.across });
    }
    (params, parts)
}

impl From<Part> for Arg {
    fn from(part: Part) -> Arg {
        Arg { parts: smallvec![part], across: 1 }
    }
}

impl Arg {
    /// Data on a set.
    pub fn dat(dat: &Dat, access: Access, map: Option<&Map>) -> Arg {
        Part::new(ArgData::Dat(dat.clone()), access, map.cloned()).into()
    }

    /// One component of data on a set.
    pub fn component(dat: &Dat, component: usize, access: Access, map: Option<&Map>) -> Arg {
        Part::new(ArgData::Component(dat.clone(), component), access, map.cloned()).into()
    }

    /// What all elements share.
    pub fn global(global: &Global, access: Access) -> Arg {
        Part::new(ArgData::Global(global.clone()), access, None).into()
    }

    /// Several arguments as one: the kernel gets their values one after another.
    ///
    /// ```
    /// use parloop_kernel::Context;
    /// use parloop_mesh::{Access, Arg, Dat, Kernel, Set, par_loop};
    /// let cells = Set::new(2, "cells")?;
    /// let (velocity, pressure) = (Dat::new(&cells.data(2)?, &[0.0; 4], "velocity")?, Dat::new(&cells.data(1)?, &[0.0; 2], "pressure")?);
    /// // SAFETY: a cell has two numbers and one.
    /// let number = unsafe { Kernel::new("void number(double *x) { x[0] = 1; x[1] = 2; x[2] = 3; }", "number")? };
    /// let both = Arg::mixed([velocity.arg(Access::Write, None), pressure.arg(Access::Write, None)])?;
    /// par_loop(&number, &cells, vec![both], &Context::open("cpu")?)?;
    /// assert_eq!((velocity.to_vec::<f64>()?, pressure.to_vec::<f64>()?), (vec![1.0, 2.0, 1.0, 2.0], vec![3.0, 3.0]));
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::Parts`]: no parts, a matrix among them, or parts with different accesses or types.
    pub fn mixed(args: impl IntoIterator<Item = Arg>) -> Result<Arg> {
        let arg = Arg { parts: args.into_iter().flat_map(|arg| arg.parts).collect(), across: 1 };
        if arg.parts.iter().any(|part| matches!(part.data, ArgData::Mat(..))) {
            return Err(MeshError::Parts { reason: "a matrix cannot be part of a vector".to_owned() });
        }
        arg.alike()
    }

    /// Several arguments of matrices as one, row by row: the kernel gets them as one matrix, beside and below each other.
    ///
    /// # Errors
    /// [`MeshError::Parts`]: rows of different lengths, parts that are not matrices or do not line up, or with different accesses or types.
    pub fn grid(rows: impl IntoIterator<Item = Vec<Arg>>) -> Result<Arg> {
        let wrong = |reason: String| Err(MeshError::Parts { reason });
        let rows: Vec<Vec<Part>> = rows.into_iter().map(|row| row.into_iter().flat_map(|arg| arg.parts).collect()).collect();
        let across = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != across) {
            return wrong("all rows of a grid must have the same number of parts".to_owned());
        }
        let first: Vec<[usize; 2]> = rows.iter().flatten().take(across).filter_map(|part| part.block().map(Block::shape)).collect();
        for row in &rows {
            for (column, part) in row.iter().enumerate() {
                let Some(block) = part.block() else {
                    return wrong(format!("a part of a grid must be a matrix, but `{}` is not", part.name()));
                };
                let wanted = [row[0].block().map_or(0, |block| block.shape()[0]), first.get(column).map_or(0, |shape| shape[1])];
                if block.shape() != wanted {
                    let [[rows, columns], [below, beside]] = [block.shape(), wanted];
                    return wrong(format!(
                        "`{}` has {rows} × {columns} numbers per element, but its place in the grid has room for {below} × {beside}",
                        part.name()
                    ));
                }
            }
        }
        Arg { parts: rows.into_iter().flatten().collect(), across }.alike()
    }

    /// Refuses parts that are not alike.
    fn alike(self) -> Result<Arg> {
        let Some(first) = self.parts.first() else {
            return Err(MeshError::Parts { reason: "there are none".to_owned() });
        };
        for part in &self.parts {
            if (part.access, part.dtype()) != (first.access, first.dtype()) {
                let told =
                    |part: &Part| format!("`{}` is passed with {} and holds numbers of type {}", part.name(), part.access, part.dtype());
                return Err(MeshError::Parts { reason: format!("{}, but {}", told(first), told(part)) });
            }
        }
        Ok(self)
    }

    /// With the parts of distributed data and sets that this process has.
    ///
    /// # Errors
    /// [`MeshError::MadeBefore`]: a matrix that was created before its sets were distributed.
    pub(crate) fn current(mut self) -> Result<Arg> {
        for part in &mut self.parts {
            match &mut part.data {
                ArgData::Dat(dat) | ArgData::Component(dat, _) => *dat = dat.current().clone(),
                ArgData::Global(_) => {}
                ArgData::Mat(mat, meeting) => {
                    mat.check_current()?;
                    (meeting.rows, meeting.columns) = (meeting.rows.current().clone(), meeting.columns.current().clone());
                }
            }
            part.map = part.map.as_ref().map(|map| map.current().clone());
        }
        Ok(self)
    }

    /// As a loop gets it.
    ///
    /// # Errors
    /// As [`Part::settle`].
    pub(crate) fn on(mut self, iteration: &Iteration) -> Result<Arg> {
        self.parts.iter_mut().try_for_each(|part| part.settle(iteration))?;
        Ok(self)
    }

    /// What the kernel gets of data that has numbers. Parts without any are left out; if all are, a dummy number takes their place, since a
    /// kernel gets an address for each parameter.
    pub(crate) fn with_numbers(mut self) -> Result<Arg> {
        if self.parts.iter().all(|part| part.count() > 0) {
            return Ok(self);
        }
        if self.parts.iter().any(|part| part.count() > 0) {
            self.parts.retain(|part| part.count() > 0);
            return Ok(self);
        }
        self.parts.truncate(1);
        let part = &mut self.parts[0];
        if let ArgData::Dat(dat) = &part.data {
            part.data = ArgData::Dat(Dat::zeros(&dat.dataset().set().data(1)?, dat.dtype(), dat.name())?);
        }
        // Every plan supports additions, and none depends on what was written.
        if part.access.writes() {
            part.access = if part.dtype() == DType::Bool { Access::Rw } else { Access::Inc };
        }
        Ok(self)
    }

    /// Its parts: one, unless it is [`mixed`](Self::mixed) or a [`grid`](Self::grid), row by row.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many parts are beside each other in a [`grid`](Self::grid).
    pub fn across(&self) -> usize {
        self.across
    }

    /// The only part, if there is only one.
    pub fn only(&self) -> Option<&Part> {
        if let [only] = &self.parts[..] { Some(only) } else { None }
    }

    /// The names of the data.
    pub fn name(&self) -> String {
        self.parts.iter().map(Part::name).collect::<Vec<_>>().join(" and ")
    }

    /// What the kernel does with it.
    pub fn access(&self) -> Access {
        self.parts[0].access
    }

    /// The type of the numbers.
    pub fn dtype(&self) -> DType {
        self.parts[0].dtype()
    }

    /// The lengths of the axes of what the kernel gets.
    pub fn axes(&self) -> Vec<usize> {
        axes(self.parts.iter().map(Part::axes), self.across, self.parts[0].block().is_some())
    }
}

/// The lengths of the axes of parts together: of matrices in a grid, or of one after another.
pub(crate) fn axes(parts: impl ExactSizeIterator<Item = Vec<usize>>, across: usize, is_grid: bool) -> Vec<usize> {
    let parts: Vec<Vec<usize>> = parts.collect();
    if let [only] = &parts[..] {
        return only.clone();
    }
    if is_grid {
        return vec![parts.iter().step_by(across).map(|part| part[0]).sum(), parts.iter().take(across).map(|part| part[1]).sum()];
    }
    let rows: Option<Vec<usize>> = parts.iter().map(|part| if let [rows, _] = part[..] { Some(rows) } else { None }).collect();
    match (rows, parts.iter().all(|part| part.last() == parts[0].last())) {
        (Some(rows), true) => vec![rows.into_iter().sum(), parts[0][1]],
        _ => vec![parts.iter().map(|part| part.iter().product::<usize>()).sum()],
    }
}

impl Part {
    /// Data that is reached through a map, or directly.
    pub fn new(data: ArgData, access: Access, map: Option<Map>) -> Part {
        Part { data, access, map, height: 1 }
    }

    /// As a loop gets it: for cells of columns data on the set below them is reached by its own number, and the blocks of a matrix are found.
    ///
    /// # Errors
    /// Targets that meet in a block that is not stored; a map that leads outside in some layer.
    fn settle(&mut self, iteration: &Iteration) -> Result<()> {
        if let ArgData::Mat(mat, meeting) = &self.data {
            self.map = Some(mat.sparsity().positions(meeting, iteration)?);
        }
        if iteration.layers().is_some() {
            self.height = iteration.height();
            match (&self.data, &self.map) {
                (_, Some(map)) => iteration.check_map(map)?,
                (ArgData::Dat(dat) | ArgData::Component(dat, _), None) if dat.dataset().set() == iteration.set().plain() => {
                    self.map = Some(Map::identity(dat.dataset().set()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of the data.
    pub fn name(&self) -> &str {
        match &self.data {
            ArgData::Dat(dat) | ArgData::Component(dat, _) => dat.name(),
            ArgData::Global(global) => global.name(),
            ArgData::Mat(mat, _) => mat.name(),
        }
    }

    /// Where the numbers are.
    pub fn storage(&self) -> &Storage {
        match &self.data {
            ArgData::Dat(dat) | ArgData::Component(dat, _) => dat.storage(),
            ArgData::Global(global) => global.storage(),
            ArgData::Mat(mat, _) => mat.storage(),
        }
    }

    /// The type of the numbers.
    pub fn dtype(&self) -> DType {
        self.storage().dtype()
    }

    /// How many numbers one entry of the data has for the kernel.
    pub fn count(&self) -> usize {
        match &self.data {
            ArgData::Dat(dat) => dat.dataset().count(),
            ArgData::Component(..) => 1,
            ArgData::Global(global) => global.count(),
            ArgData::Mat(mat, _) => mat.sparsity().block(),
        }
    }

    /// Where the rows and columns of an element are, of a matrix.
    pub(crate) fn meeting(&self) -> Option<&Meeting> {
        if let ArgData::Mat(_, meeting) = &self.data { Some(meeting) } else { None }
    }

    /// The part of a matrix that belongs to an element.
    pub fn block(&self) -> Option<Block> {
        let ArgData::Mat(mat, Meeting { rows, columns, .. }) = &self.data else { return None };
        let (below, beside) = (rows.slots(self.height), columns.slots(self.height));
        Some(Block { below, beside, rows: mat.sparsity().rows().count(), columns: mat.sparsity().columns().count() })
    }

    /// The lengths of the axes of what the kernel gets.
    pub fn axes(&self) -> Vec<usize> {
        match self.block() {
            Some(block) => block.shape().to_vec(),
            None => self.map.iter().filter(|map| !map.is_identity()).map(|map| map.slots(self.height)).chain([self.count()]).collect(),
        }
    }

    /// How many entries of the data the kernel gets.
    pub fn arity(&self) -> usize {
        self.map.as_ref().map_or(1, |map| map.slots(self.height))
    }
}

impl Dat {
    /// An argument of a loop: the data of the element itself (`None`), or of its targets through a map.
    ///
    /// ```
    /// use parloop_mesh::{Access, Dat, Map, Set};
    /// let (edges, nodes) = (Set::new(1, "edges")?, Set::new(2, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[0, 1], "ends")?;
    /// let (length, x) = (Dat::new(&edges.data(1)?, &[0.0], "length")?, Dat::new(&nodes.data(1)?, &[0.0, 1.0], "x")?);
    /// let args = vec![length.arg(Access::Write, None), x.arg(Access::Read, &ends)];
    /// assert_eq!(args[1].axes(), [2, 1]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    pub fn arg<'a>(&self, access: Access, map: impl Into<Option<&'a Map>>) -> Arg {
        Arg::dat(self, access, map.into())
    }

    /// An argument of a loop: one component of the data, counted from 0, of each element.
    pub fn component<'a>(&self, component: usize, access: Access, map: impl Into<Option<&'a Map>>) -> Arg {
        Arg::component(self, component, access, map.into())
    }
}

impl Mat {
    /// An argument of a loop: for each element the blocks where a target of `rows` and a target of `columns` meet, as one array of all
    /// rows by all columns, which is zero before the kernel adds to it or writes it.
    ///
    /// # Errors
    /// [`MeshError::SparsityMaps`](crate::MeshError::SparsityMaps).
    pub fn arg(&self, access: Access, rows: &Map, columns: &Map) -> Result<Arg> {
        self.arg_without(access, rows, columns, &Dropped::default())
    }

    /// As [`arg`](Self::arg); what the kernel leaves in some rows and columns of the matrix is dropped.
    ///
    /// # Errors
    /// As [`arg`](Self::arg).
    pub fn arg_without(&self, access: Access, rows: &Map, columns: &Map, dropped: &Dropped) -> Result<Arg> {
        self.check_current()?;
        let meeting = Meeting { rows: rows.current().clone(), columns: columns.current().clone(), dropped: dropped.clone() };
        self.sparsity().check(&meeting)?;
        Ok(Part::new(ArgData::Mat(self.clone(), meeting), access, None).into())
    }
}

impl Global {
    /// An argument of a loop.
    pub fn arg(&self, access: Access) -> Arg {
        Arg::global(self, access)
    }
}
