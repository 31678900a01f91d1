//! Calls C functions on bytes in device memory and compares what they return, on every device.

use parloop_device::{Device, DeviceKind};
use parloop_kernel::{Cache, CompileOptions, Context, Source, args};

/// One call and what must come of it. `obj` is the object, `base` the beginning of the bytes.
#[derive(Clone, Debug)]
pub enum Step {
    /// An expression with this integer value.
    Int(String, i64),
    /// An expression with this value.
    Real(String, f64),
    /// An expression that points this many bytes from `base`; `None` is the null pointer.
    At(String, Option<usize>),
    /// A call, all but its last argument, that writes these numbers to where that points.
    Axes(String, Vec<i64>),
    /// A statement.
    Do(String),
}

/// An object among bytes, and calls on it.
#[derive(Clone, Debug)]
pub struct Probe {
    pub class: String,
    pub bytes: Vec<u8>,
    pub offset: usize,
    pub steps: Vec<Step>,
}

impl Probe {
    /// A kernel that does all steps and writes down what the expressions give.
    fn kernel(&self, number: usize) -> String {
        let class = &self.class;
        let mut text = format!(
            "GPUKERN void probe_{number}(GPUGLMEM char *base, const int64_t offset, GPUGLMEM int64_t *out, GPUGLMEM double *real) {{\n    \
             {class} obj = ({class})(base + offset);\n    (void)obj;\n"
        );
        let (mut ints, mut reals) = (0, 0);
        for step in &self.steps {
            let line = match step {
                Step::Int(call, _) => format!("out[{ints}] = (int64_t)({call});"),
                Step::At(call, None) => format!("out[{ints}] = ({call}) == 0 ? -1 : 0;"),
                Step::At(call, Some(_)) => format!("out[{ints}] = (int64_t)((GPUGLMEM char *)({call}) - base);"),
                Step::Axes(call, _) => format!("{call}, out + {ints});"),
                Step::Real(call, _) => format!("real[{reals}] = {call};"),
                Step::Do(statement) => statement.clone(),
            };
            ints += step.ints().len();
            reals += usize::from(matches!(step, Step::Real(..)));
            text.push_str(&format!("    {line}\n"));
        }
        text + "}\n"
    }
}

impl Step {
    fn ints(&self) -> Vec<i64> {
        match self {
            Step::Int(_, value) => vec![*value],
            Step::At(_, None) => vec![-1],
            Step::At(_, Some(at)) => vec![*at as i64],
            Step::Axes(_, numbers) => numbers.clone(),
            Step::Real(..) | Step::Do(_) => vec![],
        }
    }
}

/// Every device that is here.
pub fn contexts() -> Vec<Context> {
    let devices = Device::list();
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert!(devices.iter().any(|device| device.kind() == DeviceKind::OpenCl), "CI needs an OpenCL device (PoCL)");
    }
    devices.into_iter().map(|device| Context::on(device.default_stream().unwrap())).collect()
}

/// Compilers are to take our text without a warning, and an OpenCL compiler as the oldest version that we support.
pub fn strict(ctx: &Context) -> CompileOptions {
    let arguments = match ctx.device().kind() {
        DeviceKind::Cpu => &["-Wall", "-Werror", "-Wno-unused-function"][..],
        DeviceKind::OpenCl => &["-cl-std=CL1.2", "-Werror"],
        _ => &[],
    };
    CompileOptions { arguments: arguments.iter().map(|argument| argument.to_string()).collect(), ..Default::default() }
}

/// Runs the probes in one program after `source` and compares; the bytes after them.
pub fn run(ctx: &Context, source: &str, probes: &[Probe]) -> Vec<Vec<u8>> {
    let kernels: String = probes.iter().enumerate().map(|(number, probe)| probe.kernel(number)).collect();
    let sources = [Source::text(source), Source::text(&kernels)];
    let cache = Cache::at(concat!(env!("CARGO_TARGET_TMPDIR"), "/capi"), 16 << 20);
    let program =
        // SAFETY: probes stay inside of the objects that they get.
        unsafe { ctx.compile_cached(&sources, &strict(ctx), &cache) }.unwrap_or_else(|error| panic!("on {ctx:?}: {error}\n{source}\n{kernels}"));
    let mut after = Vec::new();
    for (number, probe) in probes.iter().enumerate() {
        let expected: Vec<i64> = probe.steps.iter().flat_map(Step::ints).collect();
        let reals: Vec<f64> =
            probe.steps.iter().filter_map(|step| if let Step::Real(_, value) = step { Some(*value) } else { None }).collect();
        let mut memory = ctx.array(&probe.bytes).unwrap();
        let mut out = ctx.zeros::<i64>(expected.len().max(1)).unwrap();
        let mut real = ctx.zeros::<f64>(reals.len().max(1)).unwrap();
        let kernel = program.kernel(&format!("probe_{number}")).unwrap();
        kernel.call(args![&mut memory, probe.offset, &mut out, &mut real]).unwrap();
        let (found, found_reals) = (out.to_vec().unwrap(), real.to_vec().unwrap());
        let (mut ints, mut next) = (0, 0);
        for step in &probe.steps {
            let wanted = step.ints();
            assert_eq!(found[ints..ints + wanted.len()], wanted, "{step:?} on {ctx:?}");
            ints += wanted.len();
            if let Step::Real(_, value) = step {
                assert_eq!(found_reals[next], *value, "{step:?} on {ctx:?}");
                next += 1;
            }
        }
        after.push(memory.to_vec().unwrap());
    }
    after
}
