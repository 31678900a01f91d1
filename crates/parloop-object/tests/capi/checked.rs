//! Checked mode: bad indices and null references are caught before they are used, and what was caught is told.

use parloop_kernel::Context;
use parloop_object::{ClassApi, Type};

use crate::behaviour::{NULL, bytes, packed, real};
use crate::probe::Step::{At, Axes, Do, Int, Real};
use crate::probe::{Probe, Step, contexts, run};
use crate::samples::{self, apis, array, source};

/// Every device takes this; only what the functions return is seen.
const SILENT: &str = "#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n";

/// On a CPU the last failure can be asked for.
const TELLING: &str = "
static int64_t told[3] = {-9, -9, -9};
static bool tell(int64_t site, int64_t index, int64_t limit) { told[0] = site; told[1] = index; told[2] = limit; return false; }
#define PARLOOP_CHECK(ok, site, index, limit) ((ok) || tell(site, index, limit))
";

/// The calls on the object at `offset`, on every device; the bytes must not change.
fn nothing_happens(class: &Type, words: &[i64], offset: usize, steps: &[Step]) {
    let text = SILENT.to_owned() + &source(&apis(std::slice::from_ref(class), true));
    let probe = Probe { class: class.name().into(), bytes: bytes(words), offset, steps: steps.to_vec() };
    for ctx in contexts() {
        assert_eq!(run(&ctx, &text, std::slice::from_ref(&probe)), [bytes(words)], "on {ctx:?}");
    }
}

