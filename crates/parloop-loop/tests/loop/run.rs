//! Kernels run on every device found.

use parloop_device::{DType, Device, DeviceKind};
use parloop_kernel::{Arg, Context};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, LoopArg, target_of};
use parloop_loop::syntax::InameTag;
use parloop_loop::syntax::{AddressSpace, Initializer, Program, Target};
use parloop_loop::transform::Split;

/// One context for each device that is here, and CPUs with one thread and with more threads than cores.
pub fn contexts() -> Vec<Context> {
    let mut devices = Device::list();
    devices.extend(["cpu:1", "cpu:5"].map(|name| Device::open(name).unwrap()));
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert!(devices.iter().any(|device| device.kind() == DeviceKind::OpenCl), "CI needs an OpenCL device (PoCL)");
    }
    devices.iter().map(|device| Context::on(device.default_stream().unwrap())).collect()
}

pub fn executable(program: &Program, context: &Context) -> Executable {
    let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
    println!("{}", generated.code.text);
    Executable::compile(&generated, context).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_vector_is_scaled_on_every_device() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = 2*a[i]")
        .data(Data::global("a, out").dtype("float64"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let executable = executable(&program, &context);
        let a: Vec<f64> = (0..1000).map(f64::from).collect();
        let (a, mut out) = (context.array(&a).unwrap(), context.zeros::<f64>(1000).unwrap());
        executable.call(&mut [("a", LoopArg::from(&a)), ("out", LoopArg::from(&mut out))]).unwrap();
        let expected: Vec<f64> = (0..1000).map(|i| 2.0 * f64::from(i)).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[test]
fn matrices_are_multiplied_on_every_device() {
    let program = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a, b, c").dtype("float32").shape("n, n"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let executable = executable(&program, &context);
        let n = 37i64;
        let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
        let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
        let (x, y, mut z) = (context.array(&a).unwrap(), context.array(&b).unwrap(), context.zeros::<f32>(a.len()).unwrap());
        let shape = [n, n];
        executable
            .call(&mut [("a", LoopArg::shaped(&x, &shape)), ("b", LoopArg::shaped(&y, &shape)), ("c", LoopArg::shaped(&mut z, &shape))])
            .unwrap();
        let n = n as usize;
        let mut expected = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                expected[i * n + j] = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
            }
        }
        assert_eq!(z.to_vec().unwrap(), expected);
    }
}

/// gcc 12 at `-O3` drops the second store unless it is told otherwise.
#[test]
fn no_store_is_lost_among_strides_of_sizes() {
    let program = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i<n and 0<=j<3 and 0<=k<3}")
        .instructions("y[i,j,k] = a[i+i] {id=y}\nx[n+2-i, 2*j+3] = a[i]*a[n+2-i] {id=x, if=j%2==0}")
        .data(Data::global("y").dtype("float64").shape("n, 2*n+6, 2*n+6"))
        .data(Data::global("x").dtype("float32").shape("n+3, 2*n+6"))
        .data(Data::global("a").dtype("float64").shape("2*n+6"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let executable = executable(&program, &context);
        let (a, mut x, mut y) =
            (context.array(&[2.0f64; 8]).unwrap(), context.zeros::<f32>(4 * 8).unwrap(), context.zeros::<f64>(64).unwrap());
        let (x_arg, y_arg) = (LoopArg::shaped(&mut x, &[4, 8]), LoopArg::shaped(&mut y, &[1, 8, 8]));
        executable.call(&mut [("a", LoopArg::from(&a)), ("x", x_arg), ("y", y_arg)]).unwrap();
        let x = x.to_vec().unwrap();
        assert_eq!((x[27], x[31]), (4.0, 4.0));
    }
}

