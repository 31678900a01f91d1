//! Random transformations, as lines of a `.loop` file. Every transformation that has a name is drawn; what only the caller can know
//! (that a size is positive, that an instruction is not needed) is drawn so that it is true.

mod arrays;
mod inames;
mod instructions;

use std::collections::BTreeSet;

use parloop_loop::Name;
use parloop_loop::syntax::{Expr, LoopKernel, Program};

use super::draw::Draw;

/// Draws the arguments of a transformation; none where the kernel has nothing to do it with.
type Drawn = fn(&mut View<'_>) -> Option<String>;

/// Every transformation, how often it is drawn, and what draws it.
const STEPS: &[((&str, Drawn), usize)] = &[
    (("add_barrier", instructions::add_barrier), 2),
    (("add_dependency", instructions::add_dependency), 2),
    (("add_inames_for_unused_hw_axes", instructions::add_inames_for_unused_hw_axes), 2),
    (("add_inames_to_insn", instructions::add_inames_to_insn), 3),
    (("add_nosync", instructions::add_nosync), 1),
    (("add_padding", arrays::add_padding), 2),
    (("add_prefetch", arrays::add_prefetch), 12),
    (("affine_map_inames", inames::affine_map_inames), 6),
    (("alias_temporaries", arrays::alias_temporaries), 6),
    (("allocate_temporaries_for_base_storage", arrays::allocate_temporaries_for_base_storage), 2),
    (("assignment_to_subst", instructions::assignment_to_subst), 6),
    (("assume", inames::assume), 2),
    (("buffer_array", arrays::buffer_array), 8),
    (("chunk_iname", inames::chunk_iname), 5),
    (("concatenate_arrays", arrays::concatenate_arrays), 3),
    (("duplicate_inames", inames::duplicate_inames), 6),
    (("expand_subst", instructions::expand_subst), 2),
    (("extract_subst", instructions::extract_subst), 4),
    (("fix_parameters", inames::fix_parameters), 2),
    (("inline_callable_kernel", instructions::inline_callable_kernel), 6),
    (("join_inames", inames::join_inames), 6),
    (("make_reduction_inames_unique", inames::make_reduction_inames_unique), 2),
    (("map_domain", inames::map_domain), 6),
    (("pack_and_unpack_args_for_call", instructions::pack_and_unpack_args_for_call), 3),
    (("precompute", arrays::precompute), 10),
    (("prioritize_loops", inames::prioritize_loops), 6),
    (("privatize_temporaries_with_inames", arrays::privatize_temporaries_with_inames), 6),
    (("realize_reduction", instructions::realize_reduction), 4),
    (("reduction_arg_to_subst_rule", instructions::reduction_arg_to_subst_rule), 3),
    (("remove_inames_from_insn", instructions::remove_inames_from_insn), 3),
    (("remove_instructions", instructions::remove_instructions), 2),
    (("remove_unused_arguments", arrays::remove_unused_arguments), 1),
    (("remove_unused_inames", inames::remove_unused_inames), 1),
    (("rename_argument", arrays::rename_argument), 1),
    (("rename_iname", inames::rename_iname), 6),
    (("rename_inames", inames::rename_inames), 4),
    (("rename_inames_in_batch", inames::rename_inames_in_batch), 5),
    (("set_argument_order", arrays::set_argument_order), 1),
    (("set_array_axis_names", arrays::set_array_axis_names), 1),
    (("set_instruction_priority", instructions::set_instruction_priority), 3),
    (("set_temporary_address_space", arrays::set_temporary_address_space), 5),
    (("simplify_indices", arrays::simplify_indices), 2),
    (("split_array_axis", arrays::split_array_axis), 4),
    (("split_iname", inames::split_iname), 14),
    (("split_reduction_inward", inames::split_reduction_inward), 3),
    (("split_reduction_outward", inames::split_reduction_outward), 3),
    (("tag_array_axes", arrays::tag_array_axes), 5),
    (("tag_inames", inames::tag_inames), 12),
    (("tag_instructions", instructions::tag_instructions), 1),
    (("unprivatize_temporaries_with_inames", arrays::unprivatize_temporaries_with_inames), 4),
    (("untag_inames", inames::untag_inames), 2),
];

/// Those that change what a kernel is given, that round numbers otherwise, or whose promise nobody could draw so that it is true.
pub const NOT_DRAWN: [&str; 3] = ["collect_common_factors_on_increment", "remove_predicates_from_insn", "to_batched"];

/// The names of all that are drawn.
pub fn drawn_steps() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|((name, _), _)| *name)
}

/// A random transformation of a program.
pub fn draw_step(draw: &mut Draw, program: &Program, sizes: &[i64]) -> Option<String> {
    let kernel = program.entry()?;
    for _ in 0..20 {
        let (name, arguments) = STEPS[draw.weighted(STEPS)].0;
        let mut view = View { draw, program, kernel, sizes };
        if let Some(arguments) = arguments(&mut view) {
            return Some(format!("{name} {arguments}").trim_end().to_owned());
        }
    }
    None
}

