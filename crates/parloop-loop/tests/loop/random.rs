//! Random kernels under random transformations: compiled code gives the numbers of the interpreter for the untransformed kernel.

mod sample;

use std::cell::Cell;
use std::collections::BTreeMap;

use parloop_device::{DType, DeviceKind};
use parloop_interpret::{InterpretError, Number, interpret};
use parloop_kernel::Context;
use parloop_loop::Name;
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, LoopArg, target_of};
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::apply;
use proptest::prelude::*;
use proptest::test_runner::{TestRng, TestRunner};

use crate::run::contexts;
use sample::{Array, Choices, Sample};

/// Each compiled kernel runs for these sizes.
const SIZES: [i64; 3] = [1, 4, 7];

fn number(array: &Array, place: usize) -> Number {
    let spread = i128::try_from(place * 7 + array.name.len() * 5).unwrap() % 9;
    let lowest = if array.dtype == DType::U8 { 0 } else { 4 };
    Number::Int(spread - lowest).to(array.dtype).unwrap()
}

fn length(array: &Array, n: i64) -> usize {
    usize::try_from(2 * n + 6).unwrap().pow(u32::try_from(array.axes).unwrap())
}

fn numbers(array: &Array, n: i64) -> Vec<Number> {
    (0..length(array, n)).map(|place| number(array, place)).collect()
}

fn meaning(sample: &Sample, program: &Program, n: i64) -> Result<BTreeMap<Name, Vec<Number>>, InterpretError> {
    let mut given: BTreeMap<Name, Vec<Number>> =
        sample.arrays.iter().map(|array| (Name::from(array.name.as_str()), numbers(array, n))).collect();
    given.insert("n".into(), vec![Number::Int(n.into())]);
    interpret(program, &given)
}

/// An array on a device, of any type.
macro_rules! held {
    ($($kind:ident $rust:ty: $dtype:ident),*) => {
        enum ArrayMemory { $($kind(parloop_kernel::Array<$rust>)),* }

        impl ArrayMemory {
            fn new(context: &Context, dtype: DType, numbers: &[Number]) -> ArrayMemory {
                match dtype {
                    $(DType::$dtype => {
                        let values: Vec<$rust> = numbers.iter().map(|number| number.real() as $rust).collect();
                        ArrayMemory::$kind(context.array(&values).unwrap())
                    })*
                    _ => unreachable!("no sample has {dtype}"),
                }
            }

            fn argument(&mut self, written: bool, shape: &[i64]) -> LoopArg<'_> {
                match self {
                    $(ArrayMemory::$kind(array) => if written { LoopArg::shaped(array, shape) } else { LoopArg::shaped(&*array, shape) },)*
                }
            }

            fn values(&self) -> Vec<f64> {
                match self {
                    $(ArrayMemory::$kind(array) => array.to_vec().unwrap().into_iter().map(|value| value as f64).collect(),)*
                }
            }
        }
    };
}
held!(F64 f64: F64, F32 f32: F32, I64 i64: I64, I32 i32: I32, U8 u8: U8, I8 i8: I8);

