//! Kernels with barriers, several launches and values that run at once, run on every device that is here.

use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{InameTag, Program};
use parloop_loop::transform::{Tags, tag_inames};

use crate::run::{contexts, executable};

fn program(domains: &[&str], instructions: &str, data: &[(&str, &str)], tags: &str) -> Program {
    let mut builder = KernelBuilder::new().domains(domains.to_vec()).instructions(instructions);
    for (names, shape) in data {
        builder = builder.data(Data::global(*names).dtype("float64").shape(*shape));
    }
    let kernel = builder.rest().build_kernel().unwrap();
    let mut all = Tags::default();
    for (iname, tag) in tags.split_whitespace().map(|each| each.split_once('=').unwrap()) {
        all = all.with(iname, tag.parse::<InameTag>().unwrap());
    }
    Program::of(tag_inames(&kernel, &all).unwrap())
}

/// Runs a kernel that makes `out` of `a`, both of that shape.
fn run(program: &Program, a: &[f64], shape: &[i64], numbers: &[(&str, i64)], expected: &[f64]) {
    for context in contexts() {
        let executable = executable(program, &context);
        let (input, mut out) = (context.array(a).unwrap(), context.zeros::<f64>(expected.len()).unwrap());
        let mut args = vec![("a", LoopArg::shaped(&input, shape)), ("out", LoopArg::shaped(&mut out, shape))];
        args.extend(numbers.iter().map(|(name, value)| (*name, LoopArg::from(*value))));
        executable.call(&mut args).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(out.to_vec().unwrap(), expected, "{:?}", context.device());
    }
}

#[test]
fn rows_are_reversed_through_local_memory() {
    let program = program(
        &["{[g,l]: 0<=g<n and 0<=l<16}"],
        "<>s[l] = a[g, l] {id=put}
         out[g, l] = s[15 - l] {id=get, dep=put}",
        &[("a, out", "n, 16")],
        "g=g.0 l=l.0",
    );
    let a: Vec<f64> = (0..16 * 7).map(f64::from).collect();
    let expected: Vec<f64> = (0..7 * 16).map(|at| f64::from(at / 16 * 16 + 15 - at % 16)).collect();
    run(&program, &a, &[7, 16], &[], &expected);
}

#[test]
fn local_memory_is_used_again_in_each_turn_of_a_loop() {
    let program = program(
        &["{[g,l,k]: 0<=g<n and 0<=l<16 and 0<=k<8}"],
        "<>acc = 0.0 {id=init, inames=g:l}
         <>s[l] = a[g, l] + k {id=put, inames=g:l:k}
         acc = acc + (k + 1)*s[15 - l] {id=add, dep=put:init, inames=g:l:k}
         out[g, l] = acc {id=store, dep=add, inames=g:l}",
        &[("a, out", "n, 16")],
        "g=g.0 l=l.0",
    );
    let a: Vec<f64> = (0..16 * 5).map(f64::from).collect();
    let value = |g: i32, l: i32| (0..8).map(|k| f64::from(k + 1) * (f64::from(16 * g + 15 - l) + f64::from(k))).sum::<f64>();
    let expected: Vec<f64> = (0..5 * 16).map(|at| value(at / 16, at % 16)).collect();
    run(&program, &a, &[5, 16], &[], &expected);
}

#[test]
fn private_values_outlive_a_launch() {
    let program = program(
        &["{[g,l]: 0<=l<16 and 0<=g<n}", "{[h,m]: 0<=m<16 and 0<=h<n}"],
        "<>t = 2*a[g, l] {id=load, inames=g:l}
         <>p[0] = t + 1 {id=one, dep=load, inames=g:l}
         b[g, l] = t {id=share, dep=load, inames=g:l}
         ... gbarrier {id=bar, dep=share:one}
         out[g, l] = t + p[0] + b[n - 1 - g, 15 - l] {id=store, dep=bar:load:one:share, inames=g:l}",
        &[("a, out, b", "n, 16")],
        "g=g.0 l=l.0",
    );
    let n = 6;
    let a: Vec<f64> = (0..16 * n).map(f64::from).collect();
    let expected: Vec<f64> = (0..16 * n).map(|at| 4.0 * f64::from(at) + 1.0 + 2.0 * f64::from(16 * n - 1 - at)).collect();
    for context in contexts() {
        let executable = executable(&program, &context);
        let shape = [i64::from(n), 16];
        let (input, mut out, mut b) =
            (context.array(&a).unwrap(), context.zeros::<f64>(a.len()).unwrap(), context.zeros::<f64>(a.len()).unwrap());
        let mut args =
            [("a", LoopArg::shaped(&input, &shape)), ("out", LoopArg::shaped(&mut out, &shape)), ("b", LoopArg::shaped(&mut b, &shape))];
        executable.call(&mut args).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(out.to_vec().unwrap(), expected, "{:?}", context.device());
    }
}

#[test]
fn a_stencil_steps_in_time_on_the_host() {
    let program = program(
        &["{[t]: 0<=t<steps}", "{[g,l]: 0<=l<16 and 1<=16*g + l<n-1}", "{[h,m]: 0<=m<16 and 1<=16*h + m<n-1}"],
        "out[16*g + l] = a[16*g + l - 1] + a[16*g + l + 1] {id=one, dep=*, inames=t:g:l}
         a[16*h + m] = out[16*h + m] {id=two, dep=*one, inames=t:h:m}",
        &[("a, out", "n")],
        "g=g.0 l=l.0 h=g.0 m=l.0",
    );
    let n = 100usize;
    let start: Vec<f64> = (0..n).map(|at| (at % 7) as f64).collect();
    let mut expected = start.clone();
    let mut last = vec![0.0; n];
    for _ in 0..3 {
        for at in 1..n - 1 {
            last[at] = expected[at - 1] + expected[at + 1];
        }
        expected[1..n - 1].copy_from_slice(&last[1..n - 1]);
    }
    for context in contexts() {
        let executable = executable(&program, &context);
        let (mut a, mut out) = (context.array(&start).unwrap(), context.zeros::<f64>(n).unwrap());
        executable
            .call(&mut [("a", LoopArg::from(&mut a)), ("out", LoopArg::from(&mut out)), ("steps", LoopArg::from(3i64))])
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(a.to_vec().unwrap(), expected, "{:?}", context.device());
    }
}

