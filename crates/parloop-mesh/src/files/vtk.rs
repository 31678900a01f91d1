//! Meshes and what is on them as VTK files (`.vtu`: XML, unstructured grid; `.pvtu`: the pieces of several processes), for ParaView and other
//! viewers.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

/// The shape of cells. Corners are in VTK's order: polygons go around, the top of a wedge or a hexahedron follows its bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// One corner.
    Vertex,
    /// Two corners.
    Line,
    /// Three corners.
    Triangle,
    /// Four corners around a face.
    Quadrilateral,
    /// Four corners of a solid.
    Tetrahedron,
    /// Six corners: a triangle and the one above it.
    Wedge,
    /// Eight corners: a quadrilateral and the one above it.
    Hexahedron,
}

impl Shape {
    /// The shape that a map of an arity most likely means among points of a dimension: four corners are a tetrahedron in space and a
    /// quadrilateral otherwise.
    pub fn guess(arity: usize, dim: usize) -> Option<Self> {
        match arity {
            1 => Some(Shape::Vertex),
            2 => Some(Shape::Line),
            3 => Some(Shape::Triangle),
            4 if dim == 3 => Some(Shape::Tetrahedron),
            4 => Some(Shape::Quadrilateral),
            6 => Some(Shape::Wedge),
            8 => Some(Shape::Hexahedron),
            _ => None,
        }
    }

    /// How many corners it has.
    pub fn corners(self) -> usize {
        match self {
            Shape::Vertex => 1,
            Shape::Line => 2,
            Shape::Triangle => 3,
            Shape::Quadrilateral | Shape::Tetrahedron => 4,
            Shape::Wedge => 6,
            Shape::Hexahedron => 8,
        }
    }

    /// VTK's number of the shape.
    fn code(self) -> u8 {
        match self {
            Shape::Vertex => 1,
            Shape::Line => 3,
            Shape::Triangle => 5,
            Shape::Quadrilateral => 9,
            Shape::Tetrahedron => 10,
            Shape::Hexahedron => 12,
            Shape::Wedge => 13,
        }
    }
}

/// Points, and cells between them.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    /// Coordinates, point after point.
    pub points: &'a [f64],
    /// How many coordinates a point has: 1, 2 or 3.
    pub dim: usize,
    /// Corners, cell after cell: row-major, as a map has them.
    pub cells: &'a [i32],
    /// The shape of all cells.
    pub shape: Shape,
}

/// What a field is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum On {
    /// Values at points.
    Points,
    /// Values in cells.
    Cells,
}

/// The values of a field.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Integers.
    I32(&'a [i32]),
    /// Long integers.
    I64(&'a [i64]),
    /// Long integers without a sign.
    U64(&'a [u64]),
}

/// Named values on points or cells.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// As the viewer shows it.
    pub name: &'a str,
    /// Where its values are.
    pub on: On,
    /// How many values each point or cell has.
    pub components: usize,
    /// All values, point after point or cell after cell.
    pub values: Values<'a>,
}

/// Why no file was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VtkError {
    /// Coordinates are not whole points, or points have none or too many.
    #[error("{values} coordinates were given for points of dimension {dim}; give 1, 2 or 3 coordinates per point")]
    Points {
        /// How many coordinates there are.
        values: usize,
        /// How many a point has.
        dim: usize,
    },
    /// Corners are not whole cells.
    #[error("{values} corners were given for cells of {corners}; give {corners} per cell")]
    Cells {
        /// How many corners there are.
        values: usize,
        /// How many a cell has.
        corners: usize,
    },
    /// A corner is not a point.
    #[error("corner {corner} of cell {cell} is {value}, but there are {points} points")]
    OutOfRange {
        /// The cell.
        cell: usize,
        /// Which of its corners.
        corner: usize,
        /// What stands there.
        value: i32,
        /// How many points there are.
        points: usize,
    },
    /// A field has too many or too few values.
    #[error("field `{field}` has {values} values, but {count} {on} of {components} components need {expected}", expected = count.saturating_mul(*components))]
    Field {
        /// Its name.
        field: String,
        /// How many values it has.
        values: usize,
        /// What it is on.
        on: On,
        /// How many points or cells there are.
        count: usize,
        /// How many values each of them has.
        components: usize,
    },
    /// A field of no components.
    #[error("field `{field}` has 0 components; a field needs at least 1")]
    NoComponents {
        /// Its name.
        field: String,
    },
    /// A name that a file cannot have.
    #[error("invalid field name {field:?}; a name needs at least one character and cannot have control characters")]
    Name {
        /// The name.
        field: String,
    },
    /// Two fields of one name.
    #[error("two fields on {on} are named `{field}`; give each its own name")]
    Twice {
        /// The name.
        field: String,
        /// What they are on.
        on: On,
    },
    /// The file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Display for On {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            On::Points => "points",
            On::Cells => "cells",
        })
    }
}

