//! Each check reports its error and accepts valid kernels.

use parloop_kernel::Context;
use parloop_loop::check::{CheckError, after_schedule, before_schedule};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::infer::address_spaces;
use parloop_loop::prelude::*;
use parloop_loop::run::{LoopArg, RunError};
use parloop_loop::schedule::schedule;
use parloop_loop::syntax::{AddressSpace, Expr, InameTag, Instruction, KernelOptions, LoopKernel, Program, Target};
use parloop_loop::transform::{Tags, tag_inames};

use super::run::contexts;

fn tagged(kernel: &LoopKernel, tags: &str) -> LoopKernel {
    let mut all = Tags::default();
    for (iname, tag) in tags.split_whitespace().map(|each| each.split_once('=').unwrap()) {
        all = all.with(iname, tag.parse::<InameTag>().unwrap());
    }
    tag_inames(kernel, &all).unwrap()
}

/// A kernel with arrays `a`, `out` of length n and whatever else the text needs.
fn kernel(domain: &str, instructions: &str, tags: &str) -> LoopKernel {
    let builder = KernelBuilder::new().domain(domain).instructions(instructions);
    let builder = builder.data(Data::global("a, out").dtype(parloop_device::DType::F64).shape("n")).rest();
    address_spaces(&tagged(&builder.build_kernel().unwrap(), tags)).unwrap()
}

fn check(kernel: &LoopKernel) -> Result<(), CheckError> {
    let program = Program::of(kernel.clone());
    before_schedule(&program, kernel)?;
    match schedule(&program, kernel) {
        Ok(schedule) => after_schedule(&program, &schedule).map(drop),
        Err(_) => Ok(()),
    }
}

fn error(kernel: &LoopKernel) -> String {
    check(kernel).unwrap_err().to_string()
}

/// The kernel with one instruction changed.
fn changed(kernel: &LoopKernel, at: usize, change: impl FnOnce(&mut Instruction)) -> LoopKernel {
    let mut kernel = kernel.clone();
    let mut instruction = (*kernel.instructions[at]).clone();
    change(&mut instruction);
    kernel.instructions[at] = instruction.into();
    kernel
}

#[test]
fn indices_inside_pass_in_many_forms() {
    for text in [
        "out[i] = a[i]",
        "out[i] = a[n - 1 - i]",
        "out[i] = a[0] {inames=i}",
        "out[i] = a[i + 1] if i + 1 < n else 0",
        "out[i] = a[i // 2]",
        "out[i] = a[i % 4] if n > 4 else 0",
        "out[i] = a[i - 1] {if=i >= 1}",
        "out[i] = a[i - 1] {if=not (i < 1)}",
    ] {
        let made = kernel("{[i]: 0<=i<n}", text, "");
        check(&made).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn an_index_outside_is_shown_with_an_example() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i + 1] {id=step}", "");
    let CheckError::OutOfBounds { access, instruction, axis, length, value, point } = check(&made).unwrap_err() else { panic!() };
    assert_eq!((access.as_str(), &*instruction, axis, length.as_str()), ("a[i + 1]", "step", 0, "n"));
    let at = |name: &str| point.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((value, at("i") + 1), (at("n"), at("n")));
    let message = error(&made);
    assert!(message.starts_with("`a[i + 1]` in `step` is out of bounds: index 1 can be "), "{message}");
    assert!(message.ends_with("but the axis has n elements"), "{message}");
    let made = kernel("{[i]: 0<=i<n}", "out[i - 1] = a[i]", "");
    assert!(matches!(check(&made), Err(CheckError::OutOfBounds { value: -1, .. })));
}

#[test]
fn bounds_are_not_checked_where_the_user_says_so() {
    let mut made = kernel("{[i]: 0<=i<n}", "out[i] = a[i + 1]", "");
    // SAFETY: the kernel is not run.
    unsafe { made.options.set_check_bounds(false) };
    check(&made).unwrap();
}

#[test]
fn assumptions_help_to_prove() {
    let text = "out[4] = a[0]";
    let builder = |text: &str| {
        let data = Data::global("a, out").dtype(parloop_device::DType::F64).shape("n");
        KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions(text.to_owned()).data(data).rest()
    };
    let promised = builder(text).assumptions("n >= 5").build_kernel().unwrap();
    check(&promised).unwrap();
    let broken = builder(text).assumptions("n >= 4").build_kernel().unwrap();
    assert!(matches!(check(&broken), Err(CheckError::OutOfBounds { value: 4, .. })));
}

