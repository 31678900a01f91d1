//! Columns of cells over the elements of a set: what loops over them leave, by every plan on every device, is what plain loops give.

use parloop_device::DType;
use parloop_kernel::Context;
use parloop_mesh::{
    Access, Dat, Global, Kernel, Lanes, LoopOptions, Map, Mat, MeshError, ParLoop, PlanChoice, Region, Set, SetKind, Sparsity,
};

use crate::devices::everywhere;

const REGIONS: [Region; 4] = [Region::All, Region::Bottom, Region::Top, Region::InteriorFacets];

const COLUMNS: usize = 60;

/// Columns over a ring of edges: vertices and the levels between them are numbered upwards, node by node.
struct Ring {
    edges: Set,
    cells: Set,
    /// For each column its lowest layer and how many cells it has.
    columns: Vec<(i32, i32)>,
    periodic: bool,
    /// Two nodes below and two above each cell, and one point in its middle, of a second field with two numbers a layer.
    corners: Map,
    offsets: Vec<i32>,
    quotients: Vec<i32>,
    values: Vec<i32>,
    points: usize,
}

impl Ring {
    /// Of 5 cells each, or of as many as the column says.
    fn new(varied: bool, periodic: bool) -> Ring {
        let edges = Set::new(COLUMNS, "edges").unwrap();
        let column = |edge: usize| if varied { ((edge % 3) as i32, (edge * 7 % 5) as i32) } else { (0, 5) };
        let columns: Vec<(i32, i32)> = (0..COLUMNS).map(column).collect();
        let cells = match varied {
            false => edges.extruded(6, periodic).unwrap(),
            true => {
                let bounds: Vec<[i32; 2]> = columns.iter().map(|&(bottom, cells)| [bottom, bottom + cells + 1]).collect();
                edges.extruded_between(&bounds, periodic).unwrap()
            }
        };
        // Over every node 12 places: a vertex and a point for each layer, one after the other.
        let points = 12 * COLUMNS;
        let offsets = vec![2, 2, 2, 2, 1];
        // The targets of the second and fourth slot are those of the cell above.
        let quotients = if periodic { vec![0, 1, 0, 1, 0] } else { vec![0; 5] };
        let mut values = Vec::new();
        for (edge, (_, cells)) in columns.iter().enumerate() {
            let [left, right] = [12 * edge as i32, 12 * ((edge + 1) % COLUMNS) as i32];
            let above = if periodic { 2 * (1 % cells.max(&1)) } else { 2 };
            values.extend([left, left + above, right, right + above, left + 1]);
        }
        let points_set = Set::new(points, "points").unwrap();
        let quotients_given = periodic.then_some(&quotients[..]);
        let corners = Map::with_offsets(&cells, &points_set, 5, &values, &offsets, quotients_given, "corners").unwrap();
        Ring { edges, cells, columns, periodic, corners, offsets, quotients, values, points }
    }

    /// The layers of a column that a region has.
    fn layers(&self, edge: usize, region: Region) -> Vec<i32> {
        let cells = self.columns[edge].1;
        match region {
            Region::All => (0..cells).collect(),
            Region::Bottom => (0..cells.min(1)).collect(),
            Region::Top => (cells - 1..cells).filter(|&layer| layer >= 0).collect(),
            Region::InteriorFacets if self.periodic => (0..cells).collect(),
            Region::InteriorFacets => (0..cells - 1).collect(),
        }
    }

    fn target(&self, edge: usize, layer: i32, slot: usize) -> usize {
        let (value, offset, quotient) = (self.values[5 * edge + slot], self.offsets[slot], self.quotients[slot]);
        let cells = self.columns[edge].1;
        let moved = if self.periodic { (layer + quotient) % cells - quotient % cells } else { layer };
        (value + offset * moved) as usize
    }

    fn before(&self, edge: usize) -> i32 {
        self.columns[..edge].iter().map(|(_, cells)| cells).sum()
    }

