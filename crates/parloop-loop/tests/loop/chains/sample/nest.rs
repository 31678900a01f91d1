//! Nests of loops, and instructions in them.

use super::{Maker, SHORT, Temporary};

/// Kinds of instructions, and how often each is drawn.
const KINDS: [(Kind, usize); 12] = [
    (Kind::Recurrence, 5),
    (Kind::Plain, 3),
    (Kind::Accumulation, 3),
    (Kind::Scatter, 2),
    (Kind::Scalar, 4),
    (Kind::Carried, 3),
    (Kind::Delayed, 2),
    (Kind::Row, 3),
    (Kind::Dead, 1),
    (Kind::Called, 1),
    (Kind::Computed, 1),
    (Kind::Chosen, 1),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `x[i + 2] = x[i + 1] + …`.
    Recurrence,
    /// `x[i] = …`.
    Plain,
    /// `x[i] = x[i] + …`, inside more inames than `i`.
    Accumulation,
    /// `x[p[i]] = …`.
    Scatter,
    /// `t = …`, for those that follow in the same iteration.
    Scalar,
    /// `t = 0` in front of a loop, `t = 2*t + …` in it.
    Carried,
    /// `… = t`, then `t = …`: what a turn leaves is read in the next one.
    Delayed,
    /// `t[c] = …` in a loop of its own.
    Row,
    /// A temporary that nothing reads.
    Dead,
    /// A call of a kernel.
    Called,
    /// A loop whose end the kernel computes.
    Computed,
    /// Where the largest value is.
    Chosen,
}

