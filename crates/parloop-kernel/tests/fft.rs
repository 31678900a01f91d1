//! Fourier transforms on every device, against the definition.

use std::f64::consts::TAU;

use parloop_device::{Complex32, Complex64, DType, Device, DeviceError, DeviceKind};
use parloop_kernel::{Context, FftPlan, KernelError, Order};

/// Every device that is here, and CPUs with one thread and with more threads than cores.
fn on_every_device(test: impl Fn(&Context)) {
    let mut devices = Device::list();
    devices.extend(["cpu:1", "cpu:5"].map(|name| Device::open(name).unwrap()));
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert!(devices.iter().any(|device| device.kind() == DeviceKind::OpenCl), "CI needs an OpenCL device (PoCL)");
    }
    for device in devices {
        let ctx = Context::on(device.default_stream().unwrap());
        match ctx.plan_fft(&[2], &[0], DType::C64) {
            Err(KernelError::Device(error @ DeviceError::LibraryMissing { .. })) => println!("skipped on {device:?}: {error}"),
            plan => {
                println!("on {:?}", plan.unwrap());
                test(&ctx);
            }
        }
    }
}

/// Numbers without a pattern, between -1 and 1.
fn noise(n: usize) -> Vec<Complex64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    (0..n).map(|_| Complex64::new(next(), next())).collect()
}

/// By the definition, along one axis after the other; for the inverse with its factor.
fn expected(values: &[Complex64], shape: &[usize], axes: &[usize], order: Order, sign: f64) -> Vec<Complex64> {
    let mut values = values.to_vec();
    for &axis in axes {
        let faster = if order == Order::C { &shape[axis + 1..] } else { &shape[..axis] };
        let (step, n): (usize, usize) = (faster.iter().product(), shape[axis]);
        let roots: Vec<Complex64> = (0..n).map(|k| Complex64::from_polar(1.0, sign * TAU * k as f64 / n as f64)).collect();
        let factor = if sign > 0.0 { 1.0 / n as f64 } else { 1.0 };
        let before = values.clone();
        for (at, value) in values.iter_mut().enumerate() {
            let k = at / step % n;
            let first = at - k * step;
            *value = (0..n).map(|j| before[first + j * step] * roots[j * k % n]).sum::<Complex64>() * factor;
        }
    }
    values
}

fn assert_close(found: &[Complex64], expected: &[Complex64], tolerance: f64, what: &dyn std::fmt::Debug) {
    let largest = expected.iter().map(|value| value.norm()).fold(1.0, f64::max);
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).norm() <= tolerance * largest, "{what:?}, element {at}: {found} is not {expected}");
    }
}

fn check(ctx: &Context, shape: &[usize], axes: &[usize], order: Order) {
    let values = noise(shape.iter().product());
    let plan = ctx.plan_fft_in(shape, axes, DType::C128, order).unwrap();
    let (there, back) = (expected(&values, shape, axes, order, -1.0), expected(&values, shape, axes, order, 1.0));
    let mut array = ctx.array(&values).unwrap();
    plan.transform(&mut array).unwrap();
    assert_close(&array.to_vec().unwrap(), &there, 1e-12, &plan);
    let mut host = values.clone();
    plan.itransform(&mut host).unwrap();
    assert_close(&host, &back, 1e-12, &plan);

    let narrow: Vec<Complex32> = values.iter().map(|value| Complex32::new(value.re as f32, value.im as f32)).collect();
    let widened = |values: Vec<Complex32>| values.iter().map(|value| Complex64::new(value.re.into(), value.im.into())).collect::<Vec<_>>();
    let plan = ctx.plan_fft_in(shape, axes, DType::C64, order).unwrap();
    let mut array = ctx.array(&narrow).unwrap();
    plan.itransform(&mut array).unwrap();
    assert_close(&widened(array.to_vec().unwrap()), &back, 1e-5, &plan);
    let mut host = narrow.clone();
    plan.transform(&mut host).unwrap();
    assert_close(&widened(host), &there, 1e-5, &plan);
}

