//! Arguments of loops: which data, how it is reached, and what is done with it.

use parloop_device::DType;

use super::dat::Dat;
use super::global::Global;
use super::map::Map;
use super::mat::Mat;
use super::sparsity::Dropped;
use crate::Result;
use crate::access::Access;
use crate::block::Block;
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
    Mat(Mat, Block),
}

/// An argument of a loop.
#[derive(Clone, Debug)]
pub struct Arg {
    /// The data.
    pub data: ArgData,
    /// What the kernel does with it.
    pub access: Access,
    /// Through which map elements lead to the data; `None` is directly.
    pub map: Option<Map>,
}

impl Arg {
    /// Data on a set.
    pub fn dat(dat: &Dat, access: Access, map: Option<&Map>) -> Arg {
        Arg { data: ArgData::Dat(dat.clone()), access, map: map.cloned() }
    }

    /// One component of data on a set.
    pub fn component(dat: &Dat, component: usize, access: Access, map: Option<&Map>) -> Arg {
        Arg { data: ArgData::Component(dat.clone(), component), access, map: map.cloned() }
    }

    /// What all elements share.
    pub fn global(global: &Global, access: Access) -> Arg {
        Arg { data: ArgData::Global(global.clone()), access, map: None }
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

    /// The part of a matrix that belongs to an element.
    pub fn block(&self) -> Option<Block> {
        if let ArgData::Mat(_, block) = self.data { Some(block) } else { None }
    }

    /// The lengths of the axes of what the kernel gets.
    pub fn axes(&self) -> Vec<usize> {
        match self.block() {
            Some(block) => block.shape().to_vec(),
            None => self.map.iter().map(Map::arity).chain([self.count()]).collect(),
        }
    }

    /// How many entries of the data the kernel gets.
    pub fn arity(&self) -> usize {
        self.map.as_ref().map_or(1, Map::arity)
    }
}

impl Dat {
    /// An argument of a loop: the data of the element itself (`None`), or through a map of those it leads to.
    ///
    /// ```
    /// use parloop_mesh::{Access, Dat, Map, Set};
    /// let (edges, nodes) = (Set::new(1, "edges")?, Set::new(2, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[0, 1], "ends")?;
    /// let (length, x) = (Dat::new(&edges.data(1)?, &[0.0], "length")?, Dat::new(&nodes.data(1)?, &[0.0, 1.0], "x")?);
    /// let args = vec![length.arg(Access::Write, None), x.arg(Access::Read, &ends)];
    /// assert_eq!(args[1].arity(), 2);
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
    /// [`MeshError::SparsityMaps`](crate::MeshError::SparsityMaps), or targets that meet in a block that is not stored.
    pub fn arg(&self, access: Access, rows: &Map, columns: &Map) -> Result<Arg> {
        self.arg_without(access, rows, columns, &Dropped::default())
    }

    /// As [`arg`](Self::arg); what the kernel leaves in some rows and columns of the matrix is dropped.
    ///
    /// # Errors
    /// As [`arg`](Self::arg).
    pub fn arg_without(&self, access: Access, rows: &Map, columns: &Map, dropped: &Dropped) -> Result<Arg> {
        let sparsity = self.sparsity();
        let block =
            Block { below: rows.arity(), beside: columns.arity(), rows: sparsity.rows().count(), columns: sparsity.columns().count() };
        let map = Some(sparsity.positions(rows, columns, dropped)?);
        Ok(Arg { data: ArgData::Mat(self.clone(), block), access, map })
    }
}

impl Global {
    /// An argument of a loop.
    pub fn arg(&self, access: Access) -> Arg {
        Arg::global(self, access)
    }
}
