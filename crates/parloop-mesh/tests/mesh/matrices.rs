//! Sparse matrices: what loops assemble, by every plan on every device, is what plain loops give.

use parloop_device::DType;
use parloop_mesh::{Access, Dropped, Kernel, LoopOptions, Map, Mat, MeshError, ParLoop, PlanChoice, Set, Sparsity, par_loop};

use crate::devices::everywhere;

/// Numbers that follow each other without order.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

struct Case {
    cells: Set,
    rows: Map,
    columns: Map,
    dims: (usize, usize),
}

/// Cells that lead to rows and columns at random, one of each more than once.
fn case(seed: u64, count: usize, (row_arity, column_arity): (usize, usize), dims: (usize, usize)) -> Case {
    let mut random = Random(seed);
    let cells = Set::new(count, "cells").unwrap();
    let (lines, posts) = (Set::new(count / 2 + 3, "lines").unwrap(), Set::new(count / 3 + 4, "posts").unwrap());
    let mut values = |arity: usize, to: &Set| (0..count * arity).map(|_| random.below(to.size()) as i32).collect::<Vec<_>>();
    let (row_values, column_values) = (values(row_arity, &lines), values(column_arity, &posts));
    let rows = Map::new(&cells, &lines, row_arity, &row_values, "rows").unwrap();
    let columns = Map::new(&cells, &posts, column_arity, &column_values, "columns").unwrap();
    Case { cells, rows, columns, dims }
}

impl Case {
    fn sparsity(&self) -> Sparsity {
        let (rows, columns) = (self.rows.to().data(self.dims.0).unwrap(), self.columns.to().data(self.dims.1).unwrap());
        Sparsity::new(&rows, &columns, &[(&self.rows, &self.columns)], "sparsity").unwrap()
    }

    /// The rows and columns of what the kernel gets.
    fn block(&self) -> (usize, usize) {
        (self.rows.arity() * self.dims.0, self.columns.arity() * self.dims.1)
    }

    /// A kernel that gives every entry another number: small integers, so that sums are exact in every order.
    fn kernel(&self, writes: bool) -> Kernel {
        let (height, width) = self.block();
        let sign = if writes { "=" } else { "+=" };
        let source = format!(
            "void fill(double *a, double *x) {{ for (int i = 0; i < {height}; i++) for (int j = 0; j < {width}; j++) a[i * {width} + j] {sign} x[0] + i + 10 * j; }}"
        );
        // SAFETY: the block has that many rows and columns, and each cell one number.
        unsafe { Kernel::new(&source, "fill").unwrap() }
    }

    fn weights(&self) -> Vec<f64> {
        (0..self.cells.size()).map(|cell| (cell * 7 % 11) as f64).collect()
    }

    /// What a plain loop over the cells leaves.
    fn expected(&self, writes: bool, dropped: &Dropped) -> Vec<f64> {
        let (row_values, column_values) = (self.rows.values().unwrap(), self.columns.values().unwrap());
        let width = self.columns.to().size() * self.dims.1;
        let mut dense = vec![0.0; self.rows.to().size() * self.dims.0 * width];
        for (cell, weight) in self.weights().into_iter().enumerate() {
            let (height_here, width_here) = self.block();
            for i in 0..height_here {
                for j in 0..width_here {
                    let row = row_values[cell * self.rows.arity() + i / self.dims.0];
                    let column = column_values[cell * self.columns.arity() + j / self.dims.1];
                    let single_row = row * self.dims.0 as i32 + (i % self.dims.0) as i32;
                    let single_column = column * self.dims.1 as i32 + (j % self.dims.1) as i32;
                    if dropped.rows.contains(&row)
                        || dropped.columns.contains(&column)
                        || dropped.single_rows.contains(&single_row)
                        || dropped.single_columns.contains(&single_column)
                    {
                        continue;
                    }
                    let place = (row as usize * self.dims.0 + i % self.dims.0) * width + column as usize * self.dims.1 + j % self.dims.1;
                    let value = weight + i as f64 + 10.0 * j as f64;
                    dense[place] = if writes { value } else { dense[place] + value };
                }
            }
        }
        dense
    }

