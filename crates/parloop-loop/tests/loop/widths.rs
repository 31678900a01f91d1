//! Indices of 64 bits where the sizes of a call need them, and of 32 bits elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};

use parloop_device::{DType, DeviceKind, Memory};
use parloop_kernel::{Arg, Context};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::loop_args;
use parloop_loop::prelude::*;
use parloop_loop::run::{GivenArgument, GivenArray, LoopArg};
use parloop_loop::syntax::{AddressSpace, Program, Target};
use parloop_loop::transform::{Split, merge};

use super::lowering::map;
use super::run::{contexts, executable};

/// More elements than 31 bits count, in rows.
const ROWS: i64 = 65536;
const LENGTH: i64 = 32769;

/// Held by a test that allocates such arrays: a device has no room for those of several tests at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Without those that differ from others in the number of threads alone, and those that allow no array of that size, as PoCL on a machine with
/// little memory; and the turn to allocate such arrays.
fn few_contexts() -> (MutexGuard<'static, ()>, Vec<Context>) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found: Vec<Context> = contexts();
    found.retain(|context| context.device().kind() != DeviceKind::Cpu || context.device().properties().compute_units <= 2);
    found.retain(|context| {
        let (largest, asked) = (context.device().properties().max_allocation, (ROWS * LENGTH) as u64);
        if largest < asked {
            println!("skipped {:?}, which allows no array of {asked} bytes, but one of {largest}", context.device());
        }
        largest >= asked
    });
    (turn, found)
}

/// Memory for [`ROWS`] rows of bytes, the last two of them zero; no other page of it is touched.
fn large(context: &Context) -> Memory {
    let memory = context.device().allocate((ROWS * LENGTH) as usize).unwrap();
    context.stream().fill(&memory, ((ROWS - 2) * LENGTH) as usize, 2 * LENGTH as usize, 0).unwrap();
    memory
}

fn bytes<'a>(memory: &'a Memory, shape: &[i64]) -> LoopArg<'a> {
    LoopArg::Array { arg: Arg::Memory { memory, dtype: Some(DType::U8), writable: true }, shape: shape.to_vec(), strides: None }
}

/// That the last row is all sevens and the one before is zero.
fn check_last_row(context: &Context, memory: &Memory, what: &str) {
    let mut end = vec![0; 2 * LENGTH as usize];
    context.stream().read(memory, ((ROWS - 2) * LENGTH) as usize, &mut end).unwrap();
    let (before, last) = end.split_at(LENGTH as usize);
    assert!(before.iter().all(|&value| value == 0), "{what} on {:?}: the row before", context.device());
    assert!(last.iter().all(|&value| value == 7), "{what} on {:?}: the last row", context.device());
}

fn rows(dtype: Option<&str>) -> Program {
    let size = |name: &str| match dtype {
        Some(dtype) => Data::value(name).dtype(dtype),
        None => Data::value(name),
    };
    KernelBuilder::new()
        .domain("{[i, j]: first<=i<n and 0<=j<m}")
        .instructions("out[i, j] = 7")
        .data(Data::global("out").dtype("uint8").shape("n, m"))
        .data(size("first"))
        .data(size("n"))
        .data(size("m"))
        .assumptions("first >= 0")
        .build()
        .unwrap()
}

#[test]
fn an_array_of_more_than_two_gibibytes_is_written_to_its_end() {
    let plain = rows(None);
    let split = Split::by(128).outer("g.0".parse().unwrap()).inner("l.0".parse().unwrap());
    let groups = plain.split_iname("j", split).unwrap().tag_inames("i:g.1").unwrap();
    let declared = rows(Some("int32")).tag_inames("i:g.0").unwrap();
    let checked = map(&plain, |kernel| {
        let mut kernel = kernel.clone();
        kernel.options.checked = Some(true);
        kernel
    });
    let fixed = KernelBuilder::new()
        .domain(format!("{{[i, j]: {}<=i<{ROWS} and 0<=j<{LENGTH}}}", ROWS - 1).as_str())
        .instructions("out[i, j] = 7")
        .data(Data::global("out").dtype("uint8").shape(format!("{ROWS}, {LENGTH}")))
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let programs = [("plain", &plain), ("groups", &groups), ("declared", &declared), ("checked", &checked), ("fixed", &fixed)];
        for (what, program) in programs {
            let out = large(&context);
            let ready = executable(program, &context);
            let mut args = vec![("out", bytes(&out, &[ROWS, LENGTH]))];
            if what != "fixed" {
                args.push(("first", LoopArg::from(ROWS - 1)));
            }
            ready.call(&mut args).unwrap_or_else(|error| panic!("{what}: {error}"));
            check_last_row(&context, &out, what);
        }
    }
}