#[test]
fn too_many_indices_are_an_error() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i]", "");
    let made = changed(&made, 0, |instruction| {
        *instruction = instruction.map_exprs(&mut |expr| {
            if expr.variables().contains("a") { Expr::subscript("a", [Expr::var("i"), Expr::int(0)]) } else { expr.clone() }
        });
    });
    assert_eq!(error(&made), "`a[i, 0]` in `insn` has 2 indices, but `a` has 1 axes");
}

#[test]
fn a_write_that_leaves_out_a_parallel_iname_is_a_race() {
    let made = kernel("{[i]: 0<=i<n}", "out[0] = a[i] {id=put}", "i=g.0");
    assert_eq!(
        error(&made),
        "race: instruction `put`: `i = 0` writes `out[0]`, which `i = 1` overwrites; running `i` in parallel does not keep that order; run it sequentially, let each instance write its own elements, make the update atomic, or silence write_race(put)"
    );
    let mut silenced = made.clone();
    silenced.options.silenced.insert("write_race(*)".into());
    // SAFETY: the kernel is not run.
    unsafe { silenced.options.set_check_bounds(false) };
    check(&silenced).unwrap();
    check(&kernel("{[i]: 0<=i<n}", "out[i] = a[i]", "i=g.0")).unwrap();
}

#[test]
fn a_write_that_uses_all_inames_and_still_meets_is_a_race() {
    let made = kernel("{[i,j]: 0<=i<16 and 0<=j<16 and i + j < n}", "out[i + j] = a[i]", "i=l.0 j=l.1");
    assert!(matches!(check(&made), Err(CheckError::Race { .. })), "{:?}", check(&made));
    let made = kernel("{[i,j]: 0<=i and 0<=j<16 and 16*i + j < n}", "out[16*i + j] = a[i]", "i=g.0 j=l.0");
    check(&made).unwrap();
    let made = kernel("{[i,j]: 0<=i and 0<=j<17 and 16*i + j < n}", "out[16*i + j] = a[i]", "i=g.0 j=l.0");
    assert!(matches!(check(&made), Err(CheckError::Race { .. })));
}

#[test]
fn a_scalar_of_a_vector_iname_is_a_race() {
    let text = "<>t = a[i] + v {id=t, inames=i:v}\nb[i, v] = t {dep=t, inames=i:v}";
    let made = kernel("{[i,v]: 0<=i<n and 0<=v<4}", text, "v=vec");
    assert!(matches!(check(&made), Err(CheckError::Race { violation }) if violation.variable == "t"));
}

#[test]
fn two_inames_on_one_axis_are_an_error() {
    let made = kernel("{[i,j]: 0<=i<n and 0<=j<16}", "b[i, j] = a[i] {id=put}", "i=g.0 j=g.0");
    assert_eq!(error(&made), "`put` runs in `i` and `j`, which are both tagged g.0; give one of them another axis");
}

#[test]
fn accesses_without_order_are_an_error_unless_apart_or_excused() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=one}\nout[i] = 2*a[i] {id=two, dep=*}", "");
    assert_eq!(
        error(&made),
        "`one` writes `out`, which `two` also uses, and their order is not specified; add a dependency between them, or `nosync` to both if none is needed"
    );
    let data = || Data::global("b").dtype(parloop_device::DType::F64).shape("n, 2");
    let apart = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("b[i, 0] = 1 {id=one}\nb[i, 1] = 2 {id=two}").data(data()).rest();
    check(&apart.build_kernel().unwrap()).unwrap();
    let halves = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("c[2*i] = 1 {id=one}\nc[2*i + 1] = 2 {id=two}")
        .data(Data::global("c").dtype(parloop_device::DType::F64).shape("2*n"))
        .rest();
    check(&halves.build_kernel().unwrap()).unwrap();
    let excused = kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=one, nosync=two}\nout[i] = 2*a[i] {id=two, dep=*, nosync=one}", "");
    check(&excused).unwrap();
}

#[test]
fn an_iname_outside_of_its_instruction_is_an_error() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=put}", "");
    let made = changed(&made, 0, |instruction| instruction.within_inames.clear());
    assert_eq!(error(&made), "`put` uses iname `i` but does not run in it; add it to its inames: inames=+i");
}

