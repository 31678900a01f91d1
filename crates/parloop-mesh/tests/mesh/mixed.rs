//! Several data as one argument: the kernel gets the numbers of one part after those of another, or matrices beside and below each other.

use parloop_device::DType;
use parloop_mesh::{Access, Arg, Dat, Global, Kernel, Lanes, LoopOptions, Map, Mat, MeshError, ParLoop, PlanChoice, Set, Sparsity};

use crate::devices::everywhere;

const CELLS: usize = 150;

/// Cells with three nodes and two edges each.
struct Mesh {
    cells: Set,
    nodes: Map,
    edges: Map,
}

impl Mesh {
    fn new() -> Mesh {
        let cells = Set::new(CELLS, "cells").unwrap();
        let map = |arity: usize, count: usize, name: &str| {
            let to = Set::new(count, name).unwrap();
            let values: Vec<i32> = (0..CELLS * arity).map(|place| (place * 37 % count) as i32).collect();
            Map::new(&cells, &to, arity, &values, name).unwrap()
        };
        let (nodes, edges) = (map(3, 91, "nodes"), map(2, 64, "edges"));
        Mesh { cells, nodes, edges }
    }

    fn target(map: &Map, cell: usize, slot: usize) -> usize {
        map.values().unwrap()[cell * map.arity() + slot] as usize
    }
}

fn kernel(source: &str) -> Kernel {
    // SAFETY: the kernels below stay inside of what the loops pass.
    unsafe { Kernel::new(source, "k").unwrap() }
}

/// Runs a loop by every plan, checked or in lanes as the ways say, on every device, and looks at what it left.
fn everyhow(kernel: &Kernel, set: &Set, ways: &[(bool, Lanes)], make: impl Fn() -> (Vec<Arg>, Box<dyn Fn(&str)>)) {
    let mut ran = 0;
    for context in everywhere(&[1, 2]) {
        for plan in PlanChoice::ALL {
            for &(checked, lanes) in ways {
                let options = LoopOptions { plan, checked, lanes, ..LoopOptions::default() };
                let (args, look) = make();
                match ParLoop::new(kernel, set, args, options).unwrap().run(&context) {
                    Ok(()) => ran += 1,
                    Err(MeshError::Plan { .. }) => continue,
                    Err(error) => panic!("{error} by {options:?} on {context:?}"),
                }
                look(&format!("{options:?} on {context:?}"));
            }
        }
    }
    assert!(ran >= 4 * ways.len(), "{ran}");
}

#[test]
fn parts_of_an_argument_follow_one_another() {
    let mesh = Mesh::new();
    // Two numbers on each of three nodes, one on each of two edges, one of all cells and three of the cell.
    let source =
        "void k(double *sum, const double *from) { for (int i = 0; i < 8; i++) sum[i] += (i + 1) * from[i] + from[8] + from[9 + i % 3]; }";
    let kernel = kernel(source);
    let (nodes, edges) = (mesh.nodes.to().data(2).unwrap(), mesh.edges.to().data(1).unwrap());
    let numbers = |count: usize| (0..count).map(|i| (i * 11 % 17) as f64).collect::<Vec<_>>();
    let (x, y, z) = (numbers(182), numbers(64), numbers(3 * CELLS));
    let (mut on_nodes, mut on_edges) = (vec![0.0; 182], vec![0.0; 64]);
    for cell in 0..CELLS {
        for i in 0..8 {
            let common = 5.0 + z[3 * cell + i % 3];
            if i < 6 {
                let place = 2 * Mesh::target(&mesh.nodes, cell, i / 2) + i % 2;
                on_nodes[place] += (i + 1) as f64 * x[place] + common;
            } else {
                let place = Mesh::target(&mesh.edges, cell, i - 6);
                on_edges[place] += (i + 1) as f64 * y[place] + common;
            }
        }
    }
    let ways = [(false, Lanes::Never), (true, Lanes::Never), (false, Lanes::Always)];
    everyhow(&kernel, &mesh.cells, &ways, || {
        let from_nodes = Dat::new(&nodes, &x, "x").unwrap();
        let from_edges = Dat::new(&edges, &y, "y").unwrap();
        let of_cells = Dat::new(&mesh.cells.data(3).unwrap(), &z, "z").unwrap();
        let of_all = Global::new(1, &[5.0], "all").unwrap();
        let (a, b) = (Dat::zeros(&nodes, DType::F64, "a").unwrap(), Dat::zeros(&edges, DType::F64, "b").unwrap());
        let sum = Arg::mixed([a.arg(Access::Inc, &mesh.nodes), b.arg(Access::Inc, &mesh.edges)]).unwrap();
        let from = Arg::mixed([
            from_nodes.arg(Access::Read, &mesh.nodes),
            from_edges.arg(Access::Read, &mesh.edges),
            of_all.arg(Access::Read),
            of_cells.arg(Access::Read, None),
        ]);
        let (on_nodes, on_edges) = (on_nodes.clone(), on_edges.clone());
        let look = move |at: &str| {
            assert_eq!(a.to_vec::<f64>().unwrap(), on_nodes, "{at}");
            assert_eq!(b.to_vec::<f64>().unwrap(), on_edges, "{at}");
        };
        (vec![sum, from.unwrap()], Box::new(look))
    });
}