#[test]
fn every_set_of_axes_in_both_orders_gives_the_definition() {
    on_every_device(|ctx| {
        for shape in [vec![13], vec![1], vec![4, 6], vec![7, 1, 5], vec![2, 3, 4, 5], vec![3, 17], vec![64, 2, 3], vec![2, 3, 40]] {
            for chosen in 0..1usize << shape.len() {
                let axes: Vec<usize> = (0..shape.len()).filter(|axis| chosen >> axis & 1 == 1).collect();
                check(ctx, &shape, &axes, Order::C);
                check(ctx, &shape, &axes.into_iter().rev().collect::<Vec<_>>(), Order::Fortran);
            }
        }
    });
}

#[test]
fn lines_that_threads_share_are_each_done_once() {
    on_every_device(|ctx| {
        for (shape, axis) in
            [(vec![300, 33], 0), (vec![33, 300], 1), (vec![3, 53, 67], 1), (vec![400, 4, 10], 1), (vec![499, 3], 0), (vec![2, 521], 1)]
        {
            check(ctx, &shape, &[axis], Order::C);
        }
    });
}

#[test]
fn there_and_back_is_where_it_began() {
    on_every_device(|ctx| {
        for n in [1usize << 16, 65_537, 100_000] {
            let values = noise(n);
            let plan = ctx.plan_fft(&[n], &[0], DType::C128).unwrap();
            let mut array = ctx.array(&values).unwrap();
            plan.transform(&mut array).unwrap();
            let sum: Complex64 = values.iter().sum();
            assert_close(&array.to_vec().unwrap()[..1], &[sum], 1e-9, &plan);
            plan.itransform(&mut array).unwrap();
            assert_close(&array.to_vec().unwrap(), &values, 1e-12, &plan);
        }
    });
}

#[test]
fn arrays_without_elements_and_without_axes_stay_as_they_are() {
    on_every_device(|ctx| {
        for (shape, axes) in
            [(vec![0], vec![0]), (vec![3, 0, 2], vec![0, 2]), (vec![], vec![]), (vec![4], vec![]), (vec![1, 1], vec![0, 1])]
        {
            let values = noise(shape.iter().product());
            let plan = ctx.plan_fft(&shape, &axes, DType::C128).unwrap();
            let mut array = ctx.array(&values).unwrap();
            plan.transform(&mut array).unwrap();
            plan.itransform(&mut array).unwrap();
            assert_eq!(array.to_vec().unwrap(), values);
        }
    });
}

#[test]
fn a_part_of_memory_is_transformed_and_the_rest_left_alone() {
    on_every_device(|ctx| {
        let values = noise(100);
        let array = ctx.array(&values).unwrap();
        let plan = ctx.plan_fft(&[5, 6], &[0, 1], DType::C128).unwrap();
        // SAFETY: nobody else has the array.
        let run = |offset| unsafe { plan.run_memory(array.memory(), offset, parloop_device::FftDirection::Forward) };
        run(7 * 16).unwrap();
        let found = array.to_vec().unwrap();
        assert_close(&found[7..37], &expected(&values[7..37], &[5, 6], &[0, 1], Order::C, -1.0), 1e-12, &plan);
        assert_eq!((&found[..7], &found[37..]), (&values[..7], &values[37..]));
        let outside = run(71 * 16).unwrap_err();
        assert_eq!(outside.to_string(), "transform: bytes 1136..1136+480 were requested, but the memory has 1600 bytes");
        assert_eq!(array.to_vec().unwrap(), found);
    });
}