#[test]
fn temporaries_must_have_a_value() {
    let made = kernel("{[i]: 0<=i<n}", "<>t = a[i] {id=t}\nout[i] = t {id=put, dep=t}", "");
    check(&made).unwrap();
    let mut without = made.clone();
    without.instructions.remove(0);
    let without = changed(&without, 0, |instruction| instruction.depends_on.clear());
    assert_eq!(error(&without), "`put` reads `t` before it is written; assign it first, or give it an initializer");
    let itself = changed(&made, 0, |instruction| {
        *instruction = instruction.map_exprs(&mut |expr| if expr.variables().contains("a") { Expr::var("t") } else { expr.clone() })
    });
    assert_eq!(error(&itself), "`t` computes `t` from itself, and it has no initial value; assign it first");
}

#[test]
fn what_cannot_be_written_is_named() {
    let made = kernel("{[i]: 0<=i<n}", "<>t = a[i] {id=t}\nout[i] = t {id=put, dep=t}", "");
    let write = |name: &str| {
        let name = name.to_owned();
        changed(&made, 0, move |instruction| {
            *instruction = instruction.map_exprs(&mut |expr| if *expr == Expr::var("t") { Expr::var(name.as_str()) } else { expr.clone() });
        })
    };
    assert_eq!(error(&write("i")), "`t` writes `i`, which is an iname; only loops change inames");
    assert_eq!(error(&write("n")), "`t` writes `n`, which is an argument that is passed by value; declare a temporary, or pass an array");
    assert_eq!(
        error(&write("nobody")),
        "`t` writes `nobody`, which is neither an argument nor a temporary of the kernel; declare it: <>name = …"
    );
    let mut constant = made.clone();
    constant.temporaries.get_mut("t").unwrap().space = Some(AddressSpace::Constant);
    assert_eq!(error(&constant), "`t` writes `t`, which is in constant memory");
}

#[test]
fn unknown_functions_and_instructions_are_named() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = frobnicate(a[i]) {id=put}", "");
    assert_eq!(error(&made), "`put` calls the unknown function `frobnicate`; register it, or correct its name");
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=put}", "");
    let made = changed(&made, 0, |instruction| instruction.depends_on.extend(["nobody".into()]));
    assert_eq!(error(&made), "`put` depends on `nobody`, which is not an instruction in the kernel");
}

#[test]
fn an_index_that_is_no_integer_is_an_error() {
    let made = kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=put}", "");
    let made = changed(&made, 0, |instruction| {
        *instruction = instruction.map_exprs(&mut |expr| {
            if expr.variables().contains("a") { Expr::subscript("a", [Expr::subscript("a", [Expr::var("i")])]) } else { expr.clone() }
        });
    });
    assert_eq!(error(&made), "index `a[i]` in `put` is of type float64; indices are integers: use cast(int32, …)");
}

#[test]
fn a_parallel_bound_that_is_computed_is_an_error() {
    let builder = KernelBuilder::new().domains(["{[i]: 0<=i<n}", "{[k]: 0<=k<len}"]);
    let builder = builder.instructions("<int32>len = lens[i] {id=len}\nout[i] = i {inames=i:k, dep=len}");
    let made = tagged(&builder.build_kernel().unwrap(), "k=g.0");
    assert!(matches!(check(&made), Err(CheckError::ParallelBound { iname, bound }) if iname == "k" && bound == "len"));
}

#[test]
fn an_instruction_beside_an_axis_may_not_write_to_shared_memory() {
    let made = kernel("{[i]: 0<=i<16 and i < n}", "b[0] = 1 {id=one}\nout[i] = a[i] {id=put}", "i=l.0");
    let schedule = parloop_loop::schedule::schedule(&Program::of(made.clone()), &made).unwrap();
    let found = parloop_loop::check::after_schedule(&Program::of(made.clone()), &schedule).unwrap_err();
    assert_eq!(
        found.to_string(),
        "`one` writes to shared memory but does not use hardware axis l.0, which other instructions of `loopy_kernel` use; add an iname with that tag: \
         `inames=+NAME` in its options, or add_inames_to_insn"
    );
}

