//! Walks along a path, in C: offsets that do not depend on values are added up, and each hop that does is one load.
//!
//! A dynamic array begins where an offset, a reference or the object itself leads, or at a constant distance from there, so that its
//! header words are at constant distances from the pointer `at`.

use std::collections::HashMap;

use crate::types::{ArrayType, FieldPlace, SLOT, Type};

use super::path::{Path, PathSegment, extend_place, place_of};

/// Stands in lines for the pointer that the walk moves, until it is known whether that needs a variable.
const AT: &str = "@";
/// Function definitions up to this many characters are written in one line.
const LINE: usize = 140;

/// The places where something is checked, each with an id.
#[derive(Debug)]
pub(super) struct Sites {
    first: usize,
    texts: Vec<String>,
    ids: HashMap<String, usize>,
}

impl Sites {
    pub(super) fn starting_at(first: usize) -> Sites {
        Sites { first, texts: Vec::new(), ids: HashMap::new() }
    }

    /// The id of the site with this text.
    pub(super) fn id(&mut self, text: String) -> usize {
        let next = self.first + self.texts.len();
        let texts = &mut self.texts;
        *self.ids.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            next
        })
    }

    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

/// What a function does when a check fails.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    pub(super) statement: String,
    /// Whether an index outside its range gives way to 0 where there is an item 0, so that the function returns a valid address.
    pub(super) clamps: bool,
}

impl Fail {
    pub(super) fn with(statement: impl Into<String>) -> Fail {
        Fail { statement: statement.into(), clamps: false }
    }
}

/// A walk in progress.
pub(super) struct Walk<'a> {
    lines: Vec<String>,
    /// How far from the pointer the walk has come, in bytes.
    bytes: usize,
    /// What indices add to that.
    terms: Vec<String>,
    sites: Option<&'a mut Sites>,
    fail: &'a Fail,
}