#[test]
fn a_row_far_away_is_found_by_strides_that_the_call_tells() {
    let program = KernelBuilder::new()
        .domain("{[i, j]: 0<=i<n and 0<=j<m}")
        .instructions("out[i, j] = 7")
        .data(Data::global("out").dtype("uint8").shape("n, m").dim_tags("stride:auto, stride:auto"))
        .rest()
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let out = large(&context);
        let ready = executable(&program, &context);
        let arg = Arg::Memory { memory: &out, dtype: Some(DType::U8), writable: true };
        let strides = Some(vec![(ROWS - 1) * LENGTH, 1]);
        ready.call(&mut [("out", LoopArg::Array { arg, shape: vec![2, LENGTH], strides })]).unwrap();
        check_last_row(&context, &out, "strides");
    }
}

#[test]
fn a_temporary_and_a_called_kernel_reach_as_far() {
    let temporary = KernelBuilder::new()
        .domain("{[i, j, k, l]: first<=i,k<n and 0<=j,l<m}")
        .instructions("t[i, j] = 7 {id=t}\n... gbarrier {id=wait, dep=t}\nout[k, l] = t[k, l] {dep=wait}")
        .data(Data::global("out").dtype("uint8").shape("n, m"))
        .data(Data::temporary("t").dtype("uint8").shape("n, m").space(AddressSpace::Global))
        .rest()
        .assumptions("first >= 0")
        .build()
        .unwrap();
    let caller = KernelBuilder::new()
        .domain("{[i, j]: first<=i<n and 0<=j<m}")
        .instructions("[j]: out[i, j] = fill([j]: out[i, j], m)")
        .data(Data::global("out").dtype("uint8").shape("n, m"))
        .rest()
        .assumptions("first >= 0")
        .build()
        .unwrap();
    let callee = KernelBuilder::new()
        .name("fill")
        .domain("{[k]: 0<=k<count}")
        .instructions("x[k] = x[k] + 7")
        .data(Data::global("x").dtype("uint8"))
        .data(Data::value("count"))
        .build_function()
        .unwrap();
    let called = merge([&caller, &callee]).unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        for (what, program) in [("temporary", &temporary), ("called", &called)] {
            let out = large(&context);
            let ready = executable(program, &context);
            ready.call(&mut [("first", LoopArg::from(ROWS - 1)), ("out", bytes(&out, &[ROWS, LENGTH]))]).unwrap();
            check_last_row(&context, &out, what);
        }
    }
}

#[test]
fn a_loop_goes_beyond_32_bits() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n and i mod 1073741824 = 5}")
        .instructions("<> twice = 2*i\nout[i // 1073741824] = twice {inames=i}")
        .data(Data::global("out").dtype("int64").shape("8"))
        .data(Data::value("n"))
        .assumptions("n <= 8589934592")
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let ready = executable(&program, &context);
        // Twice the value, the value, and what is behind the last value of the loop need more than 32 bits.
        for n in [8i64 << 30, (1 << 31) + 6, (1 << 31) + 5, i64::from(i32::MAX), 5, 6] {
            let mut out = context.array(&[-1i64; 8]).unwrap();
            ready.call(&mut [("n", LoopArg::from(n)), ("out", LoopArg::from(&mut out))]).unwrap();
            let expected: Vec<i64> = (0..8).map(|turn| (turn << 30) + 5).map(|i| if i < n { 2 * i } else { -1 }).collect();
            assert_eq!(out.to_vec().unwrap(), expected, "n = {n} on {:?}", context.device());
        }
    }
}

#[test]
fn what_is_on_the_way_to_a_small_index_or_number_needs_no_declaration() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("near[(i*i) % m] = i {id=near}\nsquare[i] = i*i\n")
        .data(Data::global("near").dtype("int32").shape("m"))
        .data(Data::global("square").dtype("int64").shape("n"))
        .rest()
        .sequential_dependencies(true)
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let ready = executable(&program, &context);
        for (n, m) in [(100, 7), (70_000, 1009)] {
            let (mut near, mut square) = (context.array(&vec![-1i32; m]).unwrap(), context.zeros::<i64>(n).unwrap());
            ready.call(&mut [("near", LoopArg::from(&mut near)), ("square", LoopArg::from(&mut square))]).unwrap();
            let mut expected = vec![-1i32; m];
            (0..n).for_each(|i| expected[i * i % m] = i as i32);
            assert_eq!(near.to_vec().unwrap(), expected, "n = {n} on {:?}", context.device());
            assert_eq!(square.to_vec().unwrap(), (0..n as i64).map(|i| i * i).collect::<Vec<_>>());
        }
    }
}

