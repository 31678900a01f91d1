//! State shared by the functions of one source.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use parloop_device::Language;
use parloop_ir::syntax::{ClassSource, ClassType, Preamble, RecordType, Type};
use parloop_isl::Name;

use super::LowerError;
use super::shadow::Shadow;
use super::tree::{Function, Table};
use crate::schedule::Schedule;

/// State shared by the functions of one source.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) functions: Vec<Function>,
    pub(super) tables: Vec<Table>,
    pub(super) preambles: BTreeSet<Preamble>,
    /// The language of the preambles.
    pub(super) language: Language,
    /// The functions of classes, each behind those that it needs.
    pub(super) classes: Vec<ClassSource>,
    /// The records of its data.
    pub(super) records: Vec<Arc<RecordType>>,
    /// The kernels that are called and have their function, or are about to.
    pub(super) called: BTreeSet<Name>,
    /// How many statements loops that are unrolled have made.
    pub(super) copies: u64,
    pub(super) sites: Vec<String>,
    pub(super) numbers: HashMap<String, usize>,
    /// What is watched of the entry point's accesses.
    pub(super) shadow: Option<Rc<Shadow>>,
}

impl Shared {
    /// The functions of a class, and of those that it is made of; each once.
    pub(super) fn add_class(&mut self, class: &ClassType) -> Result<(), LowerError> {
        for source in class.sources() {
            match self.classes.iter().find(|known| known.class() == source.class()) {
                Some(known) if known.text() != source.text() => return Err(LowerError::SameClass { name: source.class().clone() }),
                Some(_) => {}
                None => self.classes.push(source.clone()),
            }
        }
        Ok(())
    }

    /// Notes a record, which is defined once.
    pub(super) fn note_type(&mut self, ty: &Type) -> Result<(), LowerError> {
        let Type::Record(record) = ty else { return Ok(()) };
        match self.records.iter().find(|known| known.name() == record.name()) {
            Some(known) if known != record => Err(LowerError::SameRecord { name: record.name().clone() }),
            Some(_) => Ok(()),
            None => {
                self.records.push(record.clone());
                Ok(())
            }
        }
    }

    /// The number of a check of that text.
    pub(super) fn site(&mut self, text: String) -> usize {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let number = self.sites.len();
        self.sites.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

/// Schedules by the names that calls use.
pub type Schedules = BTreeMap<Name, Schedule>;
