//! Steps about reductions.

use parloop_ir::program::Program;
use parloop_isl::Name;

use super::{ApplyError, Arguments, TransformStep, done};
use crate::reduce::{Realization, Scan};

pub(super) fn realize_reduction(program: &Program, kernel: &Name, step: &TransformStep) -> Result<Program, ApplyError> {
    let names = ["insn_id_filter", "unknown_types_ok", "automagic_scans_ok", "force_scan", "force_outer_iname_for_scan"];
    let arguments = Arguments::of(step, &names)?;
    let scan = match (arguments.flag("force_scan", false)?, arguments.flag("automagic_scans_ok", false)?) {
        (true, _) => Scan::Always,
        (false, true) => Scan::WherePossible,
        (false, false) => Scan::No,
    };
    let how = Realization {
        only: arguments.optional_names("insn_id_filter")?.map(|names| names.into_iter().collect()),
        scan,
        sweep: arguments.optional_text("force_outer_iname_for_scan")?.map(Name::from),
    };
    done(step, crate::realize_reduction(program, kernel, &how))
}
