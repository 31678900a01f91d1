//! Infers the inames of each instruction: those it uses, those of what it reads, and those that bound its loops.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use parloop_ir::syntax::{Expr, Instruction};
use parloop_isl::Name;

use super::error::{CreateError, Warning};
use super::making::Making;

/// Infers the inames of all instructions. If its inames are final, an instruction has those it names and those it uses directly.
pub(super) fn find_within(making: &mut Making) -> Result<(), CreateError> {
    let expanded = making.expanded()?;
    let mut search = Search::of(making, &expanded);
    let used = search.within.clone();
    search.propagate(&expanded);
    let within = search.within;
    drop(expanded);
    for (index, inames) in within.into_iter().enumerate() {
        let inferred: Vec<Name> = inames.difference(&used[index]).cloned().collect();
        let instruction = &mut making.kernel.instructions[index];
        let id = instruction.id.clone();
        if instruction.within_inames != inames {
            Arc::make_mut(instruction).within_inames = inames;
        }
        if !inferred.is_empty() {
            making.warn(Warning::InferredInames { instruction: id, inames: inferred });
        }
    }
    Ok(())
}

struct Search<'a> {
    making: &'a Making,
    /// The inames of each instruction, as far as they are found.
    within: Vec<BTreeSet<Name>>,
    /// The inames in the left sides of each instruction.
    in_lhs: Vec<BTreeSet<Name>>,
    reads: Vec<BTreeSet<Name>>,
    writers: BTreeMap<Name, Vec<usize>>,
    /// The parameters of the domain that each iname is in.
    params_of: HashMap<&'a Name, &'a [Name]>,
}

impl<'a> Search<'a> {
    fn of(making: &'a Making, expanded: &[Arc<Instruction>]) -> Search<'a> {
        let inames = &making.kernel.inames;
        let only_inames = |names: BTreeSet<Name>| names.into_iter().filter(|name| inames.contains_key(name)).collect::<BTreeSet<Name>>();
        let reads: Vec<BTreeSet<Name>> = expanded.iter().map(|instruction| instruction.reads()).collect();
        let in_lhs: Vec<BTreeSet<Name>> =
            expanded.iter().map(|instruction| only_inames(instruction.lhs().into_iter().flat_map(Expr::variables).collect())).collect();
        let within = expanded
            .iter()
            .enumerate()
            .map(|(index, instruction)| {
                let mut within = instruction.within_inames.clone();
                within.extend(reads[index].iter().filter(|name| inames.contains_key(*name)).cloned());
                within.extend(in_lhs[index].iter().cloned());
                within
            })
            .collect();
        let params_of = making.kernel.domains.iter().flat_map(|domain| domain.dims().iter().map(|dim| (dim, domain.params()))).collect();
        Search { making, within, in_lhs, reads, writers: making.writers(), params_of }
    }

    /// Adds inames until nothing changes: sets only grow, so this ends.
    fn propagate(&mut self, expanded: &[Arc<Instruction>]) {
        let readers = self.readers();
        let mut waiting: VecDeque<usize> = (0..expanded.len()).collect();
        let mut is_waiting = vec![true; expanded.len()];
        while let Some(index) = waiting.pop_front() {
            is_waiting[index] = false;
            if expanded[index].within_inames_is_final || !self.grow(index, &expanded[index]) {
                continue;
            }
            let written = expanded[index].writes();
            let affected = written.iter().filter_map(|name| readers.get(name)).flatten();
            for &reader in affected {
                if !std::mem::replace(&mut is_waiting[reader], true) {
                    waiting.push_back(reader);
                }
            }
        }
    }

    /// The readers of each name, in expressions or as a bound of a loop.
    fn readers(&self) -> HashMap<Name, Vec<usize>> {
        let mut readers: HashMap<Name, Vec<usize>> = HashMap::new();
        for (index, names) in self.reads.iter().enumerate() {
            for name in names.iter().filter(|name| self.writers.contains_key(*name)) {
                readers.entry(name.clone()).or_default().push(index);
            }
        }
        // Which loops an instruction ends up in is not known yet: all wait for data-dependent bounds.
        for name in
            self.params_of.values().flat_map(|params| params.iter()).filter(|name| self.making.kernel.temporaries.contains_key(*name))
        {
            readers.insert(name.clone(), (0..self.reads.len()).collect());
        }
        readers
    }

    /// Updates one instruction; returns whether it gained inames.
    fn grow(&mut self, index: usize, instruction: &Instruction) -> bool {
        let before = self.within[index].len();
        let reduced = instruction.reduction_inames();
        let from_reads: Vec<Name> =
            self.reads[index].iter().flat_map(|name| self.carried_by(name)).filter(|iname| !reduced.contains(iname)).collect();
        self.within[index].extend(from_reads);
        loop {
            let count = self.within[index].len();
            let bounds: Vec<&Name> =
                self.within[index].iter().filter_map(|iname| self.params_of.get(iname)).flat_map(|params| params.iter()).collect();
            let mut found: Vec<Name> = Vec::new();
            for param in bounds {
                if self.making.kernel.inames.contains_key(param) {
                    found.push(param.clone());
                } else if self.making.kernel.temporaries.contains_key(param) {
                    found.extend(self.writers.get(param).into_iter().flatten().flat_map(|&writer| self.within[writer].iter().cloned()));
                }
            }
            self.within[index].extend(found);
            if self.within[index].len() == count {
                return count > before;
            }
        }
    }

    /// The inames along which a variable changes although it has no index for them: those in which all its writers run and which their left
    /// sides do not use.
    fn carried_by(&self, name: &Name) -> BTreeSet<Name> {
        let mut writers = self.writers.get(name).into_iter().flatten();
        let implicit = |writer: usize| self.within[writer].difference(&self.in_lhs[writer]);
        let Some(&first) = writers.next() else { return BTreeSet::new() };
        let mut carried: BTreeSet<Name> = implicit(first).cloned().collect();
        for &writer in writers {
            if carried.is_empty() {
                break;
            }
            let other: BTreeSet<&Name> = implicit(writer).collect();
            carried.retain(|iname| other.contains(iname));
        }
        carried
    }
}