#[test]
fn a_reduction_over_nothing_has_the_value_it_starts_from() {
    let program = KernelBuilder::new()
        .domain("{[i,k]: 0<=i<n and 0<=k<m}")
        .instructions("y[i] = 5 + sum(k, a[i,k])\nz[i] = product(k, a[i,k])")
        .data(Data::global("a").dtype("float64").shape("n, m"))
        .data(Data::global("y, z").dtype("float64").shape("n"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let executable = executable(&program, &context);
        for m in [0i64, 2] {
            let a = context.array(&vec![3.0f64; 4 * m.max(1) as usize]).unwrap();
            let (mut y, mut z) = (context.array(&[-1.0f64; 4]).unwrap(), context.array(&[-1.0f64; 4]).unwrap());
            let (y_arg, z_arg) = (LoopArg::from(&mut y), LoopArg::from(&mut z));
            executable.call(&mut [("a", LoopArg::shaped(&a, &[4, m])), ("y", y_arg), ("z", z_arg)]).unwrap();
            let (sum, product) = if m == 0 { (5.0, 1.0) } else { (11.0, 9.0) };
            assert_eq!((y.to_vec().unwrap(), z.to_vec().unwrap()), (vec![sum; 4], vec![product; 4]), "m = {m}");
        }
    }
}

#[test]
fn a_recorded_call_is_replayed_with_its_temporaries() {
    let program = KernelBuilder::new()
        .domain("{[i, j]: 0<=i,j<n}")
        .instructions("t[i] = a[i] + 1 {id=first}\n... gbarrier {id=wait, dep=first}\nout[j] = out[j] + 2*t[n-1-j] {dep=wait}")
        .data(Data::global("a, out").dtype("float64").shape("n"))
        .data(Data::temporary("t").dtype("float64").shape("n").space(AddressSpace::Global))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let (mut a, mut out) = (context.array(&[0.0, 1.0, 2.0]).unwrap(), context.zeros::<f64>(3).unwrap());
        let recording = context.recording().unwrap();
        executable(&program, &context).call(&mut [("a", LoopArg::from(&a)), ("out", LoopArg::from(&mut out))]).unwrap();
        let replay = recording.finish().unwrap();
        assert_eq!(replay.len(), 2);
        assert_eq!(out.to_vec().unwrap(), [0.0; 3]);
        replay.run().unwrap();
        a.write(&[10.0]).unwrap();
        replay.run().unwrap();
        assert_eq!(out.to_vec().unwrap(), [12.0, 8.0, 24.0]);
    }
}

#[test]
fn a_private_value_that_all_work_items_share_is_the_same_for_each() {
    let build = |instructions: &str| {
        let data = Data::global("a, out").dtype("float64").shape("n");
        KernelBuilder::new().domain("{[i,k]: 0<=i<n and 0<=k<4}").instructions(instructions).data(data).rest().build().unwrap()
    };
    let number = build("<float64> t = 2*n {id=t}\nout[i] = a[i] + t {dep=t}");
    let table = build("<float64> t[k] = k*n {id=t}\nout[i] = a[i] + t[i % 4] {dep=t, inames=i}");
    let split = Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(0));
    for context in contexts() {
        for (program, expected) in [(&number, [74, 74, 74, 74]), (&table, [0, 37, 74, 111])] {
            let executable = executable(&program.split_iname("i", split.clone()).unwrap(), &context);
            let (a, mut out) = (context.array(&[0.5; 37]).unwrap(), context.zeros::<f64>(37).unwrap());
            executable.call(&mut [("a", LoopArg::from(&a)), ("out", LoopArg::from(&mut out))]).unwrap();
            let expected: Vec<f64> = (0..37).map(|i| f64::from(expected[i % 4]) + 0.5).collect();
            assert_eq!(out.to_vec().unwrap(), expected, "on {:?}", context.device());
        }
    }
}

#[test]
fn temporaries_that_are_written_start_with_their_values() {
    for (shape, index, expected) in [("2", "[i]", [7, 8]), ("", "", [7, 7])] {
        let (lengths, values) = if shape.is_empty() { (vec![], &[7i64][..]) } else { (vec![2], &[7, 8][..]) };
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let data = Data::temporary("t").dtype("int64").initializer(Initializer { dtype: DType::I64, shape: lengths, bytes });
        let data = if shape.is_empty() { data.shape("()") } else { data.shape(shape) };
        let program = KernelBuilder::new()
            .domain("{[i]: 0<=i<2}")
            .domain("{[j]: 0<=j<2}")
            .instructions(format!("o[i] = t{index} {{id=o, dep=*}}\nt{} = 0 {{dep=o}}", index.replace('i', "j")))
            .data(data)
            .data(Data::global("o").dtype("int64").shape("2"))
            .build()
            .unwrap();
        for context in contexts() {
            let mut o = context.zeros::<i64>(2).unwrap();
            executable(&program, &context).call(&mut [("o", LoopArg::from(&mut o))]).unwrap();
            assert_eq!(o.to_vec().unwrap(), expected, "on {:?}", context.device());
        }
    }
}