/// Writes a mesh, and fields on it, as a `.vtu` file.
///
/// Everything is checked before the file is touched.
///
/// ```no_run
/// use parloop_mesh::vtk::{self, Field, Grid, On, Shape, Values};
///
/// let grid = Grid { points: &[0., 0., 1., 0., 0., 1.], dim: 2, cells: &[0, 1, 2], shape: Shape::Triangle };
/// let pressure = Field { name: "pressure", on: On::Cells, components: 1, values: Values::F64(&[1.5]) };
/// vtk::write("flow.vtu", &grid, &[pressure])?;
/// # Ok::<(), vtk::VtkError>(())
/// ```
///
/// # Errors
/// Coordinates, corners or fields that do not fit together, or what the system says when it cannot write.
pub fn write(path: impl AsRef<Path>, grid: &Grid, fields: &[Field]) -> Result<(), VtkError> {
    let path = path.as_ref();
    grid.check()?;
    check_fields(grid, fields)?;
    let file = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        print(&mut out, grid, fields)?;
        out.flush()
    });
    file.map_err(|source| VtkError::Io { path: path.to_path_buf(), source })
}

/// The file of one of the pieces that the index at `path` names: beside it, with the number of the piece.
///
/// ```
/// use parloop_mesh::vtk;
/// assert_eq!(vtk::piece_of("out/flow.pvtu", 3), std::path::Path::new("out/flow_3.vtu"));
/// ```
pub fn piece_of(path: impl AsRef<Path>, piece: usize) -> PathBuf {
    let path = path.as_ref();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{piece}.vtu"))
}

/// Writes the index (`.pvtu`) of a mesh that several processes write, each its piece with [`write()`] to [`piece_of`]. It takes names, types and
/// components from fields of any piece. A reader sees the whole index or none.
///
/// # Errors
/// Fields that no piece can have, or what the system says when it cannot write.
pub fn write_index(path: impl AsRef<Path>, pieces: usize, fields: &[Field]) -> Result<(), VtkError> {
    let path = path.as_ref();
    check_names(fields)?;
    let unfinished = path.with_extension(format!("pvtu.{}", std::process::id()));
    let written = File::create(&unfinished).and_then(|file| {
        let mut out = BufWriter::new(file);
        print_index(&mut out, path, pieces, fields)?;
        out.flush()?;
        std::fs::rename(&unfinished, path)
    });
    written.map_err(|source| {
        let _ = std::fs::remove_file(&unfinished);
        VtkError::Io { path: path.to_path_buf(), source }
    })
}

impl Grid<'_> {
    fn point_count(&self) -> usize {
        self.points.len() / self.dim
    }

    fn cell_count(&self) -> usize {
        self.cells.len() / self.shape.corners()
    }

    fn count(&self, on: On) -> usize {
        match on {
            On::Points => self.point_count(),
            On::Cells => self.cell_count(),
        }
    }

    fn check(&self) -> Result<(), VtkError> {
        if !(1..=3).contains(&self.dim) || !self.points.len().is_multiple_of(self.dim) {
            return Err(VtkError::Points { values: self.points.len(), dim: self.dim });
        }
        let (corners, points) = (self.shape.corners(), self.point_count());
        if !self.cells.len().is_multiple_of(corners) {
            return Err(VtkError::Cells { values: self.cells.len(), corners });
        }
        match self.cells.iter().position(|&value| usize::try_from(value).map_or(true, |value| value >= points)) {
            None => Ok(()),
            Some(at) => Err(VtkError::OutOfRange { cell: at / corners, corner: at % corners, value: self.cells[at], points }),
        }
    }
}

impl Values<'_> {
    /// VTK's name of the type.
    fn type_name(&self) -> &'static str {
        match self {
            Values::F32(_) => f32::NAME,
            Values::F64(_) => f64::NAME,
            Values::I32(_) => i32::NAME,
            Values::I64(_) => i64::NAME,
            Values::U64(_) => u64::NAME,
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::U64(values) => values.len(),
        }
    }
}

fn check_names(fields: &[Field]) -> Result<(), VtkError> {
    let mut names = HashSet::new();
    for &Field { name, on, components, .. } in fields {
        let field = name.to_string();
        if name.is_empty() || name.contains(char::is_control) {
            return Err(VtkError::Name { field });
        }
        if components == 0 {
            return Err(VtkError::NoComponents { field });
        }
        if !names.insert((on, name)) {
            return Err(VtkError::Twice { field, on });
        }
    }
    Ok(())
}

fn check_fields(grid: &Grid, fields: &[Field]) -> Result<(), VtkError> {
    check_names(fields)?;
    for &Field { name, on, components, values } in fields {
        let (count, values) = (grid.count(on), values.len());
        if count.checked_mul(components) != Some(values) {
            return Err(VtkError::Field { field: name.to_string(), values, on, count, components });
        }
    }
    Ok(())
}

