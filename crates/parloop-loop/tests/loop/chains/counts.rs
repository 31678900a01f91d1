//! How many chains and transformations were tried, refused and accepted.

use std::collections::BTreeMap;
use std::fmt;

use super::verify::Outcome;
use super::worker::Answer;

#[derive(Default)]
pub struct Counts {
    chains: usize,
    /// Chains of which at least one transformation was done, with numbers that are right.
    pub accepted: usize,
    /// Chains without any transformation.
    plain: usize,
    failed: usize,
    /// For each transformation how often it was tried, done, and part of a chain with the right numbers.
    steps: BTreeMap<String, [usize; 3]>,
    /// Errors by where they came from and their name.
    kinds: BTreeMap<(String, String), usize>,
    /// Cases that were refused, with the message.
    pub refused: Vec<(String, String)>,
}

impl Counts {
    pub fn add(&mut self, answer: &Answer) {
        self.chains += 1;
        for tried in &answer.tried {
            let Some((case, refused)) = &tried.refused else {
                let counts = self.steps.entry(tried.name.clone()).or_default();
                (counts[0], counts[1]) = (counts[0] + 1, counts[1] + 1);
                continue;
            };
            if let Outcome::Refused { stage, .. } = refused
                && stage != "generation"
            {
                self.steps.entry(tried.name.clone()).or_default()[0] += 1;
            }
            self.refuse(refused, case.clone());
        }
        let steps = answer.case.as_ref().map(|case| case.steps.clone()).unwrap_or_default();
        match &answer.outcome {
            Outcome::Same if steps.is_empty() => self.plain += 1,
            Outcome::Same => {
                self.accepted += 1;
                for step in &steps {
                    self.steps.entry(step.split(' ').next().unwrap_or_default().to_owned()).or_default()[2] += 1;
                }
            }
            Outcome::Refused { .. } => self.refuse(&answer.outcome, answer.case.as_ref().map(ToString::to_string).unwrap_or_default()),
            _ => self.failed += 1,
        }
    }

    fn refuse(&mut self, outcome: &Outcome, case: String) {
        if let Outcome::Refused { stage, kind, message } = outcome {
            *self.kinds.entry((stage.clone(), kind.clone())).or_default() += 1;
            self.refused.push((case, message.clone()));
        }
    }

    /// Of the chains that were to have transformations, how many of a hundred have some.
    pub fn accepted_percent(&self) -> usize {
        self.accepted * 100 / (self.chains - self.failed).max(1)
    }

    /// Transformations that no chain has with the right numbers.
    pub fn never_accepted<'a>(&self, all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        all.filter(|name| self.steps.get(*name).is_none_or(|counts| counts[2] == 0)).collect()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { chains, accepted, plain, failed, steps, kinds, refused } = self;
        writeln!(
            f,
            "{chains} chains: {accepted} accepted, {plain} empty or refused as a whole, {failed} failed; {} refusals",
            refused.len()
        )?;
        writeln!(f, "{:40} {:>8} {:>8} {:>8}", "transformation", "tried", "done", "right")?;
        for (name, [tried, done, right]) in steps {
            writeln!(f, "{name:40} {tried:8} {done:8} {right:8}")?;
        }
        writeln!(f, "{:70} {:>8}", "refused by", "times")?;
        let mut kinds: Vec<_> = kinds.iter().collect();
        kinds.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        for ((stage, kind), times) in kinds {
            writeln!(f, "{:70} {times:8}", format!("{stage}: {kind}"))?;
        }
        Ok(())
    }
}