/// A kernel as transformations are drawn for it.
struct View<'a> {
    draw: &'a mut Draw,
    program: &'a Program,
    kernel: &'a LoopKernel,
    sizes: &'a [i64],
}

impl View<'_> {
    fn inames(&self) -> Vec<String> {
        self.kernel.inames.keys().map(ToString::to_string).collect()
    }

    fn iname(&mut self) -> Option<String> {
        self.draw.any(&self.inames())
    }

    /// Inames whose loops have a constant number of values.
    fn short(&self) -> Vec<String> {
        let is_short = |iname: &Name| {
            let home = self.kernel.domains.iter().find(|domain| domain.has_dim(iname));
            home.and_then(|home| home.project_onto(std::slice::from_ref(iname)).ok()).is_some_and(|values| values.params().is_empty())
        };
        self.kernel.inames.keys().filter(|iname| is_short(iname)).map(ToString::to_string).collect()
    }

    /// A tag that fits an iname, mostly: axes are used in order, and what needs a constant length has one.
    fn tag(&mut self, iname: &str) -> String {
        let used: BTreeSet<String> = self.kernel.inames.values().flat_map(|iname| &iname.tags).map(ToString::to_string).collect();
        let mut tags = vec!["for", "unr_hint"];
        let next = |axes: [&'static str; 3]| axes.into_iter().find(|axis| !used.contains(*axis)).unwrap_or(axes[0]);
        if !self.reduction_inames().iter().any(|reduced| reduced == iname) {
            tags.extend([next(["g.0", "g.1", "g.2"]); 3]);
        }
        if self.short().iter().any(|short| short == iname) || self.draw.one_in(8) {
            tags.extend([next(["l.0", "l.1", "l.2"]); 3]);
            tags.extend(["unr", "unr", "ilp", "ilp.seq", "vec", "l.auto"]);
        }
        self.draw.of(&tags).to_owned()
    }

    /// Inames that are around one instruction.
    fn nested(&mut self) -> Vec<String> {
        let nests: Vec<BTreeSet<String>> = self
            .kernel
            .instructions
            .iter()
            .map(|instruction| instruction.within_inames.iter().map(ToString::to_string).collect())
            .filter(|nest: &BTreeSet<String>| !nest.is_empty())
            .collect();
        let nest: Vec<String> = self.draw.any(&nests).unwrap_or_default().into_iter().collect();
        if nest.is_empty() { nest } else { self.draw.some(&nest, 3) }
    }

    fn reduction_inames(&self) -> Vec<String> {
        let found: BTreeSet<String> =
            self.kernel.instructions.iter().flat_map(|instruction| instruction.reduction_inames()).map(|name| name.to_string()).collect();
        found.into_iter().collect()
    }

    fn ids(&self) -> Vec<String> {
        self.kernel.instructions.iter().map(|instruction| instruction.id.to_string()).collect()
    }

    fn id(&mut self) -> Option<String> {
        self.draw.any(&self.ids())
    }

    /// Temporaries, each with its number of axes.
    fn temporaries(&self) -> Vec<(String, usize)> {
        self.kernel.temporaries.values().map(|known| (known.name.to_string(), known.layout.axis_count().unwrap_or(0))).collect()
    }

    /// Arguments that are arrays, each with its number of axes.
    fn arrays(&self) -> Vec<(String, usize)> {
        super::oracle::arrays(self.kernel).into_iter().map(|(name, _, axes)| (name, axes)).collect()
    }

    fn written(&self) -> BTreeSet<String> {
        self.kernel.instructions.iter().flat_map(|instruction| instruction.writes()).map(|name| name.to_string()).collect()
    }

    /// What a transformation is limited to, mostly nothing.
    fn within(&mut self) -> String {
        if !self.draw.one_in(5) {
            return String::new();
        }
        let id = self.id().unwrap_or_default();
        match self.draw.below(3) {
            0 => format!(" within=\"not id:{id}\""),
            1 => self.iname().map_or(String::new(), |iname| format!(" within=\"iname:{iname}\"")),
            _ => format!(" within=\"id:{id}\""),
        }
    }

    /// An argument that is given once in this many times.
    fn maybe(&mut self, once_in: usize, text: impl FnOnce(&mut Self) -> String) -> String {
        if self.draw.one_in(once_in) { format!(" {}", text(self)) } else { String::new() }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        let known: BTreeSet<String> = self.inames().into_iter().collect();
        (0..).map(|at| format!("{prefix}{at}")).find(|name| !known.contains(name)).unwrap_or_default()
    }

    /// Reads of arrays in the instructions.
    fn reads(&self) -> Vec<Expr> {
        let mut found = Vec::new();
        for instruction in &self.kernel.instructions {
            for expr in instruction.rhs() {
                expr.visit(&mut |part| found.extend(matches!(part, Expr::Subscript(..)).then(|| part.clone())));
            }
        }
        found
    }
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.join(", "))
}
