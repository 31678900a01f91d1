//! `parloop.mesh.write_vtk`.

use std::path::PathBuf;

use parloop_device::{DType, Element};
use parloop_mesh as mesh;
use parloop_mesh::Comm;
use parloop_mesh::vtk::{self, On, Shape};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::dat::Dat;
use super::map::Map;
use crate::error::Result;
use crate::exceptions::Exception;

/// The numbers of a field in a type that a file can have.
enum Numbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
}

impl Numbers {
    /// The numbers of the first rows.
    fn of(dat: &mesh::Dat, rows: usize) -> Result<Numbers> {
        fn first<T: Element>(dat: &mesh::Dat, rows: usize) -> Result<Vec<T>> {
            let mut values = dat.to_vec()?;
            values.truncate(rows * dat.dataset().count());
            Ok(values)
        }
        fn widened<T: Element + Into<W>, W>(dat: &mesh::Dat, rows: usize) -> Result<Vec<W>> {
            Ok(first::<T>(dat, rows)?.into_iter().map(Into::into).collect())
        }
        match dat.dtype() {
            DType::F32 => Ok(Numbers::F32(first(dat, rows)?)),
            DType::F64 => Ok(Numbers::F64(first(dat, rows)?)),
            DType::I32 => Ok(Numbers::I32(first(dat, rows)?)),
            DType::I8 => Ok(Numbers::I32(widened::<i8, _>(dat, rows)?)),
            DType::I16 => Ok(Numbers::I32(widened::<i16, _>(dat, rows)?)),
            DType::U8 => Ok(Numbers::I32(widened::<u8, _>(dat, rows)?)),
            DType::U16 => Ok(Numbers::I32(widened::<u16, _>(dat, rows)?)),
            DType::U32 => Ok(Numbers::I64(widened::<u32, _>(dat, rows)?)),
            DType::I64 => Ok(Numbers::I64(first(dat, rows)?)),
            DType::U64 => Ok(Numbers::U64(first(dat, rows)?)),
            dtype => {
                let message =
                    format!("field `{}` has type {dtype}, which VTK files do not support; write its real and imaginary parts", dat.name());
                Err(Exception::DataTypeError.error(message).into())
            }
        }
    }

    fn values(&self) -> vtk::Values<'_> {
        match self {
            Numbers::F32(values) => vtk::Values::F32(values),
            Numbers::F64(values) => vtk::Values::F64(values),
            Numbers::I32(values) => vtk::Values::I32(values),
            Numbers::I64(values) => vtk::Values::I64(values),
            Numbers::U64(values) => vtk::Values::U64(values),
        }
    }
}

fn shape_of(name: Option<&str>, arity: usize, dim: usize) -> Result<Shape> {
    let Some(name) = name else {
        let unknown = || PyValueError::new_err(format!("no cell shape has {arity} corners; cell shapes have 1, 2, 3, 4, 6 or 8"));
        return Ok(Shape::guess(arity, dim).ok_or_else(unknown)?);
    };
    Ok(match name {
        "vertex" => Shape::Vertex,
        "line" => Shape::Line,
        "triangle" => Shape::Triangle,
        "quadrilateral" => Shape::Quadrilateral,
        "tetrahedron" => Shape::Tetrahedron,
        "wedge" => Shape::Wedge,
        "hexahedron" => Shape::Hexahedron,
        _ => {
            let names = "vertex, line, triangle, quadrilateral, tetrahedron, wedge, hexahedron";
            return Err(PyValueError::new_err(format!("unknown shape {name:?}; use one of {names}")).into());
        }
    })
}

