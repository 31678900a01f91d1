//! The builder: collects the parts of a kernel.

use std::collections::{BTreeMap, BTreeSet};

use parloop_device::DType;
use parloop_ir::functions::scope;
use parloop_ir::parse::{self, Draft, Which, Within};
use parloop_ir::program::Program;
use parloop_ir::syntax::{
    Argument, Instruction, KernelOptions, LoopKernel, Offset, Phase, Preamble, SubstitutionRule, Target, Temporary, TrustedC,
};
use parloop_isl::{Name, Set};
use parloop_transform::Fixed;

use super::data::{Data, Order, check_name};
use super::error::{CreateError, Warning};
use super::making::{Datum, DomainText, Making};
use super::steps;

#[derive(Clone, Debug)]
enum Item {
    Text(String),
    Draft(Box<Draft>),
    Rule(SubstitutionRule),
}

/// A program that was built, with warnings.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: Program,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Builds a kernel step by step. What is not given is inferred from its use.
///
/// ```
/// use parloop_loop::create::{Data, KernelBuilder};
/// let program = KernelBuilder::new()
///     .name("product")
///     .domain("{[i,j,k]: 0<=i,j,k<n}")
///     .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
///     .data(Data::global("a, b").dtype("float32").shape("n, n"))
///     .rest()
///     .assumptions("n >= 1 and n % 16 = 0")
///     .build()?;
/// assert_eq!(program.entry().unwrap().arguments.len(), 4);
/// # Ok::<(), parloop_loop::create::CreateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelBuilder {
    name: Name,
    domains: Vec<DomainText>,
    items: Vec<Item>,
    data: Vec<Datum>,
    rest: bool,
    default_order: Order,
    default_offset: Offset,
    assumptions: Option<DomainText>,
    fixed: BTreeMap<Name, Fixed>,
    sequential: bool,
    options: KernelOptions,
    c: Option<TrustedC>,
    target: Option<Target>,
    preambles: BTreeSet<Preamble>,
    priorities: BTreeSet<Vec<Name>>,
    index_type: DType,
    default_type: Option<DType>,
}

impl Default for KernelBuilder {
    fn default() -> KernelBuilder {
        KernelBuilder::new()
    }
}

impl KernelBuilder {
    /// An empty kernel, called `loopy_kernel`.
    pub fn new() -> KernelBuilder {
        KernelBuilder {
            name: "loopy_kernel".into(),
            domains: Vec::new(),
            items: Vec::new(),
            data: Vec::new(),
            rest: false,
            default_order: Order::C,
            default_offset: Offset::Zero,
            assumptions: None,
            fixed: BTreeMap::new(),
            sequential: false,
            options: KernelOptions::default(),
            c: None,
            target: None,
            preambles: BTreeSet::new(),
            priorities: BTreeSet::new(),
            index_type: DType::I32,
            default_type: None,
        }
    }

