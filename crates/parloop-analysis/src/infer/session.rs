//! State shared by the inference of a whole program: the entries that it creates, and the results of calls.

use std::collections::HashMap;

use parloop_ir::callable::{ArgId, ArgTypes, InferError};
use parloop_ir::program::Program;
use parloop_ir::syntax::{Target, Type};
use parloop_isl::Name;

use super::reader::results;
use super::specialise::Entries;

/// How calls are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Only their types are computed.
    Probe,
    /// Each gets its entry.
    Specialise,
}

/// A function and the types of arguments it is called with.
type Question = (Name, Vec<(ArgId, Type)>);

/// State shared by the inference of a whole program.
pub(super) struct Session<'a> {
    pub(super) program: &'a Program,
    pub(super) target: Target,
    pub(super) mode: Mode,
    /// Whether unknown functions are accepted.
    pub(super) lenient: bool,
    pub(super) entries: Entries,
    /// Kernels that are being inferred, each called by the one before.
    pub(super) path: Vec<Name>,
    /// Cached results of calls, by function and argument types.
    asked: HashMap<Question, Option<Vec<Type>>>,
}

impl<'a> Session<'a> {
    pub(super) fn new(program: &'a Program, target: Target, mode: Mode) -> Session<'a> {
        Session {
            program,
            target,
            mode,
            lenient: mode == Mode::Probe,
            entries: Entries::of(program),
            path: Vec::new(),
            asked: HashMap::new(),
        }
    }

    /// The results of a call, without creating an entry for it.
    pub(super) fn probe(&mut self, function: &Name, types: ArgTypes) -> Result<Option<Vec<Type>>, InferError> {
        let Some(callable) = self.entries.get(function).cloned() else { return Ok(None) };
        let key = (function.clone(), types.iter().map(|(id, ty)| (id.clone(), ty.clone())).collect::<Vec<_>>());
        if let Some(known) = self.asked.get(&key) {
            return Ok(known.clone());
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let typed = callable.with_types(&types, self);
        self.mode = mode;
        let found = typed?.types().map(results).filter(|types| !types.is_empty());
        self.asked.insert(key, found.clone());
        Ok(found)
    }
}