/// `out[i + shift] = a[i] + 1` over 8 elements.
fn shifted(shift: u8) -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions(format!("<> t = a[i] {{id=t}}\nout[i + {shift}] = t + 1 {{dep=t}}"))
        .data(Data::global("a").dtype("int64").shape("n"))
        .data(Data::global("out").dtype("int64").shape(format!("n + {shift}")))
        .rest()
        .build()
        .unwrap()
}

#[test]
fn arguments_that_share_memory_are_an_error_where_one_is_written() {
    for context in contexts() {
        let memory = context.zeros::<i64>(32).unwrap();
        let part = |shape: i64, stride: i64| LoopArg::Array {
            arg: Arg::Memory { memory: memory.memory(), dtype: Some(DType::I64), writable: true },
            shape: vec![shape],
            strides: Some(vec![8 * stride]),
        };
        let made = executable(&shifted(1), &context);
        assert_eq!(
            made.call(&mut [("a", part(8, 1)), ("out", part(9, 1))]).unwrap_err().to_string(),
            "kernel `loopy_kernel`: arguments `out` and `a` share memory, and `out` is written; pass a copy of one of them"
        );
        // Each instance reads the element that it writes.
        executable(&shifted(0), &context).call(&mut [("a", part(8, 1)), ("out", part(8, 1))]).unwrap();
        assert_eq!(memory.to_vec().unwrap()[..9], [1, 1, 1, 1, 1, 1, 1, 1, 0]);
    }
}

#[test]
fn an_offset_needs_memory_behind_what_is_passed() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = 7")
        .data(Data::global("out").dtype("float64").shape("n").offset_text("5"))
        .rest()
        .build()
        .unwrap();
    for context in contexts() {
        let made = executable(&program, &context);
        let mut out = context.zeros::<f64>(8).unwrap();
        assert_eq!(
            made.call(&mut [("out", LoopArg::shaped(&mut out, &[4]))]).unwrap_err().to_string(),
            "kernel `loopy_kernel`: argument `out` has an offset of 5 elements, so its memory must have 9, but it has 8; pass longer memory, \
             or declare it without offset"
        );
        made.call(&mut [("out", LoopArg::shaped(&mut out, &[3]))]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 7.0, 7.0]);
    }
}

#[test]
fn a_number_that_is_no_integer_is_told_from_a_missing_one() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<2}")
        .instructions("o[i] = m")
        .data(Data::global("o").dtype("int64").shape("2"))
        .data(Data::value("m").dtype("int32"))
        .build()
        .unwrap();
    let context = Context::open("cpu:1").unwrap();
    let made = executable(&program, &context);
    let mut o = context.zeros::<i64>(2).unwrap();
    for wrong in [LoopArg::from(1.5), LoopArg::from(true), LoopArg::from(u64::MAX)] {
        assert_eq!(
            made.call(&mut [("o", LoopArg::from(&mut o)), ("m", wrong)]).unwrap_err().to_string(),
            "kernel `loopy_kernel`: argument `m` must be an integer of type int32 that fits into 64 bits with a sign, not a fraction, a bool or a complex number"
        );
    }
}

#[test]
fn names_that_mean_something_else_in_the_target_are_refused() {
    let named = |name: &str| {
        KernelBuilder::new()
            .domain("{[i]: 0<=i<4}")
            .instructions(format!("o[i] = {name}[i]"))
            .data(Data::global(format!("{name}, o")).dtype("int64").shape("4"))
            .build()
            .unwrap()
    };
    for name in ["int", "auto", "register", "restrict", "bool", "unix", "NULL", "EOF", "int32_t"] {
        assert_eq!(
            named(name).generate(Target::C).unwrap_err().to_string(),
            format!("argument `{name}` cannot have that name, which is reserved in c; rename it")
        );
    }
    named("kernel").generate(Target::C).unwrap();
    for name in ["kernel", "global", "float4", "half"] {
        assert!(named(name).generate(Target::OpenCl).is_err(), "{name}");
    }
}
