//! `create` knows how kernels are written down by people: it finds what they leave out.
//!
//! Making kernels: from domains, instructions and data as a user writes them to a [`LoopKernel`] in a [`Program`].
//!
//! [`KernelBuilder`] collects; `steps.rs` lists what happens then, one file for each step. Nothing here looks at types or targets.

mod arguments;
mod builder;
mod checks;
mod common_subexpressions;
mod data;
mod declare;
mod dependencies;
mod domains;
mod duplicate;
mod error;
mod extremes;
mod identify;
mod inames;
mod making;
mod rules;
mod shapes;
mod slices;
mod steps;
mod tagged_names;

use parloop_ir::program::Program;
use parloop_ir::syntax::LoopKernel;

use parloop_analysis::sequence::created;
use parloop_isl::{Name, Set};

pub use builder::{Built, DomainText, KernelBuilder};
pub use data::{Data, Order, TypeName};
pub use error::{CreateError, NameKind, Warning};
pub use making::DomainText;
pub use parloop_ir::parse::{DimTagError, parse_dim_tag_list, parse_dim_tags};

use parloop_ir::parse::{Draft, Which};
use parloop_ir::program::Program;
use parloop_ir::substitution::expand_calls;
use parloop_ir::syntax::{Instruction, LoopKernel, Offset, SubstitutionRule, SyncScope};
use parloop_transform::Fixed;

/// A step of the making of a kernel.
type Step = fn(&mut Making) -> Result<(), CreateError>;

/// What is done, in this order.
const STEPS: &[Step] = &[
    domains::read_domains,
    domains::read_assumptions,
    common_subexpressions::expand,
    identify::name_instructions,
    tagged_names::drop_tags,
    extremes::settle_extremes,
    rules::collect_rules,
    arguments::read_data,
    declare::make_temporaries,
    arguments::guess_arguments,
    checks::check_names,
    checks::check_inames,
    checks::check_writes,
    dependencies::add_sequential,
    slices::realise_slices,
    // Temporaries carry inames from who writes them to who reads them, so they come first.
    inames::find_within,
    domains::fix_parameters,
    // An instruction must be within an iname to have a copy of it.
    duplicate::duplicate_inames,
    // Shapes are footprints over the inames of the instructions.
    shapes::find_shapes,
    arguments::apply_default_order,
    dependencies::resolve,
    dependencies::add_single_writers,
    checks::check_uses,
];

/// Data of a kernel in the order given.
#[derive(Clone, Debug)]
enum Datum {
    /// Arguments or temporaries.
    Given(Data),
    /// An argument of which only the place is said.
    Named(String),
    /// An argument.
    Argument(parloop_ir::syntax::Argument),
    /// A temporary.
    Temporary(parloop_ir::syntax::Temporary),
}

/// What an instruction says of others and is looked up once all are there.
#[derive(Clone, Debug, Default)]
struct Pending {
    depends_on: Vec<Which>,
    nosync: Vec<(Which, SyncScope)>,
    duplicate: Vec<(Name, Option<Name>)>,
}

/// A kernel that is being made.
struct Making {
    kernel: LoopKernel,
    domains: Vec<DomainText>,
    assumptions: Option<DomainText>,
    drafts: Vec<Draft>,
    rules: Vec<SubstitutionRule>,
    data: Vec<Datum>,
    /// Whether undeclared names become arguments.
    guess: bool,
    default_order: Order,
    default_offset: Offset,
    sequential: bool,
    fixed: BTreeMap<Name, Fixed>,
    /// One for each instruction of the kernel.
    pending: Vec<Pending>,
    /// Arrays of which the order of axes was said.
    ordered: BTreeSet<Name>,
    /// Arrays whose strides are found in each call, but whose number of axes was not said.
    auto_strides: BTreeSet<Name>,
    warnings: Vec<Warning>,
}

impl Making {
    /// The instructions with substitution rules replaced by what they stand for.
    fn expanded(&self) -> Result<Vec<Arc<Instruction>>, CreateError> {
        if self.kernel.substitutions.is_empty() {
            return Ok(self.kernel.instructions.clone());
        }
        let expand = |instruction: &Arc<Instruction>| {
            let rules = &self.kernel.substitutions;
            let expanded = instruction.try_map_exprs(&mut |expr| expand_calls(expr, rules, &instruction.id, &|_| true))?;
            Ok(Arc::new(expanded))
        };
        self.kernel.instructions.iter().map(expand).collect()
    }

    /// What each name stands for.
    fn kinds(&self) -> BTreeMap<Name, NameKind> {
        let kernel = &self.kernel;
        let params = kernel.domains.iter().flat_map(|domain| domain.params()).chain(kernel.assumptions.params());
        let mut kinds: BTreeMap<Name, NameKind> = params.map(|param| (param.clone(), NameKind::Parameter)).collect();
        kinds.extend(kernel.substitutions.keys().map(|rule| (rule.clone(), NameKind::Substitution)));
        kinds.extend(kernel.temporaries.values().map(|temporary| (temporary.name.clone(), NameKind::of_temporary(temporary))));
        kinds.extend(kernel.arguments.iter().map(|argument| (argument.name.clone(), NameKind::of_argument(argument))));
        kinds.extend(kernel.inames.keys().map(|iname| (iname.clone(), NameKind::Iname)));
        kinds
    }

    /// Which instructions write each name.
    fn writers(&self) -> BTreeMap<Name, Vec<usize>> {
        let mut writers: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (index, instruction) in self.kernel.instructions.iter().enumerate() {
            for name in instruction.writes() {
                writers.entry(name).or_default().push(index);
            }
        }
        writers
    }

    fn warn(&mut self, warning: Warning) {
        let name = warning.name();
        if !self.kernel.options.silenced.iter().any(|silenced| parloop_ir::matching::Glob::new(silenced).matches(&name)) {
            self.warnings.push(warning);
        }
    }

    fn run(mut self) -> Result<(LoopKernel, Vec<Warning>), CreateError> {
        for step in STEPS {
            step(&mut self)?;
        }
        Ok((created(self.kernel), self.warnings))
    }
}

/// A kernel from its domain and its instructions; everything else is found from these.
///
/// ```
/// let program = parloop_loop::create::make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?;
/// let kernel = program.entry().unwrap();
/// assert_eq!(kernel.arguments.iter().map(|argument| &*argument.name).collect::<Vec<_>>(), ["a", "n", "out"]);
/// # Ok::<(), parloop_loop::create::CreateError>(())
/// ```
pub fn make_kernel(domain: impl Into<DomainText>, instructions: &str) -> Result<Program, CreateError> {
    KernelBuilder::new().domain(domain).instructions(instructions).build()
}

/// A kernel from its domain and its instructions; everything else is found from these. [`KernelBuilder`] takes more.
///
/// ```
/// use parloop_loop::create::parse_kernel;
/// let kernel = parse_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?;
/// assert_eq!(kernel.instructions[0].within_inames, ["i".into()].into());
/// # Ok::<(), parloop_loop::create::CreateError>(())
/// ```
///
/// # Errors
/// Those of [`KernelBuilder::build`].
pub fn parse_kernel(domain: impl Into<DomainText>, instructions: &str) -> Result<LoopKernel, CreateError> {
    KernelBuilder::new().domain(domain).instructions(instructions).build_kernel()
}
