//! Objects on devices: kernels that take them, copies from one to the other, and the way back.

use parloop_device::DeviceKind;
use parloop_kernel::{Context, KernelError, Source, args};
use parloop_object::{Buffer, Home, Object, ObjectError, ObjectOptions, PlaceObjects, Placed, UnionMethod, Value};

use crate::host;
use crate::probe::contexts;
use crate::samples::{F64, array, reference, structure};

fn compile_source(
    ctx: &Context,
    source: &str,
    classes: &[parloop_object::Type],
    options: &ObjectOptions,
) -> Result<parloop_kernel::Program, ObjectError> {
    // SAFETY: the kernels of these tests stay inside of the objects that they get, or check that they do.
    unsafe { ctx.compile_with_objects(source, classes, options) }
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Wave {
    phase: f64,
    samples: Vec<f64>,
    name: String,
}

fn wave() -> Wave {
    Wave { phase: 0.5, samples: (0..100).map(f64::from).collect(), name: "sine".into() }
}

const SHIFT: &str = "
GPUKERN void shift(Wave wave, const double by) {
    VECTORIZE_OVER(i, Wave_len_samples(wave))
        Wave_set_samples(wave, i, Wave_get_samples(wave, i) + by);
    END_VECTORIZE
}
GPUKERN void read(const Wave wave, GPUGLMEM double *out, const int64_t at) { out[0] = Wave_get_samples(wave, at); }
GPUKERN void rename(Wave wave) { Wave_str_name(wave)[0] = 'S'; Wave_set_phase(wave, Wave_get_phase(wave) * 2); }
";

fn shifted(by: f64) -> Wave {
    Wave { samples: wave().samples.iter().map(|sample| sample + by).collect(), ..wave() }
}

fn compile(ctx: &Context, options: &ObjectOptions) -> parloop_kernel::Program {
    compile_source(ctx, SHIFT, &[Wave::object_type()], options).unwrap_or_else(|error| panic!("on {ctx:?}: {error}"))
}

#[test]
fn kernels_change_objects_in_place_on_every_device() {
    for ctx in contexts() {
        let program = compile(&ctx, &ObjectOptions::default());
        let buffer = Buffer::new(&ctx, 64).unwrap();
        let before = ctx.place_in(&buffer, &wave()).unwrap();
        let mut placed = ctx.place_in(&buffer, &wave()).unwrap();
        program.kernel("shift").unwrap().call(args![&mut placed, 10.0]).unwrap();
        assert_eq!(placed.get().unwrap(), shifted(10.0), "on {ctx:?}");
        program.kernel("rename").unwrap().call(args![&mut placed]).unwrap();
        assert_eq!(placed.get().unwrap(), Wave { phase: 1.0, name: "Sine".into(), ..shifted(10.0) });
        assert_eq!(before.get().unwrap(), wave());
        let mut out = ctx.zeros::<f64>(1).unwrap();
        program.kernel("read").unwrap().call(args![&placed, &mut out, 7]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [17.0]);
    }
}

#[test]
fn an_object_is_checked_before_it_is_given_to_a_kernel() {
    #[derive(Object)]
    struct Other {
        x: f64,
    }
    for ctx in contexts() {
        let program = compile(&ctx, &ObjectOptions::default());
        let shift = program.kernel("shift").unwrap();
        let message = |error: KernelError| error.to_string();
        let buffer = Buffer::new(&ctx, 4096).unwrap();
        let mut placed = ctx.place_in(&buffer, &wave()).unwrap();
        assert_eq!(
            message(shift.call(args![&placed, 1.0]).unwrap_err()),
            "argument `wave` of kernel `shift` is declared `Wave`, but the object is read-only; declare it const or pass a copy"
        );
        let mut other = ctx.place(&Other { x: 1.0 }).unwrap();
        assert_eq!(other.get().unwrap().x, 1.0);
        assert_eq!(
            message(shift.call(args![&mut other, 1.0]).unwrap_err()),
            "argument `wave` of kernel `shift` is declared `Wave`, but an object of class `Other` was given"
        );
        buffer.free(placed.view().offset(), placed.view().size().unwrap()).unwrap();
        assert_eq!(
            message(shift.call(args![&mut placed, 1.0]).unwrap_err()),
            "argument `wave` of kernel `shift`: the memory of this `Wave` object was freed; pass a live object"
        );
        // A refused call holds nothing.
        buffer.grow(1 << 16).unwrap();
    }
}

#[test]
fn objects_of_another_device_are_refused() {
    let (ctxs, host) = (contexts(), host());
    for ctx in ctxs.iter().filter(|ctx| ctx.device().kind() != DeviceKind::Cpu) {
        let mut there = ctx.place(&wave()).unwrap();
        let error = compile(&host, &ObjectOptions::default()).kernel("shift").unwrap().call(args![&mut there, 1.0]).unwrap_err();
        let id = ctx.device().id();
        assert!(error.to_string().contains(&id.to_string()), "{error}");
        let buffer = Buffer::new(ctx, 64).unwrap();
        let error = host.place_in(&buffer, &wave()).unwrap_err();
        assert!(matches!(error, ObjectError::Buffer(_)) && error.to_string().contains(&id.to_string()), "{error}");
        let mut here = there.copy_to(&host).unwrap();
        compile(&host, &ObjectOptions::default()).kernel("shift").unwrap().call(args![&mut here, 1.0]).unwrap();
        assert_eq!((here.get().unwrap(), there.get().unwrap()), (shifted(1.0), wave()));
    }
}

#[test]
fn checked_mode_names_the_part_the_index_and_the_limit() {
    for ctx in contexts() {
        let program = compile(&ctx, &ObjectOptions::checked());
        let placed = ctx.place(&wave()).unwrap();
        let mut out = ctx.zeros::<f64>(1).unwrap();
        let read = program.kernel("read").unwrap();
        read.call(args![&placed, &mut out, 99]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [99.0]);
        let error = read.call(args![&placed, &mut out, 100]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `read`: index 100 is outside 0..100 of Wave.samples", "on {ctx:?}");
    }
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Drift {
    length: f64,
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Kick {
    strengths: [f64; 2],
}

#[derive(Object, Clone, Debug, PartialEq)]
enum Element {
    Drift(Drift),
    Kick(Kick),
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Line {
    elements: Vec<Option<Element>>,
    shared: Option<Box<Drift>>,
}

#[test]
fn kernels_follow_references_and_call_the_methods_of_members() {
    let member = |class: &str, text: &str| (class.to_owned(), Source::text(text));
    let options = ObjectOptions {
        class_sources: vec![
            member("Drift", "GPUFUN double Drift_track(Drift drift, double x) { return x + Drift_get_length(drift); }"),
            member("Kick", "GPUFUN double Kick_track(Kick kick, double x) { return x * Kick_get_strengths(kick, 1); }"),
        ],
        union_methods: vec![(
            "Element".into(),
            UnionMethod { name: "track".into(), params: vec![("x".into(), "double".into())], returns: Some("double".into()) },
        )],
        ..ObjectOptions::default()
    };
    let source = "
GPUKERN void track(Line line, GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        for (int64_t e = 0; e < Line_len_elements(line); ++e)
            if (Line_typeid_elements(line, e) >= 0) x[i] = Element_track(Line_getp1_elements(line, e), x[i]);
        if (i == 0) Line_set_shared_length(line, 8.0);
    END_VECTORIZE
}";
    let elements = vec![Some(Element::Drift(Drift { length: 1.0 })), None, Some(Element::Kick(Kick { strengths: [0.0, 3.0] }))];
    let line = Line { elements, shared: Some(Box::new(Drift { length: 2.0 })) };
    for ctx in contexts() {
        let program = compile_source(&ctx, source, &[Line::object_type()], &options).unwrap_or_else(|error| panic!("on {ctx:?}: {error}"));
        let mut placed = ctx.place(&line).unwrap();
        let mut x = ctx.array(&[0.0, 1.0]).unwrap();
        program.kernel("track").unwrap().call(args![&mut placed, &mut x, 2]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 6.0], "on {ctx:?}");
        assert_eq!(placed.get().unwrap(), Line { shared: Some(Box::new(Drift { length: 8.0 })), ..line.clone() });
    }
}

#[test]
fn two_classes_of_one_name_cannot_be_compiled_together() {
    let other = structure("Wave", &[("x", &F64)]);
    let error = compile_source(&host(), SHIFT, &[Wave::object_type(), other], &ObjectOptions::default()).unwrap_err();
    assert!(matches!(error, ObjectError::Type(parloop_object::TypeError::SameName { .. })), "{error}");
}

#[test]
fn a_mistake_in_the_source_is_told_at_its_own_line() {
    for ctx in contexts() {
        let source = "GPUKERN void wrong(Wave wave) {\n    Wave_set_nothing(wave, 1);\n}";
        let error = compile_source(&ctx, source, &[Wave::object_type()], &ObjectOptions::default()).unwrap_err();
        assert!(matches!(error, ObjectError::Kernel(KernelError::Compile { .. })), "{error}");
        // NVRTC writes `file(line)`, the others `file:line`.
        let words = error.to_string();
        assert!(words.contains("<source>:2") || words.contains("<source>(2)"), "on {ctx:?}: {error}");
    }
}

#[test]
fn a_buffer_grows_while_its_objects_are_in_kernels() {
    for ctx in contexts() {
        let program = compile(&ctx, &ObjectOptions::default());
        let buffer = Buffer::new(&ctx, 64).unwrap();
        let mut placed = ctx.place_in(&buffer, &wave()).unwrap();
        let shift = program.kernel("shift").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..40).for_each(|_| buffer.grow(4096).unwrap()));
            for _ in 0..200 {
                shift.call(args![&mut placed, 1.0]).unwrap();
            }
        });
        assert_eq!(placed.get().unwrap(), shifted(200.0), "on {ctx:?}");
    }
}

