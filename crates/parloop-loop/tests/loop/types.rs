//! Types of names and calls.

use parloop_device::DType;
use parloop_loop::callable::{ArgId, Mangler, ScalarFunction, scope};
use parloop_loop::infer::{InferError, type_of, types, types_so_far};
use parloop_loop::syntax::{Expr, InstructionKind, LoopKernel, Phase, Program, Target, Type};
use std::sync::Arc;

use super::kernels::{array, expr, kernel, number};

fn dtype_of(kernel: &LoopKernel, name: &str) -> Option<DType> {
    let argument = kernel.arguments.iter().find(|argument| argument.name == *name).map(|argument| argument.ty.clone());
    argument.unwrap_or_else(|| kernel.temporaries[name].ty.clone()).and_then(|ty| ty.scalar())
}

fn typed(kernel: LoopKernel) -> Program {
    types(&Program::of(kernel), Target::C).unwrap_or_else(|error| panic!("{error}"))
}

/// The function that the right side of an instruction calls.
fn called(kernel: &LoopKernel, instruction: usize) -> String {
    let rhs = match &kernel.instructions[instruction].kind {
        InstructionKind::Assign(assignment) => &assignment.rhs,
        InstructionKind::Call(call) => &call.rhs,
        other => panic!("{other:?}"),
    };
    let mut found = None;
    rhs.visit(&mut |expr| {
        if let Expr::Call(call) = expr
            && found.is_none()
        {
            found = Some(call.function.to_string());
        }
    });
    found.expect("a call")
}

#[test]
fn a_name_that_is_known_is_resolved_at_once_and_without_types() {
    let program =
        Program::of(kernel("k", &["i"], &["y[i] = sin(x[i]) + unknown(x[i])"], vec![array("x", None, "10"), array("y", None, "10")]));
    let scoped = scope(&program).unwrap();
    assert!(scoped.callables["sin"].types().is_none());
    assert!(!scoped.callables.contains_key("unknown"));
    let mut resolved = Vec::new();
    scoped.kernel("k").unwrap().instructions[0].rhs()[0].visit(&mut |expr| {
        if let Expr::Call(call) = expr {
            resolved.push((call.function.to_string(), call.resolved));
        }
    });
    assert_eq!(resolved, [("sin".to_owned(), true), ("unknown".to_owned(), false)]);
}