#[test]
fn lanes_and_unrolled_values_have_temporaries_of_their_own() {
    for tag in ["vec", "ilp", "ilp.seq", "unr", "for"] {
        let program = program(
            &["{[i,v,k]: 0<=i<n and 0<=v<4 and 0<=k<4}"],
            "<>acc = 0.0 {id=init, inames=i:v}
             acc = acc + (k + 1)*a[i, (v + k) % 4] {id=add, dep=init, inames=i:v:k}
             out[i, v] = acc {id=store, dep=add, inames=i:v}",
            &[("a, out", "n, 4")],
            &format!("i=g.0 v={tag}"),
        );
        let a: Vec<f64> = (0..4 * 9).map(f64::from).collect();
        let value = |i: i32, v: i32| (0..4).map(|k| f64::from(k + 1) * f64::from(4 * i + (v + k) % 4)).sum::<f64>();
        let expected: Vec<f64> = (0..4 * 9).map(|at| value(at / 4, at % 4)).collect();
        run(&program, &a, &[9, 4], &[], &expected);
    }
}

#[test]
fn lengths_that_the_kernel_reads_bound_its_loops() {
    let program = program(
        &["{[i]: 0<=i<n}", "{[k]: 0<=k<len}"],
        "<int32>len = cast(int32, a[i]) {id=len, inames=i}
         <>acc = 0.0 {id=init, inames=i}
         acc = acc + k {id=add, dep=init:len, inames=i:k}
         out[i] = acc {id=store, dep=add, inames=i}",
        &[("a, out", "n")],
        "i=g.0",
    );
    let a: Vec<f64> = (0..20).map(|at| f64::from(at % 6)).collect();
    let expected: Vec<f64> = (0..20).map(|at| f64::from((0..at % 6).sum::<i32>())).collect();
    run(&program, &a, &[20], &[], &expected);
}

#[test]
fn local_memory_outlives_a_launch() {
    let program = program(
        &["{[g,l]: 0<=l<16 and 0<=g<n}"],
        "<>s[l] = 3*a[g, l] {id=put, inames=g:l}
         ... gbarrier {id=bar, dep=put}
         out[g, l] = s[15 - l] {id=store, dep=bar:put, inames=g:l}",
        &[("a, out", "n, 16")],
        "g=g.0 l=l.0",
    );
    let a: Vec<f64> = (0..16 * 4).map(f64::from).collect();
    let expected: Vec<f64> = (0..4 * 16).map(|at| 3.0 * f64::from(at / 16 * 16 + 15 - at % 16)).collect();
    run(&program, &a, &[4, 16], &[], &expected);
}

/// Three arrays in local memory, each made from another one at places that a few numbers choose, in a loop.
#[test]
fn any_pattern_of_places_gives_the_same_numbers_as_one_item_after_the_other() {
    let context = parloop_kernel::Context::on(parloop_device::Device::open("cpu:1").unwrap().default_stream().unwrap());
    let mut state = 12345u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..12 {
        let [c1, c2, c3] = [1 + 2 * next(3), next(4), 1 + next(3)];
        let [d1, d2, d3] = [next(16), next(16), next(16)];
        let text = format!(
            "<>acc = 0.0 {{id=init, inames=g:l}}
             <>r[({c1}*l + {d1}) % 16] = a[g, l] + k + 1 {{id=first, inames=g:l:k}}
             <>s[l] = 2*r[({c2}*l + {d2}) % 16] {{id=second, dep=first, inames=g:l:k}}
             acc = acc + s[({c3}*l + {d3}) % 16] + r[l] {{id=add, dep=init:second:first, inames=g:l:k}}
             out[g, l] = acc {{id=store, dep=add, inames=g:l}}"
        );
        let program = program(&["{[g,l,k]: 0<=g<n and 0<=l<16 and 0<=k<3}"], &text, &[("a, out", "n, 16")], "g=g.0 l=l.0");
        let n = 3u64;
        let a: Vec<f64> = (0..16 * n).map(|at| (at * at % 101) as f64).collect();
        let mut expected = vec![0.0; a.len()];
        for g in 0..n {
            for k in 0..3 {
                let (mut r, mut s) = ([0.0; 16], [0.0; 16]);
                (0..16).for_each(|l| r[((c1 * l + d1) % 16) as usize] = a[(16 * g + l) as usize] + k as f64 + 1.0);
                (0..16).for_each(|l| s[l as usize] = 2.0 * r[((c2 * l + d2) % 16) as usize]);
                (0..16).for_each(|l| expected[(16 * g + l) as usize] += s[((c3 * l + d3) % 16) as usize] + r[l as usize]);
            }
        }
        let executable = executable(&program, &context);
        let (input, mut out) = (context.array(&a).unwrap(), context.zeros::<f64>(a.len()).unwrap());
        executable.call(&mut [("a", LoopArg::shaped(&input, &[3, 16])), ("out", LoopArg::shaped(&mut out, &[3, 16]))]).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected, "{text}");
    }
}
