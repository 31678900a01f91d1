//! Per-thread caches: isl objects for sets, and answers to queries. Both are bounded: when full they are cleared, which is cheaper than
//! tracking age.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::error::{IslError, Result};
use crate::name::Name;
use crate::set::Set;

const MAX_REMEMBERED: usize = 4096;

/// A cache with an entry for each of many sets.
pub(super) struct Memory<T>(HashMap<Set, T, BuildHasherDefault<Mixer>>);

impl<T> Default for Memory<T> {
    fn default() -> Memory<T> {
        Memory(HashMap::default())
    }
}

impl<T> Memory<T> {
    pub fn get(&self, set: &Set) -> Option<&T> {
        self.0.get(set)
    }

    pub fn insert(&mut self, set: Set, value: T) {
        self.0.insert(set, value);
    }

    /// Takes all entries if the cache is full.
    pub fn forget_if_many(&mut self) -> Vec<T> {
        if self.0.len() > MAX_REMEMBERED { self.0.drain().map(|(_, value)| value).collect() } else { Vec::new() }
    }

    /// Takes all entries.
    pub fn forget(self) -> impl Iterator<Item = T> {
        self.0.into_values()
    }
}

/// A query: its kind (each kind has one type of answer), and the sets and names.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub kind: &'static str,
    pub set: &'a Set,
    pub other: Option<&'a Set>,
    pub names: &'a [Name],
}

/// Longer sets are truncated in messages.
const MOST_SHOWN: usize = 400;

impl Question<'_> {
    /// The query, phrased to follow "could not".
    fn text(&self) -> String {
        let shown = |set: &Set| {
            let text = set.to_string();
            let cut: String = text.chars().take(MOST_SHOWN).collect();
            if cut.len() < text.len() { format!("`{cut} …`") } else { format!("`{text}`") }
        };
        let set = shown(self.set);
        let other = self.other.map(shown).unwrap_or_default();
        let names = self.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match self.kind {
            "union" => format!("join {set} and {other}"),
            "subtract" => format!("subtract {other} from {set}"),
            "project_out" => format!("project {names} out of {set}"),
            "is_empty" => format!("decide whether {set} is empty"),
            "is_subset" => format!("decide whether {set} is a subset of {other}"),
            "is_equal" => format!("decide whether {set} and {other} are equal"),
            "is_bounded" => format!("decide whether {set} is bounded"),
            "is_bijective" => format!("decide whether {set} is one to one"),
            "stride" => format!("find the stride of {names} in {set}"),
            "bounds" => format!("find the bounds of {names} in {set}"),
            "dim_min" => format!("find the smallest value of {names} in {set}"),
            "dim_max" => format!("find the largest value of {names} in {set}"),
            "sample" => format!("find a point of {set}"),
            _ => format!("simplify {set}"),
        }
    }

    /// Adds the query to the error of a solver that gave up.
    pub fn about(&self, error: IslError) -> IslError {
        match error {
            IslError::Isl { message, .. } => IslError::Isl { what: self.text(), message },
            error => error,
        }
    }
}

/// An answer, with the query except for its first set.
struct Answer {
    kind: &'static str,
    other: Option<Set>,
    names: Box<[Name]>,
    value: Box<dyn Any>,
}

thread_local! {
    static ANSWERS: RefCell<Answers> = RefCell::default();
}

/// Returns the cached answer to a query, or computes it. An answer depends only on the query.
pub(crate) fn once<T: Clone + 'static>(question: Question<'_>, answer: impl FnOnce() -> Result<T>) -> Result<T> {
    // A thread that is ending has no cache.
    if let Ok(Some(known)) = ANSWERS.try_with(|answers| answers.borrow().get(&question)) {
        return Ok(known);
    }
    let answer = answer().map_err(|error| question.about(error))?;
    let _ = ANSWERS.try_with(|answers| answers.borrow_mut().insert(question, answer.clone()));
    Ok(answer)
}

/// Answers by the first set of the query; each set has few.
#[derive(Default)]
struct Answers(Memory<Vec<Answer>>);

impl Answers {
    fn get<T: Clone + 'static>(&self, question: &Question<'_>) -> Option<T> {
        let is_it =
            |answer: &&Answer| answer.kind == question.kind && *answer.names == *question.names && answer.other.as_ref() == question.other;
        self.0.get(question.set)?.iter().find(is_it)?.value.downcast_ref().cloned()
    }

    fn insert<T: Clone + 'static>(&mut self, question: Question<'_>, value: T) {
        self.0.forget_if_many();
        let answers = self.0.0.entry(question.set.clone()).or_default();
        if answers.len() >= MAX_OF_ONE_SET {
            answers.clear();
        }
        answers.push(Answer { kind: question.kind, other: question.other.cloned(), names: question.names.into(), value: Box::new(value) });
    }
}

/// More answers per set are not kept: they are searched linearly.
const MAX_OF_ONE_SET: usize = 64;

/// A hash that is fast on short text and numbers; it need not resist attacks.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.mix(chunk.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)));
        }
        self.mix(chunks.remainder().iter().fold(1, |value, &byte| value << 8 | u64::from(byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_i64(&mut self, value: i64) {
        self.mix(value.cast_unsigned());
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        // The upper bits are the best mixed; a map looks at the upper seven and at the lower ones.
        self.0 ^ self.0 >> 32
    }
}
