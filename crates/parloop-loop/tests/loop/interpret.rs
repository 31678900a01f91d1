//! What the interpreter says kernels mean.

use std::collections::BTreeMap;

use parloop_interpret::{InterpretError, Number, interpret};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::prelude::*;
use parloop_loop::prepare::prepare;
use parloop_loop::syntax::{AddressSpace, Program, Target};
use parloop_loop::transform::apply;
use parloop_loop::{Name, loop_args, parse};

use crate::run::contexts;

fn kernel(domain: &str, instructions: &str, types: &[(&str, &str)]) -> Program {
    let builder = KernelBuilder::new().domain(domain).instructions(instructions);
    types
        .iter()
        .fold(builder, |builder, (names, dtype)| builder.data(Data::global(*names).dtype(*dtype).shape("n")))
        .rest()
        .build()
        .unwrap()
}

fn floats(values: &[f64]) -> Vec<Number> {
    values.iter().map(|&value| Number::Float(value)).collect()
}

fn meaning(program: &Program, given: &[(&str, Vec<Number>)]) -> Result<BTreeMap<Name, Vec<Number>>, InterpretError> {
    interpret(program, &given.iter().map(|(name, numbers)| (Name::from(*name), numbers.clone())).collect())
}

#[test]
fn reductions_mean_the_same_before_and_after_they_are_realised() {
    let program = kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "out[i] = sum(j, a[j])", &[("a, out", "float32")]);
    let given = [("n", vec![Number::Int(3)]), ("a", floats(&[1.0, 0.5, 2.0])), ("out", floats(&[0.0; 3]))];
    let expected = floats(&[1.0, 1.5, 3.5]);
    assert_eq!(meaning(&program, &given).unwrap()["out"], expected);
    assert_eq!(meaning(&prepare(&program, Target::C).unwrap(), &given).unwrap()["out"], expected);
}

#[test]
fn sums_and_scans_are_as_wide_as_what_they_are_assigned_to() {
    let chains: [&[&str]; 5] = [
        &[],
        &["realize_reduction"],
        &["realize_reduction force_scan=True"],
        &["split_iname i 8 outer_tag=g.0", "realize_reduction"],
        &["fix_parameters n=4", "tag_inames i=l.0", "realize_reduction force_scan=True"],
    ];
    let a: Vec<i8> = vec![100, 100, 100, -50];
    let expected = vec![100, 200, 300, 250];
    let given =
        [("n", vec![Number::Int(4)]), ("a", a.iter().map(|&value| Number::Int(value.into())).collect()), ("out", vec![Number::Int(0); 4])];
    for text in ["out[i] = sum(j, a[j])", "out[i] = sum(j, sum(k, a[j]))"] {
        let builder = KernelBuilder::new().domain("{[i,j]: 0<=i<n and 0<=j<=i}").domain("{[k]: 0<=k<1}").instructions(text);
        let builder = builder.data(Data::global("a").dtype("int8").shape("n")).data(Data::global("out").dtype("int32").shape("n"));
        let program = builder.rest().build().unwrap();
        let numbers: Vec<Number> = expected.iter().map(|&value| Number::Int(value.into())).collect();
        assert_eq!(meaning(&program, &given).unwrap()["out"], numbers);
        // The inner sum of two is not a scan.
        for steps in chains.iter().filter(|steps| !text.contains('k') || !steps.iter().any(|step| step.contains("force_scan"))) {
            let done = steps.iter().fold(program.clone(), |program, step| apply(&program, &parse::step(step).unwrap()).unwrap());
            let is_fixed = steps.iter().any(|step| step.starts_with("fix_parameters"));
            let given: Vec<_> = given.iter().filter(|(name, _)| !is_fixed || *name != "n").cloned().collect();
            assert_eq!(meaning(&done, &given).unwrap()["out"], numbers, "{text}, {steps:?}");
            for context in contexts() {
                let (a, mut out) = (context.array(&a).unwrap(), context.array(&[0i32; 4]).unwrap());
                done.compile(&context).unwrap().call(loop_args! { a: &a, out: &mut out }).unwrap();
                assert_eq!(out.to_vec().unwrap(), expected, "{text}, {steps:?}");
            }
        }
    }
}

