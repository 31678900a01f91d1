//! The builder: collects what a kernel is to be made of.

use std::collections::{BTreeMap, BTreeSet};

use parloop_device::DType;
use parloop_ir::functions::scope;
use parloop_ir::parse::{self, Draft, Which, Within};
use parloop_ir::program::Program;
use parloop_ir::syntax::{Argument, Instruction, KernelOptions, LoopKernel, Offset, Phase, Preamble, SubstitutionRule, Target, Temporary};
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

/// A program that was built, with what may be mistakes in it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: Program,
    /// What may be mistakes.
    pub warnings: Vec<Warning>,
}

/// Makes a kernel step by step. What is not said is found from how it is used.
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
    /// A kernel of nothing, called `loopy_kernel`.
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

    /// One more domain, as text (`{[i]: 0<=i<n}`) or as a set.
    pub fn domain(mut self, domain: impl Into<DomainText>) -> Self {
        self.domains.push(domain.into());
        self
    }

    /// More domains.
    pub fn domains(mut self, domains: impl IntoIterator<Item = impl Into<DomainText>>) -> Self {
        self.domains.extend(domains.into_iter().map(Into::into));
        self
    }

    /// More instructions and substitution rules, as text. Texts that follow each other are read as one.
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

    /// One more instruction. Its dependencies are ids of others.
    pub fn instruction(mut self, instruction: Instruction) -> Self {
        self.items.push(Item::Draft(Box::new(draft_of(instruction))));
        self
    }

    /// One more instruction, as a draft.
    pub fn draft(mut self, draft: Draft) -> Self {
        self.items.push(Item::Draft(Box::new(draft)));
        self
    }

    /// One more substitution rule.
    pub fn substitution(mut self, rule: SubstitutionRule) -> Self {
        self.items.push(Item::Rule(rule));
        self
    }

    /// One or more arguments or temporaries.
    pub fn data(mut self, data: Data) -> Self {
        self.data.push(Datum::Given(data));
        self
    }

    /// An argument.
    pub fn argument(mut self, argument: Argument) -> Self {
        self.data.push(Datum::Argument(argument));
        self
    }

    /// Arguments (names with commas between them) of which only the place among the others is said.
    pub fn argument_named(mut self, names: impl Into<String>) -> Self {
        self.data.push(Datum::Named(names.into()));
        self
    }

    /// A temporary.
    pub fn temporary(mut self, temporary: Temporary) -> Self {
        self.data.push(Datum::Temporary(temporary));
        self
    }

    /// Names that are not declared become arguments, after those that are: the `...` in a list of data. So it is when no data is given.
    pub fn rest(mut self) -> Self {
        self.rest = true;
        self
    }

    /// The order in memory of the axes of arguments for which none is said.
    pub fn default_order(mut self, order: Order) -> Self {
        self.default_order = order;
        self
    }

    /// Where arguments begin that are not declared.
    pub fn default_offset(mut self, offset: Offset) -> Self {
        self.default_offset = offset;
        self
    }

    /// What is promised of parameters: conditions (`n >= 1 and n % 16 = 0`), or a set without dimensions.
    pub fn assumptions(mut self, assumptions: impl Into<DomainText>) -> Self {
        self.assumptions = Some(assumptions.into());
        self
    }

    /// A parameter or an argument that is this number.
    pub fn fixed_parameter(mut self, name: impl Into<Name>, value: impl Into<Fixed>) -> Self {
        self.fixed.insert(name.into(), value.into());
        self
    }

    /// Whether each instruction depends on the one before it, and on nothing else by itself.
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

    /// Text in front of the code; texts are sorted by their keys, and one of each is written.
    pub fn preamble(mut self, preamble: Preamble) -> Self {
        self.preambles.insert(preamble);
        self
    }

    /// A chain of inames, outer first, that loops must nest in.
    pub fn priority(mut self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        self.priorities.insert(inames.into_iter().map(Into::into).collect());
        self
    }

    /// The type of indices: int32 unless it is said.
    pub fn index_type(mut self, dtype: DType) -> Self {
        self.index_type = dtype;
        self
    }

    /// The type that arithmetic of literals starts from.
    pub fn default_type(mut self, dtype: DType) -> Self {
        self.default_type = Some(dtype);
        self
    }

    /// The program whose entry point is this kernel. Functions that are known by name have their entries in it.
    ///
    /// # Errors
    /// Errors in texts, names, shapes or dependencies.
    pub fn build(self) -> Result<Program, CreateError> {
        Ok(self.build_with_warnings()?.program)
    }

    /// A program with this kernel, which others can call but which is not an entry point.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn build_function(self) -> Result<Program, CreateError> {
        Ok(self.build_function_with_warnings()?.program)
    }

    /// [`build_function`](Self::build_function), with what may be mistakes in it.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn build_function_with_warnings(self) -> Result<Built, CreateError> {
        let mut built = self.build_with_warnings()?;
        built.program.entrypoints.clear();
        Ok(built)
    }

    /// [`build`](Self::build), with what may be mistakes in it.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn build_with_warnings(self) -> Result<Built, CreateError> {
        let target = self.target;
        let (kernel, warnings) = steps::run(self.making()?)?;
        let program = scope(&Program { target, ..Program::of(kernel) }).map_err(Box::new)?;
        Ok(Built { program, warnings })
    }

    /// The kernel alone.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
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
                    let parsed = parse::instructions(&text).map_err(CreateError::Instructions)?;
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

/// An instruction that is made already, as a draft. An empty id is chosen.
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
