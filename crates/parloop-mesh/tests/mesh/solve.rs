//! Systems of equations: what is called converged is, and what cannot be solved says so.

use parloop_device::{DType, Device, Element};
use parloop_kernel::Context;
use parloop_mesh::{
    Dat, Map, Mat, Method, MixedSystem, Preconditioner, Set, Sizes, Solution, SolveOptions, Sparsity, Storage, solve, solve_mixed,
};

use crate::devices::everywhere;

const METHODS: [Method; 2] = [Method::Cg, Method::Gmres];

/// A dense matrix on a set, as one element sees it.
fn dense<T: Element>(nodes: &Set, values: &[T]) -> Mat {
    let (count, one) = (nodes.rows(), Set::new(1, "one").unwrap());
    let all: Vec<i32> = (0..count as i32).collect();
    let all = Map::new(&one, nodes, count, &all, "all").unwrap();
    let on_nodes = nodes.data(1).unwrap();
    let mat = Mat::zeros(&Sparsity::new(&on_nodes, &on_nodes, &[(&all, &all)], "dense").unwrap(), T::DTYPE, "a").unwrap();
    mat.storage().write(values).unwrap();
    mat
}

fn square<T: Element>(values: &[T]) -> Mat {
    dense(&Set::new(values.len().isqrt(), "nodes").unwrap(), values)
}

fn data<T: Element>(mat: &Mat, values: &[T], name: &str) -> Dat {
    Dat::new(mat.sparsity().rows(), values, name).unwrap()
}

