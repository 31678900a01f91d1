//! Calls to kernels and to user functions: resolving, types, descriptors, emitted calls, inlining.

use std::any::Any;
use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::callable::{
    Access, ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, CFunction, CallSite, Callable, CallableError, Emitted, FunctionLookup,
    Inference, ScalarFunction, reachable,
};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::infer::{InferError, descriptors, types};
use parloop_loop::syntax::{
    ArgumentKind, BinaryOp, CallInstruction, Expr, InstructionKind, Layout, LoopKernel, Preamble, Program, Shape, Target, Type,
};
use parloop_loop::transform::{
    InlineError, RegisterError, inline_callable_kernel, inline_parallel_callees, merge, register_callable, register_callable_kernel,
    register_function_lookup, with_entrypoints,
};
use parloop_loop::{Name, Set};

fn builder(domain: &str, instructions: &str) -> KernelBuilder {
    KernelBuilder::new().domain(domain).instructions(instructions)
}

fn function(name: &str, domain: &str, instructions: &str) -> Program {
    builder(domain, instructions).name(name).build_function().unwrap_or_else(|error| panic!("{error}"))
}

fn ready(program: &Program) -> Program {
    let typed = types(program, Target::C).unwrap_or_else(|error| panic!("{error}"));
    descriptors(&typed, Target::C).unwrap_or_else(|error| panic!("{error}"))
}

fn call_of(kernel: &LoopKernel) -> (&CallInstruction, &parloop_loop::syntax::Call) {
    let calls = kernel.instructions.iter().filter_map(|instruction| match &instruction.kind {
        InstructionKind::Call(call) => match &call.rhs {
            Expr::Call(inner) => Some((call, &**inner)),
            _ => None,
        },
        _ => None,
    });
    calls.into_iter().next().expect("a call")
}

fn layout<'a>(kernel: &'a LoopKernel, name: &str) -> &'a Layout {
    match &kernel.arguments.iter().find(|argument| argument.name == *name).expect("the argument").kind {
        ArgumentKind::Array { layout, .. } => layout,
        other => panic!("{other:?}"),
    }
}

fn strides(kernel: &LoopKernel, name: &str) -> Vec<String> {
    let axes = layout(kernel, name).axes(&name.into()).unwrap();
    axes.into_iter()
        .map(|axis| if let parloop_loop::layout::Axis::Stride(stride) = axis { stride.to_string() } else { "?".into() })
        .collect()
}

fn lengths(kernel: &LoopKernel, name: &str) -> Vec<String> {
    layout(kernel, name).lengths().unwrap().iter().map(ToString::to_string).collect()
}

fn texts(kernel: &LoopKernel) -> Vec<String> {
    let assigned = kernel.instructions.iter().filter_map(|instruction| match &instruction.kind {
        InstructionKind::Assign(assignment) => Some(format!("{} = {}", assignment.lhs, assignment.rhs)),
        _ => None,
    });
    assigned.collect()
}

const COMBO: &str = "g[i, j] = 2*e[i, j] + 3*f[i, j]";

pub fn linear_combo() -> Program {
    function("linear_combo", "{[i, j]: 0<=i, j<4}", COMBO)
}

pub fn five_axes() -> Program {
    builder(
        "{[i, j, k, l, m]: 0<=i, j, k, l, m<4}",
        "[j, l]: z[i, j, k, l, m] = linear_combo([j, l]: x[i, j, k, l, m], [j, l]: y[i, j, k, l, m])",
    )
    .name("parent")
    .data(Data::global("x, y").dtype("float64").shape("4, 4, 4, 4, 4"))
    .rest()
    .build()
    .unwrap()
}

#[test]
fn a_called_kernel_has_the_types_shapes_and_strides_of_its_caller() {
    let program = ready(&merge([&five_axes(), &linear_combo()]).unwrap());
    let parent = program.kernel("parent").unwrap();
    let (_, call) = call_of(parent);
    assert_eq!(call.function, "linear_combo_1");
    assert!(program.callables["linear_combo"].types().is_none());
    assert!(program.callables["linear_combo_0"].descriptors().is_none());
    let callee = program.kernel("linear_combo_1").unwrap();
    assert_eq!(callee.name, "linear_combo_1");
    assert!(callee.arguments.iter().all(|argument| argument.ty == Some(DType::F64.into())));
    assert_eq!(lengths(callee, "e"), ["4", "4"]);
    assert_eq!(strides(callee, "g"), ["64", "4"]);
    assert_eq!(parent.arguments.iter().find(|argument| argument.name == "z").unwrap().ty, Some(DType::F64.into()));
    assert_eq!(reachable(&program).unwrap(), [Name::from("linear_combo_1"), Name::from("parent")]);
}

