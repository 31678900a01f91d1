//! Which elements are visited, in which loops: the part of a loop kernel around the user's kernel.

use parloop_loop::create::Data;

use super::{Apart, BLOCK, EACH, Form, LANES, Machine, names};
use crate::shape::Shape;

/// The loops around the body.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub domains: Vec<String>,
    pub instructions: Vec<String>,
    pub data: Vec<Data>,
    pub tags: Vec<String>,
    /// The inames around the body, with colons between them.
    pub inames: &'static str,
    /// The inames around what is done once for each group or row.
    pub outer: &'static str,
    /// The instructions after which the element is known.
    pub ready: &'static str,
    /// The name of the type of indices.
    pub index_type: String,
}

/// The frame of a form.
pub(super) fn frame(shape: &Shape, form: &Form, machine: Machine) -> Frame {
    match (form, machine) {
        (Form::Elements { visits, apart, lanes: false }, Machine::Threads) => threads(shape, visits.is_listed(), *apart),
        (Form::Elements { visits, apart, lanes: true }, Machine::Threads) => batches(shape, visits.is_listed(), *apart),
        (Form::Elements { visits, .. }, Machine::Gpu) => match shape.args.iter().any(|arg| arg.is_reduced()) {
            true => several_each(shape, visits.is_listed()),
            false => items(shape, visits.is_listed()),
        },
        (Form::Targets { maps, listed, .. }, _) => targets(shape, maps, *listed),
    }
}

fn int_array(name: &str) -> Data {
    Data::global(name).dtype("int32").unknown_shape().strides("1")
}

fn int_values(shape: &Shape, names: &str) -> Data {
    Data::value(names).dtype(shape.index)
}

/// Groups of elements, each from a bound to another.
fn threads(shape: &Shape, listed: bool, apart: Apart) -> Frame {
    let mut frame = Frame {
        inames: "pl_g:pl_k",
        outer: "pl_g",
        ready: "pl_e",
        index_type: shape.index.name().to_owned(),
        domains: vec![format!("{{[pl_g]: 0<=pl_g<{}}}", names::GROUPS), "[pl_lo,pl_hi]->{[pl_k]: pl_lo<=pl_k<pl_hi}".to_owned()],
        tags: vec!["pl_g:g.0".to_owned()],
        data: vec![int_array(names::BOUNDS), int_values(shape, &format!("{}, {}", names::FIRST, names::GROUPS))],
        ..Frame::default()
    };
    let (bounds, first, index) = (names::BOUNDS, names::FIRST, &frame.index_type);
    frame.instructions = vec![
        format!("<{index}> pl_lo = {bounds}[2*({first}+pl_g)] {{id=pl_lo, inames=pl_g}}"),
        format!("<{index}> pl_hi = {bounds}[2*({first}+pl_g)+1] {{id=pl_hi, inames=pl_g}}"),
    ];
    let element = if listed { format!("{}[pl_k]", names::LIST) } else { "pl_k".to_owned() };
    frame.instructions.push(format!("<{index}> pl_e = {element} {{id=pl_e, dep=*pl_lo:pl_hi, inames=pl_g:pl_k}}"));
    if listed {
        frame.data.push(int_array(names::LIST));
    }
    if apart == Apart::Mask {
        frame.instructions.push(format!("<uint32> pl_m = {}[pl_k] {{id=pl_m, dep=*pl_lo:pl_hi, inames=pl_g:pl_k}}", names::MASKS));
        frame.data.push(Data::global(names::MASKS).dtype("uint32").unknown_shape().strides("1"));
        frame.ready = "pl_e:pl_m";
    }
    frame
}

/// Groups whose elements are run in batches, and those that are left one by one.
fn batches(shape: &Shape, listed: bool, apart: Apart) -> Frame {
    let mut frame = threads(shape, listed, apart);
    frame.domains[1] = "[pl_mid,pl_hi]->{[pl_k]: pl_mid<=pl_k<pl_hi}".to_owned();
    frame
        .domains
        .extend(["[pl_batches]->{[pl_b]: 0<=pl_b<pl_batches}".to_owned(), format!("{{[pl_v,pl_u]: 0<=pl_v<{LANES} and 0<=pl_u<{LANES}}}")]);
    let index = &frame.index_type;
    let mut instructions = vec![
        format!("<{index}> pl_batches = (pl_hi - pl_lo)//{LANES} {{id=pl_batches, dep=*pl_lo:pl_hi, inames=pl_g}}"),
        format!("<{index}> pl_mid = pl_lo + {LANES}*pl_batches {{id=pl_mid, dep=*pl_batches:pl_lo, inames=pl_g}}"),
    ];
    for lane in ["v", "u"] {
        let place = format!("pl_c{lane}");
        let element = if listed { format!("{}[{place}]", names::LIST) } else { place.clone() };
        let around = format!("dep=*{place}, inames=pl_g:pl_b:pl_{lane}");
        instructions.extend([
            format!("<{index}> {place} = pl_lo+{LANES}*pl_b+pl_{lane} {{id={place}, dep=*pl_batches:pl_lo, inames=pl_g:pl_b:pl_{lane}}}"),
            format!("<{index}> pl_e{lane} = {element} {{id=pl_e{lane}, {around}}}"),
        ]);
        if apart == Apart::Mask && lane == "u" {
            instructions.push(format!("<uint32> pl_mu = {}[{place}] {{id=pl_mu, {around}}}", names::MASKS));
        }
    }
    // The elements that are left come last, as they do in order.
    for instruction in &mut frame.instructions {
        *instruction = instruction.replace("dep=*pl_lo:pl_hi, inames=pl_g:pl_k", "dep=*pl_mid:pl_hi:pl_y*, inames=pl_g:pl_k");
    }
    frame.instructions.extend(instructions);
    frame
}

