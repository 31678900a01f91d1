//! What the functions do to bytes that are laid by hand, the same on every device.

use crate::lay::{Value, lay};
use crate::probe::Step::{At, Axes, Do, Int, Real};
use crate::probe::{Probe, Step, contexts, run};
use crate::samples::{self, apis, array, source, structure};
use parloop_object::Type;

pub const NULL: i64 = i64::MIN;

pub fn bytes(words: &[i64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The word that holds a double.
pub fn real(value: f64) -> i64 {
    value.to_bits() as i64
}

/// The word that holds up to eight bytes.
pub fn packed(content: &[u8]) -> i64 {
    let mut word = [0; 8];
    word[..content.len()].copy_from_slice(content);
    i64::from_le_bytes(word)
}

/// Calls `steps` on the object of `class` at `offset` of `words`, on every device; the words afterwards, where they are the same.
fn on_every_device(class: &Type, words: &[i64], offset: usize, steps: &[Step]) -> Vec<i64> {
    let text = source(&apis(std::slice::from_ref(class), false));
    let probe = Probe { class: class.name().into(), bytes: bytes(words), offset, steps: steps.to_vec() };
    let results: Vec<Vec<u8>> = contexts().iter().flat_map(|ctx| run(ctx, &text, std::slice::from_ref(&probe))).collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    results[0].chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn int(call: &str, value: i64) -> Step {
    Int(call.into(), value)
}

fn double(call: &str, value: f64) -> Step {
    Real(call.into(), value)
}

fn at(call: &str, offset: usize) -> Step {
    At(call.into(), Some(offset))
}

#[test]
fn arrays_of_arrays_are_found_through_their_offsets() {
    // {"ids": [1, 2, 3], "particles": [[1, 2], [3], [4, 5, 6]]}, as xobjects lays it.
    let words = [192, 56, 40, 3, 1, 2, 3, 136, 3, 40, 72, 96, 32, 2, 1, 2, 24, 1, 3, 40, 3, 4, 5, 6];
    let steps = [
        int("Cells_size(obj)", 192),
        int("Cells_len_ids(obj)", 3),
        int("Cells_get_ids(obj, 2)", 3),
        int("Cells_len_particles(obj)", 3),
        int("Cells_len1_particles(obj, 0)", 2),
        int("Cells_len1_particles(obj, 1)", 1),
        int("Cells_size1_particles(obj, 2)", 40),
        at("Cells_getp_particles(obj)", 56),
        at("Cells_getp1_particles(obj, 1)", 56 + 72),
        at("Cells_getp2_particles(obj, 1, 0)", 56 + 72 + 16),
        int("Cells_get_particles(obj, 2, 1)", 5),
        int("ArrNInt64_get(Cells_getp1_particles(obj, 2), 2)", 6),
        int("ArrNArrNInt64_get(Cells_getp_particles(obj), 0, 1)", 2),
        int("ArrNInt64_nd(Cells_getp_ids(obj))", 1),
        Axes("ArrNInt64_shape(Cells_getp1_particles(obj, 2)".into(), vec![3]),
        Do("Cells_set_particles(obj, 1, 0, 33);".into()),
        Do("Cells_set_ids(obj, 0, -1);".into()),
        int("Cells_get_particles(obj, 1, 0)", 33),
    ];
    let after = on_every_device(&samples::cells(), &words, 0, &steps);
    let mut expected = words;
    (expected[4], expected[18]) = (-1, 33);
    assert_eq!(after, expected);
}

#[test]
fn axes_in_any_order_and_items_of_any_size_are_where_the_layout_says() {
    let mut words = vec![99, 240, packed(&[0, 10, 1, 11, 2, 12]), 112, 216];
    words.extend([80, 2, 24, 8].iter().chain(&[0.0, 0.1, 0.2, 1.0, 1.1, 1.2].map(real)));
    // Axis 1 is the slowest, then 2, then 0.
    words.extend([104, 2, 1, 3, 8, 48, 16].iter().chain(&[0.0, 100.0, 2.0, 102.0, 4.0, 104.0].map(real)));
    words.extend([24, 3, packed(&[1, 0, 1])]);
    let steps = [
        int("Mesh_size(obj)", 240),
        int("Mesh_get_level(obj, 1, 2)", 12),
        int("Mesh_get_level(obj, 0, 1)", 1),
        int("Mesh_len_level(obj)", 6),
        double("Mesh_get_x(obj, 1, 2)", 1.2),
        int("Mesh_len_x(obj)", 6),
        int("Mesh_dim_x(obj, 0)", 2),
        int("Mesh_dim_x(obj, 1)", 3),
        int("Mesh_dim_x(obj, 2)", 0),
        Axes("Mesh_strides_x(obj".into(), vec![24, 8]),
        double("Mesh_get_field(obj, 1, 0, 2)", 104.0),
        double("Mesh_get_field(obj, 0, 0, 1)", 2.0),
        at("Mesh_getp3_field(obj, 1, 0, 1)", 8 + 112 + 56 + 8 + 16),
        int("Mesh_nd_field(obj)", 3),
        Axes("Mesh_shape_field(obj".into(), vec![2, 1, 3]),
        Axes("Mesh_strides_field(obj".into(), vec![8, 48, 16]),
        double("Fields_get(Mesh_getp_field(obj), 1, 0, 0)", 100.0),
        int("Mesh_get_on(obj, 0)", 1),
        int("Mesh_get_on(obj, 1)", 0),
        at("Mesh_getp1_on(obj, 2)", 8 + 216 + 16 + 2),
        Do("Mesh_set_level(obj, 1, 0, -7);".into()),
        Do("Mesh_set_on(obj, 1, 5 > 4);".into()),
        Do("Mesh_set_field(obj, 0, 0, 2, 0.5);".into()),
        int("Mesh_get_level(obj, 1, 0)", -7),
    ];
    let after = on_every_device(&samples::mesh(), &words, 8, &steps);
    words[2] = packed(&[0, 249, 1, 11, 2, 12]);
    words[5 + 10 + 7 + 4] = real(0.5);
    words[5 + 10 + 13 + 2] = packed(&[1, 1, 1]);
    assert_eq!(after, words);
}

/// An `Inner`: 64 bytes.
fn inner(id: i64, data: [u8; 3], name: &str) -> [i64; 8] {
    [64, id, 48, 24, 3, packed(&[data[0], 0, data[1], 0, data[2], 0]), 16, packed(name.as_bytes())]
}

#[test]
fn dynamic_structs_in_arrays_in_structs_are_found_from_the_outermost() {
    let mut words = vec![360, 5, i64::from(2.5f32.to_bits()), 184];
    words.extend([152, 24, 88].iter().chain(&inner(1, [1, 2, 3], "ab")).chain(&inner(-2, [4, 5, 6], "cde")));
    words.extend([176, 1, 16, 8, 48, 112].iter().chain(&inner(3, [7, 8, 9], "f")).chain(&inner(4, [10, 11, 12], "")));
    let steps = [
        int("Outer_get_n(obj)", 5),
        double("Outer_get_tail(obj)", 2.5),
        int("Outer_len_fixed(obj)", 2),
        int("Outer_get_fixed_id(obj, 1)", -2),
        int("Outer_get_fixed_data(obj, 0, 2)", 3),
        int("Outer_get_fixed_data(obj, 1, 0)", 4),
        int("Outer_len1_fixed_data(obj, 1)", 3),
        int("Outer_size1_fixed(obj, 1)", 64),
        at("Outer_getp1_fixed_name(obj, 1)", 32 + 88 + 48),
        at("Outer_str1_fixed_name(obj, 1)", 32 + 88 + 56),
        int("*Outer_str1_fixed_name(obj, 1)", i64::from(b'c')),
        int("Outer_get_grid_id(obj, 0, 1)", 4),
        int("Outer_get_grid_data(obj, 0, 0, 1)", 8),
        int("Outer_len2_grid_data(obj, 0, 1)", 3),
        at("Outer_getp2_grid(obj, 0, 1)", 184 + 112),
        int("Outer_size2_grid_name(obj, 0, 1)", 16),
        int("*Outer_str2_grid_name(obj, 0, 0)", i64::from(b'f')),
        int("Inner_get_data(Outer_getp2_grid(obj, 0, 1), 2)", 12),
        Do("Outer_set_grid_data(obj, 0, 1, 0, -1);".into()),
    ];
    let after = on_every_device(&samples::nested(), &words, 0, &steps);
    let last = words.len() - 3;
    words[last] = packed(&[255, 255, 11, 0, 12, 0]);
    assert_eq!(after, words);
}

#[test]
fn references_are_followed_forwards_backwards_and_through_each_other() {
    // A number, a Value of 40 bytes, a reference to it, then the object at 64, then an array of particles.
    let words = [
        &[real(1.5)][..],
        &[40, 11, 24, 1, real(0.25)],
        &[-40, 0],
        &[80, -72, -72, -40, 64, 40, 3, -112, NULL, -128, 0],
        &[0, 80, 2, real(1.0), real(2.0), 7, 1, real(3.0), real(4.0), 8, 0],
    ]
    .concat();
    let steps = [
        double("Refs_get_number(obj)", 1.5),
        at("Refs_getp_number(obj)", 0),
        at("Refs_getp_value(obj)", 8),
        int("Refs_get_value_a(obj)", 11),
        int("Refs_size_value(obj)", 40),
        double("Refs_get_value_b(obj, 0)", 0.25),
        at("Refs_getp_twice(obj)", 8),
        int("Refs_get_twice_a(obj)", 11),
        int("Refs_len_twice_b(obj)", 1),
        int("Refs_len_many(obj)", 3),
        int("Refs_get_many_a(obj, 0)", 11),
        at("Refs_getp1_many(obj, 2)", 8),
        double("Refs_get_many_b(obj, 2, 0)", 0.25),
        int("Refs_len_list(obj)", 2),
        double("Refs_get_list_px(obj, 1)", 4.0),
        int("Refs_get_list_id(obj, 0)", 7),
        int("Refs_get_list_alive(obj, 0)", 1),
        int("Refs_size1_list(obj, 0)", 32),
        Do("Refs_set_many_a(obj, 0, 12);".into()),
        int("Refs_get_twice_a(obj)", 12),
        Do("Refs_set_list_x(obj, 1, -3.0);".into()),
        Do("Refs_set_number(obj, 2.5);".into()),
    ];
    let after = on_every_device(&samples::refs(), &words, 64, &steps);
    let mut expected = words;
    (expected[0], expected[2], expected[26]) = (real(2.5), 12, real(-3.0));
    assert_eq!(after, expected);
}

#[test]
fn a_reference_at_the_end_of_a_path_is_what_it_refers_to() {
    let part = structure("Struct2", &[("field2", &samples::F64), ("field1", &array(&samples::I64, &[-1]))]);
    let class = structure("Struct5", &[("field2r", &samples::reference(&array(&part, &[-1])))]);
    let apis = apis(std::slice::from_ref(&class), false);
    let named = |name: &str| apis.iter().flat_map(|api| &api.functions).find(|function| function.name == name).map(ToString::to_string);
    let expected = "GPUGLMEM double *Struct5_getp1_field2r_field2(Struct5 obj, int64_t i0)";
    assert_eq!(named("Struct5_getp1_field2r_field2").as_deref(), Some(expected));
    let expected = "int64_t Struct5_len1_field2r_field1(const Struct5 obj, int64_t i0)";
    assert_eq!(named("Struct5_len1_field2r_field1").as_deref(), Some(expected));
    assert_eq!(named("Struct5_getp_field2r").as_deref(), Some("ArrNStruct2 Struct5_getp_field2r(Struct5 obj)"));
}

#[test]
fn of_two_parts_with_one_name_the_nearer_has_it_and_the_other_is_two_steps_away() {
    let inner = structure("Near", &[("x", &samples::I64), ("y", &samples::I64)]);
    let class = structure("Far", &[("a", &inner), ("a_x", &samples::I64), ("b", &array(&inner, &[1])), ("b_y", &samples::I64)]);
    let words = [1, 2, 3, 4, 5, 6];
    let steps = [
        int("Far_get_a_x(obj)", 3),
        int("Near_get_x(Far_getp_a(obj))", 1),
        int("Far_get_a_y(obj)", 2),
        int("Far_get_b_y(obj)", 6),
        int("Far_get_b_x(obj, 0)", 4),
        int("Near_get_y(Far_getp1_b(obj, 0))", 5),
    ];
    assert_eq!(on_every_device(&class, &words, 0, &steps), words);
    let text = source(&apis(&[class], false));
    let told = "/* Far.a.x has no functions here, since their names are those of Far.a_x: reach it in two steps. */";
    assert!(text.contains(told) && text.contains("/* Far.b[i0].y has no functions here"), "{text}");
}

/// A Drift, a Multipole at 16 with knl [1, 2, 3] and an empty ksl, and a Line at 104 whose last element has an unknown id.
fn line_words() -> Vec<i64> {
    let multipole = [80, 2, 64, 40, 3, real(1.0), real(2.0), real(3.0), 16, 0, 0];
    let line = [112, -112, 0, 24, 80, 4, -136, 1, NULL, -1, -184, 0, 0, 7];
    [&[real(4.0), 0][..], &multipole, &line].concat()
}

#[test]
fn unions_tell_their_member_and_call_its_methods() {
    let words = line_words();
    let steps = [
        int("Line_typeid_first(obj)", 0),
        at("Line_member_first(obj)", 0),
        int("Line_typeid_first(obj) == Element_Drift_t", 1),
        int("Line_len_elements(obj)", 4),
        int("Line_typeid_elements(obj, 0)", 1),
        int("Element_Multipole_t", 1),
        at("Line_member_elements(obj, 0)", 16),
        int("Line_typeid_elements(obj, 1)", -1),
        At("Line_member_elements(obj, 1)".into(), None),
        at("Line_getp1_elements(obj, 2)", 184),
        at("Element_member(Line_getp1_elements(obj, 2))", 0),
        int("Element_typeid(Line_getp_shared(obj))", 1),
        at("Line_member_shared(obj)", 16),
        int("Line_size_shared(obj)", 16),
        double("Element_scaled(Line_getp_first(obj), 2.0)", 8.0),
        double("Element_scaled(Line_getp1_elements(obj, 0), 10.0)", 20.0),
        double("Element_scaled(Line_getp1_elements(obj, 1), 10.0)", 0.0),
        double("Element_scaled(Line_getp1_elements(obj, 3), 10.0)", 0.0),
        Do("Element_scale(Line_getp_first(obj), 0.5);".into()),
        Do("Element_scale(Line_getp1_elements(obj, 0), 3.0);".into()),
        Do("Element_scale(Line_getp1_elements(obj, 1), 3.0);".into()),
    ];
    let after = on_every_device(&samples::line(), &words, 104, &steps);
    let mut expected = words;
    (expected[0], expected[8]) = (real(2.0), real(6.0));
    assert_eq!(after, expected);
}

#[test]
fn a_member_that_the_source_skips_is_not_called() {
    let text = source(&apis(&[samples::line()], false));
    let steps = vec![double("Element_scaled(obj, 2.0)", 0.0), int("Element_typeid(obj)", 0)];
    let probe = Probe { class: "Element".into(), bytes: bytes(&line_words()), offset: 112, steps };
    for ctx in contexts() {
        run(&ctx, &format!("#define ELEMENT_SKIP_DRIFT\n{text}"), std::slice::from_ref(&probe));
    }
}

#[test]
fn strings_are_pointed_at_with_and_without_their_size() {
    let text = "two";
    let words = [
        &[128, 24, packed(b"code"), 0, 64][..],
        &[24, packed(b"first ti"), packed(b"tle")],
        &[64, 2, 32, 48, 16, packed(b"one"), 16, packed(text.as_bytes())],
    ]
    .concat();
    let steps = [
        at("Names_getp_title(obj)", 40),
        at("Names_str_title(obj)", 48),
        int("Names_size_title(obj)", 24),
        int("Names_str_title(obj)[9]", i64::from(b'l')),
        at("Names_getp_code(obj)", 8),
        at("Names_str_code(obj)", 16),
        int("Names_size_code(obj)", 24),
        int("Names_len_all(obj)", 2),
        at("Names_getp1_all(obj, 1)", 64 + 48),
        int("Names_str1_all(obj, 1)[1]", i64::from(b'w')),
        at("ArrNString_str1(Names_getp_all(obj), 0)", 64 + 40),
        int("ArrNString_size1(Names_getp_all(obj), 0)", 16),
    ];
    assert_eq!(on_every_device(&samples::names(), &words, 0, &steps), words);
}

#[test]
fn every_scalar_type_is_read_and_written_alone() {
    let class = samples::scalars();
    let value = Value::Struct((0..13).map(|number| Value::Number(101 + number)).collect());
    let (bytes, placed) = lay(&class, &value, 16);
    let text = source(&apis(std::slice::from_ref(&class), false));
    let probe = |steps| Probe { class: class.name().into(), bytes: bytes.clone(), offset: 16, steps };
    for ctx in contexts() {
        let after = run(&ctx, &text, &[probe(placed.reading("Scalars")), probe(placed.adding("Scalars", 5))]);
        assert_eq!(after, [bytes.clone(), lay(&class, &value.plus(5), 16).0]);
    }
    let steps = [
        int("Scalars_get_int8(obj)", -1),
        int("Scalars_get_uint8(obj)", 255),
        int("Scalars_get_int64(obj)", -1),
        int("Scalars_get_uint16(obj)", 65535),
        int("Scalars_get_bool(obj)", 1),
        at("Scalars_getp_complex128(obj)", 96),
        int("Scalars_size_complex128(obj)", 16),
        Do("Scalars_set_bool(obj, 0); Scalars_set_int8(obj, 0); Scalars_set_uint32(obj, 0);".into()),
    ];
    let after = on_every_device(&class, &[-1; 14], 0, &steps);
    let (mut expected, byte) = ([-1; 14], -256);
    (expected[0], expected[1], expected[7]) = (byte, byte, -1i64 << 32);
    assert_eq!(after, expected);
}
