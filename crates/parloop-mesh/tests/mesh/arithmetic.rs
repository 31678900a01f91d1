//! Arithmetic of data, against the same in Rust.

use parloop_device::{Complex64, DType, Element};
use parloop_kernel::{Context, Scalar};
use parloop_mesh::{Dat, Global, MeshError, Operand, Operation, Rounding, Set, Sides, Sizes};

type Plain = fn(f64, f64) -> f64;

const OPERATIONS: [(Operation, Plain); 4] = [
    (Operation::Add, |a, b| a + b),
    (Operation::Subtract, |a, b| a - b),
    (Operation::Multiply, |a, b| a * b),
    (Operation::Divide, |a, b| a / b),
];

fn contexts() -> Vec<Context> {
    ["cpu:1", "cpu:2", "opencl", "cuda"].iter().filter_map(|name| Context::open(name).ok()).collect()
}

fn dat<T: Element>(set: &Set, dim: usize, values: &[T], name: &str) -> Dat {
    Dat::new(&set.data(dim).unwrap(), values, name).unwrap()
}

#[test]
fn each_operation_is_that_of_the_numbers() {
    let nodes = Set::new(3, "nodes").unwrap();
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.5, 4.0, 2.0, 8.0, 0.25, 1.0]);
    for context in contexts() {
        for (operation, apply) in OPERATIONS {
            let (a, b) = (dat(&nodes, 2, &x, "a"), dat(&nodes, 2, &y, "b"));
            let of = |other: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..6).map(|i| apply(x[i], other(i))).collect() };
            let pair = Global::new(2, &[2.0, 4.0], "pair").unwrap();
            let operands: [(Operand<'_>, Vec<f64>); 4] = [
                (Operand::Dat(&b), of(&|i| y[i])),
                (Operand::Dat(&a), of(&|i| x[i])),
                (Operand::Global(&pair), of(&|i| [2.0, 4.0][i % 2])),
                (Operand::Number(Scalar::Int(2)), of(&|_| 2.0)),
            ];
            for (other, expected) in operands {
                let result = a.zeros_alike().unwrap();
                let sides = Sides { other, is_turned: false, rounding: Rounding::Refuse };
                a.combine_into(&result, operation, sides, &context).unwrap();
                assert_eq!(result.to_vec::<f64>().unwrap(), expected, "{operation:?} on {context:?}");
            }
            let result = a.zeros_alike().unwrap();
            let sides = Sides { other: Operand::Number(Scalar::Float(2.0)), is_turned: true, rounding: Rounding::Refuse };
            a.combine_into(&result, operation, sides, &context).unwrap();
            assert_eq!(result.to_vec::<f64>().unwrap(), x.map(|x| apply(2.0, x)));
            a.update(operation, Operand::Dat(&b), Rounding::Refuse, &context).unwrap();
            assert_eq!(a.to_vec::<f64>().unwrap(), of(&|i| y[i]));
        }
    }
}

#[test]
fn inner_products_leave_ghosts_out_and_conjugate_the_other() {
    let nodes = Set::with_sizes(Sizes { core: 1, owned: 2, total: 3 }, "nodes").unwrap();
    let z = |re, im| Complex64::new(re, im);
    for context in contexts() {
        let a = dat(&nodes, 1, &[z(1.0, 2.0), z(3.0, 0.0), z(100.0, 0.0)], "a");
        let b = dat(&nodes, 1, &[z(0.0, 1.0), z(2.0, 0.0), z(100.0, 0.0)], "b");
        assert_eq!(a.inner(&b, &context).unwrap().to_vec::<Complex64>().unwrap(), [z(8.0, -1.0)]);
        let n = dat(&nodes, 1, &[i32::MAX, i32::MAX, 0], "n");
        let expected = 2 * i64::from(i32::MAX) * i64::from(i32::MAX);
        assert_eq!(n.inner(&n, &context).unwrap().to_vec::<i64>().unwrap(), [expected]);
    }
}

