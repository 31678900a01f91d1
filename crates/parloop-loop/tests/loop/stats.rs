//! Counts of points against brute force.

use parloop_device::DType;
use parloop_isl::Set;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::parse;
use parloop_loop::stats::{Count, Direction, Operation, Work};
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::apply;

fn counted(text: &str, values: &[(&str, i64)]) -> (u128, bool) {
    let count = Count::points(&Set::parse(text).unwrap(), 1).unwrap();
    let counted = count.evaluate(&|name| values.iter().find(|(known, _)| name == known).map(|(_, value)| *value)).unwrap();
    (counted.value, counted.exact)
}

#[test]
fn boxes_and_simplices_are_polynomials() {
    let printed = |text: &str| Count::points(&Set::parse(text).unwrap(), 1).unwrap().to_string();
    assert_eq!(printed("{[i]: 0<=i<n}"), "n");
    assert_eq!(printed("{[i,j]: 0<=i<n and 0<=j<m}"), "m*n");
    assert_eq!(printed("{[i,j]: 0<=i<n and 0<=j<=i}"), "n^2/2 + n/2");
    assert_eq!(printed("{[i,j,k]: 0<=i<n and 0<=j<=i and 0<=k<=j}"), "n^3/6 + n^2/2 + n/3");
}

#[test]
fn tiles_that_do_not_divide_are_counted_exactly() {
    for n in [1, 15, 16, 17, 100] {
        let tiles = "{[io,ii,jo,ji]: 0<=ii<16 and 0<=16*io+ii<n and 0<=ji<8 and 0<=8*jo+ji<n}";
        assert_eq!(counted(tiles, &[("n", n)]), ((n * n) as u128, true), "n = {n}");
    }
}

#[test]
fn sets_with_strides_and_of_several_pieces_are_counted() {
    assert_eq!(counted("{[i]: 0<=i<n and i mod 3 = 1}", &[("n", 10)]), (3, true));
    assert_eq!(counted("{[i]: 0<=i<n}", &[("n", 0)]), (0, true));
    assert_eq!(counted("{[i]: 0<=i<n}", &[("n", -5)]), (0, true));
    assert_eq!(counted("{[i,j]: 0<=i<n and 0<=j<n and j<=2*i}", &[("n", 10)]).0, (0..10).map(|i: i64| (2 * i).min(9) as u128 + 1).sum());
}

#[test]
fn a_size_without_a_value_is_named() {
    let count = Count::points(&Set::parse("{[i]: 0<=i<n}").unwrap(), 1).unwrap();
    assert!(count.evaluate(&|_| None).unwrap_err().to_string().contains("the value of n"));
}

#[test]
fn a_product_of_matrices_does_two_n_cubed_operations() {
    let program = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a, b, c").dtype("float32").shape("n, n"))
        .rest()
        .build()
        .unwrap();
    let prepared = parloop_loop::prepare::prepare(&program, Target::C).unwrap();
    let work = Work::of(&prepared, prepared.entry().unwrap()).unwrap();
    assert_eq!(work.operations[&(Operation::Add, DType::F32)].to_string(), "n^3");
    assert_eq!(work.operations[&(Operation::Multiply, DType::F32)].to_string(), "n^3");
    assert_eq!(work.accesses[&("a".into(), Direction::Load)].to_string(), "n^3");
    assert_eq!(work.accesses[&("c".into(), Direction::Store)].to_string(), "n^2");
    let touched = work.footprints[&("a".into(), Direction::Load)].as_ref().unwrap();
    assert_eq!(touched.to_string(), "n^2");
}

#[test]
fn neighbours_in_a_stencil_are_touched_once() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = a[i] + a[i+1] + a[i+2]")
        .data(Data::global("a, out").dtype("float64"))
        .rest()
        .build()
        .unwrap();
    let prepared = parloop_loop::prepare::prepare(&program, Target::C).unwrap();
    let work = Work::of(&prepared, prepared.entry().unwrap()).unwrap();
    let key = ("a".into(), Direction::Load);
    assert_eq!(work.accesses[&key].evaluate(&|_| Some(100)).unwrap().value, 300);
    let touched = work.footprints[&key].as_ref().unwrap().evaluate(&|_| Some(100)).unwrap();
    assert_eq!((touched.value, touched.exact), (102, true));
}

/// Additions and multiplications of float64, for n = 64.
fn flops(program: &Program) -> u128 {
    let prepared = parloop_loop::prepare::prepare(program, Target::C).unwrap();
    let work = Work::of(&prepared, prepared.entry().unwrap()).unwrap();
    let floats = work.operations.iter().filter(|((_, dtype), _)| *dtype == DType::F64);
    floats.map(|(_, count)| count.evaluate(&|_| Some(64)).unwrap().value).sum()
}

#[test]
fn operations_are_those_counted_by_hand_before_and_after_transformations() {
    let split = "split_iname i 16 outer_tag=g.0 inner_tag=l.0";
    // The domain, the instructions, the operations for each point by hand times points, and chains of steps that leave them so.
    let cases: [(&str, &str, u128, &[&[&str]]); 6] = [
        (
            "{[i]: 0<=i<n}",
            "f(x) := 2*x + 1\nout[i] = f(a[i])*f(a[i]) + b[i]",
            4 * 64,
            &[&[], &["expand_subst"], &[split, "add_prefetch a i_inner default_tag=l.auto"], &["expand_subst", split]],
        ),
        ("{[i]: 0<=i<n}", "f(x) := x*x\nout[i] = f(a[i]) + f(b[i])", 3 * 64, &[&[], &["expand_subst"]]),
        ("{[i]: 0<=i<n}", "f(x) := x*x\ng(x) := f(x) + 1\nout[i] = f(a[i]) + g(a[i])", 3 * 64, &[&[], &["expand_subst"]]),
        // `out` changes between the two.
        ("{[i]: 0<=i<n}", "out[i] = 2*out[i] {id=one}\nout[i] = 2*out[i] {id=two, dep=one}", 2 * 64, &[&[]]),
        ("{[i,j]: 0<=i<n and 0<=j<n}", "out[i] = sum(j, 2*a[j] + a[j]*a[j])", 4 * 64 * 64, &[&[]]),
        ("{[i,j]: 0<=i<n and 0<=j<n}", "f(j) := 2*a[j]\nout[i] = sum(j, f(j)*b[i]) + 1", (3 * 64 + 1) * 64, &[&[], &["expand_subst"]]),
    ];
    for (domain, text, expected, chains) in cases {
        let data = Data::global("a, b, out").dtype("float64").shape("n");
        let program = KernelBuilder::new().domain(domain).instructions(text).data(data).rest().build().unwrap();
        for chain in chains {
            let done = chain.iter().fold(program.clone(), |program, step| {
                apply(&program, &parse::step(step).unwrap()).unwrap_or_else(|error| panic!("{step}: {error}"))
            });
            assert_eq!(flops(&done), expected, "{text}, {chain:?}");
        }
    }
}