    /// All columns, and some of them.
    fn sets(&self) -> [(Set, Vec<usize>); 2] {
        let some: Vec<usize> = (0..COLUMNS).filter(|edge| edge % 3 != 1).collect();
        let indices: Vec<i64> = some.iter().map(|&edge| edge as i64).collect();
        [(self.cells.clone(), (0..COLUMNS).collect()), (self.cells.subset(&indices).unwrap(), some)]
    }
}

fn kernel(source: &str) -> Kernel {
    // SAFETY: the kernels below stay inside of what the loops pass.
    unsafe { Kernel::new(source, "k").unwrap() }
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i * 11 % 17) as f64).collect()
}

/// Runs loops by every plan on every device; `ways` are whether they are checked or run in lanes.
fn everyhow(contexts: &[Context], ways: &[(bool, Lanes)], mut run: impl FnMut(LoopOptions, &Context) -> Result<(), MeshError>) {
    for context in contexts {
        let mut ran = 0;
        for plan in PlanChoice::ALL {
            for &(checked, lanes) in ways {
                let options = LoopOptions { plan, checked, lanes, ..LoopOptions::default() };
                match run(options, context) {
                    Ok(()) => ran += 1,
                    Err(MeshError::Plan { .. }) => {}
                    Err(error) => panic!("{error} by {options:?} on {context:?}"),
                }
            }
        }
        assert!(ran > 1, "{ran} on {context:?}");
    }
}

/// Adds what the cells see to the points that they see, to their column and to a sum.
fn check_sums(ring: &Ring, region: Region, contexts: &[Context], ways: &[(bool, Lanes)]) {
    let slots = if region == Region::InteriorFacets { 10 } else { 5 };
    let source = format!(
        "void k(double *to, double *from, double *edge, double *of_column, double *sum, int layer) {{
            for (int i = 0; i < {slots}; i++) {{ to[i] += (i + 1) * from[i] + edge[0]; of_column[0] += from[i] + layer; }}
            sum[0] += layer + edge[0]; }}"
    );
    let (kernel, from, edge) = (kernel(&source), numbers(ring.points), numbers(COLUMNS));
    for (set, columns) in ring.sets() {
        let (mut to, mut of_column, mut sum) = (vec![0.0; ring.points], vec![0.0; COLUMNS], 0.0);
        for column in columns {
            for layer in ring.layers(column, region) {
                let number = f64::from(layer + ring.columns[column].0);
                for i in 0..slots {
                    let target = ring.target(column, layer + (i / 5) as i32, i % 5);
                    to[target] += (i + 1) as f64 * from[target] + edge[column];
                    of_column[column] += from[target] + number;
                }
                sum += number + edge[column];
            }
        }
        let points = ring.corners.to().data(1).unwrap();
        let edges = ring.edges.data(1).unwrap();
        let (from, edge) = (Dat::new(&points, &from, "from").unwrap(), Dat::new(&edges, &edge, "edge").unwrap());
        everyhow(contexts, ways, |options, context| {
            let options = LoopOptions { region, pass_layer: true, ..options };
            let to_here = Dat::zeros(&points, DType::F64, "to").unwrap();
            let of_column_here = Dat::zeros(&edges, DType::F64, "of_column").unwrap();
            let sum_here = Global::new(1, &[0.0], "sum").unwrap();
            let args = vec![
                to_here.arg(Access::Inc, &ring.corners),
                from.arg(Access::Read, &ring.corners),
                edge.arg(Access::Read, None),
                of_column_here.arg(Access::Inc, None),
                sum_here.arg(Access::Inc),
            ];
            let made = ParLoop::new(&kernel, &set, args, options).unwrap_or_else(|error| panic!("{error}"));
            made.run(context)?;
            let at = format!("{options:?} on {context:?} over {set:?}");
            assert_eq!(to_here.to_vec::<f64>().unwrap(), to, "{at}");
            assert_eq!(of_column_here.to_vec::<f64>().unwrap(), of_column, "{at}");
            assert_eq!(sum_here.to_vec::<f64>().unwrap(), [sum], "{at}");
            Ok(())
        });
    }
}