#[test]
fn memory_decides_where_indices_come_from_memory() {
    let program = KernelBuilder::new()
        .domain("{[i, j]: 0<=i<n and 0<=j<m}")
        .instructions("out[at[i], j] = 7")
        .data(Data::global("out").dtype("uint8").unknown_shape().strides(format!("{LENGTH}, 1")))
        .data(Data::global("at").dtype("int32").shape("n"))
        .rest()
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let (ready, at) = (executable(&program, &context), context.array(&[(ROWS - 1) as i32]).unwrap());
        let out = large(&context);
        let repeat = ready.repeat(&[("n", 1), ("m", LENGTH)]).unwrap();
        let memory: Vec<&Memory> = repeat.arrays().iter().map(|name| if name == "out" { &out } else { at.memory() }).collect();
        repeat.run(&memory).unwrap();
        check_last_row(&context, &out, "repeated");
        let out = large(&context);
        ready.call(&mut [("at", LoopArg::from(&at)), ("m", LoopArg::from(LENGTH)), ("out", bytes(&out, &[ROWS, LENGTH]))]).unwrap();
        check_last_row(&context, &out, "called");
    }
}

#[test]
fn small_arrays_have_indices_of_32_bits() {
    let context = Context::open("cpu:1").unwrap();
    let ready = executable(&rows(None), &context);
    let text = |n: i64, m: i64| {
        let array = GivenArray {
            dtype: DType::U8,
            numbers: 1,
            shape: [n, m].into_iter().collect(),
            strides: [m, 1].into_iter().collect(),
            room: None,
        };
        let given = [GivenArgument::Array(array), GivenArgument::Int(0), GivenArgument::Missing, GivenArgument::Missing];
        let values = ready.plan().resolve(&given).unwrap();
        ready.for_call(&values, &given).unwrap().code().text.clone()
    };
    let narrow = ready.code().text.clone();
    assert!(narrow.contains("int32_t const n") && !narrow.contains("int64_t"), "{narrow}");
    assert_eq!(text(1 << 15, 1 << 15), narrow);
    assert_eq!(text((1 << 16) - 1, 1 << 15), narrow);
    let wide = text(ROWS, LENGTH);
    assert!(wide.contains("int64_t const n") && !wide.contains("int32_t const"), "{wide}");
    // The type that the user gives is the least.
    let given = map(&rows(None), |kernel| {
        let mut kernel = kernel.clone();
        kernel.index_type = DType::I64;
        kernel
    });
    assert_eq!(executable(&given, &context).code().text, wide);
}

#[test]
fn numbers_that_do_not_fit_are_refused_by_name() {
    let context = Context::open("cpu:1").unwrap();
    let declared = KernelBuilder::new()
        .domain("{[i]: 0<=i<n and i<1}")
        .instructions("out[i] = 7")
        .data(Data::global("out").dtype("uint8").shape("1"))
        .data(Data::value("n").dtype("int32"))
        .build()
        .unwrap();
    let out = context.device().allocate(1).unwrap();
    let ready = executable(&declared, &context);
    let call = |n: i64| ready.call(&mut [("n", LoopArg::from(n)), ("out", bytes(&out, &[1]))]).map_err(|error| error.to_string());
    assert_eq!(
        call(3_000_000_000),
        Err("kernel `loopy_kernel`: argument `n` is 3000000000, which does not fit int32; declare it with a wider type".into())
    );
    assert_eq!(call(2), Ok(()));
    let products = KernelBuilder::new()
        .domain("{[i, j]: 0<=i<n and 0<=j<m and i mod 549755813888 = 0 and j mod 549755813888 = 0}")
        .instructions("out[(i*m + j) % 4] = 7")
        .data(Data::global("out").dtype("uint8").shape("4"))
        .data(Data::value("n, m"))
        .build()
        .unwrap();
    let ready = executable(&products, &context);
    let out = context.device().allocate(4).unwrap();
    let call = |n: i64| {
        ready.call(&mut [("n", LoopArg::from(n)), ("m", LoopArg::from(n)), ("out", bytes(&out, &[4]))]).map_err(|error| error.to_string())
    };
    assert_eq!(call(1 << 20), Ok(()));
    let refused = call(1 << 40).unwrap_err();
    assert!(refused.starts_with("kernel `loopy_kernel`: an index or loop bound would be between 0 and 1"), "{refused}");
    assert!(refused.contains("which does not fit int64; pass smaller sizes"), "{refused}");
}