#[test]
fn two_calls_alike_share_an_entry_and_two_types_have_two() {
    let caller = |z: &str| {
        builder(
            "{[i, j]: 0<=i, j<4}",
            "[i, j]: z1[i, j] = linear_combo([i, j]: x[i, j], [i, j]: y[i, j])
             [i, j]: z2[i, j] = linear_combo([i, j]: y[i, j], [i, j]: x[i, j])
             [i, j]: z3[i, j] = linear_combo([i, j]: w[i, j], [i, j]: w[i, j])",
        )
        .data(Data::global("x, y").dtype("float64").shape("4, 4"))
        .data(Data::global("w").dtype(z).shape("4, 4"))
        .rest()
        .build()
        .unwrap()
    };
    let entries =
        |z: &str| ready(&merge([&caller(z), &linear_combo()]).unwrap()).callables.keys().filter(|name| name.contains("combo")).count();
    assert_eq!(entries("float64"), 3);
    assert_eq!(entries("float32"), 5);
}

#[test]
fn nested_calls_are_specialised_with_their_callers() {
    let child = function("child", "{[i, j]: 0<=i, j<4}", "[i, j]: g[i, j] = linear_combo([i, j]: e[i, j], [i, j]: f[i, j])");
    let parent = builder("{[i, j]: 0<=i, j<4}", "[i, j]: z[i, j] = child([i, j]: x[j, i], [i, j]: y[i, j])")
        .name("parent")
        .data(Data::global("x, y").dtype("float32").shape("4, 4"))
        .rest()
        .build()
        .unwrap();
    let program = ready(&merge([&parent, &child, &linear_combo()]).unwrap());
    let order = reachable(&program).unwrap();
    assert_eq!(order.len(), 3);
    let inner = program.kernel(&order[0]).unwrap();
    assert_eq!(strides(inner, "e"), ["1", "4"]);
    assert!(inner.arguments.iter().all(|argument| argument.ty == Some(DType::F32.into())));
}

#[test]
fn parts_that_are_put_together_again_have_one_stride() {
    let callee = function("twice", "{[i]: 0<=i<6}", "b[i] = 2*a[i]");
    let caller = builder("{[i, k]: 0<=i<6 and 0<=k<3}", "[i]: y[i//2, i%2] = twice([i]: x[i//2, i%2])")
        .data(Data::global("x, y").dtype("float64").shape("3, 2"))
        .build()
        .unwrap();
    let program = ready(&merge([&caller, &callee]).unwrap());
    let callee = program.kernel(&reachable(&program).unwrap()[0]).unwrap();
    assert_eq!((strides(callee, "a"), lengths(callee, "a")), (vec!["1".to_owned()], vec!["6".to_owned()]));
    let caller =
        builder("{[i]: 0<=i<6}", "[i]: y[i] = twice([i]: x[i//2])").data(Data::global("x, y").dtype("float64").shape("6")).build().unwrap();
    let typed = types(&merge([&caller, &function("twice", "{[i]: 0<=i<6}", "b[i] = 2*a[i]")]).unwrap(), Target::C).unwrap();
    let error = descriptors(&typed, Target::C).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`[i]: x[i // 2]` in kernel `loopy_kernel`: the index does not advance by a constant stride along `i`; pack it into a temporary first"
            .replace("loopy_kernel", &caller.entry().unwrap().name)
    );
}