    /// Runs it by every plan on every device.
    fn check(&self, writes: bool, dropped: &Dropped) -> usize {
        let (kernel, sparsity, expected) = (self.kernel(writes), self.sparsity(), self.expected(writes, dropped));
        let weight = parloop_mesh::Dat::new(&self.cells.data(1).unwrap(), &self.weights(), "weight").unwrap();
        let access = if writes { Access::Write } else { Access::Inc };
        let mut ran = 0;
        for context in everywhere(&[1, 2]) {
            for (plan, checked) in PlanChoice::ALL.into_iter().flat_map(|plan| [(plan, false), (plan, true)]) {
                let mat = Mat::zeros(&sparsity, DType::F64, "mat").unwrap();
                let args = vec![mat.arg_without(access, &self.rows, &self.columns, dropped).unwrap(), weight.arg(Access::Read, None)];
                let options = LoopOptions { plan, checked, ..LoopOptions::default() };
                match ParLoop::new(&kernel, &self.cells, args, options).unwrap_or_else(|error| panic!("{error}")).run(&context) {
                    Ok(()) => ran += 1,
                    Err(MeshError::Plan { .. }) => continue,
                    Err(error) => panic!("{error} by {options:?} on {context:?}"),
                }
                assert_eq!(mat.to_dense::<f64>().unwrap(), expected, "{options:?} on {context:?}");
            }
        }
        ran
    }
}

#[test]
fn sums_of_blocks_are_those_of_a_plain_loop() {
    for (seed, arity, dims) in [(1, (3, 3), (1, 1)), (2, (2, 3), (1, 1)), (3, (3, 2), (2, 3)), (4, (1, 4), (3, 1))] {
        let ran = case(seed, 120, arity, dims).check(false, &Dropped::default());
        assert!(ran >= 12, "{ran}");
    }
}

#[test]
fn the_last_cell_decides_what_is_written() {
    for (seed, arity, dims) in [(5, (3, 3), (1, 1)), (6, (2, 2), (2, 2))] {
        let ran = case(seed, 90, arity, dims).check(true, &Dropped::default());
        assert!(ran >= 12, "{ran}");
    }
}

#[test]
fn rows_and_columns_that_are_dropped_get_nothing() {
    let some = case(7, 100, (3, 2), (2, 1));
    let dropped = Dropped { rows: [0, 5, 17, 30].into(), columns: [1, 8].into(), ..Dropped::default() };
    some.check(false, &dropped);
    some.check(true, &dropped);
    // Of some blocks a row or a column only.
    let singles = Dropped { single_rows: [0, 3, 8, 9, 41].into(), single_columns: [2, 5].into(), ..Dropped::default() };
    some.check(false, &singles);
    some.check(true, &singles);
    let wide = case(14, 100, (2, 2), (1, 3));
    wide.check(false, &Dropped { columns: [4].into(), single_columns: [1, 2, 6, 33].into(), ..Dropped::default() });
    let all = Dropped { rows: (0..some.rows.to().size() as i32).collect(), columns: [].into(), ..Dropped::default() };
    some.check(false, &all);
}

#[test]
fn masks_hold_the_blocks_of_large_elements() {
    // Ten nodes, as a tetrahedron of the second order has: a hundred blocks.
    let ran = case(8, 70, (10, 10), (1, 1)).check(false, &Dropped::default());
    assert!(ran >= 12, "{ran}");
}

#[test]
fn rows_of_a_kernel_are_those_of_the_whole_block() {
    let (edges, nodes) = (Set::new(2, "edges").unwrap(), Set::new(3, "nodes").unwrap());
    let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2], "ends").unwrap();
    let sparsity = Sparsity::new(&nodes.data(1).unwrap(), &nodes.data(1).unwrap(), &[(&ends, &ends)], "line").unwrap();
    for source in [
        "void edge(double k[2][2]) { k[0][0] += 1; k[0][1] -= 2; k[1][0] -= 3; k[1][1] += 4; }",
        "void edge(double *k[2]) { k[0][0] += 1; k[0][1] -= 2; k[1][0] -= 3; k[1][1] += 4; }",
    ] {
        let mat = Mat::zeros(&sparsity, DType::F64, "k").unwrap();
        // SAFETY: two by two numbers.
        let kernel = unsafe { Kernel::new(source, "edge").unwrap() };
        for context in everywhere(&[1]) {
            mat.storage().write(&[0.0; 7]).unwrap();
            par_loop(&kernel, &edges, vec![mat.arg(Access::Inc, &ends, &ends).unwrap()], &context).unwrap();
            assert_eq!(mat.to_dense::<f64>().unwrap(), [1.0, -2.0, 0.0, -3.0, 5.0, -2.0, 0.0, -3.0, 4.0], "{context:?}");
        }
    }
}

