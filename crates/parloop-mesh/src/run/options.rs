//! What users say about how a loop is run.

use parloop_device::once::Once;
use parloop_kernel::checked_by_environment;

use crate::declare::layers::Region;

/// How a loop is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopOptions {
    /// How writes are kept apart.
    pub plan: PlanChoice,
    /// Results are the same bit for bit in every run, on any number of threads.
    pub deterministic: bool,
    /// Indices are checked while it runs, and that the kernel writes all that is passed with WRITE. For that it is called twice for each
    /// element, on copies. The default is what the environment variable `PARLOOP_CHECKED` says
    /// ([`checked_by_environment`](parloop_kernel::checked_by_environment)).
    pub checked: bool,
    /// Whether elements run in vector lanes. Only CPUs have them.
    pub lanes: Lanes,
    /// Which cells of the columns of an extruded set.
    pub region: Region,
    /// Whether the kernel gets the number of the layer, an `int`, behind all arguments.
    pub pass_layer: bool,
}

impl Default for LoopOptions {
    fn default() -> LoopOptions {
        // The environment is read once, since loops are short. An invalid value is reported when a kernel is compiled.
        static CHECKED: Once<bool> = Once::new();
        let checked = *CHECKED.get_or_init(|| matches!(checked_by_environment(), Ok(true)));
        LoopOptions {
            plan: PlanChoice::default(),
            deterministic: false,
            checked,
            lanes: Lanes::default(),
            region: Region::default(),
            pass_layer: false,
        }
    }
}

/// Whether elements run in vector lanes. Only CPUs have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// Where that is faster: both are timed once a loop has run for a while.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always; an error if the loop does not support it.
    Always,
}

/// How a loop is run. All give the same results, except for the order in which floating-point numbers are added up and in which
/// elements change data in place through a map ([`Access::Rw`](crate::Access::Rw)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlanChoice {
    /// The fastest: the most promising at first; once a loop has run for a while all are timed, and the best is remembered.
    #[default]
    Auto,
    /// All elements in order, on one thread.
    Sequential,
    /// Each thread owns a part of the targets and runs every element that touches it.
    Owner,
    /// Elements one after another are cut into strips of about equal length; every second strip runs at the same time, then the others. Each
    /// element runs once, and threads write no target in common where the numbers of elements follow their places in the mesh.
    Strips,
    /// Elements, or blocks of them, of one colour touch no target in common; colours are run one after another.
    Colour,
    /// Each target gathers what its elements have for it.
    Gather,
    /// Each addition is atomic.
    Atomic,
    /// The work items of a block add up what they have for a target in the memory that they share; then the sum is added atomically.
    Shared,
}

impl PlanChoice {
    /// All choices.
    pub const ALL: [PlanChoice; 8] = [
        PlanChoice::Auto,
        PlanChoice::Sequential,
        PlanChoice::Owner,
        PlanChoice::Strips,
        PlanChoice::Colour,
        PlanChoice::Gather,
        PlanChoice::Atomic,
        PlanChoice::Shared,
    ];

    /// The name, as it is written in programs.
    pub fn name(self) -> &'static str {
        match self {
            PlanChoice::Auto => "auto",
            PlanChoice::Sequential => "sequential",
            PlanChoice::Owner => "owner",
            PlanChoice::Strips => "strips",
            PlanChoice::Colour => "colour",
            PlanChoice::Gather => "gather",
            PlanChoice::Atomic => "atomic",
            PlanChoice::Shared => "shared",
        }
    }

    /// The choice of that name.
    pub fn from_name(name: &str) -> Option<PlanChoice> {
        PlanChoice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}