#[test]
fn cells_and_facets_of_equal_columns_add_up() {
    let (ring, contexts) = (Ring::new(false, false), everywhere(&[1, 2]));
    check_sums(&ring, Region::All, &contexts, &[(false, Lanes::Never), (true, Lanes::Never), (false, Lanes::Always)]);
    for region in &REGIONS[1..] {
        check_sums(&ring, *region, &contexts, &[(false, Lanes::Auto)]);
    }
}

#[test]
fn cells_and_facets_of_different_columns_add_up() {
    let (ring, contexts) = (Ring::new(true, false), everywhere(&[1, 2]));
    check_sums(&ring, Region::All, &contexts, &[(true, Lanes::Never), (false, Lanes::Always)]);
    for region in &REGIONS[1..] {
        check_sums(&ring, *region, &contexts, &[(false, Lanes::Auto)]);
    }
}

#[test]
fn periodic_columns_are_closed() {
    let contexts = everywhere(&[2]);
    for varied in [false, true] {
        let ring = Ring::new(varied, true);
        for region in [Region::All, Region::InteriorFacets] {
            check_sums(&ring, region, &contexts, &[(false, Lanes::Auto)]);
        }
    }
}

#[test]
fn data_on_cells_has_a_row_for_each() {
    let kernel = kernel("void k(double *x, double *from, int layer) { x[0] = from[0] + layer; x[1] = from[4]; }");
    for ring in [Ring::new(false, false), Ring::new(true, false)] {
        let from = numbers(ring.points);
        let on_cells = ring.cells.data(2).unwrap();
        let from_here = Dat::new(&ring.corners.to().data(1).unwrap(), &from, "from").unwrap();
        for region in [Region::All, Region::Bottom, Region::Top] {
            for (set, columns) in ring.sets() {
                let mut expected = vec![-1.0; 2 * ring.before(COLUMNS) as usize];
                for column in columns {
                    for layer in ring.layers(column, region) {
                        let row = 2 * (ring.before(column) + layer) as usize;
                        expected[row] = from[ring.target(column, layer, 0)] + f64::from(layer + ring.columns[column].0);
                        expected[row + 1] = from[ring.target(column, layer, 4)];
                    }
                }
                for context in everywhere(&[1, 2]) {
                    let x = Dat::new(&on_cells, &vec![-1.0; expected.len()], "x").unwrap();
                    let options = LoopOptions { region, pass_layer: true, ..LoopOptions::default() };
                    let args = vec![x.arg(Access::Write, None), from_here.arg(Access::Read, &ring.corners)];
                    ParLoop::new(&kernel, &set, args, options).unwrap().run(&context).unwrap();
                    assert_eq!(x.to_vec::<f64>().unwrap(), expected, "{region:?} of {set:?} on {context:?}");
                }
            }
        }
    }
}