#[test]
fn data_stays_where_it_is_computed() {
    let nodes = Set::new(2, "nodes").unwrap();
    for context in contexts().into_iter().filter(|context| context.device().kind() != parloop_device::DeviceKind::Cpu) {
        let a = dat(&nodes, 3, &[1.0; 6], "a");
        a.update(Operation::Add, Operand::Number(Scalar::Int(1)), Rounding::Refuse, &context).unwrap();
        assert!(a.storage().newest().is_some_and(|at| at.is_same(&context)));
        // Another context is named, but the numbers are not there.
        a.update(Operation::Add, Operand::Number(Scalar::Int(1)), Rounding::Refuse, &Context::open("cpu:1").unwrap()).unwrap();
        let copy = a.zeros_alike().unwrap();
        a.copy_to(&copy).unwrap();
        a.zero().unwrap();
        assert!(a.storage().newest().is_some_and(|at| at.is_same(&context)));
        assert_eq!((copy.to_vec::<f64>().unwrap(), a.to_vec::<f64>().unwrap()), (vec![3.0; 6], vec![0.0; 6]));
    }
}

#[test]
fn what_a_type_cannot_hold_is_refused_or_cut_when_asked() {
    let (context, nodes) = (Context::open("cpu:1").unwrap(), Set::new(2, "nodes").unwrap());
    let n = dat(&nodes, 1, &[3_i64, -3], "n");
    let half = Operand::Number(Scalar::Float(0.5));
    let error = n.update(Operation::Add, half, Rounding::Refuse, &context).unwrap_err();
    assert_eq!(error.to_string(), "data `n` of int64 cannot hold results with 0.5; use data of a type that can");
    assert!(matches!(n.update(Operation::Divide, Operand::Dat(&n), Rounding::Refuse, &context), Err(MeshError::Truncates { .. })));
    n.update(Operation::Add, half, Rounding::Truncate, &context).unwrap();
    assert_eq!(n.to_vec::<i64>().unwrap(), [3, -2]);
    n.update(Operation::Divide, Operand::Number(Scalar::Int(2)), Rounding::Truncate, &context).unwrap();
    assert_eq!(n.to_vec::<i64>().unwrap(), [1, -1]);
    let small = dat(&nodes, 1, &[1_u8, 2], "small");
    let error = small.update(Operation::Add, Operand::Number(Scalar::Int(300)), Rounding::Refuse, &context).unwrap_err();
    assert_eq!(error.to_string(), "300 is out of range for uint8, the type of data `small`");
    assert!(matches!(small.negate_into(&small.zeros_alike().unwrap(), &context), Err(MeshError::Truncates { dtype: DType::U8, .. })));
}

#[test]
fn subsets_are_zeroed_and_copied_alone() {
    let nodes = Set::new(4, "nodes").unwrap();
    for context in contexts() {
        let (a, b) = (dat(&nodes, 1, &[1.0, 2.0, 3.0, 4.0], "a"), dat(&nodes, 1, &[0.0; 4], "b"));
        a.copy_on(&b, &nodes.subset(&[1, 3]).unwrap(), &context).unwrap();
        a.zero_on(&nodes.subset(&[0, 1]).unwrap(), &context).unwrap();
        a.axpy(Operand::Number(Scalar::Int(10)), &b, &context).unwrap();
        assert_eq!((a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap()), (vec![0.0, 20.0, 3.0, 44.0], vec![0.0, 2.0, 0.0, 4.0]));
    }
}

#[test]
fn norms_hold_where_squares_do_not() {
    let nodes = Set::new(2, "nodes").unwrap().data(1).unwrap();
    for context in contexts() {
        for size in [1e200, 1e-200, 1e-310, 1.0, 0.0, f64::INFINITY] {
            let norm = Dat::new(&nodes, &[3.0 * size, -4.0 * size], "d").unwrap().norm(&context).unwrap();
            assert!(norm == 5.0 * size || (norm / size - 5.0).abs() < 1e-12, "{size}: {norm} on {context:?}");
        }
        for size in [1e30f32, 1e-30, 1e-40, 1.0] {
            let norm = Dat::new(&nodes, &[3.0 * size, -4.0 * size], "d").unwrap().norm(&context).unwrap();
            assert!((norm / f64::from(size) - 5.0).abs() < 1e-4, "{size}: {norm} on {context:?}");
        }
        let complex = [Complex64::new(3e200, 0.0), Complex64::new(0.0, 4e200)];
        let norm = Dat::new(&nodes, &complex, "d").unwrap().norm(&context).unwrap();
        assert!((norm / 5e200 - 1.0).abs() < 1e-12, "{norm} on {context:?}");
    }
}