/// A call, and what it is told to have done wrong: the text of the site, the index and the limit; or nothing.
type Told<'a> = (&'a str, Option<(&'a str, i64, i64)>);

/// Checks what is told of each call.
fn assert_told(class: &Type, words: &[i64], offset: usize, calls: &[Told]) {
    let apis = apis(std::slice::from_ref(class), true);
    let sites: Vec<&String> = apis.iter().flat_map(|api| &api.sites).collect();
    let steps = calls.iter().flat_map(|(call, told)| {
        let (site, index, limit) = told.unwrap_or(("", -9, -9));
        let found = || sites.iter().position(|text| *text == site).unwrap_or_else(|| panic!("{site} is none of {sites:?}"));
        let id = told.map_or(-9, |_| found() as i64);
        let before = Do("told[0] = told[1] = told[2] = -9;".into());
        [before, Do(format!("{call};")), Int("told[0]".into(), id), Int("told[1]".into(), index), Int("told[2]".into(), limit)]
    });
    let probe = Probe { class: class.name().into(), bytes: bytes(words), offset, steps: steps.collect() };
    let ctx = Context::open("cpu:1").unwrap();
    run(&ctx, &(TELLING.to_owned() + &source(&apis)), &[probe]);
}

fn mesh_words() -> Vec<i64> {
    let x = [80, 2, 24, 8].iter().chain(&[0.0, 0.1, 0.2, 1.0, 1.1, 1.2].map(real)).copied().collect::<Vec<i64>>();
    let field = [56, 2, 0, 3, 8, 48, 16];
    [&[200, packed(&[0, 10, 1, 11, 2, 12]), 112, 168][..], &x, &field, &[24, 3, packed(&[1, 0, 1])]].concat()
}

#[test]
fn an_index_outside_its_range_reads_0_writes_nothing_and_points_at_what_is_there() {
    let null = |call: &str| At(call.into(), None);
    let at = |call: &str, offset| At(call.into(), Some(offset));
    let steps = [
        Real("Mesh_get_x(obj, 1, 2)".into(), 1.2),
        Real("Mesh_get_x(obj, 2, 2)".into(), 0.0),
        Real("Mesh_get_x(obj, 1, -1)".into(), 0.0),
        Do("Mesh_set_x(obj, 2, 0, 9.0); Mesh_set_x(obj, 0, 3, 9.0); Mesh_set_x(obj, -1, 0, 9.0);".into()),
        at("Mesh_getp2_x(obj, 1, 2)", 104),
        at("Mesh_getp2_x(obj, 7, 2)", 80),
        at("Mesh_getp2_x(obj, 7, 3)", 64),
        Int("Mesh_get_level(obj, 1, 3)".into(), 0),
        Do("Mesh_set_level(obj, 2, 0, 9);".into()),
        at("Mesh_getp2_level(obj, 1, -5)", 9),
        Real("Mesh_get_field(obj, 0, 0, 0)".into(), 0.0),
        null("Mesh_getp3_field(obj, 0, 0, 0)"),
        Int("Mesh_get_on(obj, 3)".into(), 0),
        Do("Mesh_set_on(obj, 3, 1);".into()),
        at("Mesh_getp1_on(obj, 1000)", 168 + 16),
        Int("Mesh_dim_x(obj, 2)".into(), 0),
        Int("Mesh_dim_x(obj, 0)".into(), 2),
        Axes("Mesh_shape_field(obj".into(), vec![2, 0, 3]),
        Real("ArrNx3Float64_get(Mesh_getp_x(obj), 0, 3)".into(), 0.0),
    ];
    nothing_happens(&samples::mesh(), &mesh_words(), 0, &steps);
}

#[test]
fn bad_indices_are_told_with_their_axis_and_its_dimension() {
    let calls = [
        ("Mesh_get_x(obj, 1, 2)", None),
        ("Mesh_get_x(obj, 2, 2)", Some(("Mesh.x axis 0", 2, 2))),
        ("Mesh_set_x(obj, 1, -1, 0)", Some(("Mesh.x axis 1", -1, 3))),
        ("Mesh_getp2_level(obj, 0, 3)", Some(("Mesh.level axis 1", 3, 3))),
        ("Mesh_get_field(obj, 1, 0, 0)", Some(("Mesh.field axis 1", 0, 0))),
        ("Mesh_get_on(obj, 3)", Some(("Mesh.on", 3, 3))),
        ("Mesh_getp1_on(obj, -1)", Some(("Mesh.on", -1, 3))),
        ("Mesh_dim_x(obj, 2)", Some(("axes of Mesh.x", 2, 2))),
        ("Mesh_dim_level(obj, -1)", Some(("axes of Mesh.level", -1, 2))),
        ("ArrNBool_get(Mesh_getp_on(obj), 4)", Some(("ArrNBool", 4, 3))),
        ("Mesh_get_x((Mesh)0, 0, 0)", Some(("Mesh", 0, -1))),
        ("ArrNBool_len((ArrNBool)0)", Some(("ArrNBool", 0, -1))),
    ];
    assert_told(&samples::mesh(), &mesh_words(), 0, &calls);
}

#[test]
fn an_index_of_an_inner_array_is_told_with_the_indices_before_it() {
    let words = [192, 56, 40, 3, 1, 2, 3, 136, 3, 40, 72, 96, 32, 2, 1, 2, 24, 1, 3, 40, 3, 4, 5, 6];
    let calls = [
        ("Cells_get_particles(obj, 3, 0)", Some(("Cells.particles", 3, 3))),
        ("Cells_get_particles(obj, 1, 1)", Some(("Cells.particles[i0]", 1, 1))),
        ("Cells_len1_particles(obj, -1)", Some(("Cells.particles", -1, 3))),
        ("Cells_getp1_particles(obj, 3)", Some(("Cells.particles", 3, 3))),
        ("ArrNArrNInt64_get(Cells_getp_particles(obj), 2, 3)", Some(("ArrNArrNInt64[i0]", 3, 3))),
    ];
    assert_told(&samples::cells(), &words, 0, &calls);
}

/// A Refs whose references are all null.
fn null_refs() -> Vec<i64> {
    vec![72, NULL, NULL, NULL, NULL, 32, 2, NULL, NULL]
}

#[test]
fn null_references_read_as_0_and_point_nowhere() {
    let null = |call: &str| At(call.into(), None);
    let zero = |call: &str| Int(call.into(), 0);
    let steps = [
        Real("Refs_get_number(obj)".into(), 0.0),
        Do("Refs_set_number(obj, 1.0); Refs_set_value_a(obj, 1); Refs_set_many_b(obj, 0, 0, 1.0);".into()),
        null("Refs_getp_number(obj)"),
        null("Refs_getp_value(obj)"),
        null("Refs_getp1_value_b(obj, 0)"),
        null("Refs_getp1_many(obj, 0)"),
        null("Refs_getp1_many(obj, 5)"),
        zero("Refs_get_twice_a(obj)"),
        zero("Refs_len_value_b(obj)"),
        zero("Refs_size_value(obj)"),
        zero("Refs_len_list(obj)"),
        zero("Refs_get_list_id(obj, 0)"),
        Axes("Refs_shape_value_b(obj".into(), vec![0]),
        zero("Value_get_a(Refs_getp_value(obj))"),
        Real("ArrNFloat64_get(Value_getp_b(Refs_getp_value(obj)), 0)".into(), 0.0),
        Int("Refs_len_many(obj)".into(), 2),
    ];
    nothing_happens(&samples::refs(), &null_refs(), 0, &steps);
    let calls = [
        ("Refs_get_number(obj)", Some(("Refs.number", 0, -1))),
        ("Refs_len_value_b(obj)", Some(("Refs.value", 0, -1))),
        ("Refs_getp_twice(obj)", Some(("Refs.twice", 0, -1))),
        ("Refs_get_many_a(obj, 1)", Some(("Refs.many[i0]", 0, -1))),
        ("Refs_get_many_a(obj, 2)", Some(("Refs.many", 2, 2))),
        ("Refs_set_list_x(obj, 0, 1.0)", Some(("Refs.list", 0, -1))),
        ("Refs_len_many(obj)", None),
    ];
    assert_told(&samples::refs(), &null_refs(), 0, &calls);
}

#[test]
fn a_second_reference_is_checked_as_the_first() {
    let mut words = null_refs();
    words.push(NULL);
    words[3] = 72 - 24;
    assert_told(&samples::refs(), &words, 0, &[("Refs_get_twice_a(obj)", Some(("Refs.twice", 0, -1)))]);
}

#[test]
fn null_unions_may_be_asked_what_they_are_but_have_no_methods() {
    // The first is null, the one in the array has an id that no member has.
    let words = [64, NULL, -1, NULL, 32, 1, 0, 5];
    let steps = [
        Int("Line_typeid_first(obj)".into(), -1),
        At("Line_member_first(obj)".into(), None),
        Int("Line_typeid_elements(obj, 1)".into(), -1),
        At("Line_member_elements(obj, 1)".into(), None),
        Int("Line_typeid_shared(obj)".into(), -1),
        Real("Element_scaled(Line_getp_first(obj), 2.0)".into(), 0.0),
        Real("Element_scaled(Line_getp1_elements(obj, 0), 2.0)".into(), 0.0),
        Do("Element_scale(Line_getp_first(obj), 2.0);".into()),
    ];
    nothing_happens(&samples::line(), &words, 0, &steps);
    let calls = [
        ("Line_typeid_first(obj)", None),
        ("Line_member_first(obj)", None),
        ("Line_typeid_elements(obj, 1)", Some(("Line.elements", 1, 1))),
        ("Line_typeid_shared(obj)", Some(("Line.shared", 0, -1))),
        ("Element_scaled(Line_getp_first(obj), 2.0)", Some(("Element", 0, -1))),
        ("Element_scale(Line_getp1_elements(obj, 0), 2.0)", Some(("Element", 5, 2))),
    ];
    assert_told(&samples::line(), &words, 0, &calls);
}

#[test]
fn sites_are_numbered_over_all_classes_and_unchecked_text_has_none() {
    let checked = apis(&[samples::cells()], true);
    let sites = |api: &ClassApi| api.sites.join("; ");
    assert_eq!(
        checked.iter().map(sites).collect::<Vec<_>>(),
        [
            "ArrNInt64; axes of ArrNInt64",
            "ArrNArrNInt64; axes of ArrNArrNInt64; axes of ArrNArrNInt64[i0]; ArrNArrNInt64[i0]",
            "Cells; axes of Cells.ids; Cells.ids; axes of Cells.particles; Cells.particles; axes of Cells.particles[i0]; Cells.particles[i0]",
        ]
    );
    let first_of_cells = format!("PARLOOP_CHECK(obj != 0, {}, 0, -1)", 2 + 4);
    assert!(checked[2].source.contains(&first_of_cells), "{}", checked[2].source);
    assert!(apis(&samples::all(), false).iter().all(|api| api.sites.is_empty() && !api.source.contains("PARLOOP_CHECK")));
}

#[test]
fn an_array_that_is_always_empty_has_no_item_to_point_at() {
    let steps = [
        At("Arr0x2Int64_getp2(obj, 0, 0)".into(), None),
        Int("Arr0x2Int64_get(obj, 0, 0)".into(), 0),
        Int("Arr0x2Int64_len(obj)".into(), 0),
    ];
    nothing_happens(&array(&samples::I64, &[0, 2]), &[1], 0, &steps);
}