#[test]
fn sizes_of_the_caller_are_passed_along_unless_they_are_already() {
    let twice = function("twice", "{[i, j]: 0<=i, j<n}", "b[i, j] = 2*a[i, j]");
    let passed = |call: &str| {
        let caller = builder("{[i, j]: 0<=i, j<N}", call)
            .data(Data::value("N").dtype("int32"))
            .data(Data::global("x").dtype("float64").shape("2*N, N"))
            .rest()
            .build()
            .unwrap();
        let program = ready(&merge([&caller, &twice]).unwrap());
        let entry = reachable(&program).unwrap()[0].clone();
        let (_, call) = call_of(program.entry().unwrap());
        (program.kernel(&entry).unwrap().clone(), call.args.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (callee, args) = passed("[i, j]: y[i, j] = twice([i, j]: x[2*i, j], N)");
    assert_eq!(args, ["[i, j]: x[2*i, j]", "N"]);
    assert_eq!((lengths(&callee, "a"), strides(&callee, "a")), (vec!["n".to_owned(); 2], vec!["2*n".to_owned(), "1".to_owned()]));
    let (callee, args) = passed("[i, j]: y[i, j] = twice([i, j]: x[2*i, j], 7)");
    assert_eq!(args, ["[i, j]: x[2*i, j]", "7", "N"]);
    assert_eq!(lengths(&callee, "a"), ["N", "N"]);
    assert_eq!(callee.arguments.last().unwrap().name, "N");
    // The number is known in the callee.
    let at = |n: i64| callee.assumptions.contains(&|name| if *name == "n" { Some(n) } else { Some(9) });
    assert_eq!((at(7), at(8)), (Some(true), Some(false)));
}

#[test]
fn what_the_caller_assumes_holds_in_the_callee() {
    let arange = function("arange", "{[i]: 0<=i<n}", "y[i] = i");
    let caller = builder("{[i]: 0<=i<20}", "[i]: Y[i] = arange(N)")
        .data(Data::global("Y").dtype("int32").shape("20"))
        .data(Data::value("N").dtype("int32"))
        .assumptions("N <= 20")
        .build()
        .unwrap();
    let program = ready(&merge([&caller, &arange]).unwrap());
    let callee = program.kernel(&reachable(&program).unwrap()[0]).unwrap();
    let assumed = callee.assumptions.join(&Set::parse("[n] -> {: n = 21}").unwrap()).unwrap();
    assert!(assumed.is_empty().unwrap(), "{}", callee.assumptions);
}

#[test]
fn a_part_begins_where_its_iname_does() {
    let twice = function("twice", "{[i]: 0<=i<10}", "b[i] = 2*a[i]");
    let caller = builder("{[i, j]: -5<=i<5 and 0<=j<10}", "[i]: y[i+5] = twice([j]: x[j])")
        .data(Data::global("x, y").dtype("float64").shape("10"))
        .build()
        .unwrap();
    let merged = merge([&caller, &twice]).unwrap();
    let Expr::SubArray(part) = &call_of(merged.entry().unwrap()).0.lhs[0] else { panic!("a part") };
    let part = parloop_loop::infer::part(merged.entry().unwrap(), part).unwrap();
    assert_eq!(part.begin, [Expr::int(0)]);
    assert_eq!(part.layout.shape, Shape::Known(vec![Expr::int(10)]));
    let inlined = inline_callable_kernel(&merged, "twice").unwrap();
    assert_eq!(texts(inlined.entry().unwrap()), ["y[twice_i] = 2*x[twice_i]"]);
}

#[test]
fn calls_that_do_not_fit_are_refused_with_both_sides() {
    let register = |callee: &str, domain: &str, instructions: &str| {
        register_callable_kernel(&five_axes(), "linear_combo", function(callee, domain, instructions).kernel(callee).unwrap())
    };
    let error = register("f", "{[i, j]: 0<=i, j<4}", "g[i, j] = 2*e[i, j]").unwrap_err();
    assert_eq!(error.to_string(), "`linear_combo` takes 1 (`e`) arguments, but is called with 2");
    let error = register("f", "{[i, j]: 0<=i, j<4}", "g[i, j] = 2*e[i, j] + f[i, j]\nh[i, j] = 1").unwrap_err();
    assert_eq!(error.to_string(), "`linear_combo` returns 2 (`g`, `h`) results, but the call expects 1");
    let program = register("f", "{[i]: 0<=i<4}", "g[i] = e[i] + f[i]").unwrap();
    let error = descriptors(&types(&program, Target::C).unwrap(), Target::C).unwrap_err();
    assert_eq!(
        error.to_string(),
        "call to `linear_combo`: result 1 (`g`) must have 1 axes, `(4)`, but an array with 2 is passed, `(4, 4)`"
    );
    let twice = function("twice", "{:}", "y = 2*x");
    let caller =
        builder("{[i]: 0<=i<4}", "z[i] = 1 + twice(x[i])").data(Data::global("x").dtype("float64").shape("4")).rest().build().unwrap();
    let error = register_callable_kernel(&caller, "twice", twice.kernel("twice").unwrap()).unwrap_err();
    assert_eq!(error, RegisterError::Callable(CallableError::KernelInExpression { function: "twice".into() }));
}

#[test]
fn an_array_of_another_type_than_the_callees_is_refused() {
    let callee = builder("{[i]: 0<=i<4}", "b[i] = 2*a[i]").name("f").data(Data::global("a").dtype("float32").shape("4")).rest();
    let caller =
        builder("{[i]: 0<=i<4}", "[i]: y[i] = f([i]: x[i])").data(Data::global("x").dtype("float64").shape("4")).rest().build().unwrap();
    let error = types(&merge([&caller, &callee.build_function().unwrap()]).unwrap(), Target::C).unwrap_err();
    assert_eq!(error.to_string(), "call to `f`: argument 1 (`a`) must be an array of float32, but an array of float64 is passed");
}

#[test]
fn a_kernel_that_calls_itself_is_refused() {
    let f = function("f", "{[i]: 0<=i<4}", "[i]: y[i] = f([i]: x[i])");
    let caller =
        builder("{[i]: 0<=i<4}", "[i]: y[i] = f([i]: x[i])").data(Data::global("x").dtype("float64").shape("4")).rest().build().unwrap();
    let error = types(&merge([&caller, &f]).unwrap(), Target::C).unwrap_err();
    assert!(error.to_string().ends_with("kernel `f` calls itself: `f` calls `f`"), "{error}");
}

#[test]
fn a_kernel_with_a_number_as_its_result_can_be_assigned() {
    let call_sin = function("call_sin", "{:}", "y = sin(x)");
    let caller =
        builder("{[i]: 0<=i<4}", "z[i] = call_sin(v[i])").data(Data::global("v").dtype("float32").shape("4")).rest().build().unwrap();
    let program = ready(&merge([&caller, &call_sin]).unwrap());
    let (instruction, call) = call_of(program.entry().unwrap());
    let callable = &program.callables[&call.function];
    let site = CallSite { target: Target::C, kernel: program.entry().unwrap(), args: &call.args, results: &instruction.lhs };
    let (emitted, returned) = callable.emit_call_insn(&site).unwrap();
    assert!(!returned);
    let Emitted::Call(name, args) = emitted else { panic!("{emitted:?}") };
    assert_eq!(name, call.function);
    assert_eq!(args, [Emitted::argument(0), Emitted::Address(ArgId::result(0))]);
}

#[test]
fn in_and_out_at_once_is_one_parameter() {
    let twice = function("twice", "{[i]: 0<=i<10}", "x[i] = 2*x[i]");
    let caller = builder("{:}", "x[:] = twice(x[:])").data(Data::global("x").dtype("float64").shape("10")).build().unwrap();
    let program = ready(&merge([&caller, &twice]).unwrap());
    let (instruction, call) = call_of(program.entry().unwrap());
    let site = CallSite { target: Target::C, kernel: program.entry().unwrap(), args: &call.args, results: &instruction.lhs };
    let (emitted, _) = program.callables[&call.function].emit_call_insn(&site).unwrap();
    assert_eq!(emitted, Emitted::Call(call.function.clone(), vec![Emitted::argument(0)]));
}

#[test]
fn what_is_changed_in_place_is_given_and_taken_at_one_place() {
    let twice = function("twice", "{[i]: 0<=i<10}", "x[i] = 2*x[i]");
    let caller = builder("{[i]: 0<=i<10}", "[i]: y[i] = twice([i]: x[i])").data(Data::global("x, y").dtype("float64").shape("10"));
    let merged = merge([&caller.build().unwrap(), &twice]).unwrap();
    let message = "call to `twice`: `x` is updated in place, but the call passes `[i]: x[i]` and assigns the result to `[i]: y[i]`; copy one to the other first";
    assert_eq!(descriptors(&types(&merged, Target::C).unwrap(), Target::C).unwrap_err().to_string(), message);
    assert_eq!(inline_callable_kernel(&merged, "twice").unwrap_err().to_string(), message);
    let caller =
        builder("{[i]: 0<=i<10}", "[i]: x[2*(i//2) + i%2] = twice([i]: x[i])").data(Data::global("x").dtype("float64").shape("10"));
    let merged = merge([&caller.build().unwrap(), &twice]).unwrap();
    ready(&merged);
    inline_callable_kernel(&merged, "twice").unwrap();
}

#[test]
fn merging_two_functions_of_one_name_is_refused_and_equal_ones_are_shared() {
    let other = function("linear_combo", "{[i, j]: 0<=i, j<4}", "g[i, j] = e[i, j] + f[i, j]");
    assert_eq!(merge([&linear_combo(), &other]).unwrap_err(), RegisterError::Taken { name: "linear_combo".into() });
    let merged = merge([&five_axes(), &linear_combo(), &linear_combo()]).unwrap();
    assert_eq!(merged.callables.len(), 2);
    assert!(call_of(merged.kernel("parent").unwrap()).1.resolved);
    let both = with_entrypoints(&merged, ["linear_combo"]).unwrap();
    assert_eq!(both.entry().unwrap().name, "linear_combo");
    assert!(with_entrypoints(&merged, ["linear_comb"]).unwrap_err().to_string().ends_with("did you mean `linear_combo`?"));
}

#[test]
fn an_inlined_call_computes_on_the_callers_arrays() {
    let merged = merge([&five_axes(), &linear_combo()]).unwrap();
    let inlined = inline_callable_kernel(&merged, "linear_combo").unwrap();
    let parent = inlined.kernel("parent").unwrap();
    let (i, j) = ("linear_combo_i", "linear_combo_j");
    assert_eq!(texts(parent), [format!("z[i, {i}, k, {j}, m] = 2*x[i, {i}, k, {j}, m] + 3*y[i, {i}, k, {j}, m]")]);
    assert!(!inlined.callables.contains_key("linear_combo"));
    assert!(!parent.inames.contains_key("j") && !parent.inames.contains_key("l"), "swept inames are gone");
    assert!(parent.inames.contains_key(i));
    let assignment = parent.instructions.iter().find(|instruction| !instruction.writes().is_empty()).unwrap();
    assert_eq!(assignment.within_inames, ["i", "k", "m", i, j].map(Name::from).into());
    let end = parent.instructions.last().unwrap();
    assert!(end.depends_on.contains(&assignment.id) && assignment.depends_on.contains(&parent.instructions[0].id));
    types(&inlined, Target::C).unwrap();
}

#[test]
fn nested_kernels_are_inlined_in_any_order() {
    let child = function("child", "{[i, j]: 0<=i, j<4}", "[i, j]: g[i, j] = linear_combo([i, j]: e[i, j], [i, j]: f[i, j])");
    let parent = builder("{[i, j, k]: 0<=i, j, k<4}", "[i, j]: z[i, k, j] = child([i, j]: x[i, k, j], [i, j]: y[j, i, k])")
        .name("parent")
        .data(Data::global("x, y").dtype("float64").shape("4, 4, 4"))
        .rest()
        .build()
        .unwrap();
    let merged = merge([&parent, &child, &linear_combo()]).unwrap();
    let one = inline_callable_kernel(&inline_callable_kernel(&merged, "child").unwrap(), "linear_combo").unwrap();
    let other = inline_callable_kernel(&inline_callable_kernel(&merged, "linear_combo").unwrap(), "child").unwrap();
    let shape = |program: &Program| texts(program.kernel("parent").unwrap())[0].replace("child_linear_combo_", "linear_combo_");
    assert_eq!(shape(&one), shape(&other));
    let (i, j) = ("linear_combo_i", "linear_combo_j");
    assert_eq!(shape(&one), format!("z[{i}, k, {j}] = 2*x[{i}, k, {j}] + 3*y[{j}, {i}, k]"));
}

#[test]
fn numbers_that_bounds_depend_on_are_put_into_the_domains() {
    let fill = function("fill", "{[i]: 0<=i<n}", "y[i] = n");
    let caller = builder("{[i]: 0<=i<10}", "[i]: res[i] = fill(10)").build().unwrap();
    let inlined = inline_callable_kernel(&merge([&caller, &fill]).unwrap(), "fill").unwrap();
    let kernel = inlined.entry().unwrap();
    assert_eq!(texts(kernel), ["res[fill_i] = 10"]);
    assert!(kernel.domains.iter().any(|domain| domain.is_equal(&Set::parse("{[fill_i]: 0<=fill_i<10}").unwrap()).unwrap_or(false)));
    // A number from an array is held by a temporary.
    let caller = builder("{[i, k]: 0<=i<10 and 0<=k<3}", "[i]: res[k, i] = fill(sizes[k])")
        .data(Data::global("sizes").dtype("int32").shape("3"))
        .data(Data::global("res").dtype("int32").shape("3, 10"))
        .build()
        .unwrap();
    let inlined = inline_callable_kernel(&merge([&caller, &function("fill", "{[i]: 0<=i<n}", "y[i] = n")]).unwrap(), "fill").unwrap();
    let kernel = inlined.entry().unwrap();
    assert_eq!(texts(kernel), ["fill_n = sizes[k]", "res[k, fill_i] = fill_n"]);
    assert!(kernel.domains.iter().any(|domain| domain.has_param("fill_n")));
}

#[test]
fn predicates_of_the_call_hold_for_all_that_is_inlined() {
    let twice = function("twice", "{[i]: 0<=i<10}", "x[i] = 2*x[i]");
    let caller = builder("{[i]: 0<=i<10}", "for i\n  if i >= 5\n    x[i, :] = twice(x[i, :])\n  end\nend")
        .data(Data::global("x").dtype("float64").shape("10, 10"))
        .build()
        .unwrap();
    let inlined = inline_callable_kernel(&merge([&caller, &twice]).unwrap(), "twice").unwrap();
    assert!(inlined.entry().unwrap().instructions.iter().all(|instruction| instruction.predicates.len() == 1));
    assert_eq!(texts(inlined.entry().unwrap()), ["x[i, twice_i] = 2*x[i, twice_i]"]);
}

#[test]
fn what_a_callee_assumes_is_not_assumed_where_it_is_not_called() {
    let fill = builder("{[i]: 0<=i<4}", "y[i] = n").name("fill").assumptions("n >= 1").build_function().unwrap();
    for (text, is_assumed) in [("x[:] = fill(n)", true), ("if n > 0\n  x[:] = fill(n)\nend", false)] {
        let caller = builder("{[i]: 0<=i<4}", text).data(Data::global("x").dtype("int32").shape("4")).data(Data::value("n").dtype("int32"));
        let inlined = inline_callable_kernel(&merge([&caller.build().unwrap(), &fill]).unwrap(), "fill").unwrap();
        let none = inlined.entry().unwrap().assumptions.join(&Set::parse("[n] -> {: n = 0}").unwrap()).unwrap();
        assert_eq!(none.is_empty().unwrap(), is_assumed, "{text}");
    }
}

#[test]
fn kernels_that_need_a_launch_of_their_own_are_inlined() {
    let barrier = builder("{[i, j]: 0<=i<6 and 0<=j<3}", "x[i] = 0.0f\n... gbarrier\nx[j] = 1.0f")
        .name("ones")
        .sequential_dependencies(true)
        .build_function()
        .unwrap();
    let between = function("between", "{[i]: 0<=i<6}", "[i]: y[i] = ones()");
    let caller = builder("{:}", "y[:] = between()").name("caller").data(Data::global("y").shape("6")).build().unwrap();
    let inlined = inline_parallel_callees(&merge([&caller, &between, &barrier]).unwrap()).unwrap();
    assert_eq!(inlined.callables.keys().collect::<Vec<_>>(), ["caller"]);
    assert_eq!(texts(inlined.entry().unwrap()).len(), 2);
    let plain = merge([&five_axes(), &linear_combo()]).unwrap();
    assert_eq!(inline_parallel_callees(&plain).unwrap(), plain);
}

#[test]
fn descriptors_found_twice_are_the_same() {
    let once = ready(&merge([&five_axes(), &linear_combo()]).unwrap());
    assert_eq!(ready(&once), once);
}

#[test]
fn what_cannot_be_inlined_says_why() {
    let error = inline_callable_kernel(&five_axes(), "linear_comb").unwrap_err();
    assert!(matches!(error, InlineError::NoKernel { .. }), "{error}");
    let linear = builder("{[i]: 0<=i<4}", "y[i] = x[[i]]").name("f").data(Data::global("x").shape("4")).rest().build_function().unwrap();
    let caller =
        builder("{[i]: 0<=i<4}", "[i]: z[i] = f([i]: v[2*i])").data(Data::global("v").dtype("float64").shape("8")).rest().build().unwrap();
    let error = inline_callable_kernel(&merge([&caller, &linear]).unwrap(), "f").unwrap_err();
    assert_eq!(
        error.to_string(),
        "argument `x` of kernel `f` is used as `x[[i]]`, which is not possible for the part `[i]: v[2*i]` that the caller passes"
    );
}

#[derive(Debug)]
struct OwnSine;

impl FunctionLookup for OwnSine {
    fn find(&self, _target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        // SAFETY: the code is not run.
        let function = || unsafe { ScalarFunction::new("sin").version([DType::F64.into()], [DType::F64.into()], "my_sine") };
        Ok((name == "sin").then(|| Arc::new(function()) as Arc<dyn Callable>))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn a_users_function_wins_over_the_targets() {
    let program = builder("{[i]: 0<=i<4}", "y[i] = sin(x[i])").data(Data::global("x").dtype("float64").shape("4")).rest().build().unwrap();
    assert!(program.callables["sin"].is_builtin());
    let registered = register_function_lookup(&program, Arc::new(OwnSine)).unwrap();
    let typed = types(&registered, Target::C).unwrap();
    assert_eq!(typed.callables["sin_0"].name_in_target().unwrap(), "my_sine");
    // SAFETY: the code is not run.
    let log = unsafe { ScalarFunction::new("sin").version([DType::F64.into()], [DType::F64.into()], "other") };
    let again = register_callable(&registered, "sin", Arc::new(log.clone()), false);
    assert_eq!(again.unwrap_err(), RegisterError::Taken { name: "sin".into() });
    assert!(register_callable(&registered, "sin", Arc::new(log), true).is_ok());
}

#[test]
fn a_c_function_takes_numbers_by_value_and_arrays_by_address() {
    let source = "double norm(const double *x, int n, double *unit) { double s = 0; for (int i = 0; i < n; i++) s += x[i]*x[i]; unit[0] = 1; return s; }";
    // SAFETY: the kernel passes as many numbers as it says.
    let norm = unsafe { CFunction::parse(source, "norm").unwrap() }.with_access([Access::Read, Access::Read, Access::Write]);
    let caller = builder("{[i, j, e]: 0<=i<3 and 0<=j<1 and 0<=e<8}", "out[e], [j]: u[e, j] = norm([i]: x[e, i], 3)")
        .data(Data::global("x").dtype("float64").shape("8, 3"))
        .data(Data::global("u").shape("8, 1"))
        .data(Data::global("out").shape("8"))
        .build()
        .unwrap();
    let program = ready(&register_callable(&caller, "norm", Arc::new(norm), false).unwrap());
    let kernel = program.entry().unwrap();
    assert!(kernel.arguments.iter().all(|argument| argument.ty == Some(DType::F64.into())));
    let (instruction, call) = call_of(kernel);
    let site = CallSite { target: Target::C, kernel, args: &call.args, results: &instruction.lhs };
    let callable = &program.callables[&call.function];
    let (emitted, returned) = callable.emit_call_insn(&site).unwrap();
    assert!(returned && callable.is_ready());
    assert_eq!(
        emitted,
        Emitted::Call("parloop_own_norm".into(), vec![Emitted::argument(0), Emitted::argument(1), Emitted::Arg(ArgId::result(1))])
    );
    let source = source.replace("norm(", "parloop_own_norm(");
    let text = format!("#line 1 \"<norm>\"\nstatic inline __attribute__((always_inline)) {source}\n");
    assert_eq!(callable.preambles(Target::C).unwrap()[0].text(), text);
}

#[test]
fn functions_that_a_target_lacks_come_as_text_in_front() {
    let program = builder("{[i]: 0<=i<4}", "y[i] = exp(z[i])\nw[i] = abs(k[i]) - 5\nr[i] = rsqrt(f[i])")
        .data(Data::global("z").dtype("complex64").shape("4"))
        .data(Data::global("k").dtype("int32").shape("4"))
        .data(Data::global("f").dtype("float32").shape("4"))
        .rest()
        .build()
        .unwrap();
    let for_target = |target: Target| descriptors(&types(&program, target).unwrap(), target).unwrap();
    let opencl = for_target(Target::OpenCl);
    let text = |program: &Program, name: &str, target: Target| {
        let entry = program.callables.values().find(|callable| *callable.name() == *name && callable.is_ready()).unwrap();
        entry.preambles(target).unwrap().iter().map(|preamble| preamble.text().to_owned()).collect::<Vec<_>>().join("\n")
    };
    assert!(text(&opencl, "exp", Target::OpenCl).starts_with("static inline float2 pl_exp_c64(float2 z) {"));
    assert!(text(&opencl, "abs", Target::OpenCl).contains("static inline int pl_abs_int32(int a)"));
    let cuda = for_target(Target::Cuda);
    assert!(text(&cuda, "exp", Target::Cuda).starts_with("static __device__ inline float2 pl_exp_c64(float2 z)"));
    let c = for_target(Target::C);
    assert_eq!(text(&c, "exp", Target::C), "#include <math.h>\n#include <complex.h>\n#undef I");
    let rsqrt = c.callables.values().find(|callable| *callable.name() == "rsqrt" && callable.is_ready()).unwrap();
    let site = CallSite { target: Target::C, kernel: c.entry().unwrap(), args: &[Expr::var("x")], results: &[] };
    let root = Emitted::Call("sqrtf".into(), vec![Emitted::argument(0)]);
    assert_eq!(rsqrt.emit_call(&site).unwrap(), Emitted::Operator(BinaryOp::Divide, Box::new([Emitted::Text("1.0f".into()), root])));
}

// ---- the design document's example: a matrix times a vector by BLAS ----

#[derive(Clone, Debug, PartialEq)]
struct Gemv {
    name: Name,
    in_target: Option<Name>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl Gemv {
    fn misfit(&self, reason: &str) -> CallableError {
        CallableError::Misfit { function: self.name.clone(), reason: reason.into() }
    }

    /// The lengths of an argument's axes and its strides.
    fn array(&self, id: &ArgId) -> Result<(Vec<Expr>, Vec<Expr>), CallableError> {
        let Some(ArgDescriptor::Array { layout, .. }) = self.descriptors.as_ref().and_then(|all| all.get(id)) else {
            return Err(self.misfit("it takes arrays"));
        };
        let axes = layout.axes(&self.name).map_err(|error| self.misfit(&error.to_string()))?;
        let strides =
            axes.into_iter().filter_map(|axis| if let parloop_loop::layout::Axis::Stride(stride) = axis { Some(stride) } else { None });
        Ok((layout.lengths().unwrap_or_default().to_vec(), strides.collect()))
    }
}

// SAFETY: the code is not run.
unsafe impl Callable for Gemv {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        self.in_target.as_ref()
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, _inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let (Some(matrix), Some(vector)) = (types.get(&ArgId::argument(0)), types.get(&ArgId::argument(1))) else {
            return Ok(Arc::new(Gemv { types: Some(types.clone()), ..self.clone() }));
        };
        if matrix != vector {
            return Err(self.misfit("matrix and vector must have one type"));
        }
        let in_target = match vector {
            Type::Scalar(DType::F32) => "cblas_sgemv",
            Type::Scalar(DType::F64) => "cblas_dgemv",
            _ => return Err(self.misfit("only float32 and float64 are supported")),
        };
        let ids = [ArgId::argument(0), ArgId::argument(1), ArgId::result(0)];
        let types = ids.into_iter().map(|id| (id, vector.clone())).collect();
        Ok(Arc::new(Gemv { in_target: Some(in_target.into()), types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        _site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        Ok(Arc::new(Gemv { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn emit_call_insn(&self, _site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        let ((lengths, matrix), (_, x), (_, y)) =
            (self.array(&ArgId::argument(0))?, self.array(&ArgId::argument(1))?, self.array(&ArgId::result(0))?);
        if matrix.get(1) != Some(&Expr::int(1)) {
            return Err(self.misfit("the rows of the matrix must lie together"));
        }
        let number = |expr: &Expr| Emitted::Expr(expr.clone(), Some(DType::I32.into()));
        let text = |text: &str| Emitted::Text(text.into());
        let args = vec![
            text("CblasRowMajor"),
            text("CblasNoTrans"),
            number(&lengths[0]),
            number(&lengths[1]),
            text("1"),
            Emitted::argument(0),
            number(&matrix[0]),
            Emitted::argument(1),
            number(&x[0]),
            text("0"),
            Emitted::Arg(ArgId::result(0)),
            number(&y[0]),
        ];
        Ok((Emitted::Call(self.in_target.clone().ok_or_else(|| self.misfit("no types"))?, args), false))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        if target != Target::C {
            return Err(CallableError::NotOnTarget { function: self.name.clone(), target });
        }
        // SAFETY: the code is not run.
        Ok(vec![unsafe { Preamble::new("99_cblas", "#include <cblas.h>") }])
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<Gemv>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug)]
struct Blas;

impl FunctionLookup for Blas {
    fn find(&self, _target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        let gemv = || Gemv { name: "gemv".into(), in_target: None, types: None, descriptors: None };
        Ok((name == "gemv").then(|| Arc::new(gemv()) as Arc<dyn Callable>))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub fn gemv_kernel(dtype: &str) -> Program {
    let program = builder("{:}", "y[:] = gemv(A[:, :], x[:])")
        .data(Data::global("A").dtype(dtype).shape("n, m"))
        .data(Data::global("x").dtype(dtype).shape("m"))
        .data(Data::global("y").shape("n"))
        .rest()
        .target(Target::C)
        .build()
        .unwrap();
    register_function_lookup(&program, Arc::new(Blas)).unwrap()
}

#[test]
fn blas_is_called_with_sizes_leading_dimension_and_beta() {
    let program = ready(&gemv_kernel("float64"));
    let kernel = program.entry().unwrap();
    let (instruction, call) = call_of(kernel);
    assert_eq!(call.function, "gemv_1");
    let callable = &program.callables[&call.function];
    let site = CallSite { target: Target::C, kernel, args: &call.args, results: &instruction.lhs };
    let (Emitted::Call(name, args), false) = callable.emit_call_insn(&site).unwrap() else { panic!("a call") };
    assert_eq!((name, args.len()), ("cblas_dgemv".into(), 12));
    let size = |name: &str| Emitted::Expr(Expr::var(name), Some(DType::I32.into()));
    assert_eq!((&args[2], &args[3], &args[6]), (&size("n"), &size("m"), &size("m")));
    assert_eq!(args[9], Emitted::Text("0".into()));
    let error = types(&gemv_kernel("int32"), Target::C).unwrap_err();
    assert_eq!(error.to_string(), "call to `gemv`: only float32 and float64 are supported");
    assert!(matches!(error, InferError::Callable(_)));
}

#[test]
fn a_part_that_is_shorter_than_declared_is_not_inlined() {
    let twice = KernelBuilder::new()
        .name("twice")
        .domain("{[j]: 0<=j<4}")
        .instructions("y[j] = 2*x[3-j]")
        .data(Data::global("x, y").shape("4"))
        .build_function()
        .unwrap();
    let caller = |length: u8| {
        KernelBuilder::new()
            .domain("{[i]: 0<=i<2}")
            .domain(format!("{{[j]: 0<=j<{length}}}"))
            .instructions("[j]: b[i, j] = twice([j]: a[i, j])")
            .data(Data::global("a, b").dtype("float64").shape("2, 4"))
            .build()
            .unwrap()
    };
    inline_callable_kernel(&merge([&caller(4), &twice]).unwrap(), "twice").unwrap();
    assert_eq!(
        inline_callable_kernel(&merge([&caller(3), &twice]).unwrap(), "twice").unwrap_err().to_string(),
        "argument `x` of kernel `twice` has 4 elements along axis 0, but the part `[j]: a[i, j]` that the caller passes has 3; pass a longer part"
    );
}
