//! VTK files, read back.

use std::fs;
use std::path::PathBuf;

use parloop_mesh::vtk::{self, Field, Grid, On, Shape, Values, VtkError};

const SQUARE: Grid = Grid { points: &[0., 0., 1., 0., 1., 1., 0., 1.], dim: 2, cells: &[0, 1, 2, 0, 2, 3], shape: Shape::Triangle };

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn written(name: &str, grid: &Grid, fields: &[Field]) -> String {
    vtk::write(path(name), grid, fields).expect("a sound mesh");
    fs::read_to_string(path(name)).expect("the file")
}

/// What stands between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}")).1;
    rest.split_once(end).expect("an end").0
}

fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let kept = group.iter().filter(|&&letter| letter != b'=').count();
        let bits = group.iter().fold(0u32, |bits, &letter| bits << 6 | u32::from(if letter == b'=' { 0 } else { value(letter) }));
        bytes.extend(&bits.to_be_bytes()[1..kept]);
    }
    bytes
}

/// The attributes and the bytes of the array of a name.
fn array(file: &str, name: &str) -> (String, Vec<u8>) {
    let named = format!("Name=\"{name}\"");
    let line = file.lines().find(|line| line.contains(&named)).unwrap_or_else(|| panic!("no {named} in {file}"));
    let bytes = decoded(between(file, &format!("{line}\n"), "\n</DataArray>"));
    let (count, values) = bytes.split_at(8);
    assert_eq!(u64::from_le_bytes(count.try_into().expect("8 bytes")), values.len() as u64);
    (line.to_string(), values.to_vec())
}

fn doubles(file: &str, name: &str) -> Vec<f64> {
    array(file, name).1.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes"))).collect()
}

fn integers(file: &str, name: &str) -> Vec<i32> {
    array(file, name).1.chunks(4).map(|bytes| i32::from_le_bytes(bytes.try_into().expect("4 bytes"))).collect()
}

