//! Sizes, limits and conditions of loops: points that a domain leaves out, loops that are empty, arrays and loops beyond 32 bits, chains
//! and unrolled loops of any length, and calls with unexpected sizes.

use parloop_kernel::Context;
use parloop_loop::affine::to_affine;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::parse::expression;
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, LoopArg};
use parloop_loop::syntax::{BinaryOp, Expr, KernelOptions, Program, Target};
use parloop_loop::transform::{Rename, Split, merge, split_iname};
use parloop_loop::{Name, Set};

use super::lowering::{map, tag};
use super::points::{points, values};
use super::run::{contexts, executable};

/// What a kernel that sets `o[k]` to `k + 1` leaves in 24 elements that were 0.
fn marks(executable: &Executable, context: &Context, n: i64) -> Vec<i32> {
    let mut o = context.zeros::<i32>(24).unwrap();
    let mut args = vec![("o", LoopArg::from(&mut o))];
    if executable.plan().position("n").is_some() {
        args.push(("n", LoopArg::from(n)));
    }
    executable.call(&mut args).unwrap();
    o.to_vec().unwrap()
}

/// Where a program runs other points than those of the domain of `k`, for several `n`.
fn wrong_points(program: &Program, domain: &Set, what: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for context in contexts() {
        let executable = match program.compile(&context) {
            Ok(executable) => executable,
            Err(error) => return vec![format!("{what}: {error}")],
        };
        for n in [0, 1, 4, 5, 7, 12] {
            let mut expected = vec![0; 24];
            for point in points(domain, &values([("n", n)])) {
                expected[point["k"] as usize] = point["k"] as i32 + 1;
            }
            let found = marks(&executable, &context, n);
            if found != expected {
                wrong.push(format!("{what}, n = {n}, on {:?}: {found:?}", context.device()));
            }
        }
    }
    wrong
}

fn marking(domain: &str) -> Program {
    KernelBuilder::new()
        .domain(domain)
        .instructions("o[k] = k + 1")
        .data(Data::global("o").dtype("int32").shape("24"))
        .rest()
        .assumptions(if domain.starts_with("[n]") { "0 <= n <= 12" } else { "" })
        .build()
        .unwrap_or_else(|error| panic!("{domain}: {error}"))
}

/// Domains that leave out points between the smallest and the largest value of `k`.
const WITH_GAPS: &[&str] = &[
    "{[k]: 0<=k<5 and k mod 3 = 1}",
    "{[k]: 0<=k<12 and k mod 3 = 1 and k mod 2 = 0}",
    "{[k]: 0<=k<12 and 1 <= k mod 3}",
    "{[k]: 0<=k<12 and (k mod 3 = 1 or k mod 4 = 2)}",
    "{[k]: 0<=k<3 or 6<=k<9}",
    "{[k]: k = 2 or k = 9}",
    "{[k]: 2<=k<=2 and k mod 2 = 0}",
    "[n] -> {[k]: 0<=k<n and k mod 3 = 1}",
    "[n] -> {[k]: 0<=k<12 and k mod 3 = n mod 3}",
    "[n] -> {[k]: 0<=k<2*n and 2*k = n}",
    "[n] -> {[k]: k = n and k mod 2 = 0}",
    "[n] -> {[k]: 0<=k<12 and k mod 2 = 1 and k <= n}",
    "[n] -> {[k]: 2<=k<9 and n <= k and k mod 3 = 0}",
    "{[k]: 0<=k<10 and exists e: k = 3*e + 1}",
];