/// Writes a mesh and data on it as a VTK file, for ParaView and other viewers.
///
/// Parameters
/// ----------
/// path : path
///     A file ``.vtu``, with all elements, ghosts too; or a file ``.pvtu``, the index of a file for each process with the cells that it owns
///     (``flow_0.vtu`` and so on for ``flow.pvtu``). All processes that share the mesh must call it. ``.vtk``, the ending of an older format,
///     is refused.
/// coordinates : Dat
///     Of dimension 1, 2 or 3 on the nodes.
/// map : Map
///     From cells to their corners, in VTK's order.
/// shape : str, optional
///     The shape of the cells; by default the one that has as many corners.
/// **fields : Dat
///     Data on the nodes or on the cells, by the names that the viewer shows.
///
/// Examples
/// --------
/// >>> import os, tempfile, parloop.mesh as op2
/// >>> cells, nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
/// >>> corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 3, 2]])
/// >>> x = op2.Dat(nodes ** 2, [[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
/// >>> path = os.path.join(tempfile.mkdtemp(), "flow.vtu")
/// >>> op2.write_vtk(path, x, corners, pressure=op2.Dat(cells, [1.0, 2.0]))
/// >>> "pressure" in open(path).read()
/// True
#[pyfunction]
#[pyo3(name = "_write_vtk", signature = (path, coordinates, map, shape=None, **fields))]
pub fn write_vtk<'py>(
    py: Python<'py>,
    path: PathBuf,
    coordinates: &Bound<'py, PyAny>,
    map: &Bound<'py, PyAny>,
    shape: Option<&str>,
    fields: Option<&Bound<'py, PyDict>>,
) -> Result<()> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("vtk")) {
        let (asked, better) = (path.display(), path.with_extension("vtu"));
        let message = format!("`{asked}`: write_vtk writes the VTK XML format, whose files end in .vtu; use `{}`", better.display());
        return Err(PyValueError::new_err(message).into());
    }
    let (points, map) = (Dat::of(coordinates)?.get().mesh(), Map::of(map)?.get().inner()?);
    let is_index = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pvtu"));
    if !is_index && points.dataset().set().halo().is_some() {
        let set = points.dataset().set().name();
        let message = format!("a .vtu file needs all of set `{set}`, which is distributed; write a .pvtu file");
        return Err(Exception::SetValueError.error(message).into());
    }
    if points.dataset().set() != map.to() {
        let (set, to) = (points.dataset().set().name(), map.to().name());
        return Err(Exception::MapValueError.error(format!("the coordinates are on set `{set}`, but the map leads to `{to}`")).into());
    }
    // A process has the points of all cells that it owns; some are ghosts.
    let (points_here, cells_here) = (map.to().rows(), if is_index { map.from().owned_rows() } else { map.from().rows() });
    let renewed = |dat: &mesh::Dat| py.detach(|| if is_index { dat.renew_ghosts() } else { Ok(()) });
    renewed(points)?;
    let comm = points.dataset().set().halo().map_or_else(Comm::alone, |halo| halo.comm().clone());
    let dim = points.dataset().count();
    let points = match Numbers::of(points, points_here)? {
        Numbers::F64(values) => values,
        Numbers::F32(values) => values.into_iter().map(f64::from).collect(),
        Numbers::I32(values) => values.into_iter().map(f64::from).collect(),
        Numbers::I64(values) => values.into_iter().map(|value| value as f64).collect(),
        Numbers::U64(values) => values.into_iter().map(|value| value as f64).collect(),
    };
    let mut cells = map.values()?;
    cells.truncate(cells_here * map.arity());
    let grid = vtk::Grid { points: &points, dim, cells: &cells, shape: shape_of(shape, map.arity(), dim)? };
    if grid.shape.corners() != map.arity() {
        let message = format!("cells with {} corners were requested, but the map has arity {}", grid.shape.corners(), map.arity());
        return Err(Exception::MapValueError.error(message).into());
    }
    let mut named = Vec::new();
    for (name, dat) in fields.into_iter().flatten() {
        let (name, dat) = (name.extract::<String>()?, Dat::of(&dat)?.get().mesh().clone());
        let on = match dat.dataset().set() {
            set if set == map.to() => On::Points,
            set if set == map.from() => On::Cells,
            set => {
                let (nodes, cells) = (map.to().name(), map.from().name());
                let message = format!("field `{name}` is on set `{}`, but the mesh has `{nodes}` and `{cells}`", set.name());
                return Err(Exception::MapValueError.error(message).into());
            }
        };
        if on == On::Points {
            renewed(&dat)?;
        }
        let rows = if on == On::Points { points_here } else { cells_here };
        named.push((name, on, dat.dataset().count(), Numbers::of(&dat, rows)?));
    }
    let fields: Vec<vtk::Field<'_>> = named
        .iter()
        .map(|(name, on, components, numbers)| vtk::Field { name, on: *on, components: *components, values: numbers.values() })
        .collect();
    if !is_index {
        return Ok(py.detach(|| vtk::write(path, &grid, &fields))?);
    }
    py.detach(|| {
        vtk::write(vtk::piece_of(&path, comm.rank()), &grid, &fields)?;
        // The index names files that are there, and nobody goes on before it is.
        comm.barrier().map_err(mesh::MeshError::from)?;
        if comm.rank() == 0 {
            vtk::write_index(&path, comm.size(), &fields)?;
        }
        Ok(comm.barrier().map_err(mesh::MeshError::from)?)
    })
}
