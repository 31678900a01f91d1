//! The C functions of object types: their text, that every compiler takes it, and what they do to bytes laid by hand.

mod behaviour;
mod checked;
mod lay;
mod plans;
mod probe;
mod random;
mod samples;

use std::path::PathBuf;

use parloop_device::DType;
use parloop_object::{ApiOptions, ApiParam, ApiType, Type, class_api, in_dependency_order};

use probe::{contexts, strict};
use samples::{all, apis, source};

/// The text in `tests/capi/<name>.h`; `PARLOOP_BLESS=1` writes it anew.
fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/capi").join(format!("{name}.h"));
    if std::env::var_os("PARLOOP_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{} differs; PARLOOP_BLESS=1 writes it anew. It is:\n{text}", path.display());
}

#[test]
fn the_text_of_every_class_is_the_reviewed_one() {
    for class in all() {
        let name = class.name().to_lowercase();
        assert_golden(&name, &source(&apis(&[class], false)));
    }
    assert_golden("line_checked", &source(&apis(&[samples::line()], true)));
}

#[test]
fn every_device_compiles_every_class_checked_or_not_and_twice() {
    let unchecked = source(&apis(&all(), false));
    let checked = format!("#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n{}", source(&apis(&all(), true)));
    let twice = format!("{unchecked}{}", apis(&all(), false).iter().map(|api| api.source.clone()).collect::<String>());
    for ctx in contexts() {
        for text in [&unchecked, &checked, &twice] {
            let text = format!("{text}GPUKERN void last(GPUGLMEM int64_t *x) {{ x[0] = 1; }}\n");
            // SAFETY: nothing of it is called.
            let compiled = unsafe { ctx.compile_with(&[parloop_kernel::Source::text(&text)], &strict(&ctx)) };
            assert!(compiled.is_ok(), "on {ctx:?}: {}", compiled.unwrap_err());
        }
    }
}

#[test]
fn classes_come_once_each_after_what_they_are_made_of() {
    let names = |classes: &[Type]| in_dependency_order(classes).unwrap().iter().map(|class| class.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(
        names(&[samples::line(), samples::drift(), samples::line()]),
        ["Drift", "ArrNFloat64", "Multipole", "Element", "ArrNElement", "Line"]
    );
    let reference = samples::reference(&samples::drift());
    assert_eq!(names(&[samples::array(&reference, &[-1])]), ["Drift", "ArrNRefDrift"]);
    assert_eq!(names(&[samples::array(&reference, &[-1]), reference]), ["Drift", "ArrNRefDrift", "RefDrift"]);
    assert!(names(&[samples::F64, Type::String(None)]).is_empty());
}

#[test]
fn two_types_of_one_name_are_refused() {
    let message = |classes: &[Type]| in_dependency_order(classes).unwrap_err().to_string();
    let c_order = samples::array(&samples::F64, &[-1, 3]);
    let f_order = samples::ordered("ArrNx3Float64", &samples::F64, &[-1, 3], &[1, 0]);
    assert_eq!(
        message(&[samples::structure("S", &[("a", &c_order)]), f_order]),
        "two types are named `ArrNx3Float64`: an array of Float64[:, 3], axes from slow to fast 0, 1, and an array of Float64[:, 3], axes \
         from slow to fast 1, 0; give one of them another name"
    );
    let (drift, other) = (samples::drift(), samples::structure("Drift", &[("length", &samples::I64), ("on", &samples::BOOL)]));
    assert_eq!(
        message(&[drift, samples::union("U", &[&other])]),
        "two types are named `Drift`: a struct of length: Float64, and a struct of length: Int64, on: Bool; give one of them another name"
    );
    let number = samples::structure("Int64", &[]);
    assert_eq!(
        message(&[samples::array(&samples::I64, &[2]), samples::reference(&number)]),
        "two types are named `Int64`: a number, and a struct of nothing; give one of them another name"
    );
    let within = samples::structure("Same", &[("same", &samples::structure("Same", &[]))]);
    assert_eq!(
        message(&[within]),
        "two types are named `Same`: a struct of nothing, and a struct of same: Same; give one of them another name"
    );
}

#[test]
fn functions_are_described_with_their_parameters_results_and_purpose() {
    let api = class_api(&samples::cells(), &[], &ApiOptions::default(), 0);
    let named = |name: &str| api.functions.iter().find(|function| function.name == name).unwrap();
    let set = named("Cells_set_particles");
    let param = |name: &str, ty| ApiParam { name: name.into(), ty, constant: false };
    let index = |name| param(name, ApiType::Scalar(DType::I64));
    assert_eq!(set.params, [param("obj", ApiType::Object(samples::cells())), index("i0"), index("i1"), index("value")]);
    assert_eq!((set.returns.clone(), set.about.as_str()), (None, "Sets Cells.particles[i0][i1]."));
    let get = named("Cells_get_particles");
    assert!(get.params[0].constant && get.returns == Some(ApiType::Scalar(DType::I64)));
    assert_eq!(named("Cells_getp1_particles").returns, Some(ApiType::Object(samples::array(&samples::I64, &[-1]))));
    assert_eq!(named("Cells_shape_ids").to_string(), "void Cells_shape_ids(const Cells obj, GPUGLMEM int64_t *out_shape)");
    let defined = api.source.lines().filter(|line| line.starts_with("GPUFUN ")).map(|line| &line[..line.find(" {").unwrap()]);
    assert!(defined.eq(api.functions.iter().map(|function| format!("GPUFUN {function}"))));
}

#[test]
fn numbers_and_strings_have_no_functions_and_references_those_of_their_target() {
    for ty in [samples::F64, Type::String(None)] {
        let api = class_api(&ty, &[], &ApiOptions::default(), 0);
        assert!(api.source.is_empty() && api.functions.is_empty());
    }
    let api = class_api(&samples::reference(&samples::reference(&samples::drift())), &[], &ApiOptions::default(), 0);
    let names: Vec<&str> = api.functions.iter().map(|function| function.name.as_str()).collect();
    let expected = ["getp", "size", "get_length", "set_length", "getp_length", "size_length"].map(|name| format!("RefRefDrift_{name}"));
    assert_eq!(names, expected);
    assert_eq!(api.functions[0].to_string(), "Drift RefRefDrift_getp(RefRefDrift obj)");
}

#[test]
fn more_items_than_can_be_counted_are_the_largest_number() {
    let endless = samples::ordered("Endless", &samples::structure("Nothing", &[]), &[i64::MAX; 3], &[0, 1, 2]);
    let api = class_api(&endless, &[], &ApiOptions::default(), 0);
    assert!(api.source.contains("Endless_len(const Endless obj) { return 9223372036854775807; }"), "{}", api.source);
}