    /// Its name.
    pub fn name(mut self, name: impl Into<Name>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a domain, as text (`{[i]: 0<=i<n}`) or as a set.
    pub fn domain(mut self, domain: impl Into<DomainText>) -> Self {
        self.domains.push(domain.into());
        self
    }

    /// Adds domains.
    pub fn domains(mut self, domains: impl IntoIterator<Item = impl Into<DomainText>>) -> Self {
        self.domains.extend(domains.into_iter().map(Into::into));
        self
    }

    /// Adds instructions and substitution rules, as text. Consecutive texts are parsed as one.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        match self.items.last_mut() {
            Some(Item::Text(before)) => {
                before.push('\n');
                before.push_str(&text.into());
            }
            _ => self.items.push(Item::Text(text.into())),
        }
        self
    }

    /// Adds an instruction. Its dependencies are ids of others.
    pub fn instruction(mut self, instruction: Instruction) -> Self {
        self.items.push(Item::Draft(Box::new(draft_of(instruction))));
        self
    }

    /// Adds an instruction, as a draft.
    pub fn draft(mut self, draft: Draft) -> Self {
        self.items.push(Item::Draft(Box::new(draft)));
        self
    }

    /// Adds a substitution rule.
    pub fn substitution(mut self, rule: SubstitutionRule) -> Self {
        self.items.push(Item::Rule(rule));
        self
    }

    /// Adds one or more arguments or temporaries.
    pub fn data(mut self, data: Data) -> Self {
        self.data.push(Datum::Given(data));
        self
    }

    /// An argument.
    pub fn argument(mut self, argument: Argument) -> Self {
        self.data.push(Datum::Argument(argument));
        self
    }

    /// Arguments (names separated by commas) of which only the position is given.
    pub fn argument_named(mut self, names: impl Into<String>) -> Self {
        self.data.push(Datum::Named(names.into()));
        self
    }

    /// A temporary.
    pub fn temporary(mut self, temporary: Temporary) -> Self {
        self.data.push(Datum::Temporary(temporary));
        self
    }

    /// Turns undeclared names into arguments, after the declared ones: the `...` in a list of data. This is the default if no data is
    /// given.
    pub fn rest(mut self) -> Self {
        self.rest = true;
        self
    }

    /// The default order of axes of arguments.
    pub fn default_order(mut self, order: Order) -> Self {
        self.default_order = order;
        self
    }

    /// The offset of undeclared arguments.
    pub fn default_offset(mut self, offset: Offset) -> Self {
        self.default_offset = offset;
        self
    }

    /// Assumptions about parameters: conditions (`n >= 1 and n % 16 = 0`), or a set without dimensions.
    pub fn assumptions(mut self, assumptions: impl Into<DomainText>) -> Self {
        self.assumptions = Some(assumptions.into());
        self
    }

    /// Fixes a parameter or an argument to this number.
    pub fn fixed_parameter(mut self, name: impl Into<Name>, value: impl Into<Fixed>) -> Self {
        self.fixed.insert(name.into(), value.into());
        self
    }

    /// Whether each instruction depends on the one before it instead of inferred dependencies.
    pub fn sequential_dependencies(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Options for code and checks.
    pub fn options(mut self, options: KernelOptions) -> Self {
        self.options = options;
        self
    }

    /// The target of the generated code.
    pub fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// Allows C code in the text of instructions (`... c`), which is promised to be right.
    pub fn trusted_c(mut self, promise: TrustedC) -> Self {
        self.c = Some(promise);
        self
    }

    /// A preamble of the code; preambles are sorted by key, and each key is written once.
    pub fn preamble(mut self, preamble: Preamble) -> Self {
        self.preambles.insert(preamble);
        self
    }

    /// A chain of inames, outer first, in which loops must nest.
    pub fn priority(mut self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        self.priorities.insert(inames.into_iter().map(Into::into).collect());
        self
    }

    /// The index type; int32 by default.
    pub fn index_type(mut self, dtype: DType) -> Self {
        self.index_type = dtype;
        self
    }

    /// The default type of arithmetic with literals.
    pub fn default_type(mut self, dtype: DType) -> Self {
        self.default_type = Some(dtype);
        self
    }

    /// Builds the program whose entry point is this kernel. It has entries for functions that are known by name.
    ///
    /// # Errors
    /// Errors in texts, names, shapes or dependencies.
    pub fn build(self) -> Result<Program, CreateError> {
        Ok(self.build_with_warnings()?.program)
    }

    /// Builds a program with this kernel, which others can call but which is not an entry point.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_function(self) -> Result<Program, CreateError> {
        Ok(self.build_function_with_warnings()?.program)
    }

    /// [`build_function`](Self::build_function), with warnings.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_function_with_warnings(self) -> Result<Built, CreateError> {
        let mut built = self.build_with_warnings()?;
        built.program.entrypoints.clear();
        Ok(built)
    }

    /// [`build`](Self::build), with warnings.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with_warnings(self) -> Result<Built, CreateError> {
        let target = self.target;
        let (kernel, warnings) = steps::run(self.making()?)?;
        let program = scope(&Program { target, ..Program::of(kernel) }).map_err(Box::new)?;
        Ok(Built { program, warnings })
    }

    /// Builds only the kernel.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_kernel(self) -> Result<LoopKernel, CreateError> {
        Ok(steps::run(self.making()?)?.0)
    }

    fn making(self) -> Result<Making, CreateError> {
        check_name(&self.name)?;
        if !matches!(self.index_type, DType::I8 | DType::I16 | DType::I32 | DType::I64) {
            return Err(CreateError::IndexType { dtype: self.index_type.name() });
        }
        let (mut drafts, mut rules) = (Vec::new(), Vec::new());
        for item in self.items {
            match item {
                Item::Text(text) => {
                    let parsed = parse::instructions_with(&text, self.c).map_err(CreateError::Instructions)?;
                    drafts.extend(parsed.drafts);
                    rules.extend(parsed.substitutions);
                }
                Item::Draft(draft) => drafts.push(*draft),
                Item::Rule(rule) => rules.push(rule),
            }
        }
        let kernel = LoopKernel {
            name: self.name,
            domains: Vec::new(),
            instructions: Vec::new(),
            arguments: Vec::new(),
            temporaries: BTreeMap::new(),
            inames: BTreeMap::new(),
            substitutions: BTreeMap::new(),
            assumptions: Set::universe(&[], &[]),
            priorities: self.priorities,
            preambles: self.preambles,
            index_type: self.index_type,
            default_type: self.default_type,
            options: self.options,
            phase: Phase::Parsed,
        };
        Ok(Making {
            kernel,
            domains: self.domains,
            assumptions: self.assumptions,
            drafts,
            rules,
            guess: self.rest || self.data.is_empty(),
            data: self.data,
            default_order: self.default_order,
            default_offset: self.default_offset,
            sequential: self.sequential,
            fixed: self.fixed,
            pending: Vec::new(),
            ordered: BTreeSet::new(),
            auto_strides: BTreeSet::new(),
            warnings: Vec::new(),
        })
    }
}

/// A complete instruction as a draft. An empty id is replaced by a generated one.
fn draft_of(instruction: Instruction) -> Draft {
    let named = |name: Name| Which::Named(parloop_ir::matching::Glob::new(name));
    let within = match (instruction.within_inames_is_final, instruction.within_inames.is_empty()) {
        (true, _) => Within::Final(instruction.within_inames),
        (false, true) => Within::Auto,
        (false, false) => Within::Added(instruction.within_inames),
    };
    Draft {
        id: (!instruction.id.is_empty()).then_some(instruction.id),
        depends_on: instruction.depends_on.into_iter().map(named).collect(),
        depends_on_is_final: instruction.depends_on_is_final,
        nosync: instruction.nosync.into_iter().map(|(name, scope)| (named(name), scope)).collect(),
        groups: instruction.groups,
        conflicts: instruction.conflicts,
        within,
        priority: instruction.priority,
        predicates: instruction.predicates,
        tags: instruction.tags,
        ..Draft::bare(0..0, instruction.kind)
    }
}