fn print(out: &mut impl Write, grid: &Grid, fields: &[Field]) -> io::Result<()> {
    let (points, cells, corners) = (grid.point_count(), grid.cell_count(), grid.shape.corners());
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#)?;
    writeln!(out, "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>")?;
    // VTK's points have three coordinates.
    let coordinates = grid.points.chunks(grid.dim).flat_map(|point| (0..3).map(|axis| point.get(axis).copied().unwrap_or(0.0)));
    array(out, &Head { name: "Points", components: 3, count: points }, coordinates)?;
    writeln!(out, "</Points>\n<Cells>")?;
    array(out, &Head { name: "connectivity", components: 1, count: grid.cells.len() }, grid.cells.iter().copied())?;
    array(out, &Head { name: "offsets", components: 1, count: cells }, (1..=cells).map(|cell| (cell * corners) as i64))?;
    array(out, &Head { name: "types", components: 1, count: cells }, std::iter::repeat_n(grid.shape.code(), cells))?;
    writeln!(out, "</Cells>")?;
    for (on, element) in [(On::Points, "PointData"), (On::Cells, "CellData")] {
        writeln!(out, "<{element}>")?;
        for field in fields.iter().filter(|field| field.on == on) {
            let head = Head { name: field.name, components: field.components, count: grid.count(on) };
            match field.values {
                Values::F32(values) => array(out, &head, values.iter().copied())?,
                Values::F64(values) => array(out, &head, values.iter().copied())?,
                Values::I32(values) => array(out, &head, values.iter().copied())?,
                Values::I64(values) => array(out, &head, values.iter().copied())?,
                Values::U64(values) => array(out, &head, values.iter().copied())?,
            }
        }
        writeln!(out, "</{element}>")?;
    }
    writeln!(out, "</Piece>\n</UnstructuredGrid>\n</VTKFile>")
}

fn print_index(out: &mut impl Write, path: &Path, pieces: usize, fields: &[Field]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="PUnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#)?;
    writeln!(out, "<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>")?;
    writeln!(out, r#"<PDataArray type="{}" Name="Points" NumberOfComponents="3"/>"#, f64::NAME)?;
    writeln!(out, "</PPoints>")?;
    for (on, element) in [(On::Points, "PPointData"), (On::Cells, "PCellData")] {
        writeln!(out, "<{element}>")?;
        for Field { name, components, values, .. } in fields.iter().filter(|field| field.on == on) {
            let (name, kind) = (escaped(name), values.type_name());
            writeln!(out, r#"<PDataArray type="{kind}" Name="{name}" NumberOfComponents="{components}"/>"#)?;
        }
        writeln!(out, "</{element}>")?;
    }
    for piece in 0..pieces {
        let file = piece_of(path, piece);
        writeln!(out, r#"<Piece Source="{}"/>"#, escaped(&file.file_name().unwrap_or_default().to_string_lossy()))?;
    }
    writeln!(out, "</PUnstructuredGrid>\n</VTKFile>")
}

/// What stands before the values of an array.
struct Head<'a> {
    name: &'a str,
    components: usize,
    count: usize,
}

/// A type of numbers that VTK knows.
trait Number: Copy {
    const NAME: &str;
    const BYTES: usize;
    fn bytes(self) -> impl AsRef<[u8]>;
}

macro_rules! numbers {
    ($($type:ty => $name:literal),*) => {$(
        impl Number for $type {
            const NAME: &str = $name;
            const BYTES: usize = size_of::<$type>();
            fn bytes(self) -> impl AsRef<[u8]> {
                self.to_le_bytes()
            }
        }
    )*};
}

numbers!(f32 => "Float32", f64 => "Float64", i32 => "Int32", i64 => "Int64", u64 => "UInt64", u8 => "UInt8");

fn array<T: Number>(out: &mut impl Write, head: &Head, values: impl Iterator<Item = T>) -> io::Result<()> {
    let (name, components, kind) = (escaped(head.name), head.components, T::NAME);
    // Readers make columns of one component where it is said, and plain arrays where it is not.
    let shape = if components == 1 { String::new() } else { format!(r#" NumberOfComponents="{components}""#) };
    writeln!(out, r#"<DataArray type="{kind}" Name="{name}"{shape} format="binary">"#)?;
    let mut text = EncoderWriter::new(&mut *out, &STANDARD);
    text.write_all(&((head.count * components * T::BYTES) as u64).to_le_bytes())?;
    for value in values {
        text.write_all(value.bytes().as_ref())?;
    }
    text.finish()?;
    drop(text);
    writeln!(out, "\n</DataArray>")
}

/// A name as the value of an XML attribute.
fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