/// A temporary that is declared too narrow for an index is not cut off in silence.
#[test]
fn an_index_that_a_declared_temporary_does_not_hold_is_refused() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n and i mod 1073741824 = 0}")
        .instructions("<int32> at = i {id=at}\nout[at % 4] = 7 {dep=at}")
        .data(Data::global("out").dtype("uint8").shape("4"))
        .data(Data::value("n"))
        .build()
        .unwrap();
    let context = Context::open("cpu:1").unwrap();
    let ready = executable(&program, &context);
    let out = context.device().allocate(4).unwrap();
    let call = |n: i64| ready.call(&mut [("n", LoopArg::from(n)), ("out", bytes(&out, &[4]))]).map_err(|error| error.to_string());
    assert_eq!(call(1 << 31), Ok(()));
    assert!(call(3 << 30).unwrap_err().contains("which does not fit int"));
}

#[test]
fn the_index_of_hardware_is_widened_with_its_sign() {
    let program = KernelBuilder::new()
        .domain("{[i]: -3<=i<n}")
        .instructions("out[i + 3] = 7")
        .data(Data::global("out").dtype("uint8").shape("n + 3"))
        .data(Data::value("n"))
        .index_type(DType::I64)
        .build()
        .unwrap()
        .tag_inames("i:g.0")
        .unwrap();
    for (target, text) in [(Target::Cuda, "(long)blockIdx.x - 3ll"), (Target::OpenCl, "(long)get_group_id(0) - 3l")] {
        let code = program.generate(target).unwrap().code.text;
        assert!(code.contains(text), "{code}");
    }
}

#[test]
fn indices_of_numbers_that_are_read_do_not_overflow_their_types() {
    let gather = |index: &str, dtype: &str| {
        KernelBuilder::new()
            .domain("{[i]: 0<=i<1}")
            .instructions(format!("o[i] = a[{index}]"))
            .data(Data::global("o").dtype("int64").shape("1"))
            .data(Data::global("a").dtype("int64").shape("600"))
            .data(Data::global("q").dtype(dtype).shape("1"))
            .build()
            .unwrap()
    };
    let a: Vec<i64> = (0..600).collect();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let (a, mut o) = (context.array(&a).unwrap(), context.zeros::<i64>(1).unwrap());
        let q = context.array(&[255u8]).unwrap();
        executable(&gather("q[i]*2", "uint8"), &context).call(loop_args! { o: &mut o, a: &a, q: &q }).unwrap();
        assert_eq!(o.to_vec().unwrap(), [510]);
        let q = context.array(&[100_000i32]).unwrap();
        executable(&gather("(q[i]*q[i]) % 7", "int32"), &context).call(loop_args! { o: &mut o, a: &a, q: &q }).unwrap();
        assert_eq!(o.to_vec().unwrap(), [10_000_000_000 % 7]);
        let q = context.array(&[2_147_483_600i32]).unwrap();
        executable(&gather("q[i] + q[i] - 4294967000", "int32"), &context).call(loop_args! { o: &mut o, a: &a, q: &q }).unwrap();
        assert_eq!(o.to_vec().unwrap(), [200]);
    }
    let code = gather("q[i]", "int32").generate(Target::C).unwrap().code.text;
    assert!(code.contains("a[q[0]]") || code.contains("a[q[i]]"), "{code}");
}

#[test]
fn a_sum_of_indices_is_as_wide_as_what_it_is_assigned_to() {
    let program = KernelBuilder::new()
        .domain("{[i, j]: 0<=i<1 and 0<=j<n}")
        .instructions("o[i] = 1 + sum(j, j)")
        .data(Data::global("o").dtype("int64").shape("1"))
        .rest()
        .build()
        .unwrap();
    let (_turn, contexts) = few_contexts();
    for context in contexts {
        let mut o = context.zeros::<i64>(1).unwrap();
        executable(&program, &context).call(loop_args! { o: &mut o, n: 100_000i64 }).unwrap();
        assert_eq!(o.to_vec().unwrap(), [4_999_950_001]);
    }
}