#[test]
fn a_block_is_zero_at_first_whether_it_is_checked_or_not() {
    let (cells, nodes) = (Set::new(3, "cells").unwrap(), Set::new(6, "nodes").unwrap());
    let corners = Map::new(&cells, &nodes, 2, &[0, 1, 2, 3, 4, 5], "corners").unwrap();
    let data = nodes.data(1).unwrap();
    let sparsity = Sparsity::new(&data, &data, &[(&corners, &corners)], "s").unwrap();
    // SAFETY: two by two numbers.
    let kernel = unsafe { Kernel::new("void some(double *a) { a[0] += 5; a[3] = 4; }", "some").unwrap() };
    let mut expected = vec![0.0; 36];
    (0..6).for_each(|node| expected[7 * node] = if node % 2 == 0 { 5.0 } else { 4.0 });
    for context in everywhere(&[1]) {
        for (access, checked) in [(Access::Write, false), (Access::Write, true), (Access::Inc, true)] {
            let mat = Mat::zeros(&sparsity, DType::F64, "a").unwrap();
            if access == Access::Write {
                mat.storage().write(&[7.0; 12]).unwrap();
            }
            let options = LoopOptions { checked, ..LoopOptions::default() };
            let args = vec![mat.arg(access, &corners, &corners).unwrap()];
            ParLoop::new(&kernel, &cells, args, options).unwrap().run(&context).unwrap();
            assert_eq!(mat.to_dense::<f64>().unwrap(), expected, "{access:?} {checked} on {context:?}");
        }
    }
}

#[test]
fn elements_whose_blocks_are_dropped_write_their_own_data_all_the_same() {
    let some = case(12, 300, (2, 2), (1, 1));
    // SAFETY: two by two numbers, and one of the cell.
    let kernel = unsafe { Kernel::new("void both(double *a, double *own) { a[0] += 1; a[3] += 2; own[0] = 3; }", "both").unwrap() };
    let mut ran = 0;
    for rows in
        [(0..some.rows.to().size() as i32).filter(|row| row % 2 == 0).collect::<Vec<_>>(), (0..some.rows.to().size() as i32).collect()]
    {
        let dropped = Dropped { rows: rows.into(), columns: [].into(), ..Dropped::default() };
        for context in everywhere(&[2]) {
            for (plan, deterministic) in PlanChoice::ALL.into_iter().flat_map(|plan| [(plan, false), (plan, true)]) {
                let mat = Mat::zeros(&some.sparsity(), DType::F64, "a").unwrap();
                let own = parloop_mesh::Dat::zeros(&some.cells.data(1).unwrap(), DType::F64, "own").unwrap();
                let options = LoopOptions { plan, deterministic, ..LoopOptions::default() };
                let args = vec![mat.arg_without(Access::Inc, &some.rows, &some.columns, &dropped).unwrap(), own.arg(Access::Write, None)];
                match ParLoop::new(&kernel, &some.cells, args, options).unwrap().run(&context) {
                    Ok(()) => ran += 1,
                    Err(MeshError::Plan { .. }) => continue,
                    Err(error) => panic!("{error} by {options:?} on {context:?}"),
                }
                assert_eq!(own.to_vec::<f64>().unwrap(), [3.0; 300], "{options:?} on {context:?}");
            }
        }
    }
    assert!(ran >= 8, "{ran}");
}