#[test]
fn temporaries_are_private_local_or_global_by_their_indices() {
    let space = |index: &str, tags: &str| {
        let text = format!("<>t{index} = a[i] {{id=t, inames=i:j}}\nout[i] = t{index} {{dep=t, inames=i:j}}");
        let made = KernelBuilder::new().domain("{[i,j]: 0<=i<n and 0<=j<16}").instructions(text).build_kernel().unwrap();
        address_spaces(&tagged(&made, tags)).map(|kernel| kernel.temporaries["t"].space.unwrap())
    };
    assert_eq!(space("", "i=g.0 j=l.0").unwrap(), AddressSpace::Private);
    assert_eq!(space("[j]", "i=g.0 j=l.0").unwrap(), AddressSpace::Local);
    assert_eq!(space("[i, j]", "i=g.0 j=l.0").unwrap(), AddressSpace::Global);
    assert_eq!(space("[j]", "").unwrap(), AddressSpace::Private);
    assert_eq!(
        space("[j]", "i=l.1 j=l.0").unwrap_err().to_string(),
        "`t` writes temporary `t` at an index that uses local inames, but not `i`, along which the instruction also runs in parallel: work items would overwrite each other's \
         values; use `i` in the index, or choose its memory with set_temporary_address_space"
    );
}

/// A kernel over 0 <= i < n with an array `out` of a shape, and numbers `n` and `m`.
fn reaching(instruction: &str, shape: &str) -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions(instruction)
        .data(Data::global("out").dtype("float64").shape(shape))
        .data(Data::value("n, m").dtype("int32"))
        .build()
        .unwrap()
}

#[test]
fn lengths_that_nothing_relates_to_the_loops_are_checked_in_each_call() {
    let program = reaching("out[i] = 7", "m");
    for context in contexts() {
        let made = program.compile(&context).unwrap();
        let mut out = context.zeros::<f64>(100).unwrap();
        let call = |out: &mut _, n: i64, m: i64| made.call(&mut [("out", LoopArg::shaped(out, &[m])), ("n", n.into()), ("m", m.into())]);
        call(&mut out, 4, 4).unwrap();
        assert_eq!(
            call(&mut out, 50, 4).unwrap_err().to_string(),
            "kernel `loopy_kernel`: `out[i]` in `insn` is out of bounds: index 1 is 49, but the axis has 4 elements with m = 4, n = 50"
        );
        call(&mut out, 0, 4).unwrap();
        assert_eq!(out.to_vec().unwrap()[..6], [7.0, 7.0, 7.0, 7.0, 0.0, 0.0]);
    }
    let program = reaching("out[m] = 7", "n");
    let context = Context::open("cpu:1").unwrap();
    let made = program.compile(&context).unwrap();
    for (m, is_inside) in [(0, true), (3, true), (4, false), (-1, false)] {
        let mut out = context.zeros::<f64>(100).unwrap();
        let found = made.call(&mut [("out", LoopArg::shaped(&mut out, &[4])), ("m", LoopArg::from(m))]);
        assert_eq!(found.is_ok(), is_inside, "{m}");
        assert_eq!(out.to_vec().unwrap().iter().sum::<f64>(), if is_inside { 7.0 } else { 0.0 });
    }
}

#[test]
fn indices_that_are_not_affine_are_checked_as_the_kernel_runs() {
    // The instruction, the shape, n and m with which it stays inside, and with which it does not.
    let cases = [
        ("out[i*i] = 7", "10", (4i64, 0i64), (5, 0)),
        ("out[i*m] = 7", "10", (4, 3), (5, 3)),
        ("out[i % m] = 7", "n", (4, 3), (4, -3)),
        ("out[i // m] = 7", "n", (4, 3), (4, -3)),
        ("out[min(m, i)] = 7", "n", (4, 2), (4, -1)),
        ("out[if(i > m, i, m)] = 7", "n", (4, 3), (4, 4)),
        ("out[abs(i - m)] = 7", "n", (4, 2), (4, 9)),
        ("out[i] = 7", "n*m", (4, 1), (4, 0)),
        ("out[i] = 7", "n*n - n", (4, 0), (1, 0)),
    ];
    for context in contexts() {
        for (instruction, shape, inside, outside) in cases {
            let made = reaching(instruction, shape).compile(&context).unwrap_or_else(|error| panic!("{instruction}: {error}"));
            for (is_inside, (n, m)) in [(true, inside), (false, outside)] {
                let length = match shape {
                    "10" => 10,
                    "n*m" => n * m,
                    "n*n - n" => n * n - n,
                    _ => n,
                };
                let mut out = context.zeros::<f64>(200).unwrap();
                let found = made.call(&mut [("out", LoopArg::shaped(&mut out, &[length])), ("n", n.into()), ("m", m.into())]);
                assert_eq!(found.is_ok(), is_inside, "{instruction}, {shape}, n = {n}, m = {m}: {found:?}");
                let beyond: f64 = out.to_vec().unwrap()[length as usize..].iter().sum();
                assert_eq!(beyond, 0.0, "{instruction} wrote outside");
            }
        }
    }
}