#[test]
fn parts_with_rows_of_one_length_are_rows() {
    let mesh = Mesh::new();
    let kernel = kernel("void k(double *sum, double *x[2]) { for (int i = 0; i < 5; i++) sum[0] += (i + 1) * x[i][0] - x[i][1]; }");
    let (nodes, edges) = (mesh.nodes.to().data(2).unwrap(), mesh.edges.to().data(2).unwrap());
    let numbers = |count: usize| (0..count).map(|i| (i * 5 % 13) as f64).collect::<Vec<_>>();
    let (x, y) = (numbers(182), numbers(128));
    let total: f64 = (0..CELLS)
        .flat_map(|cell| (0..5).map(move |i| (cell, i)))
        .map(|(cell, i)| {
            let row = match i {
                0..3 => &x[2 * Mesh::target(&mesh.nodes, cell, i)..][..2],
                _ => &y[2 * Mesh::target(&mesh.edges, cell, i - 3)..][..2],
            };
            (i + 1) as f64 * row[0] - row[1]
        })
        .sum();
    let (x, y) = (Dat::new(&nodes, &x, "x").unwrap(), Dat::new(&edges, &y, "y").unwrap());
    for context in everywhere(&[1, 2]) {
        let sum = Global::new(1, &[0.0], "sum").unwrap();
        let both = Arg::mixed([x.arg(Access::Read, &mesh.nodes), y.arg(Access::Read, &mesh.edges)]).unwrap();
        parloop_mesh::par_loop(&kernel, &mesh.cells, vec![sum.arg(Access::Inc), both], &context).unwrap();
        assert_eq!(sum.to_vec::<f64>().unwrap(), [total], "{context:?}");
    }
}

#[test]
fn what_is_left_unwritten_of_a_part_is_found() {
    let mesh = Mesh::new();
    let kernel = kernel("void k(double *x) { x[0] = 1; x[1] = 2; }");
    let (a, b) = (Dat::zeros(&mesh.cells.data(2).unwrap(), DType::F64, "a"), Dat::zeros(&mesh.cells.data(1).unwrap(), DType::F64, "b"));
    let both = Arg::mixed([a.unwrap().arg(Access::Write, None), b.unwrap().arg(Access::Write, None)]).unwrap();
    let options = LoopOptions { checked: true, ..LoopOptions::default() };
    for context in everywhere(&[1]) {
        let error = ParLoop::new(&kernel, &mesh.cells, vec![both.clone()], options).unwrap().run(&context).unwrap_err().to_string();
        assert!(error.starts_with("kernel `k` leaves entry [2] of argument 0 (`b`) unwritten for element 0;"), "{error}");
    }
}

