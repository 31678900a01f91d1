//! Indices, values and conditions of an instruction.

use super::{Maker, SHORT};

impl Maker<'_> {
    pub(super) fn iname(&mut self) -> String {
        self.draw.any(&self.inames).unwrap_or_else(|| "0".to_owned())
    }

    /// An index of an argument.
    pub(super) fn index(&mut self) -> String {
        let (one, two, plus) = (self.iname(), self.iname(), self.draw.below(5));
        match self.draw.below(14) {
            0..=6 => format!("{one} + {plus}"),
            7 => format!("n + 6 - {one}"),
            8 => format!("2*{one} + {plus}"),
            9 => format!("{one} + {two} + {plus}"),
            10 => format!("n + {plus}"),
            11 => format!("{one}//2 + {plus}"),
            12 => format!("{one} % 3 + {plus}"),
            _ => format!("{plus}"),
        }
    }

    /// An index that memory says: a permutation, or numbers of which some are the same.
    pub(super) fn indirect(&mut self) -> String {
        let name = self.draw.of(&["p", "p", "q"]);
        self.argument(name, 1);
        self.reads.insert(name.to_owned());
        let (iname, plus) = (self.iname(), self.draw.below(5));
        format!("{name}[{iname} + {plus}]")
    }

    /// Reads an element of an argument.
    pub(super) fn element(&mut self, name: &str, axes: usize) -> String {
        self.argument(name, axes);
        self.reads.insert(name.to_owned());
        let indirect = axes == 1 && self.draw.one_in(10);
        let indices: Vec<String> = (0..axes).map(|_| if indirect { self.indirect() } else { self.index() }).collect();
        format!("{name}[{}]", indices.join(", "))
    }

    pub(super) fn any_element(&mut self) -> String {
        if self.draw.one_in(20) {
            return self.element("w", 2);
        }
        let (name, axes) = self.draw.of(&[("a", 1), ("b", 2), ("x", 1), ("y", 1), ("z", 2)]);
        self.element(name, axes)
    }

    /// An index of a temporary.
    pub(super) fn short_index(&mut self) -> String {
        let iname = self.iname();
        let last = SHORT - 1;
        match self.draw.below(4) {
            0 => format!("{}", self.draw.below(SHORT)),
            1 => format!("{last} - {iname} % {SHORT}"),
            _ => format!("{iname} % {SHORT}"),
        }
    }

    /// Reads a temporary that has a value here.
    fn temporary(&mut self) -> Option<String> {
        let is_here = |within: &[String]| within.iter().all(|iname| self.inames.contains(iname));
        let known: Vec<(String, usize)> =
            self.temporaries.iter().filter(|t| t.readable && is_here(&t.within)).map(|t| (t.name.clone(), t.axes)).collect();
        let (name, axes) = self.draw.any(&known)?;
        self.reads.insert(name.clone());
        let indices: Vec<String> = (0..axes).map(|_| self.short_index()).collect();
        Some(if axes == 0 { name } else { format!("{name}[{}]", indices.join(", ")) })
    }

    pub(super) fn leaf(&mut self) -> String {
        match self.draw.below(11) {
            0 => self.iname(),
            1 => format!("{}", 1 + self.draw.below(3)),
            // Halves of integers alone, so that sums are exact in any order.
            10 if self.draw.one_in(3) => "1.5".to_owned(),
            10 => format!("0.5*{}", self.iname()),
            2..=4 => self.temporary().unwrap_or_else(|| self.any_element()),
            5 | 6 if !self.rules.is_empty() => {
                let (rule, iname, plus) = (self.draw.of(&self.rules), self.iname(), self.draw.below(3));
                self.reads.extend(rule.reads);
                format!("{}({iname} + {plus})", rule.name)
            }
            _ => self.any_element(),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let (one, two) = (self.iname(), self.iname());
        match self.draw.below(9) {
            5 => format!("0.5*{} > 1.25", self.any_element()),
            // Integers have no value between.
            6 => {
                let element = self.any_element();
                format!("0 < 0.5*{element} and 0.5*{element} < 1")
            }
            7 => format!("0.5*{one} < 1.25"),
            8 => format!("{} > 0.5", self.temporary().unwrap_or_else(|| self.any_element())),
            0 => format!("{one} % 2 == 0"),
            1 => format!("{one} <= {two}"),
            2 => format!("{one} > {}", self.draw.below(3)),
            3 => format!("{} > {}", self.any_element(), self.draw.below(3)),
            _ => format!("{} % 2 == 1", self.any_element()),
        }
    }

    pub(super) fn value(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.draw.below(10) {
            0..=2 => self.leaf(),
            3 | 4 => format!("{} + {}", self.value(depth - 1), self.leaf()),
            5 => format!("{} - {}", self.value(depth - 1), self.leaf()),
            6 => format!("{}*{}", 2 + self.draw.below(2), self.leaf()),
            7 => format!("({}) % 7", self.value(depth - 1)),
            // An iname in front would make it a reduction.
            8 => format!("({} if {} else {})", self.leaf(), self.condition(), self.leaf()),
            _ => self.reduction(depth),
        }
    }

    /// A sum or the largest value, over one iname or two, of its own or of an earlier reduction.
    fn reduction(&mut self, depth: usize) -> String {
        let free = |needs: &[String]| needs.iter().all(|iname| self.inames.contains(iname));
        let earlier: Vec<(String, Vec<String>)> =
            self.reductions.iter().filter(|(name, needs)| free(needs) && !self.inames.contains(name)).cloned().collect();
        let mut over = vec![match self.draw.any(&earlier) {
            Some((name, _)) if self.draw.one_in(3) => name,
            _ => self.reduction_iname(),
        }];
        if self.draw.one_in(3) {
            over.push(self.reduction_iname());
        }
        let around = self.inames.len();
        self.inames.extend(over.iter().cloned());
        let value = if self.draw.one_in(3) { self.nested_reduction() } else { self.value(depth - 1) };
        self.inames.truncate(around);
        let inames = if over.len() == 1 { over.remove(0) } else { format!("({})", over.join(", ")) };
        match self.draw.below(3) {
            // The largest of nothing is the smallest number of its type, which no sum with it keeps.
            0 => format!("max(0, max({inames}, {value}))"),
            _ => format!("sum({inames}, {value})"),
        }
    }

    /// A reduction inside another one, over an iname whose limits may depend on the other's.
    fn nested_reduction(&mut self) -> String {
        let over = self.reduction_iname();
        let outside = self.leaf();
        self.inames.push(over.clone());
        let value = self.leaf();
        self.inames.pop();
        let inner = match self.draw.below(3) {
            0 => format!("max(0, max({over}, {value}))"),
            _ => format!("sum({over}, {value})"),
        };
        if self.draw.one_in(2) { format!("{inner} - {outside}") } else { inner }
    }

    pub(super) fn reduction_iname(&mut self) -> String {
        let name = format!("r{}", self.number());
        let outer = self.draw.any(&self.inames);
        let (limits, needs) = match (self.draw.below(6), outer) {
            (0, Some(outer)) => (format!("0 <= {name} <= {outer}"), vec![outer]),
            (1, Some(outer)) => (format!("{outer} <= {name} < n"), vec![outer]),
            (2, _) => (format!("0 <= {name} < n"), Vec::new()),
            (5, Some(outer)) => (format!("{outer} < {name} < n - 1"), vec![outer]),
            (3, _) => (format!("0 <= {name} < n and {name} mod 2 = 0"), Vec::new()),
            _ => (format!("0 <= {name} < {}", 2 + self.draw.below(4)), Vec::new()),
        };
        // In one domain with the iname that its limits depend on, or in its own.
        let shared = needs.first().and_then(|outer| self.domains.iter().position(|domain| domain.starts_with(&format!("{{[{outer}]: "))));
        match shared.filter(|_| self.draw.one_in(2)) {
            Some(place) => {
                let (dims, conditions) = self.domains[place].split_once("]: ").unwrap();
                let conditions = conditions.trim_end_matches('}');
                self.domains[place] = format!("{dims}, {name}]: {conditions} and {limits}}}");
            }
            None => self.domains.push(format!("{{[{name}]: {limits}}}")),
        }
        self.reductions.push((name.clone(), needs));
        name
    }
}