fn solved(mat: &Mat, x: &Dat, b: &Dat, options: SolveOptions, context: &Context) -> Solution {
    solve(mat, x, b, options, context, |_, _| true).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn refused(mat: &Mat, x: &Dat, b: &Dat, options: SolveOptions) -> String {
    solve(mat, x, b, options, &everywhere(&[1])[0], |_, _| true).unwrap_err().to_string()
}

fn with(method: Method) -> SolveOptions {
    SolveOptions { method, ..SolveOptions::default() }
}

/// The norm of `b - A x`, in double precision.
fn distance(matrix: &[f64], x: &[f64], b: &[f64]) -> f64 {
    let rows = matrix.chunks(x.len()).zip(b);
    rows.map(|(row, b)| b - row.iter().zip(x).map(|(entry, x)| entry * x).sum::<f64>()).fold(0.0, f64::hypot)
}

/// Symmetric, with eigenvalues from one down to one by the condition: a diagonal between two reflections.
fn conditioned(count: usize, condition: f64) -> Vec<f64> {
    let normal: Vec<f64> = (0..count).map(|i| (1.0 + i as f64).sin()).collect();
    let length: f64 = normal.iter().map(|number| number * number).sum();
    let entry = |i: usize, j: usize| f64::from(i == j) - 2.0 * normal[i] * normal[j] / length;
    let value = |k: usize| condition.powf(-(k as f64) / (count as f64 - 1.0));
    let numbers = (0..count * count).map(|at| (0..count).map(|k| entry(at / count, k) * value(k) * entry(k, at % count)).sum());
    numbers.collect()
}

#[test]
fn right_hand_sides_whose_squares_have_no_place_are_solved() {
    for context in everywhere(&[1]) {
        for method in METHODS {
            for preconditioner in [Preconditioner::None, Preconditioner::Jacobi] {
                let options = SolveOptions { preconditioner, ..with(method) };
                for size in [1e200, 1e-200, 1e-305, 3.0] {
                    let mat = square(&[4.0, 1.0, 1.0, 3.0]);
                    let (x, b) = (data(&mat, &[0.0; 2], "x"), data(&mat, &[size; 2], "b"));
                    let solution = solved(&mat, &x, &b, options, &context);
                    let found = x.to_vec::<f64>().unwrap();
                    let is_near = (found[0] / size * 11.0 - 2.0).abs() < 1e-6 && (found[1] / size * 11.0 - 3.0).abs() < 1e-6;
                    assert!(solution.converged && is_near, "{size} {options:?} {context:?}: {solution:?} {found:?}");
                }
                for size in [1e20f32, 1e-25, 1e37] {
                    let mat = square(&[4.0f32, 1.0, 1.0, 3.0]);
                    let (x, b) = (data(&mat, &[0.0f32; 2], "x"), data(&mat, &[size; 2], "b"));
                    let solution = solved(&mat, &x, &b, options, &context);
                    let found = x.to_vec::<f32>().unwrap();
                    let is_near = (found[0] / size * 11.0 - 2.0).abs() < 1e-3 && (found[1] / size * 11.0 - 3.0).abs() < 1e-3;
                    assert!(solution.converged && is_near, "{size} {options:?} {context:?}: {solution:?} {found:?}");
                }
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_never_converge() {
    for context in everywhere(&[1]) {
        for (method, wrong) in METHODS.into_iter().flat_map(|method| [(method, f64::INFINITY), (method, f64::NAN)]) {
            let mat = square(&[4.0, 1.0, 1.0, 3.0]);
            let (x, b) = (data(&mat, &[5.0, 6.0], "x"), data(&mat, &[wrong, 1.0], "b"));
            let solution = solved(&mat, &x, &b, SolveOptions { atol: 1e300, ..with(method) }, &context);
            assert!(!solution.converged && solution.iterations() == 0, "{solution:?}");
            assert_eq!(x.to_vec::<f64>().unwrap(), [5.0, 6.0]);
            let (mat, b) = (square(&[wrong, 1.0, 1.0, 3.0]), data(&mat, &[1.0; 2], "b"));
            let (x, b) = (data(&mat, &[0.0; 2], "x"), data(&mat, &b.to_vec::<f64>().unwrap(), "b"));
            assert!(!solved(&mat, &x, &b, with(method), &context).converged);
        }
    }
}

#[test]
fn systems_without_a_solution_do_not_converge() {
    let cases: [([f64; 4], [f64; 2]); 4] = [
        ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0]),
        ([1.0, -1.0, -1.0, 1.0], [1.0, 1.0]),
        ([0.0, 1.0, 0.0, 0.0], [1.0, 0.0]),
        ([1.0, 0.0, 0.0, 0.0], [1.0, 1.0]),
    ];
    for context in everywhere(&[1]) {
        for (matrix, right) in cases {
            let mat = square(&matrix);
            let (x, b) = (data(&mat, &[0.0; 2], "x"), data(&mat, &right, "b"));
            let options = SolveOptions { preconditioner: Preconditioner::None, ..with(Method::Gmres) };
            let solution = solved(&mat, &x, &b, options, &context);
            let found = x.to_vec::<f64>().unwrap();
            let truth = distance(&matrix, &found, &right);
            let last = *solution.residuals.last().unwrap();
            assert!(!solution.converged && (last - truth).abs() < 1e-12, "{matrix:?}: {solution:?}, but {truth}");
            assert!(solution.iterations() < 10 && found.iter().all(|x| x.abs() < 10.0), "{matrix:?}: {solution:?} {found:?}");
        }
        // A singular system that has solutions.
        let mat = square(&[1.0, -1.0, -1.0, 1.0]);
        let (x, b) = (data(&mat, &[0.0; 2], "x"), data(&mat, &[1.0, -1.0], "b"));
        assert!(solved(&mat, &x, &b, with(Method::Gmres), &context).converged);
    }
}

#[test]
fn conjugate_gradients_say_that_a_matrix_is_not_symmetric() {
    let count = 60;
    let against = |i: usize, j: usize| match (i, j) {
        _ if i == j => 2.0,
        _ if j == i + 1 => -1.9,
        _ if i == j + 1 => 0.1,
        _ => 0.0,
    };
    let values: Vec<f64> = (0..count * count).map(|at| against(at / count, at % count)).collect();
    for context in everywhere(&[1]) {
        let mat = square(&values);
        let (x, b) = (data(&mat, &vec![0.0; count], "x"), data(&mat, &vec![1.0; count], "b"));
        let mut iterations = 0;
        let result = solve(&mat, &x, &b, with(Method::Cg), &context, |iteration, _| {
            iterations = iteration;
            true
        });
        let message =
            "a system with matrix `a` cannot be solved: conjugate gradients need a symmetric matrix, but this one is not; use GMRES";
        assert_eq!(result.unwrap_err().to_string(), message);
        assert!(iterations < 1000, "it went on for {iterations} iterations");
        x.write(&vec![0.0; count]).unwrap();
        assert!(solved(&mat, &x, &b, with(Method::Gmres), &context).converged);
    }
}

#[test]
fn rows_of_an_identity_that_x_fulfils_do_not_disturb_conjugate_gradients() {
    // The first row is that of the identity, its column is not.
    let mat = square(&[1.0, 0.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0]);
    for context in everywhere(&[1]) {
        let (x, b) = (data(&mat, &[3.0, 0.0, 0.0], "x"), data(&mat, &[3.0, 0.0, 0.0], "b"));
        assert!(solved(&mat, &x, &b, with(Method::Cg), &context).converged);
        assert!(distance(&[3.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 3.0], &x.to_vec::<f64>().unwrap(), &[9.0, 6.0, 3.0]) < 1e-6);
    }
}

#[test]
fn nothing_that_needs_the_host_is_recorded() {
    for context in everywhere(&[1, 2]) {
        let mat = square(&[4.0, 1.0, 1.0, 3.0]);
        let (x, b) = (data(&mat, &[0.0; 2], "x"), data(&mat, &[1.0; 2], "b"));
        let device = context.device().id().to_string();
        let message =
            |what: &str| format!("{device}: {what} cannot be recorded; do it before the recording begins or after it is finished");
        for method in METHODS {
            let recording = context.recording().unwrap();
            let error = solve(&mat, &x, &b, with(method), &context, |_, _| true).unwrap_err();
            assert_eq!(error.to_string(), message("the solution of a system"));
            assert!(recording.finish().is_err());
        }
        let recording = context.recording().unwrap();
        assert_eq!(b.norm(&context).unwrap_err().to_string(), message("an inner product or a norm"));
        assert!(recording.finish().is_err());
        let recording = context.recording().unwrap();
        assert_eq!(b.inner(&x, &context).unwrap_err().to_string(), message("an inner product or a norm"));
        assert!(recording.finish().is_err());
        assert!(solved(&mat, &x, &b, SolveOptions::default(), &context).converged);
    }
}

#[test]
fn owned_rows_are_solved_for_the_ghosts_that_are_given() {
    let matrix: Vec<f64> = (0..25).map(|at| if at % 6 == 0 { 7.0 } else { ((at / 5 + at % 5) % 3) as f64 - 1.0 }).collect();
    let right = [1.0, -2.0, 3.0, 40.0, 50.0];
    let nodes = Set::with_sizes(Sizes { core: 2, owned: 3, total: 5 }, "nodes").unwrap();
    for context in everywhere(&[1]) {
        for preconditioner in [Preconditioner::None, Preconditioner::Jacobi] {
            for (method, start) in METHODS.into_iter().flat_map(|method| [(method, [0.0; 5]), (method, [1.0, 2.0, 3.0, 4.0, 5.0])]) {
                // The diagonal of ghosts is of no concern.
                let mut values = matrix.clone();
                (values[18], values[24]) = (0.0, 0.0);
                let mat = dense(&nodes, &values);
                let (x, b) = (data(&mat, &start, "x"), data(&mat, &right, "b"));
                let options = SolveOptions { preconditioner, rtol: Some(1e-12), ..with(method) };
                let solution = solved(&mat, &x, &b, options, &context);
                let found = x.to_vec::<f64>().unwrap();
                assert_eq!(found[3..], start[3..], "ghosts stay as they are");
                let truth = distance(&values[..15], &found, &right[..3]);
                assert!(solution.converged && truth < 1e-10, "{options:?} on {context:?}: {solution:?}, but {truth}");
                assert!(solution.iterations() <= 4, "{solution:?}");
                // Ghosts alone make a right-hand side.
                let (x, b) = (data(&mat, &start, "x"), data(&mat, &[0.0; 5], "b"));
                let solution = solved(&mat, &x, &b, options, &context);
                let truth = distance(&values[..15], &x.to_vec::<f64>().unwrap(), &[0.0; 3]);
                assert!(solution.converged && truth < 1e-10, "{options:?} on {context:?}: {solution:?}, but {truth}");
            }
        }
    }
}

#[test]
fn the_solution_for_zero_is_zero() {
    for context in everywhere(&[1]) {
        for method in METHODS {
            let mat = square(&conditioned(30, 100.0));
            let (x, b) = (data(&mat, &[1.0; 30], "x"), data(&mat, &[0.0; 30], "b"));
            let solution = solved(&mat, &x, &b, with(method), &context);
            assert!(solution.converged && solution.residuals == [0.0], "{solution:?}");
            assert_eq!(x.to_vec::<f64>().unwrap(), [0.0; 30]);
        }
    }
}

#[test]
fn a_solver_stops_where_nothing_is_gained() {
    let matrix = conditioned(30, 100.0);
    let right: Vec<f64> = (0..30).map(|i| (i as f64).cos()).collect();
    for context in everywhere(&[1]) {
        for method in METHODS {
            let mat = square(&matrix);
            let (x, b) = (data(&mat, &[0.0; 30], "x"), data(&mat, &right, "b"));
            let solution = solved(&mat, &x, &b, SolveOptions { rtol: Some(0.0), ..with(method) }, &context);
            let truth = distance(&matrix, &x.to_vec::<f64>().unwrap(), &right);
            assert!(solution.iterations() < 500 && truth < 1e-13, "{method:?} on {context:?}: {solution:?}, {truth}");
            assert_eq!(solution.converged, *solution.residuals.last().unwrap() == 0.0);
        }
    }
}

#[test]
fn what_is_called_converged_is() {
    let right: Vec<f32> = (0..24).map(|i| (3.0 * i as f32).cos()).collect();
    let wide: Vec<f64> = right.iter().map(|&number| f64::from(number)).collect();
    let context = &everywhere(&[1])[0];
    for (method, condition) in METHODS.into_iter().flat_map(|method| [1e1, 1e3, 1e5].map(|condition| (method, condition))) {
        let matrix: Vec<f32> = conditioned(24, condition).into_iter().map(|number| number as f32).collect();
        let mat = square(&matrix);
        let matrix: Vec<f64> = matrix.into_iter().map(f64::from).collect();
        for rtol in [None, Some(1e-8)] {
            let (x, b) = (data(&mat, &[0.0f32; 24], "x"), data(&mat, &right, "b"));
            let options = SolveOptions { rtol, iterations: 500, ..with(method) };
            let solution = solved(&mat, &x, &b, options, context);
            let found: Vec<f64> = x.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect();
            let (truth, last) = (distance(&matrix, &found, &wide), *solution.residuals.last().unwrap());
            // The residual is computed in single precision, with numbers as large as those of x.
            let rounding = 1e-6 * found.iter().fold(0.0, |size: f64, x| size.hypot(*x));
            assert!((truth - last).abs() <= rounding, "{options:?}, condition {condition}: {truth} is not {last}");
            assert!(condition > 10.0 || rtol.is_some() || solution.converged, "{options:?}: {solution:?}");
        }
    }
    let matrix = conditioned(24, 1e8);
    let mat = square(&matrix);
    let (x, b) = (data(&mat, &[0.0; 24], "x"), data(&mat, &wide, "b"));
    let solution = solved(&mat, &x, &b, SolveOptions { rtol: Some(1e-12), iterations: 2000, ..SolveOptions::default() }, context);
    let truth = distance(&matrix, &x.to_vec::<f64>().unwrap(), &wide);
    assert!(!solution.converged || truth < 1e-11, "{:?}, but {truth}", solution.residuals.last());
}

#[test]
fn the_last_residual_is_that_of_x_also_where_it_is_stopped() {
    let matrix = conditioned(40, 1e4);
    let right: Vec<f64> = (0..40).map(|i| (i as f64).cos()).collect();
    let context = &everywhere(&[1])[0];
    for method in METHODS {
        let mat = square(&matrix);
        let (x, b) = (data(&mat, &[0.0; 40], "x"), data(&mat, &right, "b"));
        let solution = solve(&mat, &x, &b, with(method), context, |iteration, _| iteration < 7).unwrap();
        let truth = distance(&matrix, &x.to_vec::<f64>().unwrap(), &right);
        assert!(solution.iterations() == 7 && (solution.residuals[7] - truth).abs() < 1e-12, "{solution:?}, but {truth}");
        let solution = solved(&mat, &x, &b, SolveOptions { iterations: 5, ..with(method) }, context);
        let truth = distance(&matrix, &x.to_vec::<f64>().unwrap(), &right);
        assert!(solution.iterations() == 5 && (solution.residuals[5] - truth).abs() < 1e-12, "{solution:?}, but {truth}");
    }
}

#[test]
fn results_in_the_memory_of_what_is_read_are_refused() {
    let cpu = Device::open("cpu").unwrap();
    let memory = cpu.allocate_zeroed(8 * 8).unwrap();
    let part = |first: usize, rows: usize| {
        let part = memory.slice(8 * first, 8 * rows).unwrap();
        Storage::shared(DType::F64, rows, 1, part, Box::new(())).unwrap()
    };
    let whole = square(&[4.0, 1.0, 1.0, 3.0]);
    let mat = Mat::around(whole.sparsity(), part(0, 4), "a").unwrap();
    let dat = |first: usize, name: &str| Dat::around(whole.sparsity().rows(), part(first, 2), name).unwrap();
    let (inside, after) = (dat(3, "inside"), dat(5, "after"));
    let context = &everywhere(&[1])[0];
    for multiply in [Mat::multiply, Mat::multiply_transposed] {
        let error = multiply(&mat, &after, &inside, context).unwrap_err().to_string();
        assert_eq!(error, "matrix `a` cannot be multiplied with `inside`: it shares memory with the matrix; use other data");
        multiply(&mat, &inside, &after, context).unwrap();
    }
    let told = |what: &str| format!("a system with matrix `a` cannot be solved: {what}");
    assert_eq!(refused(&mat, &inside, &after, with(Method::Cg)), told("x shares memory with the matrix; copy it"));
    assert_eq!(refused(&mat, &after, &dat(6, "near"), with(Method::Cg)), told("x and b share memory; copy one of them"));
}

#[test]
fn options_and_data_that_make_no_sense_are_refused() {
    let mat = square(&[4.0, 1.0, 1.0, 3.0]);
    let (x, b) = (data(&mat, &[7.0; 2], "x"), data(&mat, &[1.0; 2], "b"));
    let told = |what: &str| format!("a system with matrix `a` cannot be solved: {what}");
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let [rtol, atol] = [SolveOptions { rtol: Some(wrong), ..with(Method::Cg) }, SolveOptions { atol: wrong, ..with(Method::Gmres) }];
        assert_eq!(refused(&mat, &x, &b, rtol), told("rtol and atol must be finite and non-negative"));
        assert_eq!(refused(&mat, &x, &b, atol), told("rtol and atol must be finite and non-negative"));
    }
    let restart = SolveOptions { restart: 0, ..with(Method::Gmres) };
    assert_eq!(refused(&mat, &x, &b, restart), told("restart must be at least 1"));
    assert_eq!(refused(&mat, &x, &x, with(Method::Gmres)), told("x and b share memory; copy one of them"));
    let told = |name: &str| format!("matrix `a` cannot be multiplied with `{name}`: it has a different type than the matrix");
    assert_eq!(refused(&mat, &x, &data(&mat, &[1.0f32; 2], "narrow"), with(Method::Cg)), told("narrow"));
    assert_eq!(refused(&mat, &data(&mat, &[1i64; 2], "whole"), &b, with(Method::Cg)), told("whole"));
    let elsewhere = Dat::zeros(&Set::new(2, "others").unwrap().data(1).unwrap(), DType::F64, "elsewhere").unwrap();
    assert_eq!(
        refused(&mat, &x, &elsewhere, with(Method::Gmres)),
        "matrix `a` cannot be multiplied with `elsewhere`: it is on a different set than the matrix"
    );
    assert_eq!(x.to_vec::<f64>().unwrap(), [7.0; 2]);
}

#[test]
fn an_iteration_that_is_replayed_is_one_that_is_done_step_by_step() {
    let (n, one) = (12, Set::new(1, "one").unwrap());
    let sets = [Set::new(n, "first").unwrap(), Set::new(5, "second").unwrap()];
    let all = sets.each_ref().map(|set| Map::new(&one, set, set.rows(), &(0..set.rows() as i32).collect::<Vec<_>>(), "all").unwrap());
    let data = sets.each_ref().map(|set| set.data(1).unwrap());
    // Symmetric and definite, and far from a multiple of the identity: rows and columns are counted through both parts.
    let number = |row: usize, column: usize| if row == column { 4.0 + row as f64 } else { 1.0 / (1.0 + row.abs_diff(column) as f64) };
    let block = |i: usize, j: usize| {
        let mat = Mat::zeros(&Sparsity::new(&data[i], &data[j], &[(&all[i], &all[j])], "s").unwrap(), DType::F64, "block").unwrap();
        let (rows, columns) = (sets[i].rows(), sets[j].rows());
        let values: Vec<f64> = (0..rows * columns).map(|at| number(i * n + at / columns, j * n + at % columns)).collect();
        mat.storage().write(&values).unwrap();
        mat
    };
    let blocks = [vec![block(0, 0), block(0, 1)], vec![block(1, 0), block(1, 1)]];
    let mut histories = Vec::new();
    for context in everywhere(&[1]) {
        let x = data.each_ref().map(|data| Dat::zeros(data, DType::F64, "x").unwrap());
        let b = data
            .each_ref()
            .map(|data| Dat::new(data, &(0..data.set().rows()).map(|row| row as f64 - 3.0).collect::<Vec<_>>(), "b").unwrap());
        let system = MixedSystem { name: "a", blocks: &blocks, x: &x, b: &b };
        let options = SolveOptions { rtol: Some(1e-12), ..SolveOptions::default() };
        let solution = solve_mixed(system, options, &context, |_, _| true).unwrap();
        assert!(solution.converged && solution.iterations() > 4, "{solution:?} on {context:?}");
        histories.push((context, solution.residuals, x.map(|part| part.to_vec::<f64>().unwrap()).concat()));
    }
    let (_, residuals, expected) = &histories[0];
    for (context, found, x) in &histories[1..] {
        assert_eq!(found.len(), residuals.len(), "{context:?}");
        assert!(
            found.iter().zip(residuals).all(|(found, here)| (found - here).abs() <= 1e-6 * here + 1e-12),
            "{found:?} on {context:?}, {residuals:?}"
        );
        assert!(x.iter().zip(expected).all(|(found, here)| (found - here).abs() < 1e-10), "{context:?}");
    }
}