#[test]
fn conditions_that_change_with_time_do_not_fill_the_memory() {
    let some = case(13, 40, (2, 2), (1, 1));
    let (kernel, sparsity) = (some.kernel(false), some.sparsity());
    let weight = parloop_mesh::Dat::new(&some.cells.data(1).unwrap(), &some.weights(), "weight").unwrap();
    let context = &everywhere(&[1])[0];
    for row in (0..some.rows.to().size() as i32).chain(0..3) {
        let dropped = Dropped { rows: [row].into(), columns: [].into(), ..Dropped::default() };
        let mat = Mat::zeros(&sparsity, DType::F64, "a").unwrap();
        let args = vec![mat.arg_without(Access::Inc, &some.rows, &some.columns, &dropped).unwrap(), weight.arg(Access::Read, None)];
        par_loop(&kernel, &some.cells, args, context).unwrap();
        assert_eq!(mat.to_dense::<f64>().unwrap(), some.expected(false, &dropped), "{row}");
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let some = case(10, 6, (2, 2), (1, 1));
    let other = case(11, 6, (2, 2), (1, 1));
    let mat = Mat::zeros(&some.sparsity(), DType::F64, "a").unwrap();
    let wrong = |result: parloop_mesh::Result<parloop_mesh::Arg>| result.unwrap_err().to_string();
    assert_eq!(
        wrong(mat.arg(Access::Inc, &some.columns, &some.columns)),
        "sparsity `sparsity`: the map `columns` leads to set `posts`, but it must lead to set `lines`"
    );
    let pairs = [(&some.rows, &other.columns)];
    let (rows, columns) = (some.rows.to().data(1).unwrap(), other.columns.to().data(1).unwrap());
    assert_eq!(
        Sparsity::new(&rows, &columns, &pairs, "s").unwrap_err().to_string(),
        "sparsity `s`: the map `rows` starts at set `cells`, but `columns` starts at `cells`; both must start at one set"
    );
    let kernel = some.kernel(false);
    let weight = parloop_mesh::Dat::new(&some.cells.data(1).unwrap(), &some.weights(), "weight").unwrap();
    let loop_with = |access| {
        let args = vec![mat.arg(access, &some.rows, &some.columns).unwrap(), weight.arg(Access::Read, None)];
        ParLoop::new(&kernel, &some.cells, args, LoopOptions::default()).map(drop).unwrap_err().to_string()
    };
    assert_eq!(loop_with(Access::Read), "argument 0 (`a`): READ is not allowed for a matrix, only WRITE, INC");
    let narrow = Sparsity::new(&some.rows.to().data(1).unwrap(), &some.columns.to().data(1).unwrap(), &[], "none").unwrap();
    let empty = Mat::zeros(&narrow, DType::F64, "empty").unwrap();
    let args = vec![empty.arg(Access::Inc, &some.rows, &some.columns).unwrap(), weight.arg(Access::Read, None)];
    let error = ParLoop::new(&kernel, &some.cells, args, LoopOptions::default()).map(drop).unwrap_err().to_string();
    assert!(error.contains("row") && error.contains("column"), "{error}");
    // This many blocks of one element have no room, whatever the machine.
    let (one, many) = (Set::new(1, "one").unwrap(), Set::new(2, "many").unwrap());
    let wide = Map::new(&one, &many, 3_000_000, &vec![0; 3_000_000], "wide").unwrap();
    let data = many.data(1).unwrap();
    let mat = Mat::zeros(&Sparsity::new(&data, &data, &[], "s").unwrap(), DType::F64, "mat").unwrap();
    // SAFETY: it touches nothing.
    let kernel = unsafe { Kernel::new("void none(double *a) { (void)a; }", "none").unwrap() };
    let args = vec![mat.arg(Access::Inc, &wide, &wide).unwrap()];
    let error = ParLoop::new(&kernel, &one, args, LoopOptions::default()).map(drop).unwrap_err().to_string();
    assert_eq!(error, "kernel `none` needs 72000000000000 bytes per element, but the limit is 524288; pass less data for each element");
}

#[test]
fn products_are_those_of_the_dense_matrix() {
    for (seed, arity, dims) in [(21, (3, 3), (1, 1)), (22, (2, 3), (2, 3)), (23, (2, 2), (1, 3)), (24, (3, 1), (3, 1))] {
        let some = case(seed, 700, arity, dims);
        let sparsity = some.sparsity();
        let mat = Mat::zeros(&sparsity, DType::F64, "a").unwrap();
        let numbers: Vec<f64> = (0..mat.storage().len()).map(|i| (i * 5 % 17) as f64 - 8.0).collect();
        mat.storage().write(&numbers).unwrap();
        let (dense, (rows, columns)) = (mat.to_dense::<f64>().unwrap(), mat.shape());
        for (context, transposed) in everywhere(&[1, 2]).into_iter().flat_map(|context| [(context.clone(), false), (context, true)]) {
            let (from, to) = if transposed { (rows, columns) } else { (columns, rows) };
            let vector: Vec<f64> = (0..from).map(|i| (i * 3 % 7) as f64 - 3.0).collect();
            let entry = |to: usize, from: usize| if transposed { dense[from * columns + to] } else { dense[to * columns + from] };
            let expected: Vec<f64> = (0..to).map(|i| (0..from).map(|j| entry(i, j) * vector[j]).sum()).collect();
            let (on_from, on_to) = match transposed {
                true => (sparsity.rows(), sparsity.columns()),
                false => (sparsity.columns(), sparsity.rows()),
            };
            let x = parloop_mesh::Dat::new(on_from, &vector, "x").unwrap();
            let y = parloop_mesh::Dat::new(on_to, &vec![f64::NAN; to], "y").unwrap();
            let multiply = if transposed { Mat::multiply_transposed } else { Mat::multiply };
            multiply(&mat, &x, &y, &context).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(y.to_vec::<f64>().unwrap(), expected, "transposed {transposed} on {context:?}");
        }
    }
}

#[test]
fn data_that_a_matrix_cannot_be_multiplied_with_is_refused() {
    let some = case(31, 6, (2, 2), (1, 2));
    let sparsity = some.sparsity();
    let mat = Mat::zeros(&sparsity, DType::F64, "a").unwrap();
    let context = &everywhere(&[1])[0];
    let x = parloop_mesh::Dat::zeros(sparsity.columns(), DType::F64, "x").unwrap();
    let y = parloop_mesh::Dat::zeros(sparsity.rows(), DType::F64, "y").unwrap();
    let error = |x: &parloop_mesh::Dat, y: &parloop_mesh::Dat| mat.multiply(x, y, context).unwrap_err().to_string();
    assert_eq!(error(&y, &y), "matrix `a` cannot be multiplied with `y`: it is on a different set than the matrix");
    let narrow = parloop_mesh::Dat::zeros(&some.columns.to().data(1).unwrap(), DType::F64, "narrow").unwrap();
    assert_eq!(error(&narrow, &y), "matrix `a` cannot be multiplied with `narrow`: it has a different dimension than the matrix");
    let short = parloop_mesh::Dat::zeros(sparsity.columns(), DType::F32, "short").unwrap();
    assert_eq!(error(&short, &y), "matrix `a` cannot be multiplied with `short`: it has a different type than the matrix");
    assert_eq!(mat.multiply(&x, &y, context).map_err(|error| error.to_string()), Ok(()));
}

/// The matrix of a line of springs, with both ends held, and a skew part.
fn line(count: usize, skew: f64) -> Mat {
    let (springs, nodes) = (Set::new(count + 1, "springs").unwrap(), Set::new(count, "nodes").unwrap());
    let ends: Vec<i32> = (0..=count as i32).flat_map(|spring| [(spring - 1).max(0), spring.min(count as i32 - 1)]).collect();
    let ends = Map::new(&springs, &nodes, 2, &ends, "ends").unwrap();
    let on_nodes = nodes.data(1).unwrap();
    let sparsity = Sparsity::new(&on_nodes, &on_nodes, &[(&ends, &ends)], "line").unwrap();
    let mat = Mat::zeros(&sparsity, DType::F64, "a").unwrap();
    let columns = (0..count as i32).flat_map(|row| sparsity.pattern().row(row as usize).iter().map(move |&column| column - row));
    let values: Vec<f64> = columns.map(|distance| if distance == 0 { 2.0 } else { -1.0 + skew * f64::from(distance) }).collect();
    mat.storage().write(&values).unwrap();
    mat
}

#[test]
fn systems_are_solved_on_every_device() {
    use parloop_mesh::{Dat, Method, Preconditioner, SolveOptions, solve};
    let (none, jacobi) = (Preconditioner::None, Preconditioner::Jacobi);
    for (method, skew, preconditioner, unknowns) in [
        (Method::Cg, 0.0, none, 60),
        (Method::Cg, 0.0, jacobi, 60),
        // GMRES restarts after 30 iterations, and then needs hundreds.
        (Method::Gmres, 0.3, jacobi, 60),
        (Method::Gmres, 0.3, none, 20),
        (Method::Gmres, 0.0, none, 20),
        (Method::Gmres, 0.0, jacobi, 20),
    ] {
        let mat = line(unknowns, skew);
        let on_nodes = mat.sparsity().rows().clone();
        let wanted: Vec<f64> = (0..unknowns).map(|i| (i % 5) as f64).collect();
        for context in everywhere(&[1, 2]) {
            let [x, b, product] = ["x", "b", "product"].map(|name| Dat::zeros(&on_nodes, DType::F64, name).unwrap());
            let solution = Dat::new(&on_nodes, &wanted, "wanted").unwrap();
            mat.multiply(&solution, &b, &context).unwrap();
            let options = SolveOptions { method, preconditioner, rtol: Some(1e-12), ..SolveOptions::default() };
            let mut seen = Vec::new();
            let solution = solve(&mat, &x, &b, options, &context, |iteration, residual| {
                seen.push((iteration, residual));
                true
            });
            let solution = solution.unwrap();
            assert!(solution.converged, "{options:?} on {context:?}: {solution:?}");
            assert_eq!(seen, solution.residuals.iter().copied().enumerate().collect::<Vec<_>>());
            mat.multiply(&x, &product, &context).unwrap();
            let found = x.to_vec::<f64>().unwrap();
            assert!(
                found.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-7),
                "{options:?} on {context:?}: {found:?}"
            );
        }
    }
}

