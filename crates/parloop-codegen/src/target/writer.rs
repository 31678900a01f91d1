//! The writer: statements and functions as lines of text, two spaces a level, and in front of them what they need.

use std::collections::BTreeSet;

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, Target, Type};

use super::definition;
use super::dialect::Dialect;
use super::routine::{self, Need};
use crate::lower::tree::{AtomicChange, Declaration, For, Function, FunctionKind, LoopHint, Op, Param, Statement, Table, Value, ValueKind};
use crate::lower::{Code, LowerError, Lowered};

pub(super) struct Writer<'a> {
    pub(super) dialect: &'a dyn Dialect,
    pub(super) target: Target,
    pub(super) needs: BTreeSet<Need>,
    text: String,
    depth: usize,
    /// Whether all lanes of an ISPC program do the same, so that variables are shared by them.
    uniform: bool,
}

/// The text of a lowered kernel, with what a caller must know of its functions.
///
/// # Errors
/// If the target cannot express something, such as an atomic update of an unsupported type.
pub fn write(lowered: &Lowered) -> Result<Code, LowerError> {
    let dialect = super::dialect(lowered.target);
    let mut writer = Writer { dialect, target: lowered.target, needs: BTreeSet::new(), text: String::new(), depth: 0, uniform: false };
    lowered.tables.iter().for_each(|table| writer.table(table));
    for function in &lowered.functions {
        if !writer.text.is_empty() {
            writer.text.push('\n');
        }
        writer.function(function);
    }
    writer.needs.extend(lowered.shadow.iter().map(|_| Need::ShadowAccess));
    let body = writer.text;
    let needs = needed_text(dialect, &writer.needs, lowered.target)?;
    let mut front = String::new();
    for preamble in &lowered.preambles {
        front.push_str(preamble.text());
        if !preamble.text().ends_with('\n') {
            front.push('\n');
        }
    }
    let has_places = front.lines().any(|line| line.starts_with("#line "));
    front.push_str(&needs);
    let mut text = dialect.opening(&format!("{front}{body}"));
    let records: String = lowered.records.iter().map(|record| definition::record(dialect, record, &body)).collect();
    text.push_str(&definition::vectors(lowered.target, &format!("{records}{front}{body}")));
    text.push_str(&records);
    text.push_str(&front);
    if has_places {
        // Compiler messages about what follows do not refer to the user's source.
        text.push_str("#line 1 \"<generated>\"\n");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&body);
    Ok(Code {
        text,
        language: lowered.language,
        launches: lowered.launches.clone(),
        globals: lowered.globals.clone(),
        check_sites: lowered.check_sites.clone(),
        shadow: lowered.shadow.clone(),
    })
}

/// By default, accesses are not watched.
const WITHOUT_SHADOW: &str = "\
#ifndef PARLOOP_TOUCH
#define PARLOOP_TOUCH(...) 1
#define PARLOOP_SHADOW_BEGIN(STEPS, RECORDS) ((void)0)
#define PARLOOP_SHADOW_NEXT() ((void)0)
#define PARLOOP_SHADOW_BARRIER() ((void)0)
#endif
";

fn needed_text(dialect: &dyn Dialect, needs: &BTreeSet<Need>, target: Target) -> Result<String, LowerError> {
    let mut text = String::new();
    let both = needs.contains(&Need::Complex(DType::C64)) && needs.contains(&Need::Complex(DType::C128));
    let mut written = BTreeSet::new();
    for need in needs {
        match *need {
            Need::Check => text.push_str("#ifndef PARLOOP_CHECK\n#define PARLOOP_CHECK(OK, SITE, INDEX, LIMIT) (OK)\n#endif\n"),
            Need::ShadowAccess => text.push_str(WITHOUT_SHADOW),
            Need::Complex(dtype) => text.push_str(&super::complex::functions(dialect, dtype, both)),
            Need::Inside(dtype) => text.push_str(&routine::inside(dialect, dtype)),
            Need::Divisor(dtype) => text.push_str(&routine::divisor(dialect, dtype)),
            Need::Routine(routine, dtype) => text.push_str(&routine::text(dialect, routine, dtype)),
            Need::CompareAndSwap(dtype, space) | Need::AtomicAdd(dtype, space) => {
                let refused = || LowerError::NoAtomic { ty: dtype, target };
                let is_add = matches!(need, Need::AtomicAdd(..));
                if (!is_add || dialect.atomic_add(dtype).is_none()) && written.insert((dtype, space)) {
                    text.push_str(&routine::compare_and_swap(dialect, dtype, space).ok_or_else(refused)?);
                }
                if is_add {
                    text.push_str(&routine::atomic_add(dialect, dtype, space).ok_or_else(refused)?);
                }
            }
        }
    }
    Ok(text)
}