#[test]
fn what_is_proved_by_cases_is_not_checked_as_the_kernel_runs() {
    for text in
        ["out[i] = a[(i + 1) % n]", "out[i] = a[min(i + 1, n - 1)]", "out[i] = a[max(i - 1, 0)]", "out[i] = a[i - 1 if i > 0 else i]"]
    {
        let made = kernel("{[i]: 0<=i<n}", text, "");
        let left = before_schedule(&Program::of(made.clone()), &made).unwrap();
        assert!(left.in_calls.is_empty() && left.in_kernel.is_empty(), "{text}: {left:?}");
    }
    for (index, shape) in [("i*m + j", "n*m"), ("(i*m + j)*l + k", "n*m*l")] {
        let made = KernelBuilder::new()
            .domain("{[i, j, k]: 0<=i<n and 0<=j<m and 0<=k<l}")
            .instructions(format!("out[{index}] = 7 {{inames=i:j:k}}"))
            .data(Data::global("out").dtype("float64").shape(shape))
            .rest()
            .build_kernel()
            .unwrap();
        let left = before_schedule(&Program::of(made.clone()), &made).unwrap();
        assert!(left.in_calls.is_empty() && left.in_kernel.is_empty(), "{index}: {left:?}");
    }
}

#[test]
fn linear_indices_are_inside_of_all_elements() {
    let made = |instruction: &str, checked: bool| {
        KernelBuilder::new()
            .domain("{[i]: 0<=i<16}")
            .instructions(instruction)
            .data(Data::global("b").dtype("float64").shape("3, 4"))
            .options(KernelOptions { checked: Some(checked), ..KernelOptions::default() })
            .build()
            .unwrap()
    };
    assert_eq!(
        made("b[[i]] = 1", false).generate(Target::C).unwrap_err().to_string(),
        "`b[[i]]` in `insn` is out of bounds: index 1 can be 15 (for i = 15), but the axis has 12 elements"
    );
    let context = Context::open("cpu:1").unwrap();
    made("b[[i]] = 1 {if=i < 12}", false).generate(Target::C).unwrap();
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("b[[q[i]]] = 1")
        .data(Data::global("b").dtype("float64").shape("3, 4"))
        .data(Data::global("q").dtype("int32").shape("n"))
        .rest()
        .options(KernelOptions { checked: Some(true), ..KernelOptions::default() })
        .build()
        .unwrap();
    let made = program.compile(&context).unwrap();
    let mut b = context.zeros::<f64>(20).unwrap();
    let q = context.array(&[3, 11, 12]).unwrap();
    let found = made.call(&mut [("b", LoopArg::shaped(&mut b, &[3, 4])), ("q", LoopArg::from(&q))]);
    assert_eq!(found.unwrap_err().to_string(), "kernel `loopy_kernel`: index 12 is outside 0..12 of b[[q[i]]]");
    assert_eq!(b.to_vec().unwrap().iter().sum::<f64>(), 2.0);
}

#[test]
fn arrays_of_unknown_shape_are_as_long_as_each_call_finds_them() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i + 1] = 7")
        .data(Data::global("out").dtype("float64").unknown_shape())
        .data(Data::value("n").dtype("int32"))
        .build()
        .unwrap();
    for context in contexts() {
        let made = program.compile(&context).unwrap();
        let mut out = context.zeros::<f64>(100).unwrap();
        made.call(&mut [("out", LoopArg::shaped(&mut out, &[5])), ("n", 4i64.into())]).unwrap();
        let found = made.call(&mut [("out", LoopArg::shaped(&mut out, &[5])), ("n", 5i64.into())]);
        assert!(matches!(found, Err(LoopError::Run(RunError::OutOfBounds { index: 5, length: Some(5), .. }))), "{found:?}");
    }
}