#[test]
fn a_mesh_is_read_back_as_it_was() {
    let file = written("square.vtu", &SQUARE, &[]);
    assert!(file.contains(r#"<Piece NumberOfPoints="4" NumberOfCells="2">"#));
    assert_eq!(doubles(&file, "Points"), [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.]);
    assert_eq!(integers(&file, "connectivity"), SQUARE.cells);
    let (line, offsets) = array(&file, "offsets");
    assert!(line.contains(r#"type="Int64""#));
    assert_eq!(offsets, [3i64.to_le_bytes(), 6i64.to_le_bytes()].concat());
    assert_eq!(array(&file, "types").1, [5, 5]);
}

#[test]
fn fields_keep_their_types_components_and_places() {
    let velocity = [0.1, 0.2, 0.3, 0.4, f64::NAN, 0.6, f64::INFINITY, -0.0];
    let fields = [
        Field { name: "velocity", on: On::Points, components: 2, values: Values::F64(&velocity) },
        Field { name: "region", on: On::Cells, components: 1, values: Values::I32(&[-7, 8]) },
        Field { name: "p < \"q\" & r", on: On::Cells, components: 1, values: Values::F32(&[1.5, 2.5]) },
        Field { name: "long", on: On::Cells, components: 1, values: Values::I64(&[i64::MIN, (1 << 53) + 1]) },
        Field { name: "count", on: On::Cells, components: 1, values: Values::U64(&[u64::MAX, 1]) },
    ];
    let file = written("fields.vtu", &SQUARE, &fields);
    let (points, cells) = (between(&file, "<PointData>", "</PointData>"), between(&file, "<CellData>", "</CellData>"));
    let (line, bytes) = array(points, "velocity");
    assert_eq!(line, r#"<DataArray type="Float64" Name="velocity" NumberOfComponents="2" format="binary">"#);
    assert_eq!(bytes, velocity.map(f64::to_le_bytes).concat());
    assert_eq!(integers(cells, "region"), [-7, 8]);
    let (line, bytes) = array(cells, "p &lt; &quot;q&quot; &amp; r");
    assert!(line.contains(r#"type="Float32""#));
    assert_eq!(bytes, [1.5f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat());
    let (line, bytes) = array(cells, "long");
    assert!(line.contains(r#"type="Int64""#));
    assert_eq!(bytes, [i64::MIN.to_le_bytes(), ((1i64 << 53) + 1).to_le_bytes()].concat());
    let (line, bytes) = array(cells, "count");
    assert!(line.contains(r#"type="UInt64""#));
    assert_eq!(bytes, [u64::MAX.to_le_bytes(), 1u64.to_le_bytes()].concat());
}

#[test]
fn shapes_have_the_codes_of_vtk() {
    let points: Vec<f64> = (0..24).map(f64::from).collect();
    let cells: Vec<i32> = (0..8).collect();
    let guessed = |arity, dim| Shape::guess(arity, dim).expect("a shape");
    for (shape, code) in [
        (guessed(1, 3), 1),
        (guessed(2, 3), 3),
        (guessed(3, 3), 5),
        (guessed(4, 2), 9),
        (guessed(4, 3), 10),
        (guessed(6, 3), 13),
        (guessed(8, 3), 12),
    ] {
        let grid = Grid { points: &points, dim: 3, cells: &cells[..shape.corners()], shape };
        let file = written(&format!("shape{code}.vtu"), &grid, &[]);
        assert_eq!(array(&file, "types").1, [code]);
        assert_eq!(doubles(&file, "Points"), points);
    }
    assert_eq!(Shape::guess(5, 2), None);
}

#[test]
fn an_empty_mesh_is_a_file_too() {
    let file = written("empty.vtu", &Grid { points: &[], cells: &[], ..SQUARE }, &[]);
    assert_eq!((doubles(&file, "Points"), integers(&file, "connectivity")), (vec![], vec![]));
}

#[test]
fn what_does_not_fit_together_is_refused_before_a_file_is_made() {
    let says = |grid: &Grid, fields: &[Field], message: &str| {
        let error = vtk::write(path("refused.vtu"), grid, fields).expect_err("a refusal");
        assert_eq!(error.to_string(), message);
        assert!(!path("refused.vtu").exists());
    };
    let message = "8 coordinates were given for points of dimension 3; give 1, 2 or 3 coordinates per point";
    says(&Grid { dim: 3, ..SQUARE }, &[], message);
    let message = "8 coordinates were given for points of dimension 0; give 1, 2 or 3 coordinates per point";
    says(&Grid { dim: 0, ..SQUARE }, &[], message);
    let message = "6 corners were given for cells of 4; give 4 per cell";
    says(&Grid { shape: Shape::Quadrilateral, ..SQUARE }, &[], message);
    says(&Grid { cells: &[0, 1, 2, 0, 2, 4], ..SQUARE }, &[], "corner 2 of cell 1 is 4, but there are 4 points");
    says(&Grid { cells: &[0, -1, 2], ..SQUARE }, &[], "corner 1 of cell 0 is -1, but there are 4 points");

    let field = Field { name: "p", on: On::Cells, components: 1, values: Values::I32(&[1, 2]) };
    says(&SQUARE, &[Field { on: On::Points, ..field }], "field `p` has 2 values, but 4 points of 1 components need 4");
    says(&SQUARE, &[Field { components: 2, ..field }], "field `p` has 2 values, but 2 cells of 2 components need 4");
    says(&SQUARE, &[Field { components: 0, ..field }], "field `p` has 0 components; a field needs at least 1");
    let message = format!("field `p` has 2 values, but 2 cells of {0} components need {0}", usize::MAX);
    says(&SQUARE, &[Field { components: usize::MAX, ..field }], &message);
    let message = "invalid field name \"a\\nb\"; a name needs at least one character and cannot have control characters";
    says(&SQUARE, &[Field { name: "a\nb", ..field }], message);
    says(&SQUARE, &[field, field], "two fields on cells are named `p`; give each its own name");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let nowhere = path("no such folder").join("square.vtu");
    let error = vtk::write(&nowhere, &SQUARE, &[]).expect_err("a refusal");
    assert!(matches!(&error, VtkError::Io { path, .. } if *path == nowhere));
    assert!(error.to_string().starts_with(&format!("cannot write `{}`: ", nowhere.display())));
}

#[test]
fn the_index_of_pieces_names_them_and_their_fields() {
    let fields = [
        Field { name: "a<b", on: On::Points, components: 2, values: Values::F32(&[]) },
        Field { name: "n", on: On::Cells, components: 1, values: Values::I64(&[]) },
    ];
    vtk::write_index(path("index.pvtu"), 2, &fields).unwrap();
    let text = fs::read_to_string(path("index.pvtu")).unwrap();
    assert_eq!(between(&text, "<PPointData>\n", "\n</PPointData>"), r#"<PDataArray type="Float32" Name="a&lt;b" NumberOfComponents="2"/>"#);
    assert_eq!(between(&text, "<PCellData>\n", "\n</PCellData>"), r#"<PDataArray type="Int64" Name="n" NumberOfComponents="1"/>"#);
    assert_eq!(
        between(&text, "</PCellData>\n", "</PUnstructuredGrid>"),
        "<Piece Source=\"index_0.vtu\"/>\n<Piece Source=\"index_1.vtu\"/>\n"
    );
    assert!(matches!(vtk::write_index(path("index.pvtu"), 2, &[fields[1], fields[1]]), Err(VtkError::Twice { .. })));
    assert!(matches!(vtk::write_index(path("no folder/index.pvtu"), 2, &fields), Err(VtkError::Io { .. })));
}