impl<'a> Walk<'a> {
    /// A walk that begins at the object; with sites it is checked.
    pub(super) fn new(sites: Option<&'a mut Sites>, fail: &'a Fail) -> Walk<'a> {
        Walk { lines: Vec::new(), bytes: 0, terms: Vec::new(), sites, fail }
    }

    /// Walks from an object of `class` to the end of `path`.
    pub(super) fn along(&mut self, class: &Type, path: &Path) {
        let mut place = class.name().to_owned();
        let mut index = 0;
        self.check(&place, |_| "obj != 0".into(), "0", "-1");
        for step in &path.steps {
            match step {
                PathSegment::Field(ty, field) => match place_of(ty, *field) {
                    FieldPlace::At(offset) => self.bytes += offset,
                    FieldPlace::Indirect(offset) => self.hop(offset, ""),
                },
                PathSegment::Item(array) => self.item(array, index, &place),
                PathSegment::Follow => self.follow(&place),
            }
            extend_place(&mut place, step, &mut index);
        }
    }

    fn item(&mut self, array: &ArrayType, first_index: usize, place: &str) {
        self.flush_terms();
        for axis in 0..array.shape.len() {
            self.check_index(array, axis, first_index + axis, place);
        }
        let terms: Vec<String> = (0..array.shape.len())
            .map(|axis| match (stride(array, axis, self).as_str(), first_index + axis) {
                ("1", index) => format!("i{index}"),
                (stride, index) => format!("i{index} * {stride}"),
            })
            .collect();
        if array.item.is_dynamic() {
            self.hop(array.data_offset, &terms.join(" + "));
        } else {
            self.bytes += array.data_offset;
            self.terms = terms;
        }
    }

    /// Moves on by the offset from here that stands in the word at `offset` and `terms`.
    fn hop(&mut self, offset: usize, terms: &str) {
        self.flush_terms();
        let start = if self.bytes > 0 { format!("{} + ", self.bytes) } else { String::new() };
        let terms = if terms.is_empty() { String::new() } else { format!(" + {terms}") };
        self.lines.push(format!("{AT} += {start}*(GPUGLMEM int64_t *)({AT} + {}{terms});", self.bytes + offset));
        self.bytes = 0;
    }

    /// Moves on to what the reference here refers to.
    fn follow(&mut self, place: &str) {
        self.flush_terms();
        self.check(place, |walk| format!("{} != (-9223372036854775807 - 1)", walk.word(0)), "0", "-1");
        let start = if self.bytes > 0 { format!("{} + ", self.bytes) } else { String::new() };
        self.lines.push(format!("{AT} += {start}{};", self.word(0)));
        self.bytes = 0;
    }

    /// Moves the pointer itself on by what indices have added, so that everything from here on is at constant distances from it.
    fn flush_terms(&mut self) {
        if !self.terms.is_empty() {
            self.lines.push(format!("{AT} += {};", self.distance(0)));
            (self.bytes, self.terms) = (0, Vec::new());
        }
    }

    fn check_index(&mut self, array: &ArrayType, axis: usize, index: usize, place: &str) {
        if self.sites.is_none() {
            return;
        }
        let mut limit = dimension(array, axis, self);
        if array.shape[axis].is_none() {
            self.lines.push(format!("const int64_t n{index} = {limit};"));
            limit = format!("n{index}");
        }
        let site = if array.shape.len() > 1 { format!("{place} axis {axis}") } else { place.to_owned() };
        let clamp = match (self.fail.clamps, array.shape[axis]) {
            (false, _) | (true, Some(0)) => self.fail.statement.clone(),
            (true, Some(_)) => format!("i{index} = 0;"),
            (true, None) => format!("{{ if ({limit} <= 0) {} i{index} = 0; }}", self.fail.statement),
        };
        self.check_or(&site, &format!("0 <= i{index} && i{index} < {limit}"), &format!("i{index}"), &limit, &clamp);
    }

    fn check(&mut self, site: &str, ok: impl FnOnce(&Walk) -> String, index: &str, limit: &str) {
        if self.sites.is_some() {
            let (ok, fail) = (ok(self), self.fail.statement.clone());
            self.check_or(site, &ok, index, limit, &fail);
        }
    }

    fn check_or(&mut self, site: &str, ok: &str, index: &str, limit: &str, otherwise: &str) {
        if let Some(sites) = &mut self.sites {
            let id = sites.id(site.to_owned());
            self.lines.push(format!("if (!PARLOOP_CHECK({ok}, {id}, {index}, {limit})) {otherwise}"));
        }
    }

    fn distance(&self, more: usize) -> String {
        let bytes = (self.bytes + more > 0).then(|| (self.bytes + more).to_string());
        bytes.into_iter().chain(self.terms.iter().cloned()).collect::<Vec<_>>().join(" + ")
    }

    /// The place `more` bytes on, as a `char *`.
    pub(super) fn here(&self, more: usize) -> String {
        let distance = self.distance(more);
        if distance.is_empty() { AT.into() } else { format!("{AT} + {distance}") }
    }

    /// The place `more` bytes on, as an address of the given type.
    pub(super) fn address(&self, c_type: &str, more: usize) -> String {
        let here = self.here(more);
        if here == AT { format!("({c_type}){AT}") } else { format!("({c_type})({here})") }
    }

    /// The value of the given type `more` bytes on.
    pub(super) fn deref(&self, c_type: &str, more: usize) -> String {
        format!("*{}", self.address(&format!("GPUGLMEM {c_type} *"), more))
    }

    /// The header word `more` bytes on.
    pub(super) fn word(&self, more: usize) -> String {
        self.deref("int64_t", more)
    }

    /// The function with this declaration that walks and then does `last`.
    pub(super) fn finish(self, declaration: &str, last: Vec<String>) -> String {
        let uses = |line: &String| line.matches(AT).count();
        let is_needed = last.iter().any(|line| uses(line) > 0);
        let mut lines = if is_needed { self.lines } else { Vec::new() };
        lines.extend(last);
        let total: usize = lines.iter().map(uses).sum();
        if total <= 1 {
            let inlined = |line: &String| line.replace(&format!("){AT}"), ")obj").replace(AT, "(GPUGLMEM char *)obj");
            lines = lines.iter().map(inlined).collect();
        } else {
            lines.insert(0, "GPUGLMEM char *at = (GPUGLMEM char *)obj;".into());
            lines = lines.iter().map(|line| line.replace(AT, "at")).collect();
        }
        match lines.as_slice() {
            [line] if declaration.len() + line.len() + 5 <= LINE => format!("{declaration} {{ {line} }}\n"),
            lines => format!("{declaration} {{\n{}}}\n", lines.iter().map(|line| format!("    {line}\n")).collect::<String>()),
        }
    }
}

/// The number of items of the array that the walk has come to along an axis.
pub(super) fn dimension(array: &ArrayType, axis: usize, walk: &Walk) -> String {
    match array.shape[axis] {
        Some(dim) => dim.to_string(),
        None => {
            let before = array.shape[..axis].iter().filter(|dim| dim.is_none()).count();
            walk.word(SLOT * (1 + before))
        }
    }
}

/// The bytes between items of the array that the walk has come to along an axis.
///
/// An instance holds the strides of all axes if any dimension is dynamic, but the type already says those of the axes that are not
/// slower than a dynamic one: with a constant there, loops over the fastest axis become vector code.
pub(super) fn stride(array: &ArrayType, axis: usize, walk: &Walk) -> String {
    let stride = match &array.strides {
        Some(strides) => Some(strides[axis]),
        None => {
            let faster = array.order.iter().rev().take_while(|&&other| other != axis);
            let item = array.item.size().unwrap_or(SLOT);
            faster.map(|&other| array.shape[other]).try_fold(item, |stride, dim| stride.checked_mul(dim?))
        }
    };
    match stride {
        Some(stride) => stride.to_string(),
        None => walk.word(SLOT * (1 + array.dynamic_axes() + axis)),
    }
}