#[test]
fn matrices_of_cells_and_facets_add_up() {
    let contexts = everywhere(&[1, 2]);
    for ring in [Ring::new(false, false), Ring::new(true, false), Ring::new(false, true)] {
        let data = ring.corners.to().data(1).unwrap();
        for region in [Region::All, Region::InteriorFacets] {
            let sparsity = Sparsity::in_regions(&data, &data, &[(&ring.corners, &ring.corners, &[region])], "s").unwrap();
            let slots = if region == Region::All { 5 } else { 10 };
            let kernel = kernel(&format!(
                "void k(double *a, double *edge) {{ for (int i = 0; i < {slots}; i++) for (int j = 0; j < {slots}; j++) a[{slots} * i + j] += edge[0] + i + 10 * j; }}"
            ));
            let edge = numbers(COLUMNS);
            let mut expected = vec![0.0; ring.points * ring.points];
            for (column, weight) in edge.iter().enumerate() {
                for layer in ring.layers(column, region) {
                    for (i, j) in (0..slots * slots).map(|place| (place / slots, place % slots)) {
                        let [row, other] = [i, j].map(|slot| ring.target(column, layer + (slot / 5) as i32, slot % 5));
                        expected[row * ring.points + other] += weight + i as f64 + 10.0 * j as f64;
                    }
                }
            }
            let edge = Dat::new(&ring.edges.data(1).unwrap(), &edge, "edge").unwrap();
            for context in &contexts {
                let mat = Mat::zeros(&sparsity, DType::F64, "mat").unwrap();
                let args = vec![mat.arg(Access::Inc, &ring.corners, &ring.corners).unwrap(), edge.arg(Access::Read, None)];
                let options = LoopOptions { region, ..LoopOptions::default() };
                ParLoop::new(&kernel, &ring.cells, args, options).unwrap().run(context).unwrap();
                assert!(mat.to_dense::<f64>().unwrap() == expected, "{region:?} on {context:?}");
            }
        }
    }
}

#[test]
fn maps_that_are_permuted_and_composed_lead_where_their_values_do() {
    let (facets, cells, nodes) = (Set::new(90, "facets").unwrap(), Set::new(40, "cells").unwrap(), Set::new(33, "nodes").unwrap());
    let values = |count: usize, step: usize, limit: usize| (0..count).map(|i| (i * step % limit) as i32).collect::<Vec<_>>();
    let corners = Map::new(&cells, &nodes, 3, &values(120, 7, 33), "corners").unwrap();
    let inside = Map::new(&facets, &cells, 1, &values(90, 11, 40), "inside").unwrap();
    let turned = corners.permuted(&[2, 0, 1], "turned").unwrap();
    let both = turned.after(&inside, "both").unwrap().permuted(&[0, 2, 1], "twice").unwrap();
    let kernel =
        kernel("void k(double *to[1], double *from[1]) { for (int i = 0; i < 3; i++) to[i][0] += (i + 1) * from[(i + 1) % 3][0]; }");
    for (set, map) in [(&cells, &turned), (&facets, &both), (&facets, &corners.after(&inside, "composed").unwrap())] {
        let (from, values) = (numbers(33), map.values().unwrap());
        let mut expected = vec![0.0; 33];
        for row in values.chunks(3) {
            for i in 0..3 {
                expected[row[i] as usize] += (i + 1) as f64 * from[row[(i + 1) % 3] as usize];
            }
        }
        let data = nodes.data(1).unwrap();
        let from = Dat::new(&data, &from, "from").unwrap();
        let ways = [(false, Lanes::Never), (true, Lanes::Never), (false, Lanes::Always)];
        everyhow(&everywhere(&[1, 2]), &ways, |options, context| {
            let to = Dat::zeros(&data, DType::F64, "to").unwrap();
            let made = ParLoop::new(&kernel, set, vec![to.arg(Access::Inc, map), from.arg(Access::Read, map)], options).unwrap();
            made.run(context)?;
            assert_eq!(to.to_vec::<f64>().unwrap(), expected, "{map:?} by {options:?} on {context:?}");
            Ok(())
        });
    }
}

#[test]
fn tables_of_composed_maps_are_not_copied() {
    let (facets, cells) = (Set::new(9, "facets").unwrap(), Set::new(4, "cells").unwrap());
    let inside = Map::new(&facets, &cells, 1, &[0, 1, 2, 3, 0, 1, 2, 3, 0], "inside").unwrap();
    let corners = Map::new(&cells, &cells, 2, &[0, 1, 1, 2, 2, 3, 3, 0], "corners").unwrap();
    let composed = corners.after(&inside, "composed").unwrap();
    let x = Dat::zeros(&cells.data(1).unwrap(), DType::F64, "x").unwrap();
    let kernel = kernel("void k(double *x[1]) { x[0][0] += 1; x[1][0] += 2; }");
    let made = ParLoop::new(&kernel, &facets, vec![x.arg(Access::Inc, &composed)], LoopOptions::default()).unwrap();
    let code = made.code(&Context::open("cpu:1").unwrap()).unwrap();
    assert!(code.iter().any(|code| code.contains("pl_map1") && code.contains("pl_map0")), "{code:?}");
}