#[test]
fn matrices_are_beside_and_below_each_other() {
    let mesh = Mesh::new();
    // Rows: two numbers on an edge's two and one on a node's three; columns: the same.
    let source =
        "void k(double *a, double *w) { for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++) a[7 * i + j] += w[0] + i + 10 * j; }";
    let kernel = kernel(source);
    let sides = [(&mesh.edges, 2), (&mesh.nodes, 1)];
    let weight = |cell: usize| (cell % 7) as f64;
    let weights = Dat::new(&mesh.cells.data(1).unwrap(), &(0..CELLS).map(weight).collect::<Vec<_>>(), "weights").unwrap();
    let place = |cell: usize, i: usize| match i {
        0..4 => (0, 2 * Mesh::target(&mesh.edges, cell, i / 2) + i % 2),
        _ => (1, Mesh::target(&mesh.nodes, cell, i - 4)),
    };
    let sizes = [128, 91];
    let mut expected: Vec<Vec<f64>> = (0..4).map(|block| vec![0.0; sizes[block / 2] * sizes[block % 2]]).collect();
    for cell in 0..CELLS {
        for (i, j) in (0..49).map(|place| (place / 7, place % 7)) {
            let ((row_side, row), (column_side, column)) = (place(cell, i), place(cell, j));
            expected[2 * row_side + column_side][row * sizes[column_side] + column] += weight(cell) + i as f64 + 10.0 * j as f64;
        }
    }
    let sparsity = |(rows, row_dim): (&Map, usize), (columns, column_dim): (&Map, usize)| {
        let (row_data, column_data) = (rows.to().data(row_dim).unwrap(), columns.to().data(column_dim).unwrap());
        Sparsity::new(&row_data, &column_data, &[(rows, columns)], "block").unwrap()
    };
    let sparsities: Vec<Sparsity> = sides.iter().flat_map(|&rows| sides.map(|columns| sparsity(rows, columns))).collect();
    everyhow(&kernel, &mesh.cells, &[(false, Lanes::Never)], || {
        let mats: Vec<Mat> = sparsities.iter().map(|sparsity| Mat::zeros(sparsity, DType::F64, "mat").unwrap()).collect();
        let arg = |block: usize| mats[block].arg(Access::Inc, sides[block / 2].0, sides[block % 2].0).unwrap();
        let args = vec![Arg::grid([vec![arg(0), arg(1)], vec![arg(2), arg(3)]]).unwrap(), weights.arg(Access::Read, None)];
        let expected = expected.clone();
        let look = move |at: &str| {
            for (block, mat) in mats.iter().enumerate() {
                assert_eq!(mat.to_dense::<f64>().unwrap(), expected[block], "block {block} by {at}");
            }
        };
        (args, Box::new(look))
    });
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let mesh = Mesh::new();
    let refused = |parts: Vec<Arg>| Arg::mixed(parts).unwrap_err().to_string();
    let x = Dat::zeros(&mesh.cells.data(1).unwrap(), DType::F64, "x").unwrap();
    let n = Dat::zeros(&mesh.cells.data(1).unwrap(), DType::I32, "n").unwrap();
    assert_eq!(refused(vec![]), "arguments cannot be combined into one: there are none");
    assert_eq!(
        refused(vec![x.arg(Access::Read, None), n.arg(Access::Read, None)]),
        "arguments cannot be combined into one: `x` is passed with READ and holds numbers of type float64, but `n` is passed with READ and holds numbers of type int32"
    );
    let data = mesh.nodes.to().data(1).unwrap();
    let mat = Mat::zeros(&Sparsity::new(&data, &data, &[(&mesh.nodes, &mesh.nodes)], "s").unwrap(), DType::F64, "mat").unwrap();
    let arg = mat.arg(Access::Inc, &mesh.nodes, &mesh.nodes).unwrap();
    assert_eq!(refused(vec![arg.clone()]), "arguments cannot be combined into one: a matrix cannot be part of a vector");
    let grid = |rows: Vec<Vec<Arg>>| Arg::grid(rows).unwrap_err().to_string();
    assert!(grid(vec![vec![arg.clone()], vec![arg.clone(), arg]]).ends_with("all rows of a grid must have the same number of parts"));
    assert!(grid(vec![vec![x.arg(Access::Inc, None)]]).ends_with("a part of a grid must be a matrix, but `x` is not"));
}
