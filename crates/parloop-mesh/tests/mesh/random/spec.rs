//! Random loops without their data: tables, arguments, and the kernel's source in C.

use std::fmt::Write;

use parloop_device::DType;
use parloop_mesh::Access;

use super::number::{Random, TYPES, c_name};

/// The sets: the one of the loop, and three that maps lead to. No two elements meet in the last.
pub const OVER: usize = 0;
pub const SPARSE: usize = 3;

/// Where the maps lead: two to one set, one to another, one to the set of the loop, and one on which no two elements meet.
pub const LEADS_TO: [usize; 5] = [1, 1, 2, OVER, SPARSE];

/// Numbers of one type.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The set, or `None` for what all elements share.
    pub on: Option<usize>,
    pub dtype: DType,
    pub axes: Vec<usize>,
}

impl TableSpec {
    pub fn count(&self) -> usize {
        self.axes.iter().product()
    }
}

/// How a parameter is declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Declared {
    Flat,
    Pointers,
    ArrayOfPointers,
    Rows,
}

#[derive(Clone, Debug)]
pub struct ArgSpec {
    pub table: usize,
    pub access: Access,
    pub map: Option<usize>,
    pub component: Option<usize>,
    pub declared: Declared,
    pub constant: bool,
}

#[derive(Clone, Debug)]
pub struct Spec {
    pub tables: Vec<TableSpec>,
    pub args: Vec<ArgSpec>,
    pub arities: [usize; 5],
}

const AXES: [&[usize]; 9] = [&[1], &[1], &[2], &[3], &[4], &[5], &[6], &[2, 2], &[2, 3]];

impl Spec {
    /// A loop with this many arguments, each with data of its own.
    pub fn random(seed: u64, args: usize) -> Spec {
        let mut random = Random::new(seed);
        let mut spec = Spec { tables: Vec::new(), args: Vec::new(), arities: [(); 5].map(|()| 1 + random.below(5)) };
        for _ in 0..args {
            let (dtype, axes) = (random.one_of(&TYPES), random.one_of(&AXES).to_vec());
            let table = spec.tables.len();
            if random.chance(4) {
                spec.tables.push(TableSpec { on: None, dtype, axes });
                let access = random.one_of(&[Access::Read, Access::Inc, Access::Min, Access::Max]);
                spec.args.push(ArgSpec { table, access, map: None, component: None, declared: Declared::Flat, constant: false });
                continue;
            }
            let map = (!random.chance(3)).then(|| random.below(LEADS_TO.len()));
            let component = random.chance(5).then(|| random.below(axes.iter().product()));
            spec.tables.push(TableSpec { on: Some(map.map_or(OVER, |map| LEADS_TO[map])), dtype, axes });
            let access = random.one_of(&Access::ALL);
            let declared = match map {
                Some(_) => random.one_of(&[Declared::Flat, Declared::Pointers, Declared::ArrayOfPointers, Declared::Rows]),
                None => Declared::Flat,
            };
            let constant = access == Access::Read && random.chance(2);
            spec.args.push(ArgSpec { table, access, map, component, declared, constant });
        }
        spec
    }

    /// Loops in which several arguments are of the same data.
    pub fn sharing() -> Vec<Spec> {
        let on = |set: usize, dtype, axes: &[usize]| TableSpec { on: Some(set), dtype, axes: axes.to_vec() };
        let arg = |table, access, map| ArgSpec { table, access, map, component: None, declared: Declared::Flat, constant: false };
        let part = |table, access, map, component| ArgSpec { component: Some(component), ..arg(table, access, map) };
        let read = |table, map| arg(table, Access::Read, map);
        let spec = |tables: &[TableSpec], args: &[ArgSpec], arities| Spec { tables: tables.to_vec(), args: args.to_vec(), arities };
        let own = on(OVER, DType::I32, &[2]);
        vec![
            // Through two maps to one set.
            spec(
                &[on(1, DType::F64, &[2]), own.clone()],
                &[arg(0, Access::Inc, Some(0)), arg(0, Access::Inc, Some(1)), read(1, None)],
                [3, 2, 1, 1, 1],
            ),
            spec(
                &[on(1, DType::I32, &[3]), own.clone()],
                &[read(1, None), arg(0, Access::Max, Some(1)), arg(0, Access::Max, Some(0))],
                [4, 1, 1, 1, 1],
            ),
            // Two components, added to and read.
            spec(&[on(1, DType::F64, &[3])], &[part(0, Access::Inc, Some(0), 2), part(0, Access::Read, Some(1), 0)], [2, 3, 1, 1, 1]),
            spec(
                &[on(2, DType::F32, &[4]), own.clone()],
                &[part(0, Access::Inc, Some(2), 1), part(0, Access::Min, Some(2), 3), read(1, None)],
                [1, 1, 4, 1, 1],
            ),
            // All components and one of them.
            spec(
                &[on(1, DType::F64, &[3]), own.clone()],
                &[part(0, Access::Inc, Some(0), 0), arg(0, Access::Inc, Some(0)), read(1, None)],
                [2, 1, 1, 1, 1],
            ),
            spec(
                &[on(1, DType::I64, &[2]), own.clone()],
                &[arg(0, Access::Inc, Some(0)), part(0, Access::Inc, Some(1), 1), read(1, None)],
                [2, 2, 1, 1, 1],
            ),
            // The element's own data, read and written.
            spec(
                &[own.clone(), on(1, DType::F64, &[1])],
                &[read(0, None), arg(0, Access::Write, None), arg(1, Access::Inc, Some(0))],
                [3, 1, 1, 1, 1],
            ),
            spec(
                &[own.clone(), on(2, DType::I32, &[2])],
                &[arg(0, Access::Rw, None), arg(1, Access::Inc, Some(2)), read(0, None)],
                [1, 1, 2, 1, 1],
            ),
            spec(std::slice::from_ref(&own), &[arg(0, Access::Inc, None), arg(0, Access::Inc, None), read(0, None)], [1; 5]),
            // Read directly, through a map to itself, and as a component.
            spec(
                &[on(OVER, DType::F64, &[3]), on(1, DType::I32, &[1])],
                &[read(0, None), read(0, Some(3)), part(0, Access::Read, Some(3), 2), arg(1, Access::Inc, Some(0))],
                [2, 1, 1, 4, 1],
            ),
            // Sums and extremes over all elements next to sums through maps to two sets.
            spec(
                &[on(1, DType::F64, &[2]), on(2, DType::F64, &[1]), TableSpec { on: None, dtype: DType::F64, axes: vec![2] }, own.clone()],
                &[arg(0, Access::Inc, Some(0)), arg(1, Access::Inc, Some(2)), arg(2, Access::Inc, None), read(3, None)],
                [2, 1, 3, 1, 1],
            ),
            spec(
                &[on(1, DType::F64, &[2]), on(2, DType::I32, &[1]), own.clone(), on(OVER, DType::U8, &[3])],
                &[arg(0, Access::Inc, Some(0)), arg(1, Access::Max, Some(2)), read(2, None), arg(3, Access::Write, None)],
                [2, 1, 3, 1, 1],
            ),
            // The same sum twice.
            spec(
                &[TableSpec { on: None, dtype: DType::I64, axes: vec![1] }, own],
                &[arg(0, Access::Inc, None), arg(0, Access::Inc, None), read(1, None)],
                [1; 5],
            ),
        ]
    }