#[test]
fn a_sum_that_moves_is_as_wide_as_it_was() {
    let moved = [
        ("f(u) := sum(j, a[j]) + a[u]\nout[i] = f(i + 2)", "precompute f i", "int32", [350, 200]),
        ("<int32>t[i] = sum(j, a[j]) {id=t}\nout[i] = t[i]//100 {dep=t}", "assignment_to_subst t", "int8", [2, 2]),
    ];
    for (text, step, dtype, expected) in moved {
        let builder = KernelBuilder::new().domain("{[i]: 0<=i<2}").domain("{[j]: 0<=j<4}").instructions(text);
        let builder = builder.data(Data::global("a").dtype("int8").shape("4")).data(Data::global("out").dtype(dtype).shape("2"));
        let program = builder.rest().build().unwrap();
        let given = [("a", [100, 100, 100, -50].map(Number::Int).to_vec()), ("out", vec![Number::Int(0); 2])];
        let done = apply(&program, &parse::step(step).unwrap()).unwrap();
        for program in [&program, &done] {
            assert_eq!(meaning(program, &given).unwrap()["out"], expected.map(Number::Int), "{step}");
        }
    }
}

#[test]
fn work_items_have_their_own_private_values_and_share_local_ones() {
    let text = "<> p = 2*a[4*g + l] {id=p}\ntmp[l] = p {id=put, dep=p}\nout[4*g + l] = tmp[3 - l] + p {dep=put:p}";
    let program = KernelBuilder::new()
        .domain("{[g,l]: 0<=g<n and 0<=l<4}")
        .instructions(text)
        .data(Data::global("a, out").dtype("float64").shape("4*n"))
        .data(Data::temporary("tmp").dtype("float64").shape("4").space(AddressSpace::Local))
        .rest()
        .build()
        .unwrap()
        .tag_inames("g:g.0, l:l.0")
        .unwrap();
    let a: Vec<f64> = (0..8).map(f64::from).collect();
    let expected: Vec<f64> = (0..8).map(|i| 2.0 * (f64::from(i) + f64::from(i / 4 * 4 + 3 - i % 4))).collect();
    let given = [("n", vec![Number::Int(2)]), ("a", floats(&a)), ("out", floats(&[0.0; 8]))];
    assert_eq!(meaning(&prepare(&program, Target::C).unwrap(), &given).unwrap()["out"], floats(&expected));
}

#[test]
fn integers_wrap_and_floats_are_rounded_to_their_type() {
    let program = kernel("{[i]: 0<=i<n}", "u[i] = u[i] + 200\nf[i] = f[i] + 1", &[("u", "uint8"), ("f", "float32")]);
    let given = [("n", vec![Number::Int(1)]), ("u", vec![Number::Int(100)]), ("f", floats(&[16_777_216.0]))];
    let found = meaning(&program, &given).unwrap();
    assert_eq!((found["u"][0], found["f"][0]), (Number::Int(44), Number::Float(16_777_216.0)));
}

#[test]
fn an_index_out_of_bounds_names_array_index_and_limit() {
    let program = kernel("{[i]: 0<=i<n}", "out[i] = a[k[i]]", &[("a, out", "float64"), ("k", "int32")]);
    let given = [("n", vec![Number::Int(1)]), ("a", floats(&[1.0])), ("out", floats(&[0.0])), ("k", vec![Number::Int(-1)])];
    let message = meaning(&program, &given).unwrap_err().to_string();
    assert_eq!(message, "instruction `insn`: index -1 on axis 0 of `a` is out of bounds for length 1");
}

#[test]
fn a_temporary_that_was_not_written_cannot_be_read() {
    let text = "if i > 0\n<> t = a[i] {id=t}\nend\nout[i] = t {dep=t}";
    let program = kernel("{[i]: 0<=i<n}", text, &[("a, out", "float64")]);
    let given = [("n", vec![Number::Int(1)]), ("a", floats(&[1.0])), ("out", floats(&[0.0]))];
    let error = meaning(&program, &given).unwrap_err();
    assert!(matches!(&error, InterpretError::NotWritten { array, .. } if array == "t"), "{error}");
}