#[test]
fn sets_and_maps_that_make_no_sense_are_refused() {
    let edges = Set::new(3, "edges").unwrap();
    let refused = |made: parloop_mesh::Result<Set>| made.unwrap_err().to_string();
    assert_eq!(refused(edges.extruded(1, false)), "set `edges` cannot be extruded: 1 layers have no cells between them; give at least 2");
    assert!(refused(edges.extruded(usize::MAX, false)).contains("cells over each element are more than"));
    assert!(refused(edges.extruded_between(&[[0, 1]], false)).contains("1 pairs of layers were given for 3 elements"));
    assert!(refused(edges.extruded_between(&[[0, 1], [-1, 3], [0, 2]], false)).contains("layers -1 to 3 of element 1 are invalid"));
    assert!(refused(edges.extruded_between(&[[0, i32::MAX]; 3], false)).contains("more than 2147483647 cells in total"));
    let cells = edges.extruded(4, false).unwrap();
    assert!(matches!(cells.kind(), SetKind::Extruded { .. }));
    assert!(refused(cells.extruded(3, false)).contains("only a plain set can be extruded"));
    let points = Set::new(6, "points").unwrap();
    let corners = Map::with_offsets(&cells, &points, 1, &[0, 1, 4], &[1], None, "corners").unwrap();
    let x = Dat::zeros(&points.data(1).unwrap(), DType::F64, "x").unwrap();
    let add = kernel("void k(double *x) { x[0] += 1; }");
    let run = |set: &Set, arg, options| ParLoop::new(&add, set, vec![arg], options).map(drop).unwrap_err().to_string();
    assert_eq!(
        run(&cells, x.arg(Access::Inc, &corners), LoopOptions::default()),
        "map `corners`: slot 0 of element 2 leads to 6 in a column of 3 cells, but set `points` has 6 elements"
    );
    let top = LoopOptions { region: Region::Top, ..LoopOptions::default() };
    let on_edges = Dat::zeros(&edges.data(1).unwrap(), DType::F64, "y").unwrap();
    assert!(run(&edges, on_edges.arg(Access::Inc, None), top).contains("set `edges` is not extruded"));
    let layer = LoopOptions { pass_layer: true, ..LoopOptions::default() };
    assert!(run(&cells, on_edges.arg(Access::Inc, None), layer).contains("takes 1 arguments, but 2 were given"));
    let on_cells = Dat::zeros(&cells.data(1).unwrap(), DType::F64, "z").unwrap();
    let facets = LoopOptions { region: Region::InteriorFacets, ..LoopOptions::default() };
    assert!(run(&cells, on_cells.arg(Access::Write, None), facets).contains("reach data on cells through a map"));
    let to_columns = Map::new(&points, &cells, 1, &[0, 1, 2, 0, 1, 2], "m").unwrap();
    assert!(run(&points, on_cells.arg(Access::Write, &to_columns), LoopOptions::default()).contains("map `m` leads to the columns of set"));
    assert!(corners.permuted(&[1], "p").unwrap_err().to_string().contains("is not a permutation of the 1 slots"));
    let wide = Map::new(&edges, &points, 2, &[0; 6], "wide").unwrap();
    assert!(
        wide.after(&wide, "c")
            .unwrap_err()
            .to_string()
            .contains("has arity 2, but only the last of several maps may have an arity other than 1")
    );
}