    /// The lengths of what the kernel sees of one row.
    pub fn seen_axes(&self, arg: &ArgSpec) -> Vec<usize> {
        if arg.component.is_some() { vec![1] } else { self.tables[arg.table].axes.clone() }
    }

    /// How many numbers of a row the kernel gets, and of how many rows.
    pub fn extent(&self, arg: &ArgSpec) -> (usize, usize) {
        (arg.map.map_or(1, |map| self.arities[map]), self.seen_axes(arg).iter().product())
    }

    /// The kernel: what is read gives a number, of which all that is written depends.
    pub fn source(&self) -> String {
        let parameters: Vec<String> = self.args.iter().enumerate().map(|(index, arg)| self.parameter(index, arg)).collect();
        let mut body = String::from("  int64_t s = 1;\n");
        for (index, arg) in self.args.iter().enumerate().filter(|(_, arg)| arg.access == Access::Read) {
            let place = self.place(index, arg);
            self.each(&mut body, arg, &format!("s += (i + 2*d + {}) * (int64_t){place};", index + 1));
        }
        body.push_str("  s = ((s % 7) + 7) % 7;\n");
        for (index, arg) in self.args.iter().enumerate() {
            let (place, ty) = (self.place(index, arg), c_name(self.tables[arg.table].dtype));
            let line = match arg.access {
                Access::Read if arg.constant => continue,
                // What is changed of what is only read is lost.
                Access::Read => format!("{place} = ({ty})99;"),
                Access::Write => format!("{place} = ({ty})(s + 3*i + d + {index});"),
                Access::Rw => format!("{place} = ({ty})({place} + ({ty})(s + d));"),
                Access::Inc => format!("{place} += ({ty})(s + i + 2*d);"),
                Access::Min => format!("{{ {ty} v = ({ty})(2*s + i + d); if (v < {place}) {place} = v; }}"),
                Access::Max => format!("{{ {ty} v = ({ty})(3*s + i + d); if (v > {place}) {place} = v; }}"),
            };
            self.each(&mut body, arg, &line);
        }
        format!("void k({}) {{\n{body}}}\n", parameters.join(", "))
    }

    fn parameter(&self, index: usize, arg: &ArgSpec) -> String {
        let constant = if arg.constant { "const " } else { "" };
        let ty = c_name(self.tables[arg.table].dtype);
        let (arity, axes) = (arg.map.map_or(1, |map| self.arities[map]), self.seen_axes(arg));
        let lengths: String = axes.iter().map(|length| format!("[{length}]")).collect();
        match arg.declared {
            Declared::Flat => format!("{constant}{ty} *a{index}"),
            Declared::Pointers => format!("{constant}{ty} **a{index}"),
            Declared::ArrayOfPointers => format!("{constant}{ty} *a{index}[{arity}]"),
            Declared::Rows if index.is_multiple_of(2) => format!("{constant}{ty} a{index}[{arity}]{lengths}"),
            Declared::Rows => format!("{constant}{ty} (*a{index}){lengths}"),
        }
    }

    /// Number `d` of row `i` of an argument.
    fn place(&self, index: usize, arg: &ArgSpec) -> String {
        let axes = self.seen_axes(arg);
        match (arg.declared, &axes[..]) {
            (Declared::Flat, _) => format!("a{index}[i*{}+d]", axes.iter().product::<usize>()),
            (Declared::Rows, [_, inner]) => format!("a{index}[i][d/{inner}][d%{inner}]"),
            _ => format!("a{index}[i][d]"),
        }
    }

    fn each(&self, body: &mut String, arg: &ArgSpec, line: &str) {
        let (rows, numbers) = self.extent(arg);
        writeln!(body, "  for (int i = 0; i < {rows}; i++) for (int d = 0; d < {numbers}; d++) {line}").unwrap();
    }
}