/// Whether the work items of a group are one alone.
fn is_one_item(kind: &FunctionKind) -> bool {
    match kind {
        FunctionKind::Launched(size) | FunctionKind::Task(size) => size.iter().all(|size| size.is_some_and(|size| size <= 1)),
        FunctionKind::Called => false,
    }
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        if !text.starts_with('#') {
            (0..self.depth).for_each(|_| self.text.push_str("  "));
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn table(&mut self, table: &Table) {
        let ty = self.dialect.type_name(&table.ty);
        let values: Vec<String> = table.values.iter().map(|value| self.value(value)).collect();
        let head = format!("{}{ty} const {}[{}] = {{", self.dialect.table(), table.name, table.values.len().max(1));
        self.line(&head);
        self.depth += 1;
        for row in values.chunks(8) {
            self.line(&format!("{},", row.join(", ")));
        }
        self.depth -= 1;
        self.line("};");
    }

    fn function(&mut self, function: &Function) {
        let shared = function.body.iter().any(|statement| matches!(statement, Statement::Groups { .. }));
        self.uniform = self.target == Target::Ispc && is_one_item(&function.kind);
        let head = self.dialect.head(&function.kind, shared);
        let params: Vec<String> = function.params.iter().map(|param| self.dialect.param(param)).collect();
        let params = if params.is_empty() && self.target == Target::C { "void".into() } else { params.join(", ") };
        self.line(&format!("{head} {}({params})", function.name));
        self.line("{");
        self.promises(&function.params);
        self.block(&function.body);
        self.line("}");
    }

    /// Tells the compiler how pointers are aligned, so that it may load neighbours at once.
    fn promises(&mut self, params: &[Param]) {
        for param in params.iter().filter(|param| param.pointer.is_some() && self.dialect.takes_alignment()) {
            let Some(bytes) = param.alignment else { continue };
            let (name, ty) = (&param.name, self.dialect.type_name(&param.ty));
            let constant = if param.constant { " const" } else { "" };
            self.depth += 1;
            self.line(&format!("{name} = ({ty}{constant} *)__builtin_assume_aligned({name}, {bytes});"));
            self.depth -= 1;
        }
    }

    fn braced(&mut self, body: &[Statement]) {
        self.line("{");
        self.block(body);
        self.line("}");
    }

    fn block(&mut self, body: &[Statement]) {
        self.depth += 1;
        body.iter().for_each(|statement| self.statement(statement));
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Declare(declaration) => self.declaration(declaration),
            Statement::Alias { name, ty, space, storage } => {
                let pointer = format!("{}{} *", self.dialect.space(*space), self.dialect.type_name(ty));
                self.line(&format!("{pointer}const {name} = ({pointer}){storage};"));
            }
            Statement::Assign(place, value) => {
                let (sign, value) = self.change(place, value);
                let (place, value) = (self.value(place), self.value(value));
                self.line(&format!("{place} {sign} {value};"));
            }
            Statement::AtomicUpdate { place, space, change } => self.atomic(place, *space, change),
            Statement::Call(value) => {
                let call = self.value(value);
                self.line(&format!("{call};"));
            }
            Statement::For(loop_) => self.for_loop(loop_),
            Statement::If(condition, yes, no) => {
                let condition = self.value(condition);
                self.line(&format!("if ({condition})"));
                self.body(yes);
                if !no.is_empty() {
                    self.line("else");
                    self.body(no);
                }
            }
            Statement::Groups { name, count, body } => {
                let count = self.value(count);
                self.line(&format!("VECTORIZE_OVER({name}, {count})"));
                self.block(body);
                self.line("END_VECTORIZE");
            }
            Statement::Launch { function, groups, args } => {
                let groups: Vec<String> = groups.iter().map(|count| self.value(count)).collect();
                let args: Vec<&str> = args.iter().map(|arg| arg.as_str()).collect();
                self.line(&format!("launch[{}] {function}({});", groups.join(", "), args.join(", ")));
                self.line("sync;");
            }
            Statement::Barrier(memory) => self.line(self.dialect.barrier(*memory)),
            Statement::Block(body) => self.braced(body),
            Statement::Text(text) => text.lines().for_each(|line| self.line(line)),
            Statement::Comment(text) => text.lines().for_each(|line| self.line(&format!("// {line}"))),
        }
    }

    /// How a value is assigned, and what stands on the right: `x += y` where `x = x + y` is meant.
    fn change<'v>(&self, place: &Value, value: &'v Value) -> (&'static str, &'v Value) {
        let is_plain = place.ty.scalar().is_some_and(|dtype| dtype != DType::Bool && (!dtype.is_complex() || self.dialect.has_complex()));
        match &value.kind {
            ValueKind::Binary(op, left, right) if is_plain && **left == *place => match op {
                Op::Add => ("+=", right),
                Op::Subtract => ("-=", right),
                Op::Multiply => ("*=", right),
                _ => ("=", value),
            },
            _ => ("=", value),
        }
    }

    /// The body of a loop or a condition: one statement stands without braces where it is one line.
    fn body(&mut self, body: &[Statement]) {
        match body {
            [statement @ (Statement::Assign(..) | Statement::Call(_))] => self.block(std::slice::from_ref(statement)),
            [statement @ Statement::For(For { hint: LoopHint::None, .. })] => self.block(std::slice::from_ref(statement)),
            _ => self.braced(body),
        }
    }

    fn for_loop(&mut self, loop_: &For) {
        let hint = match loop_.hint {
            LoopHint::None => None,
            LoopHint::Unroll => self.dialect.unroll(),
            LoopHint::Independent => self.dialect.independent(),
        };
        if let Some(hint) = hint {
            hint.lines().for_each(|line| self.line(line));
        }
        let ty = format!("{}{}", self.shared_by_lanes(), self.dialect.type_name(&loop_.first.ty));
        let (name, first, limit) = (&loop_.name, self.value(&loop_.first), self.value(&loop_.limit));
        let relation = if loop_.inclusive { "<=" } else { "<" };
        let step = if loop_.step == 1 { format!("++{name}") } else { format!("{name} += {}", loop_.step) };
        self.line(&format!("for ({ty} {name} = {first}; {name} {relation} {limit}; {step})"));
        self.body(&loop_.body);
    }

    fn shared_by_lanes(&self) -> &'static str {
        if self.uniform { "uniform " } else { "" }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let ty = self.dialect.type_name(&declaration.ty);
        let storage = match declaration.space {
            AddressSpace::Private => self.shared_by_lanes(),
            space => self.dialect.storage(space),
        };
        let constant = if declaration.constant { " const" } else { "" };
        let lengths: String = declaration.lengths.iter().map(|length| format!("[{length}]")).collect();
        let alignment = declaration.alignment.map_or(String::new(), |bytes| format!(" __attribute__ ((aligned({bytes})))"));
        let value = declaration.value.as_ref().map_or(String::new(), |value| format!(" = {}", self.value(value)));
        self.line(&format!("{storage}{ty}{constant} {}{lengths}{alignment}{value};", declaration.name));
    }

    fn atomic(&mut self, place: &Value, space: AddressSpace, change: &AtomicChange) {
        let dtype = place.ty.scalar().unwrap_or(DType::C128);
        let at = self.value(place);
        match change {
            AtomicChange::Add(value) => {
                self.needs.insert(Need::AtomicAdd(dtype, space));
                let value = self.value(value);
                self.line(&format!("{}(&{at}, {value});", routine::atomic_name("add", dtype, space)));
            }
            AtomicChange::Compute { old, result } => {
                self.needs.insert(Need::CompareAndSwap(dtype, space));
                let (ty, result) = (self.dialect.type_name(&Type::Scalar(dtype)), self.value(result));
                let swap = routine::atomic_name("swap", dtype, space);
                self.line("{");
                self.depth += 1;
                self.line(&format!("{ty} {old};"));
                self.line(&format!("do {old} = {at};"));
                self.line(&format!("while (!{swap}(&{at}, {old}, {result}));"));
                self.depth -= 1;
                self.line("}");
            }
        }
    }
}
