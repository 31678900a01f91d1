//! What can go wrong with sets, maps, data and loops.

use parloop_device::DType;
use parloop_kernel::KernelError;
use parloop_loop::error::LoopError;

use crate::access::Access;
use crate::sizes::Sizes;

/// Why a mesh operation was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum MeshError {
    #[error("set `{set}`: sizes must grow from core ({}) to owned ({}) to total ({})", sizes.core, sizes.owned, sizes.total)]
    SetSizes { set: String, sizes: Sizes },
    #[error("set `{set}` cannot have {size} elements; a set has at most {}", i32::MAX)]
    SetTooLarge { set: String, size: usize },
    #[error("`{of}` has dimension {dim:?}; every axis must have at least one entry")]
    Dim { of: String, dim: Vec<usize> },
    #[error("`{of}` has dimension {dim:?}; at most {} numbers are allowed", i32::MAX)]
    DimTooLarge { of: String, dim: Vec<usize> },
    #[error("data cannot be put on a subset of `{set}`; put it on `{set}` and loop over the subset")]
    DataOnSubset { set: String },
    #[error("set `{set}` cannot be extruded: {reason}")]
    Layers { set: String, reason: String },
    #[error("set `{set}` is not extruded, so a loop over it has no regions; omit the region")]
    Region { set: String },
    #[error(
        "map `{map}` leads to the columns of set `{set}`, but data has a row for each cell; use a plain set with an element for each row"
    )]
    MapToExtruded { map: String, set: String },
    #[error("sparsity `{sparsity}`: data on the cells of set `{set}` cannot be reached through a map; put rows and columns on plain sets")]
    SparsityOnCells { sparsity: String, set: String },
    #[error("sparsity `{sparsity}`: data of dimension 0 on set `{set}` has no rows or columns; omit it")]
    SparsityOfNothing { sparsity: String, set: String },
    #[error(
        "sparsity `{sparsity}` has {found} rows, but set `{set}` has {wanted} elements; give the start of each row and the end of the last"
    )]
    SparsityRows { sparsity: String, found: usize, set: String, wanted: usize },
    #[error("map `{map}`: {reason}")]
    MapOffsets { map: String, reason: String },
    #[error("map `{map}`: slot {slot} of element {row} leads to {value} in a column of {cells} cells, but set `{set}` has {size} elements")]
    LayerRange { map: String, row: usize, slot: usize, value: i64, cells: i32, set: String, size: usize },
    #[error("index {index} is out of bounds for set `{set}` with {size} elements")]
    SubsetIndex { set: String, index: i64, size: usize },
    #[error("subsets of `{first}` and of `{second}` cannot be combined; both must be subsets of one set")]
    SubsetsOfDifferentSets { first: String, second: String },
    #[error("map `{map}` has arity 0; the arity must be at least 1")]
    Arity { map: String },
    #[error("map `{map}` cannot start or end at a subset of `{set}`; use `{set}`")]
    MapOnSubset { map: String, set: String },
    #[error("map `{map}` needs {rows} × {arity} values, but {found} were given")]
    MapLength { map: String, found: usize, rows: usize, arity: usize },
    #[error("map `{map}`: entry [{row}, {column}] is {value}, but set `{set}` has {size} elements")]
    MapRange { map: String, row: usize, column: usize, value: i64, set: String, size: usize },
    #[error("sparsity `{sparsity}`: the map `{map}` leads to set `{found}`, but it must lead to set `{wanted}`")]
    SparsityMaps { sparsity: String, map: String, found: String, wanted: String },
    #[error(
        "sparsity `{sparsity}`: the map `{rows}` starts at set `{from}`, but `{columns}` starts at `{other}`; both must start at one set"
    )]
    SparsityFrom { sparsity: String, rows: String, from: String, columns: String, other: String },
    #[error("matrix `{mat}` cannot be multiplied with `{dat}`: {reason}")]
    Product { mat: String, dat: String, reason: &'static str },
    #[error("a system with matrix `{mat}` cannot be solved: {reason}")]
    Solve { mat: String, reason: &'static str },
    #[error("{rows} × {count} numbers do not fit into memory")]
    TooLarge { rows: usize, count: usize },
    #[error("{asked} numbers are needed, but {found} were given")]
    Length { asked: usize, found: usize },
    #[error("numbers of type {asked} were requested, but the data has type {found}")]
    ElementType { asked: DType, found: DType },
    #[error("`{first}` has dimension {first_shape:?}, but `{second}` has {second_shape:?}; both must have the same dimension and set")]
    Shapes { first: String, first_shape: Vec<usize>, second: String, second_shape: Vec<usize> },
    #[error("data `{name}` of {dtype} cannot hold {what}; use data of a type that can")]
    Truncates { name: String, dtype: DType, what: String },
    #[error("{number} is out of range for {dtype}, the type of data `{name}`")]
    NumberRange { number: String, name: String, dtype: DType },
    #[error("`{name}` cannot be a factor; use a number, or a global with one number")]
    NoNumber { name: String },
    #[error("argument {index} (`{name}`): {access} is not allowed for {kind}, only {}", names(allowed))]
    Mode { index: usize, name: String, access: Access, kind: &'static str, allowed: &'static [Access] },
    #[error("kernel `{kernel}` returns {returns}, but the kernel of a loop must return void; write results through its parameters")]
    Returns { kernel: String, returns: String },
    #[error("the program has no loop kernel `{asked}`; it has {}", found.join(", "))]
    NoLoopKernel { asked: String, found: Vec<String> },
    #[error("kernel `{kernel}` takes {takes} arguments, but {given} were given")]
    Count { kernel: String, takes: usize, given: usize },
    #[error("argument {index} (`{name}`) of kernel `{kernel}` is declared `{declared}`, but {given} was given; {advice}")]
    Parameter { kernel: String, index: usize, name: String, declared: String, given: String, advice: &'static str },
    #[error("argument {index} (`{name}`): {data} set `{found}`, but {through} `{wanted}`")]
    WrongSet { index: usize, name: String, data: String, found: String, through: String, wanted: String },
    #[error("arguments cannot be combined into one: {reason}")]
    Parts { reason: String },
    #[error("argument {index} (`{name}`): a facet has a cell below and a cell above it; reach data on cells through a map with an offset")]
    DirectOnFacets { index: usize, name: String },
    #[error("set `{set}` is not extruded, so there is no layer to pass to a kernel; omit pass_layer")]
    NoLayers { set: String },
    #[error("argument {index} (`{name}`): a global has no map; omit `{map}`")]
    MapOfGlobal { index: usize, name: String, map: String },
    #[error("argument {index} (`{name}`): component {component} does not exist; an element has {count} numbers")]
    Component { index: usize, name: String, component: usize, count: usize },
    #[error(
        "`{name}` is argument {first} with {first_access} and argument {second} with {second_access}: one element may read what another has written; copy it first, or use one argument"
    )]
    Conflict { name: String, first: usize, first_access: Access, second: usize, second_access: Access },
    #[error(
        "`{first_name}`, argument {first} with {first_access}, and `{second_name}`, argument {second} with {second_access}, share memory: one element may read what another has written; pass the same data for both, or copy one of them"
    )]
    SharedMemory { first_name: String, first: usize, first_access: Access, second_name: String, second: usize, second_access: Access },
    #[error("kernel `{kernel}` needs {bytes} bytes per element, but the limit is {most}; {advice}")]
    TooMuchForElement { kernel: String, bytes: usize, most: usize, advice: String },
    #[error("plan `{plan}` cannot run kernel `{kernel}` on {device}: {reason}")]
    Plan { plan: &'static str, kernel: String, device: String, reason: &'static str },
    #[error(
        "kernel `{kernel}` leaves entry {entry:?} of argument {index} (`{name}`) unwritten for element {element}; write every entry of what is passed with WRITE, or pass it with RW"
    )]
    Unwritten { kernel: String, index: usize, name: String, element: String, entry: Vec<usize> },
    #[error("set `{set}` cannot be distributed: {reason}")]
    Distribute { set: String, reason: String },
    #[error("`{name}` was created before its set `{set}` was distributed; create it afterwards")]
    MadeBefore { name: String, set: String },
    #[error("map `{map}` cannot be created on distributed set `{set}`; create it before the set is distributed")]
    LateMap { map: String, set: String },
    #[error("kernel `{kernel}` cannot run over distributed set `{set}`: {reason}")]
    Distributed { kernel: String, set: String, reason: &'static str },
    #[error(
        "rank {rank} runs {own}, but rank {other} runs {others}; all processes must run the same loops in the same order, and take arrays such as `data` together"
    )]
    Mismatch { rank: usize, own: String, other: usize, others: String },
    #[error(transparent)]
    Mpi(#[from] parloop_mpi::MpiError),
    #[error(transparent)]
    Making(#[from] crate::plan::PlanError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Loop(#[from] Box<LoopError>),
}

impl From<LoopError> for MeshError {
    fn from(error: LoopError) -> MeshError {
        MeshError::Loop(Box::new(error))
    }
}

fn names(list: &[Access]) -> String {
    list.iter().map(|access| access.name()).collect::<Vec<_>>().join(", ")
}