#[test]
fn points_that_a_domain_leaves_out_are_not_run_whatever_the_tag() {
    let mut wrong = Vec::new();
    for domain in WITH_GAPS {
        let program = marking(domain);
        let points = &program.entry().unwrap().domains[0];
        wrong.extend(wrong_points(&program, points, domain));
        for name in ["g.0", "l.0", "unr", "ilp", "vec", "unr_hint"] {
            wrong.extend(wrong_points(&tag(&program, "k", name), points, &format!("{domain} with {name}")));
        }
        let slabs = map(&program, |kernel| {
            let mut kernel = kernel.clone();
            kernel.inames.get_mut("k").unwrap().slabs = (1, 1);
            kernel
        });
        wrong.extend(wrong_points(&slabs, points, &format!("{domain} with slabs")));
        for (outer, inner) in [("unr_hint", "unr"), ("g.0", "l.0"), ("g.0", "vec"), ("g.0", "ilp")] {
            let split = Split::by(4).slabs(1, 1).outer(outer.parse().unwrap()).inner(inner.parse().unwrap());
            let split = program.split_iname("k", split).unwrap();
            wrong.extend(wrong_points(&split, points, &format!("{domain} split into {outer} and {inner}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn points_that_a_domain_of_two_axes_leaves_out_are_not_run() {
    let mut wrong = Vec::new();
    for domain in [
        "{[i, k]: 0<=i<12 and k = 2*i and k mod 3 = 0}",
        "{[i, k]: 0<=i<4 and 0<=k<6 and (i + k) mod 4 = 1}",
        "[n] -> {[i, k]: 0<=i<4 and i<=k<12 and (k - i) mod 3 = n mod 3}",
        "{[i, k]: (0<=i<2 and 0<=k<3) or (i = 3 and 9<=k<12 and k mod 2 = 1)}",
    ] {
        let program = marking(domain);
        let points = &program.entry().unwrap().domains[0];
        for tags in ["", "i:g.0, k:l.0", "i:g.1, k:g.0", "i:l.1, k:l.0", "k:g.0", "i:g.0, k:unr", "i:unr, k:g.0", "i:ilp", "i:g.0, k:vec"] {
            let program = if tags.is_empty() { program.clone() } else { program.tag_inames(tags).unwrap() };
            wrong.extend(wrong_points(&program, points, &format!("{domain} with {tags}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_loop_of_the_host_leaves_points_out() {
    for domain in ["{[k]: 0<=k<9 and k mod 3 = 1}", "{[k]: 0<=k<3 or 6<=k<9}"] {
        let program = KernelBuilder::new()
            .domain(domain)
            .domain("{[i, j]: 0<=i,j<4}")
            .instructions("for k\n t[i] = t[i] + k + 1 {id=t, inames=i:k}\n ... gbarrier {id=wait, dep=t}\n o[k] = t[3 - j] {dep=wait, inames=j:k}\nend")
            .data(Data::global("o").dtype("int32").shape("24"))
            .data(Data::global("t").dtype("int32").shape("4"))
            .build()
            .unwrap_or_else(|error| panic!("{domain}: {error}"))
            .tag_inames("i:g.0")
            .unwrap();
        for context in contexts() {
            let executable = program.compile(&context).unwrap_or_else(|error| panic!("{domain}: {error}"));
            let (mut o, mut t) = (context.zeros::<i32>(24).unwrap(), context.zeros::<i32>(4).unwrap());
            executable.call(&mut [("o", LoopArg::from(&mut o)), ("t", LoopArg::from(&mut t))]).unwrap();
            let (mut expected, mut sum) = (vec![0; 24], 0);
            for point in points(&program.entry().unwrap().domains[0], &values([])) {
                sum += point["k"] as i32 + 1;
                expected[point["k"] as usize] = sum;
            }
            assert_eq!(o.to_vec().unwrap(), expected, "{domain} on {:?}", context.device());
        }
    }
}

/// What is left in `out` by a kernel over `{[i, j]: 0<=i<3 and 0<=j<n}` called with `n` of 0 and an `a` of `length` ones.
fn not_run(program: &Program, length: usize) {
    for context in contexts() {
        for checked in [false, true] {
            let program = map(program, |kernel| {
                let mut kernel = kernel.clone();
                kernel.options.checked = Some(checked);
                kernel
            });
            let executable = executable(&program, &context);
            let (a, mut out) = (context.array(&vec![1.0f64; length]).unwrap(), context.zeros::<f64>(1).unwrap());
            let out_arg = LoopArg::shaped(&mut out, &[0]);
            let called = executable.call(&mut [("a", LoopArg::from(&a)), ("n", LoopArg::from(0)), ("out", out_arg)]);
            called.unwrap_or_else(|error| panic!("{error} on {:?}", context.device()));
            assert_eq!(out.to_vec().unwrap(), [0.0]);
        }
    }
}

#[test]
fn a_condition_that_reads_memory_is_not_asked_where_a_loop_makes_no_turn() {
    let build = |instructions: &str| {
        KernelBuilder::new()
            .domain("{[i, j]: 0<=i<3 and 0<=j<n}")
            .instructions(instructions)
            .data(Data::global("a").dtype("float64").shape("n"))
            .data(Data::global("out").dtype("float64").shape("n"))
            .rest()
            .build()
            .unwrap_or_else(|error| panic!("{error}"))
    };
    not_run(&build("out[j] = 1 {if=a[n-1] > 0}"), 0);
    // 7 // n would end the process on a CPU.
    not_run(&build("out[j] = 1 {if=7 // n > 1}"), 0);
    not_run(&build("out[j] = i {if=a[n-1]**3 > 0}"), 0);
}

#[test]
fn a_condition_that_reads_memory_is_not_asked_where_one_in_front_of_it_is_false() {
    // Two instructions side by side ask the same, each behind a condition of its own; the places that these leave out are outside `a`.
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions(
            "x[i] = 1 {id=first, if=(at[i] < n) and a[at[i]]**3 > 0}
             y[i] = 2 {id=second, if=(2*at[i] < n) and a[at[i]]**3 > 0}
             if at[i] < n
                 if a[at[i]] > 0
                     z[i] = 3 {id=third}
                 end
             end
             if at[i] + 1 < n
                 if a[at[i]] > 0
                     z[i] = z[i] + 3 {dep=third}
                 end
             end",
        )
        .data(Data::global("a, x, y, z").dtype("float64").shape("n"))
        .data(Data::global("at").dtype("int32").shape("n"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        for checked in [false, true] {
            let program = map(&program, |kernel| {
                let mut kernel = kernel.clone();
                kernel.options.checked = Some(checked);
                kernel
            });
            let executable = executable(&program, &context);
            let at = context.array(&[0, 1, 3, 1_000_000_000]).unwrap();
            let a = context.array(&[1.0f64; 4]).unwrap();
            let [mut x, mut y, mut z] = [(); 3].map(|()| context.zeros::<f64>(4).unwrap());
            let (x_arg, y_arg, z_arg) = (LoopArg::from(&mut x), LoopArg::from(&mut y), LoopArg::from(&mut z));
            executable.call(&mut [("a", LoopArg::from(&a)), ("at", LoopArg::from(&at)), ("x", x_arg), ("y", y_arg), ("z", z_arg)]).unwrap();
            let found = [x, y, z].map(|array| array.to_vec().unwrap());
            assert_eq!(found, [[1.0, 1.0, 1.0, 0.0], [2.0, 2.0, 0.0, 0.0], [6.0, 6.0, 3.0, 0.0]], "on {:?}", context.device());
        }
    }
}

fn of_sixteens() -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = 7")
        .data(Data::global("out").dtype("float64").shape("n"))
        .rest()
        .build()
        .unwrap()
}

#[test]
fn a_call_is_held_to_what_the_kernel_assumes() {
    let split = |assumption: &str| of_sixteens().assume(assumption).unwrap().split_iname("i", Split::by(16)).unwrap();
    let message = |program: &Program, context: &Context, n: usize| {
        let executable = executable(program, context);
        // Longer than asked for: what is written behind the end is seen.
        let mut out = context.zeros::<f64>(64).unwrap();
        let error = executable.call(&mut [("out", LoopArg::shaped(&mut out, &[n as i64]))]).err().map(|error| error.to_string());
        let repeated = executable.repeat(&[("n", n as i64)]).err().map(|error| error.to_string());
        assert_eq!(error, repeated);
        let written = if error.is_none() { n } else { 0 };
        assert_eq!(out.to_vec().unwrap(), [vec![7.0; written], vec![0.0; 64 - written]].concat());
        error
    };
    for context in contexts() {
        let whole = split("n mod 16 = 0");
        assert_eq!(message(&whole, &context, 32), None);
        assert_eq!(message(&whole, &context, 0), None);
        assert_eq!(
            message(&whole, &context, 17).unwrap(),
            "kernel `loopy_kernel` assumes `n mod 16 = 0`, but is called with n = 17; pass sizes for which it holds, or create the kernel without the assumption"
        );
        let several = split("n >= 5 and n mod 16 = 3 or n = 32");
        assert_eq!([19, 32, 35].map(|n| message(&several, &context, n)), [const { None }; 3]);
        let found = [3, 16, 33].map(|n| message(&several, &context, n).unwrap());
        assert!(found.iter().all(|found| found.contains("n mod 16 = 3") && found.contains(" or ")), "{found:?}");
        let most = split("n <= 40");
        assert_eq!(message(&most, &context, 40), None);
        assert!(message(&most, &context, 41).unwrap().contains("assumes `n <= 40`, but is called with n = 41"));
    }
}

#[test]
fn what_a_called_kernel_assumes_holds_where_it_is_called() {
    let callee = KernelBuilder::new()
        .name("fill")
        .domain("{[i]: 0<=i<m}")
        .instructions("y[i] = x[i] + 1")
        .data(Data::global("x, y").dtype("float64").shape("8"))
        .data(Data::value("m").dtype("int32"))
        .assumptions("m mod 4 = 0 and m <= 8")
        .build_function()
        .unwrap();
    let callee = callee.with_kernel(split_iname(callee.kernel("fill").unwrap(), "i", &Split::by(4)).unwrap());
    let caller = |instructions: &str| {
        let caller = KernelBuilder::new()
            .domain("{[k]: 0<=k<8}")
            .domain("{[r]: 0<=r<3}")
            .instructions(instructions)
            .data(Data::global("a, out").dtype("float64").shape("3, 8"))
            .data(Data::value("n").dtype("int32"))
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        merge([&caller, &callee]).unwrap()
    };
    let rows = |lengths: [usize; 3]| lengths.map(|length| [vec![2.0; length], vec![0.0; 8 - length]].concat()).concat();
    for context in contexts() {
        let call = |program: &Program, n: i64| {
            let executable = executable(program, &context);
            let (a, mut out) = (context.array(&[1.0; 24]).unwrap(), context.zeros::<f64>(24).unwrap());
            let (a_arg, out_arg) = (LoopArg::shaped(&a, &[3, 8]), LoopArg::shaped(&mut out, &[3, 8]));
            let called = executable.call(&mut [("a", a_arg), ("n", LoopArg::from(n)), ("out", out_arg)]);
            called.map_err(|error| error.to_string()).map(|()| out.to_vec().unwrap())
        };
        // Whoever calls the caller is held to it.
        let plain = caller("[k]: out[r, k] = fill([k]: a[r, k], n)");
        assert_eq!(call(&plain, 4).unwrap(), rows([4, 4, 4]));
        assert!(call(&plain, 5).unwrap_err().contains("assumes `n mod 4 = 0`, but is called with n = 5"));
        assert!(call(&plain, 12).unwrap_err().contains("assumes `n <= 8`, but is called with n = 12"));
        // What nobody is held to is not relied on.
        assert_eq!(call(&caller("[k]: out[r, k] = fill([k]: a[r, k], 3*r)"), 0).unwrap(), rows([0, 3, 6]));
    }
}

fn refused(program: &Program, target: Target) -> String {
    program.generate(target).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn loops_that_are_written_out_have_a_limit() {
    let program = KernelBuilder::new()
        .domain("{[i, j, k]: 0<=i<2000000000 and 0<=j<300 and 0<=k<300}")
        .instructions("out[i % 4] = 7 {id=long}\nother[j, k] = 7 {id=square}")
        .data(Data::global("out").dtype("float64").shape("4"))
        .data(Data::global("other").dtype("float64").shape("300, 300"))
        .options(KernelOptions { silenced: ["write_race(long)".into()].into(), ..KernelOptions::default() })
        .build()
        .unwrap();
    assert_eq!(
        refused(&tag(&program, "i", "unr"), Target::C),
        "iname `i` is unrolled (unr) for 2000000000 values, which makes 2000000000 statements or private copies, but a kernel can have at most 65536; split it and tag only the inner part, such as `split_iname i 16 inner_tag=unr`"
    );
    for (tag_name, target) in [("unr", Target::OpenCl), ("ilp", Target::C), ("ilp", Target::Cuda), ("vec", Target::OpenCl)] {
        assert!(refused(&tag(&program, "i", tag_name), target).contains(&format!("({tag_name}) for 2000000000 values")), "{tag_name}");
    }
    // On a CPU `vec` is a loop that the compiler vectorises.
    assert_eq!(refused(&tag(&program, "i", "vec"), Target::C), "");
    // Each of two nested loops is short enough, but not both.
    let square = tag(&tag(&program, "j", "unr"), "k", "unr");
    assert!(refused(&square, Target::C).contains("for 300 values, which makes 90000 statements"), "{}", refused(&square, Target::C));
    assert_eq!(refused(&tag(&program, "j", "unr"), Target::C), "");
}

#[test]
fn loops_that_are_written_out_side_by_side_are_counted_together() {
    let domains: Vec<String> = (0..3).map(|n| format!("{{[i{n}]: 0<=i{n}<30000}}")).collect();
    let lines: Vec<String> = (0..3).map(|n| format!("out[{n}, i{n}] = {n}")).collect();
    let builder = domains.iter().fold(KernelBuilder::new(), |builder, domain| builder.domain(domain.as_str()));
    let program = builder
        .instructions(lines.join("\n"))
        .data(Data::global("out").dtype("float64").shape("3, 30000"))
        .build()
        .unwrap()
        .tag_inames("i0:unr, i1:unr, i2:unr")
        .unwrap();
    assert!(refused(&program, Target::C).contains("(unr) for 30000 values, which makes 65537 statements"));
}

#[test]
fn a_private_value_has_no_more_copies_than_stacks_hold() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<2000000000}")
        .instructions("<> t = 2.0*i {id=t}\nout[i % 4] = t {id=out, dep=t}")
        .data(Data::global("out").dtype("float64").shape("4"))
        .options(KernelOptions { silenced: ["write_race(out)".into()].into(), ..KernelOptions::default() })
        .build()
        .unwrap();
    assert_eq!(
        refused(&tag(&program, "i", "vec"), Target::C),
        "temporary `t` takes 8000000000 bytes of each thread's private memory, but at most 1048576 are available; make it smaller by splitting the loops along which it is copied, or put it in global memory with `set_temporary_address_space t global`"
    );
}

#[test]
fn parts_in_parts_have_a_limit() {
    let depth = 11;
    let inames: Vec<String> = (0..depth).map(|n| format!("i{n}")).collect();
    let limits: Vec<String> = inames.iter().map(|iname| format!("0<={iname}<n")).collect();
    let program = KernelBuilder::new()
        .domain(format!("{{[{}]: {}}}", inames.join(", "), limits.join(" and ")).as_str())
        .instructions(format!("out[0] = {} {{id=out}}", inames.join(" + ")))
        .data(Data::global("out").dtype("float64").shape("1"))
        .rest()
        .options(KernelOptions { silenced: ["write_race(out)".into()].into(), ..KernelOptions::default() })
        .build()
        .unwrap();
    let slabs = map(&program, |kernel| {
        let mut kernel = kernel.clone();
        kernel.inames.values_mut().for_each(|iname| iname.slabs = (1, 1));
        kernel
    });
    assert!(refused(&slabs, Target::C).contains("(slabs) for 3 values, which makes 177147 statements"), "{}", refused(&slabs, Target::C));
}

/// `a[0] + 1*b[1] - …` of this many terms, and its value for arrays of ones.
fn long_sum(terms: usize) -> (String, f64) {
    let term = |n: usize| format!("{}{}*a[i, {}]", if n % 3 == 2 { "- " } else { "+ " }, n % 7, n % 5);
    let value = |n: usize| if n % 3 == 2 { -((n % 7) as f64) } else { (n % 7) as f64 };
    (format!("a[i, 0] {}", (1..terms).map(term).collect::<Vec<_>>().join(" ")), 1.0 + (1..terms).map(value).sum::<f64>())
}

fn summing(sum: &str) -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions(format!("out[i] = {sum}"))
        .data(Data::global("a").dtype("float64").shape("n, 5"))
        .data(Data::global("out").dtype("float64").shape("n"))
        .rest()
        .build()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn sums_and_products_of_thousands_are_computed() {
    let (sum, expected) = long_sum(2000);
    let product = vec!["(1 + a[i, 1])*a[i, 2] / 2"; 1000].join("*");
    let program = summing(&format!("{sum} + {product}"));
    for context in contexts() {
        let executable = executable(&program, &context);
        let (a, mut out) = (context.array(&[1.0; 35]).unwrap(), context.zeros::<f64>(7).unwrap());
        executable.call(&mut [("a", LoopArg::shaped(&a, &[7, 5])), ("out", LoopArg::from(&mut out))]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected + 1.0; 7], "on {:?}", context.device());
    }
}

#[test]
fn a_sum_of_thirty_thousand_terms_goes_all_the_way() {
    // A thread of a test has 2 MiB of stack: 70 bytes for each term, in which no function can call itself.
    let (sum, _) = long_sum(30_000);
    let parsed = expression(&sum).unwrap();
    assert_eq!(parsed.children().len(), 30_000);
    let printed = parsed.to_string();
    assert_eq!(expression(&printed).unwrap(), parsed);
    let program = summing(&sum);
    let split = program.split_iname("i", Split::by(16)).unwrap().rename_iname("i_inner", "lane", Rename::default()).unwrap();
    assert!(split.entry().unwrap().instructions[0].rhs()[0].variables().contains("lane"));
    for target in [Target::C, Target::OpenCl, Target::Cuda] {
        let code = split.generate(target).unwrap().code.text;
        assert!(code.lines().all(|line| line.matches("a[").count() <= 70), "parts are short");
    }
}

#[test]
fn long_chains_are_the_same_however_they_are_made() {
    let terms = |count: usize| (0..count).map(|n| Expr::var(format!("x{n}"))).collect::<Vec<_>>();
    for count in [127, 128, 129, 130, 300] {
        let mut all = terms(count).into_iter();
        let first = all.next().unwrap();
        let built = all.fold(first, |sum, term| Expr::binary(BinaryOp::Add, sum, term));
        let text = built.to_string();
        assert_eq!(expression(&text).unwrap(), built, "{count}");
        // Through a rewriting, and with a sum in place of the first.
        assert_eq!(built.map_children(&mut Expr::clone), built);
        let by = [(Name::from("x0"), expression("y + z").unwrap())].into();
        let longer = built.substitute(&by);
        assert_eq!(expression(&longer.to_string()).unwrap(), longer, "{count}");
        assert_eq!(to_affine(&built).unwrap().names().len(), count);
    }
    let nested = format!("({})*2 - ({})", terms(200).iter().map(Expr::to_string).collect::<Vec<_>>().join(" + "), "a*".repeat(200) + "b");
    assert_eq!(expression(&nested).unwrap().to_string(), nested.replace("(a*", "a*").replace("b)", "b"));
}

#[test]
fn what_is_nested_too_deep_is_still_refused() {
    let deep = format!("{}a{}", "(".repeat(200), " + b)".repeat(200));
    assert!(expression(&deep).unwrap_err().to_string().contains("levels deep"));
    let branch = summing(&format!("1 if a[i, 0] > 0 else {}", long_sum(1000).0));
    assert!(
        refused(&branch, Target::C).contains("a sum or product of 1000 operands in a branch of `if`"),
        "{}",
        refused(&branch, Target::C)
    );
}

/// A sparse matrix times a vector, where nothing says how many entries there are.
pub fn csr(checked: bool) -> Program {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<nrows}")
        .domain("{[j]: rowstart<=j<rowend}")
        .instructions(
            "for i
                 <> rowstart = rowstarts[i]
                 <> rowend = rowstarts[i + 1]
                 y[i] = sum(j, values[j]*x[colindices[j]])
             end",
        )
        .data(Data::global("values, x, y").dtype("float64"))
        .data(Data::global("rowstarts, colindices").dtype("int32"))
        .rest()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    map(&program, |kernel| {
        let mut kernel = kernel.clone();
        kernel.options.checked = Some(checked);
        kernel
    })
}

#[test]
fn arrays_of_unknown_extent_have_the_axes_of_their_uses() {
    let split = Split::by(2).outer("g.0".parse().unwrap()).inner("l.0".parse().unwrap());
    for context in contexts() {
        for (checked, parallel) in [(false, false), (true, false), (false, true), (true, true)] {
            let program = csr(checked);
            let program = if parallel { program.split_iname("i", split.clone()).unwrap() } else { program };
            let executable = executable(&program, &context);
            let call = |colindices: &[i32], values: &[f64]| {
                let (starts, x) = (context.array(&[0, 2, 2, 3]).unwrap(), context.array(&[1.0, 10.0, 100.0]).unwrap());
                let (colindices, values) = (context.array(colindices).unwrap(), context.array(values).unwrap());
                let mut y = context.zeros::<f64>(3).unwrap();
                let called = executable.call(&mut [
                    ("rowstarts", LoopArg::from(&starts)),
                    ("colindices", LoopArg::from(&colindices)),
                    ("values", LoopArg::from(&values)),
                    ("x", LoopArg::from(&x)),
                    ("y", LoopArg::from(&mut y)),
                ]);
                called.map(|()| y.to_vec().unwrap()).map_err(|error| error.to_string())
            };
            assert_eq!(call(&[0, 2, 1], &[2.0, 3.0, 4.0]).unwrap(), [302.0, 0.0, 40.0], "on {:?}", context.device());
            // Longer arrays are as good.
            assert_eq!(call(&[0, 2, 1, 7, 7], &[2.0, 3.0, 4.0, 5.0]).unwrap(), [302.0, 0.0, 40.0]);
            if checked {
                let found = [call(&[0, 2], &[2.0, 3.0, 4.0]), call(&[0, 2, 1], &[2.0, 3.0]), call(&[0, 7, 1], &[2.0, 3.0, 4.0])];
                let outside = |what: &str| format!("kernel `loopy_kernel`: index {what}, axis 0");
                assert!(found[0].as_ref().unwrap_err().starts_with(&outside("2 is outside 0..2 of colindices[j]")), "{found:?}");
                assert!(found[1].as_ref().unwrap_err().starts_with(&outside("2 is outside 0..2 of values[j]")), "{found:?}");
                assert!(found[2].as_ref().unwrap_err().starts_with(&outside("7 is outside 0..3 of x[colindices[j]]")), "{found:?}");
            }
        }
    }
}

#[test]
fn checks_of_repeated_calls_know_the_memory() {
    for context in contexts() {
        let executable = executable(&csr(true), &context);
        let repeat = executable.repeat(&[("nrows", 1)]).unwrap();
        let (starts, x) = (context.array(&[0, 2]).unwrap(), context.array(&[1.0, 10.0]).unwrap());
        let (values, y) = (context.array(&[2.0, 3.0]).unwrap(), context.zeros::<f64>(1).unwrap());
        let run = |colindices: &[i32]| {
            let colindices = context.array(colindices).unwrap();
            let memory = |name: &Name| match name.as_str() {
                "rowstarts" => starts.memory(),
                "colindices" => colindices.memory(),
                "values" => values.memory(),
                "x" => x.memory(),
                _ => y.memory(),
            };
            repeat.run(&repeat.arrays().iter().map(memory).collect::<Vec<_>>()).map_err(|error| error.to_string())
        };
        assert_eq!(run(&[1, 0]), Ok(()));
        assert_eq!(y.to_vec().unwrap(), [23.0]);
        assert!(run(&[1]).unwrap_err().contains("index 1 is outside 0..1 of colindices[j]"));
    }
}

#[test]
fn unknown_extents_that_strides_need_are_asked_for() {
    let data = |dtype: &str| Data::global("a").dtype(dtype).unknown_shape();
    let build = |instructions: &str| {
        KernelBuilder::new()
            .domain("{[i]: 0<=i<n}")
            .instructions(instructions)
            .data(data("float64"))
            .data(Data::global("out").dtype("float64").shape("n"))
            .data(Data::global("at").dtype("int32").shape("n"))
            .rest()
            .build()
            .unwrap()
    };
    let context = Context::open("cpu:1").unwrap();
    let two = build("out[i] = a[at[i], i]").compile(&context).err().map(|error| error.to_string());
    assert_eq!(two.as_deref(), Some("array `a`: the length of axis 1 is needed but unknown; give it a shape, or strides"));
    // By the position in memory, an array of any axes is read.
    let ready = build("out[i] = a[[at[i]]] + a[[0]]").compile(&context).unwrap();
    let (a, at) = (context.array(&[1.0, 2.0, 3.0, 4.0]).unwrap(), context.array(&[3, 1]).unwrap());
    let mut out = context.zeros::<f64>(2).unwrap();
    let a_arg = LoopArg::shaped(&a, &[2, 2]);
    ready.call(&mut [("a", a_arg), ("at", LoopArg::from(&at)), ("out", LoopArg::from(&mut out))]).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5.0, 3.0]);
    let a_arg = LoopArg::Array { arg: (&a).into(), shape: vec![2, 2], strides: Some(vec![8, 16]) };
    let refused = ready.call(&mut [("a", a_arg), ("at", LoopArg::from(&at)), ("out", LoopArg::from(&mut out))]).unwrap_err();
    assert!(refused.to_string().contains("pass a contiguous copy"), "{refused}");
}

#[test]
fn private_temporaries_have_room_together() {
    let mut builder = KernelBuilder::new().domain("{[j]: 0<=j<100000}");
    let (mut text, mut sum) = (String::new(), String::new());
    for number in 0..2 {
        builder = builder.domain(format!("{{[i{number}]: 0<=i{number}<100000}}"));
        builder = builder.data(Data::temporary(format!("t{number}")).dtype("int64").shape("100000"));
        text += &format!("t{number}[i{number}] = i{number} {{id=w{number}}}\n");
        sum += &format!(" + t{number}[99999 - j]");
    }
    let program = builder.instructions(format!("{text}o[j] = 0{sum} {{dep=w*}}"));
    let program = program.data(Data::global("o").dtype("int64").shape("100000")).build().unwrap();
    assert_eq!(
        program.generate(Target::C).unwrap_err().to_string(),
        "temporary `t1` takes 800000 bytes of each thread's private memory, 1600000 with the others, but at most 1048576 are available; make it smaller by splitting the loops along which it is copied, or put it in global memory with `set_temporary_address_space t1 \
         global`"
    );
}