#[test]
fn arguments_that_are_kept_do_not_keep_a_buffer_from_growing() {
    let ctx = host();
    let buffer = Buffer::new(&ctx, 64).unwrap();
    let mut placed = ctx.place_in(&buffer, &wave()).unwrap();
    let program = compile(&ctx, &ObjectOptions::default());
    let kept = args![&mut placed, 1.0];
    buffer.grow(1 << 20).unwrap();
    program.kernel("shift").unwrap().call(kept).unwrap();
    assert_eq!(placed.get().unwrap(), shifted(1.0));
}

#[test]
fn a_bound_kernel_keeps_its_object_and_the_address() {
    let ctx = host();
    let buffer = Buffer::new(&ctx, 64).unwrap();
    let mut placed = ctx.place_in(&buffer, &wave()).unwrap();
    let program = compile(&ctx, &ObjectOptions::default());
    let mut bound = program.kernel("shift").unwrap().bind(args![&mut placed, 1.0]).unwrap();
    let view = placed.view().clone();
    drop(placed);
    buffer.grow(1 << 20).unwrap();
    bound.call().unwrap();
    assert_eq!(Wave::from_view(&view).unwrap(), shifted(1.0));
    let free = buffer.free_bytes();
    drop(view);
    assert_eq!(buffer.free_bytes(), free, "the bound kernel keeps the object");
    bound.call().unwrap();
    drop(bound);
    assert_eq!(buffer.chunks(), [(0, buffer.capacity())]);
}