fn compiled(sample: &Sample, executable: &Executable, n: i64) -> BTreeMap<String, Vec<f64>> {
    let context = executable.context();
    let mut held: Vec<ArrayMemory> = sample.arrays.iter().map(|array| ArrayMemory::new(context, array.dtype, &numbers(array, n))).collect();
    let takes = |name: &str| executable.plan().position(name).is_some();
    let mut args: Vec<(&str, LoopArg<'_>)> = Vec::new();
    for (array, held) in sample.arrays.iter().zip(&mut held).filter(|(array, _)| takes(&array.name)) {
        args.push((&array.name, held.argument(array.written, &vec![2 * n + 6; array.axes])));
    }
    args.push(("n", LoopArg::from(i32::try_from(n).unwrap())));
    executable.call(&mut args).unwrap();
    drop(args);
    sample.arrays.iter().zip(&held).map(|(array, held)| (array.name.clone(), held.values())).collect()
}

/// Random transformations of which one is done, the first that is allowed; each as lines of a file.
fn candidates(program: &Program, choices: &mut Choices<'_>) -> Vec<Vec<String>> {
    let kernel = program.entry().unwrap();
    let inames: Vec<&Name> = kernel.inames.keys().collect();
    let (one, two) = (choices.of(&inames), choices.of(&inames));
    match choices.below(8) {
        0..=2 => {
            let by = 2 + choices.below(4);
            let (outer, inner) = (choices.of(&["for", "g.0", "g.1"]), choices.of(&["l.0", "for", "unr", "l.1"]));
            vec![vec![format!("split_iname {one} {by} outer_tag={outer} inner_tag={inner}")]]
        }
        3 => vec![vec![format!("tag_inames {one}={}", choices.of(&["g.0", "l.0", "unr", "g.1", "l.1", "ilp"]))]],
        4 => vec![vec![format!("prioritize_loops [{one}, {two}]")]],
        _ => fetches(&inames, choices),
    }
}

/// Fetches of the arrays, or of rules that stand for them, over one or two inames: few are possible, so that all are tried, beginning anywhere.
fn fetches(inames: &[&Name], choices: &mut Choices<'_>) -> Vec<Vec<String>> {
    let mut sweeps: Vec<String> = inames.iter().map(|iname| iname.to_string()).collect();
    sweeps.extend(inames.iter().zip(inames.iter().skip(1)).map(|(one, two)| format!("[{one}, {two}]")));
    let how = choices.of(&["", " default_tag=l.auto", " default_tag=l.auto fetch_bounding_box=True"]);
    let is_rule = choices.below(2) == 1;
    let mut all = Vec::new();
    for sweep in &sweeps {
        for (array, rule) in [("b", "rb \"b[x, y]\" [x, y]"), ("a", "ra \"a[x]\" x")] {
            all.push(match is_rule {
                true => vec![format!("extract_subst {rule}"), format!("precompute r{array} {sweep}{how}")],
                false => vec![format!("add_prefetch {array} {sweep}{how}")],
            });
        }
    }
    let first = choices.below(all.len());
    all.rotate_left(first);
    // Memory of a work item's own, or of a group, has a size that is known; global memory need not.
    let in_global = |lines: &Vec<String>| lines.iter().map(|line| line.replace(how, " temporary_address_space=global")).collect();
    let others: Vec<Vec<String>> = if how.is_empty() { Vec::new() } else { all.iter().map(in_global).collect() };
    all.into_iter().chain(others).collect()
}

/// The program after these lines, if they are allowed and what they make can be scheduled.
fn applied(program: &Program, lines: &[String]) -> Option<Program> {
    let next = lines.iter().try_fold(program.clone(), |program, line| apply(&program, &parse::step(line).unwrap()).ok())?;
    (next.generate(Target::C).is_ok() && next.generate(Target::OpenCl).is_ok()).then_some(next)
}

/// As many of the steps as are allowed and can be scheduled.
fn transformed(program: &Program, choices: &mut Choices<'_>) -> (Vec<String>, Program) {
    let (mut done, mut program) = (Vec::new(), program.clone());
    while !choices.0.is_empty() {
        let allowed = candidates(&program, choices).into_iter().find_map(|lines| Some((applied(&program, &lines)?, lines)));
        if let Some((next, lines)) = allowed {
            done.extend(lines);
            program = next;
        }
    }
    (done, program)
}

/// How many cases had a step of that name.
#[derive(Default)]
struct Reached {
    prefetch: Cell<u32>,
    precompute: Cell<u32>,
}

fn check(contexts: &[Context], kernel: &[u8], steps: &[u8], reached: &Reached) -> Result<(), TestCaseError> {
    let sample = Sample::draw(&mut Choices(kernel));
    let shown = format!("{:#?}\n{}\n{:?}", sample.domains, sample.instructions, sample.arrays);
    let program = sample.build().map_err(|error| TestCaseError::fail(format!("{error}\n{shown}")))?;
    program.generate(Target::C).map_err(|error| TestCaseError::fail(format!("{error}\n{shown}")))?;
    let mut expected = Vec::new();
    for n in SIZES {
        match meaning(&sample, &program, n) {
            Ok(numbers) => expected.push(numbers),
            // What a float is as an integer too small for it is not defined.
            Err(InterpretError::TooLarge { .. }) => return Err(TestCaseError::reject("a number that has no meaning")),
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{shown}"))),
        }
    }
    let (steps, program) = transformed(&program, &mut Choices(steps));
    for (name, count) in [("add_prefetch", &reached.prefetch), ("precompute", &reached.precompute)] {
        count.set(count.get() + u32::from(steps.iter().any(|step| step.contains(name))));
    }
    for context in contexts {
        let generated = program.generate(target_of(context.device().kind())).unwrap();
        let text = &generated.code.text;
        let executable = Executable::compile(&generated, context)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{shown}\n{steps:?}\n{text}")))?;
        for (n, expected) in SIZES.into_iter().zip(&expected) {
            for (name, found) in compiled(&sample, &executable, n) {
                let expected: Option<Vec<f64>> =
                    expected.get(name.as_str()).map(|numbers| numbers.iter().map(|number| number.real()).collect());
                let device = context.device();
                prop_assert!(
                    expected.as_ref().is_none_or(|expected| *expected == found),
                    "`{name}` for n = {n} on {device:?}: {expected:?} expected, {found:?} found\n{shown}\n{steps:?}\n{text}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn random_transformations_of_random_kernels_change_no_numbers() {
    let open_cl = contexts().into_iter().find(|context| context.device().kind() == DeviceKind::OpenCl);
    let contexts: Vec<Context> = ["cpu:1", "cpu"].map(|name| Context::open(name).unwrap()).into_iter().chain(open_cl).collect();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(128);
    let config = ProptestConfig { cases, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() };
    let bytes = |count| proptest::collection::vec(any::<u8>(), count);
    let reached = Reached::default();
    let both = (bytes(10..120), bytes(0..60));
    // The same kernels each time; more of them with PROPTEST_CASES.
    let same = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, same)
        .run(&both, |(kernel, steps)| check(&contexts, &kernel, &steps, &reached))
        .unwrap_or_else(|error| panic!("{error}"));
    println!("of {cases} cases {} fetch and {} compute ahead", reached.prefetch.get(), reached.precompute.get());
    assert!((reached.prefetch.get() + reached.precompute.get()) * 5 >= cases, "too few cases fetch or compute ahead");
}