#[test]
fn what_cannot_be_planned_is_said() {
    on_every_device(|ctx| {
        let message = |shape: &[usize], axes: &[usize], dtype| ctx.plan_fft(shape, axes, dtype).unwrap_err().to_string();
        assert_eq!(message(&[2, 3], &[2], DType::C64), "an FFT along axis 2 was requested, but the data has 2 axes; use axes 0 to 1");
        assert_eq!(message(&[2], &[1], DType::C64), "an FFT along axis 1 was requested, but the data has one axis; use axis 0");
        assert_eq!(message(&[], &[0], DType::C64), "an FFT along axis 0 was requested, but the data has no axes");
        assert_eq!(message(&[2, 3], &[1, 0, 1], DType::C64), "an FFT along axis 1 was requested twice; name each axis once");
        assert_eq!(
            message(&[2], &[0], DType::F64),
            "an FFT of float64 was requested, but only complex64 and complex128 can be transformed; convert the data first"
        );
        for huge in [&[usize::MAX][..], &[1 << 58], &[1 << 40, 1 << 40]] {
            let error = ctx.plan_fft(huge, &[0], DType::C128).unwrap_err();
            assert!(matches!(error, KernelError::Device(DeviceError::OutOfMemory { .. })), "{error}");
        }
    });
}

#[test]
fn data_that_is_not_as_planned_is_refused_and_not_changed() {
    on_every_device(|ctx| {
        let plan = ctx.plan_fft(&[2, 3], &[1], DType::C128).unwrap();
        let message = |result: Result<(), KernelError>| result.unwrap_err().to_string();
        let start = "this FFT was planned for complex128 of shape [2, 3] in C order, but ";
        let end = " was given; plan one for that, or convert the data";
        let mut longer = ctx.array(&noise(7)).unwrap();
        assert_eq!(message(plan.transform(&mut longer)), format!("{start}complex128 of 7 elements{end}"));
        let mut narrow = ctx.array(&[Complex32::new(1.0, 2.0); 6]).unwrap();
        assert_eq!(message(plan.itransform(&mut narrow)), format!("{start}complex64 of 6 elements{end}"));
        assert_eq!(message(plan.transform(longer.memory())), format!("{start}112 bytes{end}"));
        assert_eq!(message(plan.transform(3.0)), format!("{start}no array{end}"));
        let mut short = noise(5);
        assert_eq!(message(plan.transform(&mut short)), format!("{start}complex128 of 5 elements{end}"));
        let read_only = noise(6);
        assert_eq!(message(plan.transform(&read_only)), "an FFT works in place, but the data is read-only; pass a copy");
        assert_eq!((longer.to_vec().unwrap(), short), (noise(7), noise(5)));
        if ctx.device().kind() != DeviceKind::Cpu {
            let mut other = Context::open("cpu:1").unwrap().array(&noise(6)).unwrap();
            let id = ctx.device().id();
            assert_eq!(
                message(plan.transform(&mut other)),
                format!("transform: this belongs to device `cpu:1`, but the work is on `{id}`; copy it there first")
            );
        }
    });
}

#[test]
fn a_plan_describes_itself() {
    let ctx = Context::open("cpu:1").unwrap();
    let plan = ctx.plan_fft_in(&[2, 3], &[1, 0], DType::C64, Order::Fortran).unwrap();
    assert_eq!((plan.shape(), plan.axes(), plan.dtype(), plan.order()), (&[2, 3][..], &[1, 0][..], DType::C64, Order::Fortran));
    assert_eq!(format!("{plan:?}"), "<FftPlan along axes [1, 0] of complex64 of shape [2, 3] in Fortran order on cpu:1>");
}

#[test]
fn many_threads_may_use_one_plan() {
    on_every_device(|ctx| {
        let plan: FftPlan = ctx.plan_fft(&[30, 40], &[0, 1], DType::C128).unwrap();
        let values = noise(1200);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let mut own = ctx.array(&values).unwrap();
                        plan.transform(&mut own).unwrap();
                        plan.itransform(&mut own).unwrap();
                        assert_close(&own.to_vec().unwrap(), &values, 1e-12, &plan);
                    }
                });
            }
        });
    });
}
