//! `.loop` files: kernels, data and transformations as text, and that what is printed reads back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::file::{InstructionText, KernelText, LoopFile, kernel_of};
use parloop_loop::parse::{Datum, ParseError, step};
use parloop_loop::prelude::Generate as _;
use parloop_loop::syntax::{
    AddressSpace, Argument, ArgumentKind, DimTag, Expr, Iname, InameTag, Initializer, KernelOptions, Layout, LoopKernel, Offset,
    OpaqueType, Phase, Preamble, Shape, Stride, SubstitutionRule, Target, Temporary, Type,
};
use parloop_loop::transform::{StepValue, TransformStep, apply};
use parloop_loop::{Name, Set};
use proptest::prelude::*;

use super::expressions::{any_expr, name};
use super::instructions::any_instruction;

fn preamble(key: &str, text: &str) -> Preamble {
    // SAFETY: the code is not run.
    unsafe { Preamble::new(key, text) }
}

/// A file that may have preambles.
fn trusted(text: &str) -> Result<LoopFile, ParseError> {
    // SAFETY: the code is not run.
    unsafe { LoopFile::parse_trusted(text) }
}

#[test]
fn c_in_a_file_that_is_not_trusted_is_refused() {
    let text = "kernel f\npreamble \"key\" \"#include <stdlib.h>\"\n";
    let message = "line 2, column 1: expected no C code, which only trusted files may have (see `LoopFile::parse_trusted`), found `preamble`\n  \
                   preamble \"key\" \"#include <stdlib.h>\"\n  ^^^^^^^^";
    assert_eq!(LoopFile::parse(text).unwrap_err().to_string(), message);
    assert_eq!(trusted(text).unwrap().kernels[0].preambles[0].text(), "#include <stdlib.h>");

    let text = "kernel f\ndomain {[i]: 0 <= i < n}\ninstructions\n  ... c {inames=i, reads=a, writes=b[i]} \"b[i + 5] = a[i];\"\n";
    let message = "line 4, column 3: expected no C code, which only trusted text may have (see `LoopFile::parse_trusted` and \
        `KernelBuilder::trusted_c`), found `... c`";
    assert_eq!(LoopFile::parse(text).unwrap_err().to_string().lines().next(), Some(message));
    // The promise for one text is not one for another.
    let kernel = &trusted(text).unwrap().kernels[0];
    let other = kernel.instructions.text().replace("i + 5", "i + 6");
    assert!(InstructionText::parsed(&other, None).unwrap_err().to_string().contains("only trusted text"));
}

#[test]
fn options_in_a_file_that_is_not_trusted_do_not_take_the_place_of_checks() {
    for option in ["no_check_bounds", "planned_order", "lenient", "build \"-lm\"", "build \"-include file.h\""] {
        let text = format!("kernel f\noption {option}\n");
        let message = format!(
            "line 2, column 8: expected no option that replaces a check, which only trusted text may have (see `LoopFile::parse_trusted`), \
             found `{option}`\n  option {option}\n         {}",
            "^".repeat(option.len())
        );
        assert_eq!(LoopFile::parse(&text).unwrap_err().to_string(), message);
        trusted(&text).unwrap();
    }
    let options = &LoopFile::parse("kernel f\noption build -O2\noption unchecked\n").unwrap().kernels[0].options;
    assert_eq!((options.build_options(), options.checked), (&["-O2".to_owned()][..], Some(false)));
}