#[test]
fn a_call_is_renamed_to_an_entry_for_its_types() {
    let arguments = vec![array("x", Some(DType::F32), "10"), array("y", None, "10")];
    let program = typed(kernel("k", &["i"], &["y[i] = sin(x[i])"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!(called(k, 0), "sin_0");
    assert_eq!(program.callables["sin_0"].name_in_target().unwrap(), "sinf");
    assert_eq!(program.callables["sin_0"].types().unwrap()[&ArgId::result(0)], Type::Scalar(DType::F32));
    assert!(program.callables["sin"].types().is_none());
    assert_eq!(dtype_of(k, "y"), Some(DType::F32));
    assert_eq!(k.phase, Phase::Typed);
}

#[test]
fn two_types_are_two_entries_and_equal_types_share_one() {
    let arguments =
        vec![array("x", Some(DType::F32), "10"), array("z", Some(DType::F64), "10"), array("y", None, "10"), array("w", None, "10")];
    let program = typed(kernel("k", &["i"], &["y[i] = sin(x[i]) + sin(x[i] + 1)", "w[i] = sin(z[i])"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!((called(k, 0).as_str(), called(k, 1).as_str()), ("sin_0", "sin_1"));
    assert_eq!(program.callables["sin_1"].name_in_target().unwrap(), "sin");
    assert_eq!(program.callables.keys().filter(|name| name.starts_with("sin")).count(), 3);
}

#[test]
fn types_found_twice_are_the_same() {
    let arguments = vec![array("x", Some(DType::F32), "10"), array("y", None, "10")];
    let once = typed(kernel("k", &["i"], &["y[i] = sin(x[i])"], arguments));
    assert_eq!(types(&once, Target::C).unwrap(), once);
}

#[test]
fn names_follow_each_other_whatever_the_order_of_the_instructions() {
    let arguments = vec![array("a", Some(DType::I16), "10"), array("out", None, "10")];
    let program = typed(kernel("k", &["i"], &["out[i] = c", "c = b * 2.5", "b = a[i] + 1"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!([dtype_of(k, "b"), dtype_of(k, "c"), dtype_of(k, "out")], [Some(DType::I16), Some(DType::F32), Some(DType::F32)]);
}

#[test]
fn a_sum_that_feeds_itself_has_the_type_of_what_is_added() {
    let arguments = vec![array("a", Some(DType::F64), "10"), array("out", None, "")];
    let program = typed(kernel("k", &["i"], &["acc = 0", "acc = acc + a[i]", "out = acc"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!([dtype_of(k, "acc"), dtype_of(k, "out")], [Some(DType::F64); 2]);
}

#[test]
fn operators_have_the_types_that_the_reference_says() {
    let arguments = || {
        let all = [DType::I8, DType::I32, DType::I64, DType::U64, DType::F32, DType::F64, DType::C64, DType::Bool];
        all.into_iter().map(|dtype| array(&format!("a{}", dtype.name()), Some(dtype), "10")).collect::<Vec<_>>()
    };
    let cases = [
        ("aint32[i] + afloat32[i]", DType::F32),
        ("aint64[i] + afloat32[i]", DType::F64),
        ("afloat32[i] * 2", DType::F32),
        ("afloat32[i] * -2", DType::F32),
        ("afloat32[i] * 5000000000", DType::F32),
        ("acomplex64[i] * 2", DType::C64),
        ("afloat32[i] * 0.5", DType::F32),
        ("afloat32[i] * 0.1", DType::F32),
        ("aint8[i] + 1", DType::I8),
        ("aint8[i] + 1000", DType::I32),
        ("auint64[i] + 1", DType::U64),
        ("afloat32[i] * (1/3)", DType::F32),
        ("i * 0.1", DType::F64),
        ("i * 0.5", DType::F32),
        ("i * 0.1 * afloat32[i]", DType::F32),
        ("0.1", DType::F64),
        ("1.5", DType::F32),
        ("aint32[i] ** -1", DType::F64),
        ("aint32[i] / aint32[i]", DType::F64),
        ("1 / afloat32[i]", DType::F32),
        ("aint32[i] // 2", DType::I32),
        ("auint64[i] // 3", DType::U64),
        ("auint64[i] % aint32[i]", DType::I64),
        ("i // 2", DType::I32),
        ("aint32[i] < 2", DType::Bool),
        ("aint32[i] if abool[i] else afloat64[i]", DType::F64),
        ("cast(float32, aint64[i])", DType::F32),
        ("2j * afloat32[i]", DType::C64),
        ("afloat32[i] ** 2", DType::F32),
        ("aint32[i] ** 2", DType::I32),
        ("abool[i] and aint32[i] > 1", DType::Bool),
        ("min(aint32[i], aint64[i])", DType::I64),
        ("aint8[i] << 2", DType::I8),
        ("abs(acomplex64[i])", DType::F32),
        ("abs(aint32[i])", DType::I32),
        ("sin(aint32[i])", DType::F64),
        ("sin(aint8[i])", DType::F32),
        ("real(acomplex64[i])", DType::F32),
        ("exp(acomplex64[i])", DType::C64),
        ("pow(afloat32[i], 2)", DType::F32),
        ("isnan(afloat32[i])", DType::I32),
        ("indexof(aint8[i])", DType::I32),
        ("INFINITY * afloat64[i]", DType::F64),
        ("sum(j, aint8[j])", DType::I8),
        ("any(j, aint8[j] > 1)", DType::Bool),
        ("5000000000", DType::I64),
    ];
    for (text, expected) in cases {
        let mut arguments = arguments();
        arguments.push(array("out", None, "10"));
        let program = typed(kernel("k", &["i", "j"], &[&format!("out[i] = {text}")], arguments));
        assert_eq!(dtype_of(program.kernel("k").unwrap(), "out"), Some(expected), "{text}");
    }
}

#[test]
fn a_reduction_of_pairs_gives_two_types() {
    let arguments = vec![array("a", Some(DType::F64), "10"), array("m", None, ""), array("at", None, "")];
    let program = typed(kernel("k", &["i"], &["m & at = argmax(i, a[i], i)"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!([dtype_of(k, "m"), dtype_of(k, "at")], [Some(DType::F64), Some(DType::I32)]);
}

#[test]
fn several_results_have_their_own_types() {
    let arguments = vec![array("a", Some(DType::F64), "10"), array("x", None, ""), array("y", None, "")];
    let program = typed(kernel("k", &["i"], &["x & y = make_tuple(a[0], i)"], arguments));
    let k = program.kernel("k").unwrap();
    assert_eq!([dtype_of(k, "x"), dtype_of(k, "y")], [Some(DType::F64), Some(DType::I32)]);
}

#[test]
fn an_unknown_function_is_named_and_not_a_failure_of_types() {
    let arguments = vec![array("x", Some(DType::F32), "10"), array("out", None, "10")];
    let program = Program::of(kernel("k", &["i"], &["out[i] = sinn(x[i])"], arguments));
    let error = types(&program, Target::C).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown function `sinn` in kernel `k`; did you mean `sin`?; register it first, with a look-up or as a kernel"
    );
    // Also where the types of its arguments are not known.
    let program = Program::of(kernel("k", &["i"], &["out[i] = f(x[i])"], vec![array("x", None, "10"), array("out", None, "10")]));
    assert!(matches!(types(&program, Target::C), Err(InferError::UnknownFunction { .. })));
}

#[test]
fn what_has_no_type_is_named_with_the_reason() {
    let arguments = vec![array("x", None, "10"), array("out", None, "10")];
    let program = Program::of(kernel("k", &["i"], &["out[i] = x[i] + 1"], arguments));
    let error = types(&program, Target::C).unwrap_err();
    assert_eq!(error.to_string(), "cannot infer the type of `out` in kernel `k`: it is computed from `x`, whose type is unknown");
    // A type that may turn out otherwise is not guessed.
    assert_eq!(dtype_of(types_so_far(&program, Target::C).unwrap().kernel("k").unwrap(), "out"), None);
    let program = Program::of(kernel("k", &["i"], &["out[i] = nowhere"], vec![array("out", None, "10")]));
    assert!(matches!(types(&program, Target::C), Err(InferError::UnknownName { .. })));
    let program = Program::of(kernel("k", &["i"], &["t = 2 * t"], vec![]));
    assert!(types(&program, Target::C).unwrap_err().to_string().ends_with("it is computed only from itself; give it a dtype"));
}

#[test]
fn sizes_have_the_type_of_indices() {
    let arguments = vec![number("n", None), array("x", Some(DType::F32), "n"), array("out", None, "n")];
    let program = typed(kernel("k", &["i"], &["out[i] = x[i] * n"], arguments));
    assert_eq!(dtype_of(program.kernel("k").unwrap(), "n"), Some(DType::I32));
}

#[test]
fn a_function_has_the_name_of_each_target() {
    let cases = [(Target::C, "sinf"), (Target::OpenCl, "sin"), (Target::Cuda, "sinf"), (Target::Hip, "sinf"), (Target::Ispc, "sin")];
    for (target, expected) in cases {
        let arguments = vec![array("x", Some(DType::F32), "10"), array("y", None, "10")];
        let program = types(&Program::of(kernel("k", &["i"], &["y[i] = sin(x[i])"], arguments)), target).unwrap();
        assert_eq!(program.callables["sin_0"].name_in_target().unwrap(), expected, "{target}");
    }
    let arguments = vec![array("x", Some(DType::F32), "10"), array("y", None, "10")];
    let error = types(&Program::of(kernel("k", &["i"], &["y[i] = erf(x[i])"], arguments)), Target::Ispc).unwrap_err();
    assert!(error.to_string().starts_with("unknown function `erf` in kernel `k`"), "{error}");
}

#[test]
fn a_function_without_a_version_for_the_type_says_so() {
    let arguments = vec![array("x", Some(DType::C64), "10"), array("y", None, "10")];
    let error = types(&Program::of(kernel("k", &["i"], &["y[i] = erf(x[i])"], arguments)), Target::C).unwrap_err();
    assert_eq!(error.to_string(), "`erf` has no version for complex64 on target c");
    let arguments = vec![array("x", Some(DType::F32), "10"), array("y", None, "10")];
    let error = types(&Program::of(kernel("k", &["i"], &["y[i] = sin(x[i], x[i])"], arguments)), Target::C).unwrap_err();
    assert_eq!(error.to_string(), "`sin` takes 1 arguments, but is called with 2");
}

#[test]
fn a_mangler_answers_only_when_name_and_types_fit() {
    let mangler = Mangler::new(|_, name, types| {
        let fits = name == "twice" && types == [Type::Scalar(DType::F64)];
        // SAFETY: the code is not run.
        fits.then(|| unsafe { ScalarFunction::new("twice").version([DType::F64.into()], [DType::F64.into()], "twice_d") })
    });
    let with = |dtype| {
        let arguments = vec![array("x", Some(dtype), "10"), array("y", None, "10")];
        let mut program = Program::of(kernel("k", &["i"], &["y[i] = twice(x[i])"], arguments));
        program.lookups.push(Arc::new(mangler.clone()));
        program
    };
    assert!(!scope(&with(DType::F64)).unwrap().callables.contains_key("twice"));
    let program = types(&with(DType::F64), Target::C).unwrap();
    assert_eq!(program.callables[called(program.kernel("k").unwrap(), 0).as_str()].name_in_target().unwrap(), "twice_d");
    assert!(matches!(types(&with(DType::F32), Target::C), Err(InferError::UnknownFunction { .. })));
}

#[test]
fn a_rule_that_calls_a_function_may_be_used_with_two_types() {
    let arguments = vec![array("x", Some(DType::F32), "10"), array("z", Some(DType::F64), "10"), array("y", None, "10")];
    let mut k = kernel("k", &["i"], &["y[i] = f(x[i]) + f(z[i])"], arguments);
    let rule = parloop_loop::syntax::SubstitutionRule { name: "f".into(), parameters: vec!["v".into()], body: expr("sin(v) + 1") };
    k.substitutions.insert("f".into(), rule);
    let program = typed(k);
    let k = program.kernel("k").unwrap();
    assert_eq!(dtype_of(k, "y"), Some(DType::F64));
    assert!(program.callables.contains_key("sin_0") && program.callables.contains_key("sin_1"));
    assert_eq!(type_of(&program, k, k.instructions[0].rhs()[0]).unwrap(), Type::Scalar(DType::F64));
}

#[test]
fn a_long_chain_of_names_takes_no_quadratic_time() {
    let count = 2000;
    let lines: Vec<String> = (0..count).rev().map(|number| format!("t{} = t{number} + 1", number + 1)).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("t0 = 1.5");
    let start = std::time::Instant::now();
    let program = typed(kernel("k", &[], &lines, vec![]));
    assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
    assert_eq!(dtype_of(program.kernel("k").unwrap(), &format!("t{count}")), Some(DType::F32));
}