/// A kernel with a number `x` that is not an integer.
fn with_fraction(instruction: &str, assumptions: &str) -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<4}")
        .instructions(instruction)
        .data(Data::global("o").dtype("float64").shape("4"))
        .data(Data::value("x").dtype("float64"))
        .assumptions(assumptions)
        .build()
        .unwrap()
}

#[test]
fn conditions_on_fractions_prove_nothing_about_integers() {
    let program = with_fraction("o[i + 100] = 7 {if=0 < x and x < 1}", "");
    assert_eq!(
        program.generate(Target::C).unwrap_err().to_string(),
        "`o[i + 100]` in `insn` is out of bounds: index 1 can be 103 (for i = 3), but the axis has 4 elements"
    );
    // Two values of i are within 1 of 1.25.
    let program = with_fraction("o[0] = i {if=i < x + 1 and i > x - 1}", "");
    program.generate(Target::C).unwrap();
    let parallel = program.transform(|kernel| tag_inames(kernel, &Tags::default().with("i", InameTag::Group(0)))).unwrap();
    assert!(!parallel.generate(Target::C).unwrap().doubts.is_empty(), "only the number decides");
}

#[test]
fn assumptions_and_domains_are_about_integers() {
    assert_eq!(
        with_fraction("o[i] = x", "x >= 0").generate(Target::C).unwrap_err().to_string(),
        "an assumption uses `x`, which is of type float64; domains and assumptions take integers: declare it as int64, or make it a \
         condition (`if=`)"
    );
    for dtype in ["float64", "uint64"] {
        let program = KernelBuilder::new()
            .domain("{[i]: 0<=i<4 and i<m}")
            .instructions("o[i] = 1")
            .data(Data::global("o").dtype("float64").shape("4"))
            .data(Data::value("m").dtype(dtype))
            .build()
            .unwrap();
        let message = program.generate(Target::C).unwrap_err().to_string();
        assert!(message.starts_with(&format!("a domain uses `m`, which is of type {dtype};")), "{message}");
    }
}

#[test]
fn in_checked_mode_an_integer_divided_by_zero_is_reported() {
    // The instruction, and what is reported where `b` has a zero in its third place, or `m` is zero.
    let cases = [
        ("out[i] = a[i] // b[i]", Some("a[i] // b[i]")),
        ("out[i] = 3*(a[i] % b[i]) + 1", Some("a[i] % b[i]")),
        ("out[i] = a[i % m]", Some("i % m")),
        ("out[i] = a[i] // b[i] // 1 + 0", Some("a[i] // b[i]")),
        ("out[i] = if(b[i] == 0, 0, a[i] // b[i])", None),
        ("out[i] = a[i] // (b[i] + 7.0)", None),
        ("out[i] = a[i] // 4 + a[i] % 3", None),
    ];
    for context in contexts() {
        for (instruction, reported) in cases {
            let program = |checked: bool| {
                let options = KernelOptions { checked: Some(checked), ..KernelOptions::default() };
                let builder = KernelBuilder::new().name("k").domain("{[i]: 0<=i<5}").instructions(instruction).options(options);
                let builder =
                    builder.data(Data::global("a, out").dtype("int32").shape("5")).data(Data::global("b").dtype("int32").shape("5"));
                builder.data(Data::value("m").dtype("int32")).build().unwrap().compile(&context).unwrap()
            };
            let call = |checked: bool, b: [i32; 5], m: i64| {
                let (a, b, mut out) =
                    (context.array(&[7i32, -8, 9, 10, 11]).unwrap(), context.array(&b).unwrap(), context.zeros::<i32>(5).unwrap());
                let mut args =
                    vec![("a", LoopArg::from(&a)), ("b", LoopArg::from(&b)), ("out", LoopArg::from(&mut out)), ("m", LoopArg::from(m))];
                let called = program(checked).call(&mut args);
                drop(args);
                called.map(|()| out.to_vec().unwrap()).map_err(|error| error.to_string())
            };
            let message = |what: &str| format!("kernel `k`: integer division by zero in {what}");
            let (ones, zero) = ([1, 2, 3, 4, 5], [1, 2, 0, 4, 5]);
            assert_eq!(call(true, ones, 2).unwrap(), call(false, ones, 2).unwrap(), "{instruction}");
            match reported {
                Some(what) => assert_eq!(call(true, zero, 0).unwrap_err(), message(what), "{instruction}"),
                None => _ = call(true, zero, 0).unwrap(),
            }
            call(false, zero, 0).unwrap();
        }
    }
}