#[test]
fn systems_that_cannot_be_solved_say_why() {
    use parloop_mesh::{Dat, SolveOptions, solve};
    let context = &everywhere(&[1])[0];
    let mat = line(5, 0.0);
    let on_nodes = mat.sparsity().rows().clone();
    let (x, b) = (Dat::zeros(&on_nodes, DType::F64, "x").unwrap(), Dat::new(&on_nodes, &[1.0; 5], "b").unwrap());
    let solved = |mat: &Mat, options: SolveOptions| solve(mat, &x, &b, options, context, |_, _| true);
    let few = SolveOptions { iterations: 1, ..SolveOptions::default() };
    let solution = solved(&mat, few).unwrap();
    assert!(!solution.converged && solution.iterations() == 1, "{solution:?}");
    let stopped = solve(&mat, &x, &b, SolveOptions::default(), context, |_, _| false).unwrap();
    assert!(!stopped.converged && stopped.iterations() == 0, "{stopped:?}");
    let values = mat.storage().to_vec::<f64>().unwrap();
    mat.storage().write(&values.iter().map(|value| -value).collect::<Vec<_>>()).unwrap();
    let message =
        "a system with matrix `a` cannot be solved: conjugate gradients need a positive definite matrix, but this one is not; use GMRES";
    x.write(&[0.0; 5]).unwrap();
    assert_eq!(
        solved(&mat, SolveOptions { preconditioner: parloop_mesh::Preconditioner::None, ..SolveOptions::default() })
            .unwrap_err()
            .to_string(),
        message
    );
    mat.storage().write(&vec![0.0; values.len()]).unwrap();
    let message = "a system with matrix `a` cannot be solved: its diagonal has zeros, and the Jacobi preconditioner divides by the diagonal; choose another";
    assert_eq!(solved(&mat, SolveOptions::default()).unwrap_err().to_string(), message);
    let wide = case(41, 6, (2, 2), (1, 1));
    let mat = Mat::zeros(&wide.sparsity(), DType::F64, "wide").unwrap();
    assert_eq!(
        solved(&mat, SolveOptions::default()).unwrap_err().to_string(),
        "a system with matrix `wide` cannot be solved: it is not square"
    );
}
