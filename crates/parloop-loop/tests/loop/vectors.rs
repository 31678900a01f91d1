//! Vectors and records as elements: the same numbers as the interpreter's on every device, types, layouts, and what is refused.

use std::collections::BTreeMap;

use parloop_device::DType;
use parloop_interpret::{Number, interpret};
use parloop_kernel::{Arg, Context};
use parloop_loop::Name;
use parloop_loop::file::LoopFile;
use parloop_loop::prelude::*;
use parloop_loop::prepare::prepare;
use parloop_loop::run::{LoopArg, with_checks};
use parloop_loop::stats::Work;
use parloop_loop::syntax::{ArgumentKind, Program, Shape, Target, Type};

use crate::run::contexts;

fn program(text: &str) -> Program {
    LoopFile::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).program().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> String {
    let made = LoopFile::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).program();
    match made {
        Ok(program) => program.generate(Target::C).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// The numbers of an element with their places in its memory, in bytes.
fn places(ty: &Type) -> Vec<(DType, usize)> {
    match ty {
        Type::Scalar(dtype) => vec![(*dtype, 0)],
        Type::Vector(dtype, lanes) => (0..usize::from(*lanes)).map(|lane| (*dtype, lane * dtype.size())).collect(),
        Type::Record(record) => record.fields().iter().map(|field| (field.dtype, field.offset)).collect(),
        other => panic!("{other}"),
    }
}

fn put(bytes: &mut [u8], dtype: DType, number: Number) {
    let number = number.to(dtype).unwrap();
    let (real, integer) = (number.real(), number.integer().unwrap_or(0));
    match dtype {
        DType::F32 => bytes[..4].copy_from_slice(&(real as f32).to_ne_bytes()),
        DType::F64 => bytes[..8].copy_from_slice(&real.to_ne_bytes()),
        _ => bytes[..dtype.size()].copy_from_slice(&integer.to_ne_bytes()[..dtype.size()]),
    }
}

/// One argument: its type, the lengths of its axes, and its numbers.
struct Given {
    name: Name,
    ty: Type,
    shape: Vec<i64>,
    numbers: Vec<Number>,
    is_value: bool,
}

/// Small numbers for all arguments: what is computed with them is exact.
fn given(program: &Program, n: i64) -> Vec<Given> {
    let kernel = program.entry().unwrap();
    let mut state = 7i64;
    let mut next = move || {
        state = (state * 75 + 74) % 65537;
        Number::Int((state % 13 + 1).into())
    };
    let length = |expr: &parloop_loop::syntax::Expr| match expr.to_string().as_str() {
        "n" => n,
        text => text.parse().unwrap(),
    };
    let each = kernel.arguments.iter().map(|argument| {
        let (ty, name) = (argument.ty.clone().unwrap(), argument.name.clone());
        let shape: Vec<i64> = match &argument.kind {
            ArgumentKind::Array { layout, .. } => match &layout.shape {
                Shape::Known(lengths) => lengths.iter().map(length).collect(),
                other => panic!("{other:?}"),
            },
            _ => Vec::new(),
        };
        let is_value = argument.kind == ArgumentKind::Value;
        let count = places(&ty).len() * shape.iter().product::<i64>() as usize;
        let numbers = if is_value { vec![Number::Int(n.into())] } else { (0..count).map(|_| next()).collect() };
        Given { name, ty, shape, numbers, is_value }
    });
    each.collect()
}

/// What a program makes of its arguments on a device.
fn computed(program: &Program, context: &Context, given: &[Given]) -> Result<BTreeMap<Name, Vec<Number>>, String> {
    let executable = program.compile(context).map_err(|error| error.to_string())?;
    let mut memory: Vec<Vec<u128>> = given
        .iter()
        .map(|arg| {
            let size = arg.ty.size().unwrap();
            let (each, places) = (arg.numbers.len() / places(&arg.ty).len(), places(&arg.ty));
            let mut words = vec![0u128; (each * size).div_ceil(16)];
            let bytes = bytes_of(&mut words);
            for (at, &number) in arg.numbers.iter().enumerate() {
                let (dtype, offset) = places[at % places.len()];
                put(&mut bytes[at / places.len() * size + offset..], dtype, number);
            }
            words
        })
        .collect();
    let mut args = Vec::new();
    for (arg, words) in given.iter().zip(&mut memory) {
        if arg.is_value {
            args.push((arg.name.as_str(), LoopArg::from(arg.numbers[0].integer().unwrap() as i64)));
            continue;
        }
        let (dtype, count) = arg.ty.numbers().unwrap();
        let mut shape = arg.shape.clone();
        let bytes = shape.iter().product::<i64>() as usize * arg.ty.size().unwrap();
        shape.extend((count > 1).then_some(count as i64));
        let arg_memory = Arg::HostMut { bytes: &mut bytes_of(words)[..bytes], dtype };
        args.push((arg.name.as_str(), LoopArg::Array { arg: arg_memory, shape, strides: None }));
    }
    executable.call(&mut args).map_err(|error| error.to_string())?;
    drop(args);
    let numbers = given.iter().zip(&mut memory).filter(|(arg, _)| !arg.is_value).map(|(arg, words)| {
        let (size, places, bytes) = (arg.ty.size().unwrap(), places(&arg.ty), bytes_of(words));
        let number = |at: usize| {
            let (dtype, offset) = places[at % places.len()];
            Number::from_bytes(dtype, &bytes[at / places.len() * size + offset..]).unwrap()
        };
        (arg.name.clone(), (0..arg.numbers.len()).map(number).collect())
    });
    Ok(numbers.collect())
}

fn bytes_of(words: &mut [u128]) -> &mut [u8] {
    // SAFETY: all bytes of integers are initialised, and every value of a byte is valid.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// Compares a kernel, as created and transformed, with the interpreter on all devices.
fn compare(text: &str, chains: &[&[&str]]) {
    let plain = program(text);
    for n in [1, 5, 33] {
        let given = given(&plain, n);
        let meaning = interpret(&plain, &given.iter().map(|arg| (arg.name.clone(), arg.numbers.clone())).collect())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        for steps in chains.iter().copied().chain([&[][..]]) {
            let transformed = program(&format!("{text}\n\n{}\n", steps.join("\n")));
            for context in contexts() {
                let found = computed(&transformed, &context, &given).unwrap_or_else(|error| panic!("{error}\n{text}{steps:?}"));
                for (name, numbers) in &found {
                    assert_eq!(numbers, &meaning[name], "`{name}` of {text}{steps:?} on {:?} for n = {n}", context.device());
                }
            }
        }
    }
}

const PARALLEL: &[&str] = &["split_iname i 8 outer_tag=g.0 inner_tag=l.0"];
const UNROLLED: &[&str] = &["split_iname i 4 inner_tag=unr"];

fn over_i(data: &str, instructions: &str) -> String {
    format!("kernel f\ndomain {{[i]: 0 <= i < n}}\ndata\n{data}\n  n: value int32\n  ...\ninstructions\n{instructions}")
}

#[test]
fn arithmetic_is_that_of_each_lane() {
    for ty in ["float32x4", "float64x2", "float32x3", "int32x2", "uint32x4", "int64x3", "float64x8", "int8x16", "uint16x4"] {
        let text = over_i(
            &format!("  a, b, out, twice: global {ty}[n]\n  s: global {}[n]", ty.split('x').next().unwrap()),
            "  out[i] = a[i]*b[i] + s[i] - 2 {id=one}\n  twice[i] = -a[i] + s[i]*b[i] {id=two}",
        );
        compare(&text, &[PARALLEL, UNROLLED]);
    }
}

#[test]
fn quotients_powers_and_extremes_are_those_of_numbers() {
    let text = over_i(
        "  a, b, out: global int32x4[n]\n  q: global float64x4[n]",
        "  out[i] = (a[i] - 7)//b[i] + (a[i] - 9) % 3 + a[i]**2 {id=one}\n  q[i] = a[i]/4 + minimum(a[i], b[i]) + maximum(a[i], 5) {id=two}",
    );
    compare(&text, &[PARALLEL]);
    let bits = over_i("  a, b, out: global uint32x2[n]", "  out[i] = ((a[i] & b[i]) | 16) ^ (a[i] << 3) ^ (b[i] >> 1)");
    compare(&bits, &[PARALLEL]);
}

#[test]
fn components_are_read_and_written() {
    let text = over_i(
        "  a, out: global float32x4[n]\n  s, product: global float32[n]",
        "  out[i].x = a[i].w {id=x}\n  out[i].s1 = a[i].z + s[i] {id=y, dep=x}\n  out[i].z = out[i].x*out[i].y {id=z, dep=y}\n  \
         out[i].w = (a[i] + out[i]).y {id=w, dep=z}\n  product[i] = dot(a[i], out[i]) {id=s, dep=w}",
    );
    compare(&text, &[PARALLEL, UNROLLED]);
}

#[test]
fn a_vector_may_be_made_of_its_own_lanes() {
    let text = over_i("  a: global float32x2[n]", "  a[i] = make_float2(a[i].y, a[i].x + 1)");
    compare(&text, &[PARALLEL]);
}

#[test]
fn temporaries_hold_vectors() {
    let text = over_i(
        "  a, out: global float32x4[n]",
        "  <> t = 2*a[i] + 1 {id=t}\n  <float32x4> u = 0 {id=u, inames=i}\n  u.x = t.y {id=ux, dep=u:t}\n  u.w = t.x {id=uw, dep=ux}\n  \
         out[i] = u + t {id=out, dep=uw:t}",
    );
    compare(&text, &[PARALLEL, UNROLLED]);
    // All components are set one by one, in each turn.
    let parts = over_i(
        "  a, out: global float32x2[n]\n  u: temp float32x2",
        "  u.x = a[i].y {id=x}\n  u.y = 3*a[i].x {id=y, dep=x}\n  out[i] = u {id=out, dep=y, inames=i}",
    );
    compare(&parts, &[PARALLEL]);
}

#[test]
fn a_component_that_an_earlier_turn_set_is_kept() {
    // `u.y` comes from before the loop: turns may not run at once with copies of `u` that have none.
    let text = "kernel f\ndomain {[i]: 0 <= i < 8}\ndata\n  a, out: global float32x2[8]\n  u: temp float32x2\n  ...\ninstructions\n  \
                u.y = 5 {id=y}\n  u.x = a[i].x {id=x, dep=y}\n  out[i] = u {id=out, dep=x}";
    let plain = program(text);
    let given = given(&plain, 8);
    let meaning = interpret(&plain, &given.iter().map(|arg| (arg.name.clone(), arg.numbers.clone())).collect()).unwrap();
    for context in contexts() {
        assert_eq!(computed(&plain, &context, &given).unwrap()["out"], meaning["out"]);
        let parallel = program(&format!("{text}\n\ntag_inames i=l.0\n"));
        if let Ok(found) = computed(&parallel, &context, &given) {
            assert_eq!(found["out"], meaning["out"]);
        }
    }
}

#[test]
fn vectors_are_summed() {
    let text = "kernel f\ndomain {[i, j]: 0 <= i < n and 0 <= j < 6}\ndata\n  a: global float32x4[n, 6]\n  b: global float32[6]\n  \
                out, p: global float32x4[n]\n  n: value int32\ninstructions\n  out[i] = sum(j, a[i, j]*b[j]) {id=s}\n  \
                p[i] = product(j, a[i, j]) {id=p}";
    compare(text, &[PARALLEL, &["tag_inames i=g.0 j=l.0"], &["split_iname j 4", "split_reduction_inward j_inner"]]);
}

#[test]
fn functions_of_numbers_are_called_for_each_lane() {
    let text = over_i("  a, out: global float64x4[n]", "  out[i] = sqrt(a[i]*a[i]) + fmax(a[i], 3) + abs(-a[i])");
    compare(&text, &[PARALLEL]);
}

#[test]
fn a_condition_chooses_between_vectors() {
    let text = over_i("  a, b, out: global float32x4[n]", "  out[i] = a[i] if a[i].x > 6 else b[i] + 1");
    compare(&text, &[PARALLEL]);
}

#[test]
fn vectors_are_fetched_into_local_memory() {
    let text = "kernel f\ndomain {[i, j, k]: 0 <= i, j, k < 12}\ndata\n  a, b, c: global float32x4[12, 12]\ninstructions\n  \
                c[i, j] = sum(k, a[i, k]*b[k, j])";
    let fetch: &[&str] = &[
        "split_iname i 4 outer_tag=g.0 inner_tag=l.1",
        "split_iname j 4 outer_tag=g.1 inner_tag=l.0",
        "split_iname k 4",
        "add_prefetch a [k_inner, i_inner] fetch_outer_inames=\"i_outer, j_outer, k_outer\" default_tag=l.auto",
        "add_prefetch b [j_inner, k_inner] fetch_outer_inames=\"i_outer, j_outer, k_outer\" default_tag=l.auto",
    ];
    compare(text, &[fetch]);
}

#[test]
fn a_vector_is_an_argument_by_itself() {
    let text = over_i("  a: value float32x4\n  x, out: global float32x4[n]", "  out[i] = a*x[i] + a.y");
    compare(&text, &[PARALLEL]);
}

const POINT: &str = "record(\"point\", 24, kind: int8 at 0, x: float64 at 8, mark: uint16 at 16, y: float32 at 20)";
const PACKED: &str = "record(\"packed\", 15, kind: int8 at 0, x: float64 at 1, mark: uint16 at 9, y: float32 at 11)";

#[test]
fn fields_of_records_are_read_and_written() {
    for record in [POINT, PACKED] {
        let text = over_i(
            &format!("  a, out: global {record}[n]\n  s, all: global float64[n]"),
            "  out[i] = a[i] {id=all}\n  out[i].x = a[i].y + s[i] {id=x, dep=all}\n  out[i].mark = i {id=mark, dep=x}\n  \
             all[i] = out[i].x + a[i].kind + a[i].mark {id=s, dep=mark}",
        );
        compare(&text, &[PARALLEL, UNROLLED]);
        let held = over_i(
            &format!("  a, out: global {record}[n]\n  t: temp {record}"),
            "  t = a[i] {id=t}\n  t.kind = 3 {id=kind, dep=t, inames=i}\n  out[i] = t {id=out, dep=kind, inames=i}",
        );
        compare(&held, &[PARALLEL]);
    }
}

#[test]
fn random_numbers_are_the_interpreters() {
    for (generator, word, key) in [
        ("philox4x32", "uint32x4", "uint32x2"),
        ("philox2x32", "uint32x2", "uint32x2"),
        ("philox4x64", "uint64x4", "uint64x2"),
        ("philox2x64", "uint64x2", "uint64x2"),
        ("threefry4x32", "uint32x4", "uint32x4"),
        ("threefry2x32", "uint32x2", "uint32x4"),
        ("threefry4x64", "uint64x4", "uint64x4"),
        ("threefry2x64", "uint64x2", "uint64x4"),
    ] {
        let lanes = word.rsplit('x').next().unwrap();
        let text = over_i(
            &format!(
                "  c, whole, next: global {word}[n]\n  k: global {key}[n]\n  singles: global float32x{lanes}[n]\n  doubles: global float64x{lanes}[n]"
            ),
            &format!(
                "  <> w, <> c1 = {generator}(c[i] - 5, k[i]) {{id=w}}\n  <> s, <> c2 = {generator}_f32(c1, k[i]) {{id=s, dep=w}}\n  \
                 <> d, <> c3 = {generator}_f64(c2, k[i]) {{id=d, dep=s}}\n  whole[i] = w {{id=ow, dep=w}}\n  singles[i] = s {{id=os, dep=s}}\n  \
                 doubles[i] = d {{id=od, dep=d}}\n  next[i] = c3 {{id=on, dep=d}}"
            ),
        );
        compare(&text, &[PARALLEL]);
    }
}

#[test]
fn generators_give_the_published_numbers_on_every_device() {
    let text = "kernel f\ndata\n  c: global uint32x4\n  k: global uint32x2\n  out: global uint32x4\n  d, k4, e: global uint32x4\n  ...\n\
                instructions\n  <> w, <> c1 = philox4x32(c, k) {id=w}\n  out = w {dep=w}\n  <> v, <> c2 = threefry4x32(d, k4) {id=v}\n  e = v {dep=v}";
    let text = text.replace("uint32x4\n", "uint32x4[]\n").replace("uint32x2\n", "uint32x2[]\n");
    let plain = program(&text);
    let words = |words: &[i128]| words.iter().map(|&word| Number::Int(word)).collect::<Vec<_>>();
    let mut given = given(&plain, 1);
    let pi = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89];
    for arg in &mut given {
        match arg.name.as_str() {
            "c" | "d" => arg.numbers = words(&pi[..4]),
            "k" => arg.numbers = words(&pi[4..6]),
            "k4" => arg.numbers = words(&pi[4..]),
            _ => {}
        }
    }
    for context in contexts() {
        let found = computed(&plain, &context, &given).unwrap();
        assert_eq!(found["out"], words(&[0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]));
        assert_eq!(found["e"], words(&[0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84]));
    }
}

#[test]
fn checked_mode_reads_zeros_outside() {
    let text = "kernel f\ndomain {[i]: 0 <= i < n}\ndata\n  a: global float32x4[n]\n  k: global int32[n]\n  out: global float32x4[n]\n  \
                n: value int32\ninstructions\n  out[i] = 2*a[k[i] - 1] {id=one}\n  out[i].x = out[i].x + a[k[i] - 1].y {id=two, dep=one}";
    let plain = with_checks(&program(text), true);
    let mut given = given(&plain, 13);
    let found = computed(&plain, &Context::open("cpu:1").unwrap(), &given).unwrap();
    assert!(found["out"].iter().all(|number| number.real() > 0.0));
    given[1].numbers[3] = Number::Int(400);
    for context in contexts() {
        let error = computed(&plain, &context, &given).unwrap_err();
        assert!(error.contains("a[k[i] - 1], axis 0"), "{error}");
    }
}

#[test]
fn operations_that_vectors_and_records_do_not_have_are_refused() {
    let vectors = "  a, b: global float32x4[n]\n  c: global float32x2[n]\n  s: global float32[n]";
    let records = &format!("  r: global {POINT}[n]\n  s: global float32[n]");
    for (data, instruction, expected) in [
        (
            vectors,
            "s[i] = a[i]",
            "`s[i]` in kernel `f` is of type float32 and cannot hold a value of type float32x4; assign its components, such as `.x`",
        ),
        (vectors, "a[i] = b[i] + c[i]", "`b[i] + c[i]` in kernel `f`: float32x4 and float32x2 cannot be combined; convert one with `cast`"),
        (
            vectors,
            "s[i] = 1 if a[i] < b[i] else 0",
            "`a[i] < b[i]` in kernel `f`: float32x4 cannot be compared; compare its components, such as `.x`",
        ),
        (vectors, "s[i] = 1 if a[i] else 0", "`a[i]` in kernel `f`: float32x4 is not a condition; use a component, such as `.x`"),
        (
            vectors,
            "a[0] = reduce(max, i, b[i])",
            "`max(i, b[i])` in kernel `f`: float32x4 can only be summed or multiplied; reduce its components, such as `.x`",
        ),
        (vectors, "s[i] = c[i].z", "`c[i].z` in kernel `f`: float32x2 has no field `z`; it has `x`, `y`"),
        (vectors, "a[0] = a[0] + b[i] {atomic}", "`a[0]` in kernel `f`: float32x4 cannot be updated atomically; use an array of numbers"),
        (vectors, "a[0].x = a[0].x + 1 {atomic}", "`a[0].x` in kernel `f`: float32 cannot be updated atomically; use an array of numbers"),
        (vectors, "a[i] = 2j*b[i]", "`2.0j*b[i]` in kernel `f`: complex64 and float32x4 cannot be combined; convert one with `cast`"),
        (vectors, "s[i] = dot(a[i], c[i])", "call to `dot`: it takes two vectors of the same length, not float32x4 and float32x2"),
        (
            records,
            "s[i] = r[i]",
            "`s[i]` in kernel `f` is of type float32 and cannot hold a value of type record point; assign its fields one by one",
        ),
        (records, "r[i] = r[i] + r[0]", "`r[i] + r[0]` in kernel `f`: record point cannot be computed with; use its fields"),
        (records, "r[i].z = 1", "`r[i].z` in kernel `f`: record point has no field `z`; it has `kind`, `x`, `mark`, `y`"),
    ] {
        let found = refusal(&over_i(data, &format!("  {instruction}")));
        assert_eq!(found, expected, "{instruction}");
    }
}

#[test]
fn the_work_of_vectors_is_not_counted() {
    let prepared = prepare(&program(&over_i("  a: global float32x4[n]", "  a[i] = 2*a[i]")), Target::C).unwrap();
    let error = Work::of(&prepared, prepared.entry().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "`a` has elements of type float32x4; the work of kernels with vectors or records is not counted");
}

#[test]
fn a_component_that_nothing_sets_is_refused() {
    let text =
        over_i("  a, out: global float32x2[n]\n  u: temp float32x2", "  u.x = a[i].y {id=x}\n  out[i] = u {id=out, dep=x, inames=i}");
    let expected = "`out` reads `u.y` before it is written";
    let found = refusal(&text);
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_wrong_last_axis_is_refused() {
    let context = Context::open("cpu:1").unwrap();
    let executable = program(&over_i("  a: global float32x4[n]", "  a[i] = 2*a[i]")).compile(&context).unwrap();
    let mut numbers = [0.0f32; 12];
    let error = executable.call(&mut [("a", LoopArg::shaped(&mut numbers[..], &[4, 3]))]).unwrap_err().to_string();
    assert_eq!(
        error,
        "kernel `f`: each element of argument `a` consists of 4 numbers of float32; pass an array whose last axis has these, side by side, not one of shape [4, 3]"
    );
    executable.call(&mut [("a", LoopArg::shaped(&mut numbers[..], &[3, 4]))]).unwrap();
}

#[test]
fn records_whose_fields_do_not_fit_are_refused() {
    for (record, expected) in [
        ("record(\"p\", 8, a: float64 at 0, b: int8 at 4)", "record `p`: field `b` begins at byte 4, inside field `a`"),
        ("record(\"p\", 4, a: float64 at 0)", "record `p`: field `a` ends at byte 8, behind the 4 bytes of the record"),
        ("record(\"p\", 4)", "record `p` has no fields"),
        (
            "record(\"p\", 8, a: float64 at 18446744073709551610)",
            "record `p`: field `a` ends at byte 18446744073709551615, behind the 8 bytes of the record",
        ),
        (
            "record(\"p\", 18446744073709551615, a: float64 at 8)",
            "record `p` has 18446744073709551615 bytes, but at most 65536 are possible; use arrays of numbers",
        ),
        ("record(\"p\", 8, a: int8 at 0, a: int8 at 1)", "record `p` has two fields `a`"),
        (
            "record(\"p\", 8, x: int8 at 0, s0: int8 at 1)",
            "record `p` has fields `s0` and `x`, which both name the same lane of vectors; rename one of them",
        ),
        ("record(\"p q\", 8, a: int8 at 0)", "record `p q`: `p q` is not a name in C; rename it"),
    ] {
        let error = LoopFile::parse(&over_i(&format!("  a: global {record}[n]"), "  a[i].a = 1")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