fn read_kernel(text: &str) -> LoopKernel {
    let file = trusted(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    kernel_of(&file.kernels[0]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const PRODUCT: &str = "\
; a matrix product
kernel product
domain {[i, j, k]: 0 <= i, j, k < n}
assume n >= 1
data
  a, b: global float32[n, n]
  ; the result
  c: global float32[n, n] {order=f}
  n: value int32
instructions
  for i, j
    # each element
    c[i, j] = sum(k, a[i, k]*b[k, j]) {id=product}
  end

split_iname i 16 outer_tag=g.0 inner_tag=l.1
split_iname j 16 outer_tag=g.1 inner_tag=l.0
split_iname k 16
assume n % 16 = 0
add_prefetch a [k_inner, i_inner]
---- kernel
first
---- c
second

";

#[test]
fn a_file_gives_a_kernel_its_transformations_and_what_is_expected() {
    let file = LoopFile::parse(PRODUCT).unwrap();
    assert_eq!(file.kernels[0].data.len(), 4);
    assert_eq!(file.kernels[0].instructions.text(), "for i, j\n  # each element\n  c[i, j] = sum(k, a[i, k]*b[k, j]) {id=product}\nend");
    assert_eq!(file.steps.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [16, 17, 18, 19, 20]);
    assert_eq!(file.steps[3].1.args, [StepValue::Text("n % 16 = 0".to_owned())]);
    let expected: Vec<(&str, &str)> = file.expected.iter().map(|part| (&*part.what, &*part.text)).collect();
    assert_eq!(expected, [("kernel", "first\n"), ("c", "second\n\n")]);
    let again = LoopFile::parse(&file.to_string()).unwrap();
    assert_eq!((&again.kernels, &again.expected), (&file.kernels, &file.expected));

    let program = file.program().unwrap_or_else(|error| panic!("{error}"));
    let kernel = program.entry().unwrap();
    assert!(["i_outer", "i_inner", "k_outer", "k_inner"].iter().all(|iname| kernel.inames.contains_key(*iname)));
    assert_eq!(kernel.temporaries.keys().map(|name| &**name).collect::<Vec<_>>(), ["a_fetch"]);
    let text = kernel.to_string();
    assert_eq!(read_kernel(&text).as_written(), kernel.as_written(), "{text}");
    assert_eq!(read_kernel(&text).to_string(), text);
}

#[test]
fn a_made_kernel_reads_back_as_it_was_printed() {
    let kernel = KernelBuilder::new()
        .name("scale")
        .domains(["{[i]: 0<=i<n}", "{[j]: 0<=j<=i and j % 2 = 0}"])
        .instructions("f(x) := x**2\n<>t = f(a[i]) {id=t}\n... lbarrier {id=b, dep=t}\nout[i, j] = t + s[j] {dep=b, tags=x:y, if=i > j}")
        .data(Data::global("a").dtype("float32").shape("n").offset_text("2*n + off"))
        .data(Data::temporary("s").dtype("int32").shape("8").space(AddressSpace::Local))
        .rest()
        .assumptions("n >= 4 and off >= 0")
        .priority(["i", "j"])
        .preamble(preamble("key", "#define X \"a\\b\"\n"))
        .index_type(DType::I64)
        .build_kernel()
        .unwrap_or_else(|error| panic!("{error}"));
    let text = kernel.to_string();
    assert_eq!(read_kernel(&text).as_written(), kernel.as_written(), "{text}");
}

#[test]
fn mistakes_in_files_show_their_line() {
    for (text, message) in [
        ("domain {[i]: 0<=i<n}", "line 1, column 1: expected `kernel NAME` first, found `domain`\n  domain {[i]: 0<=i<n}\n  ^^^^^^"),
        ("kernel f g", "line 1, column 8: expected a name, found `f g`\n  kernel f g\n         ^^^"),
        (
            "kernel f\n  a = 1",
            "line 2, column 3: expected a line that is not indented: only `data` and `instructions` have indented lines, found `a = 1`\n    a = 1\n    ^^^^^",
        ),
        ("kernel f\ninstructions\n  a = 1\n  b = (2\nsplit_iname i 3\n", "line 4, column 7: `(` has no closing `)`\n    b = (2\n        ^"),
        (
            "kernel f\ndata\n  a: glbal",
            "line 3, column 6: expected `global`, `constant`, `value`, `object`, `image2`, `arg`, `temp`, `private` or `local`, found `glbal`\n    a: glbal\n       ^^^^^",
        ),
        (
            "kernel f\ndata\n  a: global flot32",
            "line 3, column 13: `flot32` is not a type (did you mean `float32`?): use a NumPy name such as `float32` or `int64`\n    a: global flot32\n              ^^^^^^",
        ),
        (
            "kernel f\ndata\n  a: global {ordr=f}",
            "line 3, column 14: unknown option `ordr` (did you mean `order`?)\n    a: global {ordr=f}\n               ^^^^",
        ),
        (
            "kernel f\ndata\n  a: value {order=f}",
            "line 3, column 13: option `order` cannot be given for this kind of data\n    a: value {order=f}\n              ^^^^^",
        ),
        (
            "kernel f\ndata\n  a: value[n]",
            "line 3, column 12: values, objects and images take no lengths in brackets\n    a: value[n]\n             ^",
        ),
        (
            "kernel f\noption fast",
            "line 2, column 8: expected `checked`, `unchecked`, `no_check_bounds`, `no_insert_global_barriers`, `annotate`, `return_dict`, `skip_arg_checks`, `loopy_arithmetic`, `planned_order`, `lenient`, `silence NAME`, `build \"FLAG\"` or `other NAME \"VALUE\"`, found `fast`\n  option fast\n         ^^^^",
        ),
        (
            "kernel f\niname i: g.x",
            "line 2, column 10: `g.x` is not an iname tag: use for, ord, unr, unr_hint, vec, ilp, ilp.seq, g.N, l.N, l.auto, or @name for a custom tag\n  iname i: g.x\n           ^^^",
        ),
        (
            "kernel f\nsplit_iname i [16",
            "line 2, column 18: expected `,` or `]`, found the end of the line\n  split_iname i [16\n                   ^",
        ),
        (
            "kernel f\nsplit_iname i a=1 2",
            "line 2, column 19: expected a keyword argument, since the one before it is a keyword argument, found `2`\n  split_iname i a=1 2\n                    ^",
        ),
        ("kernel f\nx\ndata\n", "line 3, column 1: data and instructions come before transformations\n  data\n  ^^^^"),
        ("kernel f\nx\nkernel g\n", "line 3, column 1: kernels come before transformations\n  kernel g\n  ^^^^^^^^"),
    ] {
        assert_eq!(LoopFile::parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn steps_that_cannot_be_done_say_why() {
    let file = |line: &str| LoopFile::parse(&format!("kernel f\ndomain {{[i]: 0<=i<n}}\ninstructions\n  a[i] = 1\n\n{line}\n")).unwrap();
    for (line, message) in [
        ("split_inames i 16", "line 6: unknown transformation `split_inames` (did you mean `split_iname`?)"),
        ("split_iname i", "line 6: `split_iname`: argument `inner_length` is missing"),
        ("split_iname i x", "line 6: `split_iname`: argument `inner_length` must be an integer, not `x`"),
        (
            "split_iname i 16 tag=3",
            "line 6: `split_iname` has no argument `tag`; it has split_iname, inner_length, outer_iname, inner_iname, outer_tag, inner_tag, slabs, do_tagged_check, within",
        ),
        (
            "split_iname i 16 inner_tag=q",
            "line 6: `split_iname`: argument `inner_tag`: `q` is not an iname tag: use for, ord, unr, unr_hint, vec, ilp, ilp.seq, g.N, l.N, l.auto, or @name for a custom tag",
        ),
        (
            "split_iname i 16 within=foo",
            "line 6: `split_iname`: argument `within`: line 1, column 1: expected `not`, `(` or a term such as `id:a*`, found `foo`\n  foo\n  ^^^",
        ),
        ("split_iname i 16 in_kernel=g", "line 6: `split_iname`: no kernel `g` in the program"),
        ("split_iname i -1", "line 6: split_iname: iname `i` cannot be split by -1: the length must be at least 1"),
    ] {
        assert_eq!(file(line).program().unwrap_err().to_string(), message);
    }
}

#[test]
fn every_way_to_tag_inames_is_read() {
    let file = LoopFile::parse("kernel f\ndomain {[i,j]: 0<=i,j<8}\ninstructions\n  a[i, j] = 1\n").unwrap();
    let program = file.program().unwrap();
    for line in ["tag_inames i=g.0 j=l.1", "tag_inames {i: g.0, j: l.1}", "tag_inames \"i:g.0, j:l.1\"", "tag_inames [[i, g.0], [j, l.1]]"]
    {
        let tagged = apply(&program, &step(line).unwrap()).unwrap_or_else(|error| panic!("{line}: {error}"));
        let inames = &tagged.entry().unwrap().inames;
        assert_eq!((inames["i"].tags.first(), inames["j"].tags.first()), (Some(&InameTag::Group(0)), Some(&InameTag::Local(1))), "{line}");
    }
}

fn step_value() -> impl Strategy<Value = StepValue> {
    let leaf = prop_oneof![
        Just(StepValue::None),
        any::<bool>().prop_map(StepValue::Bool),
        any::<i64>().prop_map(StepValue::Int),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(StepValue::Float),
        "[a-z.:*]{1,5}|[0-9]{1,3}|.{0,5}|True|None".prop_map(StepValue::Text),
    ];
    leaf.prop_recursive(3, 20, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(StepValue::List),
            proptest::collection::vec((inner.clone(), inner), 0..3).prop_map(StepValue::Map),
        ]
    })
}

fn any_step() -> impl Strategy<Value = TransformStep> {
    let keywords = proptest::collection::vec((name(), step_value()), 0..3);
    (name(), proptest::collection::vec(step_value(), 0..4), keywords).prop_map(|(name, args, keywords)| TransformStep {
        name,
        args,
        keywords,
    })
}

fn layout() -> impl Strategy<Value = Layout> {
    let shape = prop_oneof![Just(Shape::Auto), Just(Shape::Unknown), proptest::collection::vec(any_expr(), 0..3).prop_map(Shape::Known)]
        .prop_filter("reserved", |shape| !matches!(shape, Shape::Known(list) if matches!(&list[..], [Expr::Variable(name)] if name == "auto" || name == "unknown")));
    let stride = prop_oneof![
        (0..9usize, 1..40u64).prop_map(|(level, pad_to)| Stride::Nested { level, pad_to }),
        any_expr().prop_map(Stride::Fixed),
        Just(Stride::Auto)
    ];
    let tag = prop_oneof![3 => stride.prop_map(DimTag::Stride), 1 => Just(DimTag::Separate), 1 => Just(DimTag::Vector)];
    let offset = prop_oneof![Just(Offset::Zero), Just(Offset::Auto), any_expr().prop_map(Offset::Given)]
        .prop_filter("reserved", |offset| !matches!(offset, Offset::Given(Expr::Variable(name)) if name == "auto"));
    let axes = proptest::option::of(proptest::collection::vec(name(), 0..3));
    (shape, proptest::collection::vec(tag, 0..3), any::<bool>(), offset, axes)
        .prop_map(|(shape, dim_tags, fortran_order, offset, axis_names)| Layout { shape, dim_tags, fortran_order, offset, axis_names })
}

fn space() -> impl Strategy<Value = AddressSpace> {
    prop_oneof![Just(AddressSpace::Private), Just(AddressSpace::Local), Just(AddressSpace::Global), Just(AddressSpace::Constant)]
}

fn ty() -> impl Strategy<Value = Option<Type>> {
    prop_oneof![
        Just(None),
        proptest::sample::select(&DType::ALL[..]).prop_map(|dtype| Some(Type::Scalar(dtype))),
        Just(Some(Type::Vector(DType::F64, 2))),
        Just(OpaqueType::new("a b").map(Type::Opaque))
    ]
}

fn argument() -> impl Strategy<Value = Argument> {
    let array = (space(), layout(), proptest::option::of(any::<u32>())).prop_map(|(space, layout, alignment)| ArgumentKind::Array {
        space,
        layout,
        alignment,
    });
    let kind = prop_oneof![4 => array, 1 => Just(ArgumentKind::Value), 1 => Just(ArgumentKind::Object), 1 => (1..4u8).prop_map(ArgumentKind::Image)];
    (name(), ty(), kind, any::<Option<bool>>(), any::<Option<bool>>(), proptest::collection::btree_set(name(), 0..2))
        .prop_map(|(name, ty, kind, is_input, is_output, tags)| Argument { name, ty, kind, is_input, is_output, tags })
}

fn initializer() -> impl Strategy<Value = Initializer> {
    (proptest::sample::select(&DType::ALL[..]), proptest::collection::vec(0..3usize, 0..3)).prop_flat_map(|(dtype, shape)| {
        let count = shape.iter().product::<usize>() * dtype.size();
        proptest::collection::vec(any::<u8>(), count).prop_map(move |bytes| Initializer {
            dtype,
            shape: shape.clone(),
            bytes: bytes.into(),
        })
    })
}

fn temporary() -> impl Strategy<Value = Temporary> {
    let tags = proptest::collection::btree_set(name(), 0..2);
    (
        name(),
        ty(),
        layout(),
        proptest::option::of(space()),
        proptest::option::of(initializer()),
        any::<bool>(),
        proptest::option::of(name()),
        tags,
    )
        .prop_map(|(name, ty, layout, space, initializer, read_only, base_storage, tags)| Temporary {
            name,
            ty,
            layout,
            space,
            initializer,
            read_only,
            base_storage,
            tags,
        })
}

fn options() -> impl Strategy<Value = KernelOptions> {
    let lists = (
        proptest::collection::btree_set(".{0,3}", 0..2),
        proptest::collection::vec(".{0,3}", 0..2),
        proptest::collection::btree_map(".{0,3}", ".{0,3}", 0..2),
    );
    (any::<[bool; 9]>(), lists).prop_map(
        |(
            [
                checked,
                check_bounds,
                insert_global_barriers,
                annotate,
                return_dict,
                skip_arg_checks,
                planned_order,
                lenient,
                loopy_arithmetic,
            ],
            (silenced, build_options, other),
        )| {
            let mut options = KernelOptions {
                checked: (checked || annotate).then_some(checked),
                insert_global_barriers,
                annotate,
                return_dict,
                skip_arg_checks,
                loopy_arithmetic,
                silenced: silenced.into_iter().map(Name::from).collect(),
                other: other.into_iter().map(|(name, value)| (name.into(), value)).collect(),
                ..KernelOptions::default()
            };
            // SAFETY: the kernels are printed and read, and not run.
            unsafe {
                options.set_check_bounds(check_bounds);
                options.set_planned_order(planned_order);
                options.set_lenient(lenient);
                options.set_build_options(build_options);
            }
            options
        },
    )
}

/// A kernel of anything that can be printed; its parts need not go together.
fn any_kernel() -> impl Strategy<Value = LoopKernel> {
    let tag = prop_oneof![Just(InameTag::Group(2)), Just(InameTag::LocalAuto), Just(InameTag::Ilp), name().prop_map(InameTag::Name)];
    let iname = (proptest::collection::btree_set(tag, 0..3), any::<(u32, u32)>()).prop_map(|(tags, slabs)| Iname { tags, slabs });
    let rule = (name(), proptest::collection::btree_set(name(), 0..3), any_expr()).prop_map(|(name, parameters, body)| SubstitutionRule {
        name,
        parameters: parameters.into_iter().collect(),
        body,
    });
    let data = (proptest::collection::vec(argument(), 0..3), proptest::collection::vec(temporary(), 0..3));
    let code = (proptest::collection::vec(any_instruction(), 0..3), proptest::collection::vec(rule, 0..2));
    let names = (
        proptest::collection::btree_map(name(), iname, 0..3),
        proptest::collection::btree_set(proptest::collection::vec(name(), 1..3), 0..2),
    );
    let texts = (proptest::collection::btree_set((".{0,5}", "[ -~\n]{0,9}"), 0..2), options());
    (data, code, names, texts, any::<bool>()).prop_map(
        |((arguments, temporaries), (instructions, rules), (inames, priorities), (preambles, options), typed)| LoopKernel {
            name: "any".into(),
            domains: vec![Set::parse("[n] -> {[i, j]: 0 <= i < n and 0 <= j <= 2i and j % 3 = 1}").unwrap()],
            instructions: instructions.into_iter().map(Arc::new).collect(),
            arguments,
            temporaries: temporaries.into_iter().map(|temporary| (temporary.name.clone(), temporary)).collect(),
            inames,
            substitutions: rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect::<BTreeMap<_, _>>(),
            assumptions: if typed { Set::parse("{: n >= 4}").unwrap() } else { Set::universe(&[], &[]) },
            priorities,
            preambles: preambles.into_iter().map(|(key, text)| preamble(&key, &text)).collect::<BTreeSet<_>>(),
            index_type: DType::I64,
            default_type: typed.then_some(DType::F32),
            options,
            phase: if typed { Phase::Typed } else { Phase::Parsed },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_kernel_reads_back_as_it_was_printed(kernel in any_kernel()) {
        let text = kernel.to_string();
        let file = trusted(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&file.kernels[..], &[KernelText::of(&kernel)], "{}", text);
        let read = kernel_of(&file.kernels[0]).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read.as_written(), kernel, "{}", text);
    }

    #[test]
    fn any_step_reads_back_as_it_was_printed(any in any_step()) {
        let text = any.to_string();
        prop_assert_eq!(step(&text).map_err(|error| error.to_string()), Ok(any), "{}", text);
    }

    #[test]
    fn any_file_is_read_or_refused(text in proptest::collection::vec(prop_oneof![
        Just("kernel f\n".to_owned()), Just("data\n".to_owned()), Just("instructions\n".to_owned()), Just("  a: global float32[n] {order=f}\n".to_owned()),
        Just("  a = 1\n".to_owned()), Just("; x\n".to_owned()), Just("---- c\nx\n".to_owned()), Just("domain {[i]: i > 0}\n".to_owned()),
        "[a-c0-9.()\\[\\]{}:,<>=+* \n'\"#@;-]{0,12}\n", Just("split_iname i 3\n".to_owned()), Just("iname i: g.0 {slabs=1:2}\n".to_owned()), Just("é\t\r\n".to_owned()),
    ], 0..8)) {
        if let Ok(file) = trusted(&text.concat()) {
            let printed = file.to_string();
            let again = trusted(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
            prop_assert_eq!(again.kernels, file.kernels, "{}", printed);
            prop_assert_eq!(again.expected, file.expected, "{}", printed);
            let steps = |steps: Vec<(usize, TransformStep)>| steps.into_iter().map(|(_, step)| step).collect::<Vec<_>>();
            prop_assert_eq!(steps(again.steps), steps(file.steps), "{}", printed);
        }
    }
}

#[test]
fn data_lines_print_as_they_are_read() {
    for (line, printed) in [
        ("a: global float32[n,n]", "a: global float32[n, n]"),
        ("a: global", "a: global [auto]"),
        ("t: local float32[16]", "t: local float32[16]"),
        ("t: temp", "t: temp"),
        ("t: temp global int[unknown]", "t: temp global int64[unknown]"),
        ("n: value int32 {in=yes, out=no}", "n: value int32 {in=yes, out=no}"),
        ("x: arg private float64[3] {align=64}", "x: arg private float64[3] {align=64}"),
        ("w: temp {read_only, init=float32[2](1.5, 2)}", "w: temp {read_only, init=float32[2](1.5, 2.0)}"),
        (
            "a: global [auto] {dim_tags=[N1, nested(0, 16), stride(2*n), auto, sep, vec]}",
            "a: global [auto] {dim_tags=[N1, nested(0, 16), stride(2*n), auto, sep, vec]}",
        ),
    ] {
        let file = LoopFile::parse(&format!("kernel f\ndata\n  {line}\n")).unwrap_or_else(|error| panic!("{error}"));
        let [Datum::Argument(_) | Datum::Temporary(_)] = &file.kernels[0].data[..] else { panic!("{line}") };
        assert_eq!(file.kernels[0].data[0].to_string(), printed);
    }
}

#[test]
fn a_condition_may_have_quotes_wherever_it_stands() {
    for line in ["assume n >= 1", "assume \"n >= 1\"", "assume 'n >= 1'"] {
        let file = LoopFile::parse(&format!("kernel f\ndomain {{[i]: 0 <= i < n}}\ninstructions\n  out[i] = 1\n{line}\n")).unwrap();
        assert_eq!(file.kernels[0].assumptions, ["n >= 1"], "{line}");
    }
    let text = "kernel f\nassume \"n >= 1\" \"m >= 1\"\n";
    let message = "line 2, column 8: expected one condition, found `\"n >= 1\" \"m >= 1\"`\n  assume \"n >= 1\" \"m >= 1\"\n         ^^^^^^^^^^^^^^^^^";
    assert_eq!(LoopFile::parse(text).unwrap_err().to_string(), message);
}

/// The error of the code of a file.
fn refused(text: &str) -> String {
    LoopFile::parse(text).unwrap().program().unwrap().generate(Target::C).unwrap_err().to_string()
}

#[test]
fn assumptions_are_about_numbers_that_are_passed() {
    let file = |line: &str| {
        format!("kernel k\ndomain {{[i]: 0<=i<1000}}\n{line}\ndata\n  c: global float64[n]\n  n: value int32\ninstructions\n  c[i] = 5\n")
    };
    for line in ["assume 1000 <= q and q <= n", "assume n < q and q < m"] {
        let error = refused(&file(line));
        assert!(error.starts_with("kernel `k` makes an assumption about `"), "{error}");
    }
    let of_an_iname = "kernel k\ndomain [n] -> {[i]: 0<=i<1000}\niname i\nphase parsed\nassume [n, i] -> {: i < n}\ndata\n  c: global float64[n]\n  \
                       n: value int32\ninstructions\n  c[i] = 5 {id=x, dep=*, inames=i}\n";
    for phase in ["parsed", "resolved", "typed", "described", "realised"] {
        let error = refused(&of_an_iname.replace("parsed", phase));
        assert!(error.contains("makes an assumption about `i`, which is not a number passed to it"), "{phase}: {error}");
    }
    LoopFile::parse(&file("assume 1000 <= n")).unwrap().program().unwrap().generate(Target::C).unwrap();
    let two = of_an_iname.replace("assume [n, i] -> {: i < n}", "assume [n] -> {: n >= 1000}\nassume [n] -> {: n <= 2000}");
    let kernel = kernel_of(&LoopFile::parse(&two).unwrap().kernels[0]).unwrap();
    assert_eq!(kernel.assumptions.to_string(), "[n] -> { [] : n <= 2000 and n >= 1000 }");
}

#[test]
fn initial_values_are_those_of_the_array() {
    let file = |declared: &str, index: &str| {
        format!(
            "kernel k\ndomain {{[i]: 0<=i<2}}\niname i\nphase parsed\ndata\n  c: global float64[2]\n  t: private {declared}, read_only}}\n\
             instructions\n  c[i] = t[{index}] {{id=x, dep=*, inames=i}}\n"
        )
    };
    for (declared, index) in [
        ("float64[1000000] {init=float64[2](1, 2)", "i"),
        ("float64[8, 8] {init=float64[2, 2](1, 2, 3, 4)", "i, 0"),
        ("int8[2] {init=int64[2](1000, 2000)", "i"),
    ] {
        let error = refused(&file(declared, index));
        assert!(error.starts_with("the temporary `t` is ") && error.contains("but its initial values are "), "{error}");
    }
    LoopFile::parse(&file("float64[2] {init=float64[2](1, 2)", "i")).unwrap().program().unwrap().generate(Target::C).unwrap();
}

#[test]
fn memory_of_opaque_types_is_refused() {
    let file = |declared: &str| {
        format!(
            "kernel k\ndomain {{[i, j]: 0<=i, j<64}}\ndata\n  a, c: global float64[64]\n  t: {declared}\ninstructions\n  \
             t[j] = a[j] {{id=t, inames=j}}\n  c[i] = cast(float64, t[i]) {{dep=t, inames=i}}\n"
        )
    };
    for declared in
        ["private opaque(\"long double\")[64] {base=m}", "temp global opaque(\"long double\")[64]", "global opaque(\"double\")[64]"]
    {
        let error = refused(&file(declared));
        assert!(error.starts_with("`t` in kernel `k` is an array of an opaque type, whose size is unknown"), "{declared}: {error}");
    }
    let code =
        LoopFile::parse(&file("private opaque(\"long double\")[64]")).unwrap().program().unwrap().generate(Target::C).unwrap().code.text;
    assert!(code.contains("long double t[64]"), "{code}");
}