/// A work item for each element.
fn items(shape: &Shape, listed: bool) -> Frame {
    let place = format!("{BLOCK}*pl_g+pl_l");
    Frame {
        inames: "pl_g:pl_l",
        outer: "pl_g:pl_l",
        domains: vec![format!("{{[pl_g,pl_l]: 0<=pl_l<{BLOCK} and 0<={place}<{}}}", names::COUNT)],
        ..on_items(shape, listed, &place, "pl_g:pl_l")
    }
}

/// A work item for several elements, so that there are fewer sums to combine.
fn several_each(shape: &Shape, listed: bool) -> Frame {
    let (group, count) = (BLOCK * EACH, names::COUNT);
    let place = format!("{group}*pl_g+{BLOCK}*pl_k+pl_l");
    Frame {
        inames: "pl_g:pl_l:pl_k",
        outer: "pl_g:pl_l",
        domains: vec![
            format!("{{[pl_g,pl_l]: 0<=pl_l<{BLOCK} and 0<=pl_g and {group}*pl_g<{count}}}"),
            format!("[pl_g,pl_l,{count}]->{{[pl_k]: 0<=pl_k<{EACH} and {place}<{count}}}"),
        ],
        ..on_items(shape, listed, &place, "pl_g:pl_l:pl_k")
    }
}

/// What both have in common: the element at a place of the launch.
fn on_items(shape: &Shape, listed: bool, place: &str, inames: &str) -> Frame {
    let index_type = shape.index.name().to_owned();
    let place = format!("{}+{place}", names::BEGIN);
    let element = if listed { format!("{}[{place}]", names::LIST) } else { place };
    let mut frame = Frame {
        ready: "pl_e",
        tags: vec!["pl_g:g.0".to_owned(), "pl_l:l.0".to_owned()],
        data: vec![int_values(shape, &format!("{}, {}, {}", names::BEGIN, names::COUNT, names::FIRST))],
        instructions: vec![format!("<{index_type}> pl_e = {element} {{id=pl_e, inames={inames}}}")],
        index_type,
        ..Frame::default()
    };
    if listed {
        frame.data.push(int_array(names::LIST));
    }
    frame
}

/// A work item for each row; it goes through the elements that lead to the row.
fn targets(shape: &Shape, maps: &[usize], listed: bool) -> Frame {
    let slots: usize = maps.iter().map(|&map| shape.maps[map]).sum();
    let mut frame = Frame {
        inames: "pl_g:pl_l:pl_j",
        outer: "pl_g:pl_l",
        ready: "pl_e:pl_s",
        index_type: shape.index.name().to_owned(),
        domains: vec![
            format!("{{[pl_g,pl_l]: 0<=pl_l<{BLOCK} and 0<={BLOCK}*pl_g+pl_l<{}}}", names::COUNT),
            "[pl_lo,pl_hi]->{[pl_j]: pl_lo<=pl_j<pl_hi}".to_owned(),
        ],
        tags: vec!["pl_g:g.0".to_owned(), "pl_l:l.0".to_owned()],
        data: vec![int_array(names::STARTS), int_array(names::ENTRIES), int_values(shape, names::COUNT)],
        ..Frame::default()
    };
    let (starts, entries, index) = (names::STARTS, names::ENTRIES, frame.index_type.clone());
    let row = if listed { format!("{}[{BLOCK}*pl_g+pl_l]", names::LIST) } else { format!("{BLOCK}*pl_g+pl_l") };
    frame.instructions = vec![
        format!("<{index}> pl_r = {row} {{id=pl_r, inames=pl_g:pl_l}}"),
        format!("<{index}> pl_lo = {starts}[{BLOCK}*pl_g+pl_l] {{id=pl_lo, inames=pl_g:pl_l}}"),
        format!("<{index}> pl_hi = {starts}[{BLOCK}*pl_g+pl_l+1] {{id=pl_hi, inames=pl_g:pl_l}}"),
        format!("<uint32> pl_n = {entries}[pl_j] {{id=pl_n, dep=*pl_lo:pl_hi, inames=pl_g:pl_l:pl_j}}"),
        // Unsigned, so that the quotient needs no care for negative numbers.
        format!("<{index}> pl_e = pl_n // {slots} {{id=pl_e, dep=*pl_n, inames=pl_g:pl_l:pl_j}}"),
        format!("<{index}> pl_s = pl_n % {slots} {{id=pl_s, dep=*pl_n, inames=pl_g:pl_l:pl_j}}"),
    ];
    if listed {
        frame.data.push(int_array(names::LIST));
    }
    frame
}