impl Maker<'_> {
    /// A nest; its outermost inames may be those of the one before. Gives its inames.
    pub(super) fn nest(&mut self, number: usize, before: &[String]) -> Vec<String> {
        let shared = if before.is_empty() || self.draw.one_in(2) { 0 } else { 1 + self.draw.below(before.len()) };
        let depth = (self.draw.of(&[1, 1, 2, 2, 2, 3])).max(shared);
        self.depth = self.depth.max(depth);
        let mut inames = before[..shared].to_vec();
        let mut limits = Vec::new();
        for name in ["i", "j", "k"].iter().take(depth).skip(shared) {
            let name = format!("{name}{number}");
            limits.push(self.limits(&name, &inames));
            inames.push(name);
        }
        let own = &inames[shared..];
        if own.len() > 1 && self.draw.one_in(2) {
            self.domains.push(format!("{{[{}]: {}}}", own.join(", "), limits.join(" and ")));
        } else {
            self.domains.extend(own.iter().zip(&limits).map(|(name, limits)| format!("{{[{name}]: {limits}}}")));
        }
        for _ in 0..1 + self.draw.below(3) {
            let within = inames[..inames.len() - self.draw.below(inames.len().min(2))].to_vec();
            self.instructions(&within);
        }
        inames
    }

    /// The values of an iname: lines, gaps, congruences, and triangles and bands along the inames around it.
    fn limits(&mut self, name: &str, around: &[String]) -> String {
        let all = format!("0 <= {name} < n");
        if let Some(outer) = self.draw.any(around).filter(|_| self.draw.one_in(2)) {
            return match self.draw.below(8) {
                0 => format!("0 <= {name} <= {outer}"),
                1 => format!("{outer} <= {name} < n"),
                2 => format!("{outer} < {name} < n"),
                3 => format!("{all} and {outer} - 1 <= {name} <= {outer} + 1"),
                4 => format!("{all} and ({outer} + {name}) mod 2 = 0"),
                5 => format!("{all} and ({name} < {outer} or {name} > {outer} + 1)"),
                6 => format!("0 <= {name} < n - {outer}"),
                _ => format!("0 <= {name} and 2*{name} <= {outer}"),
            };
        }
        match self.draw.below(12) {
            0..=6 => all,
            7 => format!("1 <= {name} < n"),
            8 => format!("{all} and {name} mod {} = {}", 2 + self.draw.below(2), self.draw.below(2)),
            9 => format!("{all} and ({name} < 2 or {name} > 3)"),
            _ => format!("0 <= {name} < {}", 2 + self.draw.below(5)),
        }
    }

    fn instructions(&mut self, within: &[String]) {
        self.inames = within.to_vec();
        let kind = KINDS[self.draw.weighted(&KINDS)].0;
        match kind {
            Kind::Recurrence => self.recurrence(),
            Kind::Plain => {
                let lhs = self.target(within.len());
                let (rhs, condition) = (self.value(2), self.maybe_condition());
                self.assign(&lhs, &rhs, condition);
            }
            Kind::Accumulation => {
                let lhs = self.target(within.len() / 2);
                self.changed(&lhs);
            }
            Kind::Scatter => {
                let (index, name) = (self.indirect(), self.draw.of(&["x", "y"]));
                self.argument(name, 1);
                let lhs = format!("{name}[{index}]");
                if self.draw.one_in(2) {
                    return self.changed(&lhs);
                }
                let (rhs, condition) = (self.value(2), self.maybe_condition());
                self.assign(&lhs, &rhs, condition);
            }
            Kind::Scalar | Kind::Dead => {
                let name = self.new_temporary(0, within);
                let rhs = self.value(2);
                self.assign(&name, &rhs, None);
                if kind == Kind::Scalar {
                    self.make_readable();
                }
            }
            Kind::Carried => {
                let outer = &within[..self.draw.below(within.len())];
                let name = self.new_temporary(0, outer);
                self.inames = outer.to_vec();
                let first = self.draw.below(3);
                self.assign(&name, &first.to_string(), None);
                self.make_readable();
                self.inames = within.to_vec();
                if self.draw.one_in(3) {
                    self.read_into_argument(within);
                }
                self.changed(&name);
            }
            Kind::Delayed => self.delayed(within),
            Kind::Row => self.row(within),
            Kind::Called => self.called(within),
            Kind::Computed => self.computed(),
            Kind::Chosen => self.chosen(),
        }
        // What was left in a temporary is used, mostly.
        if matches!(kind, Kind::Scalar | Kind::Carried | Kind::Row) && !self.draw.one_in(4) {
            self.inames = within.to_vec();
            self.read_into_argument(within);
        }
    }

    fn assign(&mut self, lhs: &str, rhs: &str, condition: Option<String>) {
        let id = format!("s{}", self.made.len());
        self.instruction(id, lhs, rhs, condition);
    }

    fn maybe_condition(&mut self) -> Option<String> {
        self.draw.one_in(5).then(|| self.condition())
    }

    /// `lhs = (2*lhs + …) % 97`, which keeps numbers small.
    fn changed(&mut self, lhs: &str) {
        let (value, condition) = (self.value(1), self.maybe_condition());
        self.reads.insert(super::written(lhs).to_owned());
        let rhs = match self.draw.below(3) {
            0 => format!("{lhs} + {value}"),
            1 => format!("(3*{lhs} + {value}) % 97"),
            _ => format!("(2*{lhs} + {value}) % 89"),
        };
        if lhs.contains('[') && !lhs.starts_with('t') && self.draw.one_in(6) {
            let id = format!("s{}", self.made.len());
            let options = self.options(&id, lhs, condition);
            self.line(format!("{lhs} = {rhs} {{{options}, atomic}}"));
            return self.finish(id, lhs);
        }
        self.assign(lhs, &rhs, condition);
    }

    fn read_into_argument(&mut self, within: &[String]) {
        let lhs = self.target(within.len());
        let rhs = self.value(1);
        let known: Vec<Temporary> = self.temporaries.iter().filter(|known| known.readable).cloned().collect();
        let Some(last) = known.last() else { return self.assign(&lhs, &rhs, None) };
        let indices: Vec<String> = (0..last.axes).map(|_| self.short_index()).collect();
        let read = if last.axes == 0 { last.name.clone() } else { format!("{}[{}]", last.name, indices.join(", ")) };
        self.reads.insert(last.name.clone());
        self.assign(&lhs, &format!("{rhs} + {read}"), None);
    }

    /// An element of an argument for the inames at hand: of one axis or two.
    fn target(&mut self, keys: usize) -> String {
        let (name, axes) =
            if keys > 1 { self.draw.of(&[("z", 2), ("b", 2), ("x", 1)]) } else { self.draw.of(&[("x", 1), ("y", 1), ("a", 1)]) };
        let (name, axes) = if keys > 0 && self.draw.one_in(20) { ("w", 2) } else { (name, axes) };
        self.argument(name, axes);
        if keys == 0 {
            return format!("{name}[{}]", self.draw.below(3));
        }
        let mut inames = self.inames.clone();
        self.draw.shuffle(&mut inames);
        let indices: Vec<String> = (0..axes)
            .map(|axis| match (inames.get(axis), self.draw.below(6)) {
                (None, _) => self.index(),
                (Some(iname), 0) => format!("n + 6 - {iname}"),
                (Some(iname), 1) => format!("2*{iname} + {}", self.draw.below(2)),
                (Some(iname), _) => format!("{iname} + {}", self.draw.below(5)),
            })
            .collect();
        format!("{name}[{}]", indices.join(", "))
    }

    /// Elements of one array at several distances.
    fn recurrence(&mut self) {
        let (name, axes) =
            if self.inames.len() > 1 { self.draw.of(&[("z", 2), ("b", 2), ("x", 1)]) } else { self.draw.of(&[("x", 1), ("y", 1)]) };
        self.argument(name, axes);
        let along = self.draw.some(&self.inames.clone(), axes);
        let mut at = || {
            let indices: Vec<String> =
                (0..axes).map(|axis| along.get(axis).map_or("2".to_owned(), |iname| format!("{iname} + {}", self.draw.below(5)))).collect();
            format!("{name}[{}]", indices.join(", "))
        };
        let (lhs, first, second) = (at(), at(), at());
        let own = match self.draw.below(3) {
            0 => first,
            1 => format!("2*{first} + {second}"),
            _ => format!("{first} - {second}"),
        };
        let (value, condition) = (self.value(1), self.maybe_condition());
        self.reads.insert(name.to_owned());
        self.assign(&lhs, &format!("({own} + {value}) % 101"), condition);
    }

    fn new_temporary(&mut self, axes: usize, within: &[String]) -> String {
        let name = format!("t{}", self.number());
        let shape = if axes == 0 { String::new() } else { format!("[{}]", vec![SHORT.to_string(); axes].join(", ")) };
        let space = self.draw.of(&["temp", "temp", "temp", "private", "temp global"]);
        self.declare(&name, |dtype| format!("{name}: {space} {dtype}{shape}"));
        // Not to be read before it is written.
        self.temporaries.push(Temporary { name: name.clone(), axes, within: within.to_vec(), readable: false });
        name
    }

    /// From here on the last temporary may be read.
    fn make_readable(&mut self) {
        if let Some(last) = self.temporaries.last_mut() {
            last.readable = true;
        }
    }

    /// A temporary with axes: all of it is written in a loop of its own, then some of it changed in place.
    fn row(&mut self, within: &[String]) {
        let outer = &within[..self.draw.below(within.len() + 1)];
        let axes = self.draw.of(&[1, 1, 2]);
        let name = self.new_temporary(axes, outer);
        let own: Vec<String> = (0..axes).map(|_| format!("c{}", self.number())).collect();
        let limits: Vec<String> = own.iter().map(|own| format!("0 <= {own} < {SHORT}")).collect();
        self.domains.push(format!("{{[{}]: {}}}", own.join(", "), limits.join(" and ")));
        self.inames = outer.iter().chain(&own).cloned().collect();
        let rhs = self.value(1);
        self.assign(&format!("{name}[{}]", own.join(", ")), &rhs, None);
        self.make_readable();
        if self.draw.one_in(2) {
            self.inames = within.to_vec();
            let indices: Vec<String> = (0..axes).map(|_| self.short_index()).collect();
            self.changed(&format!("{name}[{}]", indices.join(", ")));
        }
    }

    /// A temporary that has a value in front of a loop; each turn reads what an earlier one left, then leaves its own.
    fn delayed(&mut self, within: &[String]) {
        let outer = &within[..self.draw.below(within.len())];
        let axes = self.draw.of(&[0, 0, 1]);
        let name = self.new_temporary(axes, outer);
        self.inames = outer.to_vec();
        let first = self.draw.below(3).to_string();
        if axes == 0 {
            self.assign(&name, &first, None);
        } else {
            let own = format!("c{}", self.number());
            self.domains.push(format!("{{[{own}]: 0 <= {own} < {SHORT}}}"));
            self.inames.push(own.clone());
            self.assign(&format!("{name}[{own}]"), &first, None);
        }
        self.make_readable();
        self.inames = within.to_vec();
        self.read_into_argument(within);
        let (value, condition) = (self.value(1), self.maybe_condition());
        let indices: Vec<String> = (0..axes).map(|_| self.short_index()).collect();
        let lhs = if axes == 0 { name } else { format!("{name}[{}]", indices.join(", ")) };
        self.assign(&lhs, &value, condition);
        if self.draw.one_in(2) {
            self.inames = outer.to_vec();
            if !outer.is_empty() {
                self.read_into_argument(outer);
            }
        }
    }

    /// The first place of the largest of several values, of which many are the same.
    fn chosen(&mut self) {
        let (largest, over) = (format!("m{}", self.number()), self.reduction_iname());
        self.data.insert(largest.clone(), format!("{largest}: temp float64"));
        let lhs = self.target(self.inames.len());
        self.inames.push(over.clone());
        let value = self.value(1);
        self.inames.pop();
        let id = format!("s{}", self.made.len());
        let options = self.options(&id, &lhs, None);
        self.line(format!("{largest}, {lhs} = argmax({over}, ({value}) % 2, {over}) {{{options}}}"));
        self.finish(id, &lhs);
    }

    /// A loop that ends where a number in memory says.
    fn computed(&mut self) {
        let (end, iname) = (format!("e{}", self.number()), format!("j{}_", self.number()));
        self.declare(&end, |_| format!("{end}: temp int32"));
        let element = self.any_element();
        self.assign(&end, &format!("{element} % 4"), None);
        self.domains.push(format!("{{[{iname}]: 0 <= {iname} < {end}}}"));
        self.inames.push(iname);
        self.reads.insert(end);
        let lhs = self.target(self.inames.len());
        self.changed(&lhs);
    }

    /// A call of a kernel on rows, with the instructions that it stands for.
    fn called(&mut self, within: &[String]) {
        let (row, from, to) = (self.draw.of(within), self.number(), self.number());
        let (l, m) = (format!("l{}", self.number()), format!("m{}", self.number()));
        self.argument("b", 2);
        self.argument("z", 2);
        let dtype = |line: &str| line.split(['[', ' ']).nth(2).unwrap_or_default().to_owned();
        let (of_from, of_to) = (dtype(&self.data["b"]), dtype(&self.data["z"]));
        self.domains
            .push(format!("{{[from{from}, to{to}, {l}, {m}]: 0 <= from{from}, to{to}, {l} < {SHORT} and 0 <= {m} < {}}}", SHORT - 1));
        self.reads.insert("b".to_owned());
        let sums = self.draw.one_in(2);
        if sums {
            self.reads.insert("z".to_owned());
        }
        let id = format!("s{}", self.made.len());
        self.inames = within.to_vec();
        let options = self.options(&id, "z[0, 0]", None);
        let function = format!("g{from}");
        let row_options = |own: &str| options.replace("inames=", &format!("inames={own}:"));
        let last = SHORT - 1;
        if sums {
            let first = format!("{id}_first");
            let before = row_options(&l).replacen(&format!("id={id},"), &format!("id={first},"), 1);
            self.lines.push(format!(";= z[{row} + 1, {l} + 1] = b[{row}, {last} - {l}] {{{before}}}"));
            let after = row_options(&m).replacen("dep=*", &format!("dep=*{first}:"), 1).replace(":,", ",");
            self.lines.push(format!(";= z[{row} + 1, {m} + 2] = (z[{row} + 1, {m} + 1] + b[{row}, {m} + 1]) % 89 {{{after}}}"));
        } else {
            self.lines.push(format!(";= z[{row} + 1, {l} + 1] = 2*b[{row}, {l}] + {l} {{{}}}", row_options(&l)));
        }
        let result = format!("[to{to}]: z[{row} + 1, to{to} + 1]");
        // What a callee reads and writes is passed too.
        let passed = if sums { format!(", {result}") } else { String::new() };
        self.lines.push(format!("{result} = {function}([from{from}]: b[{row}, from{from}]{passed}) {{{options}}}"));
        let body = match sums {
            true => format!(
                "  to[l] = from[{last} - l] {{id=first, inames=l}}\n  to[m + 1] = (to[m] + from[m + 1]) % 89 {{id=second, dep=*first, inames=m}}\n"
            ),
            false => "  to[l] = 2*from[l] + l {inames=l}\n".to_owned(),
        };
        self.functions += &format!(
            "function {function}\ndomain {{[l, m]: 0 <= l < {SHORT} and 0 <= m < {last}}}\ndata\n  from: global {of_from}[{SHORT}]\n  \
             to: global {of_to}[{SHORT}]\ninstructions\n{body}\n"
        );
        self.finish(id, "z[0, 0]");
    }
}