#[test]
fn copies_go_from_every_device_to_every_other() {
    let line = Line { elements: vec![Some(Element::Kick(Kick { strengths: [1.0, 2.0] })), None], shared: None };
    for from in contexts() {
        for to in contexts() {
            let copy: Placed<Line> = from.place(&line).unwrap().copy_to(&to).unwrap();
            assert_eq!(copy.get().unwrap(), line, "from {from:?} to {to:?}");
            assert!(copy.view().buffer().context().device().same(to.device()));
            let copy = from.place(&wave()).unwrap().copy_to(&to).unwrap();
            assert_eq!(copy.get().unwrap(), wave(), "from {from:?} to {to:?}");
        }
    }
}

#[test]
fn what_a_kernel_did_to_a_copy_is_taken_back_with_all_it_refers_to() {
    let list = array(&F64, &[-1]);
    let holder = structure("Holder", &[("n", &F64), ("list", &list), ("to", &reference(&list))]);
    let value = Value::Fields(vec![(0, 1.0.into()), (1, [1.0, 2.0].as_slice().into()), (2, [3.0].as_slice().into())]);
    for ctx in contexts() {
        let original = holder.make(value.clone(), Home::Own(&host())).unwrap();
        let target = original.field("to").unwrap().target().unwrap().unwrap();
        let copy = holder.make(Value::Object(original.clone()), Home::Own(&ctx)).unwrap();
        copy.field("n").unwrap().set(9.0.into()).unwrap();
        copy.field("list").unwrap().set([8.0, 7.0].as_slice().into()).unwrap();
        copy.field("to").unwrap().target().unwrap().unwrap().set([6.0].as_slice().into()).unwrap();
        original.take_back(&copy).unwrap();
        assert_eq!(original.field("n").unwrap().to_bytes().unwrap(), 9f64.to_le_bytes());
        assert_eq!(original.field("list").unwrap().to_vec::<f64>().unwrap(), [8.0, 7.0]);
        assert_eq!(target.to_vec::<f64>().unwrap(), [6.0], "the reference leads where it led");
        let longer = list.make([1.0, 2.0, 3.0].as_slice().into(), Home::Own(&ctx)).unwrap();
        let before = original.to_bytes().unwrap();
        assert_eq!(
            original.field("list").unwrap().take_back(&longer).unwrap_err().to_string(),
            "ArrNFloat64: the size of an object is fixed at creation: it has 32 bytes, but the value needs 40"
        );
        assert_eq!(original.to_bytes().unwrap(), before);
    }
}
