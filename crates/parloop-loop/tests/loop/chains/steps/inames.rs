//! Transformations of inames, domains and parameters.

use std::collections::BTreeSet;

use parloop_loop::Name;
use parloop_loop::transform::get_kennedy_unweighted_fusion_candidates;

use super::{View, list};

fn split(view: &mut View<'_>) -> Option<String> {
    let iname = view.iname()?;
    let by = 2 + view.draw.below(4);
    let is_reduced = view.reduction_inames().contains(&iname);
    let uses = |tag: &str| view.kernel.inames.values().any(|known| known.tags.iter().any(|known| known.to_string() == tag));
    let (group, item) =
        (if uses("g.0") { " outer_tag=g.1" } else { " outer_tag=g.0" }, if uses("l.0") { " inner_tag=l.1" } else { " inner_tag=l.0" });
    let outer = view.draw.of(&["", "", if is_reduced { "" } else { group }, " outer_tag=for"]);
    let inner = view.draw.of(&["", "", "", item, item, " inner_tag=unr", " inner_tag=ilp", " inner_tag=vec"]);
    let slabs = view.maybe(6, |view| view.draw.of(&["slabs=[0, 1]", "slabs=[1, 0]", "slabs=[1, 1]"]).to_owned());
    let within = view.within();
    Some(format!("{iname} {by}{outer}{inner}{slabs}{within}"))
}

pub(super) fn split_iname(view: &mut View<'_>) -> Option<String> {
    split(view)
}

pub(super) fn chunk_iname(view: &mut View<'_>) -> Option<String> {
    split(view)
}

pub(super) fn tag_inames(view: &mut View<'_>) -> Option<String> {
    let is_free = |iname: &String| view.kernel.inames.get(iname.as_str()).is_some_and(|known| known.tags.is_empty());
    let inames: Vec<String> = view.inames().into_iter().filter(is_free).collect();
    let some = if inames.is_empty() { return None } else { view.draw.some(&inames, 2) };
    let tagged: Vec<String> = some.into_iter().map(|iname| format!("{iname}={}", view.tag(&iname))).collect();
    Some(tagged.join(" "))
}

pub(super) fn untag_inames(view: &mut View<'_>) -> Option<String> {
    let tagged: Vec<String> =
        view.kernel.inames.iter().filter(|(_, iname)| !iname.tags.is_empty()).map(|(name, _)| name.to_string()).collect();
    view.draw.any(&tagged)
}

pub(super) fn prioritize_loops(view: &mut View<'_>) -> Option<String> {
    let inames = view.nested();
    (inames.len() > 1).then(|| list(&inames))
}

pub(super) fn duplicate_inames(view: &mut View<'_>) -> Option<String> {
    let inames = view.nested();
    if inames.is_empty() {
        return None;
    }
    let id = view.id()?;
    let within = view.maybe(2, |_| format!("within=\"id:{id}\""));
    let tag = view.maybe(4, |view| format!("tags={{{}: {}}}", inames[0], view.tag(&inames[0])));
    Some(format!("{}{within}{tag}", list(&inames)))
}

/// Two inames that no instruction has both of.
fn apart(view: &mut View<'_>) -> Option<(String, String)> {
    let together = |one: &String, other: &String| {
        let has = |names: &BTreeSet<Name>, name: &String| names.contains(name.as_str());
        view.kernel.instructions.iter().any(|known| {
            let all = &known.within_inames | &known.reduction_inames();
            has(&all, one) && has(&all, other)
        })
    };
    let inames = view.inames();
    let pairs = inames.iter().flat_map(|one| inames.iter().map(move |other| (one.clone(), other.clone())));
    let pairs: Vec<(String, String)> = pairs.filter(|(one, other)| one != other && !together(one, other)).collect();
    view.draw.any(&pairs)
}

/// Fusion with another iname, or another name.
pub(super) fn rename_iname(view: &mut View<'_>) -> Option<String> {
    let within = view.within();
    let Some((one, other)) = apart(view).filter(|_| !view.draw.one_in(4)) else {
        return Some(format!("{} {}{within}", view.iname()?, view.fresh("w")));
    };
    Some(format!("{one} {other} existing_ok=True{within}"))
}

pub(super) fn rename_inames(view: &mut View<'_>) -> Option<String> {
    let inames = view.inames();
    let within = view.within();
    let Some((one, other)) = apart(view).filter(|_| !view.draw.one_in(4)) else {
        return Some(format!("{} {}{within}", list(&view.draw.some(&inames, 2)), view.fresh("w")));
    };
    if view.draw.one_in(2) {
        return Some(format!("{} {}{within}", list(&[one, other]), view.fresh("w")));
    }
    Some(format!("{} {other} existing_ok=True{within}", list(&[one])))
}

/// Loops that may be fused, as the search for them says, or any.
pub(super) fn rename_inames_in_batch(view: &mut View<'_>) -> Option<String> {
    let inames = view.inames();
    let name = view.fresh("w");
    if view.draw.one_in(2) {
        let candidates: BTreeSet<Name> = inames.iter().map(|iname| Name::from(iname.as_str())).collect();
        let groups = get_kennedy_unweighted_fusion_candidates(view.kernel, &candidates, &name).ok()?;
        let groups: Vec<String> =
            groups.iter().map(|(new, old)| format!("{new}: {}", list(&old.iter().map(ToString::to_string).collect::<Vec<_>>()))).collect();
        return (!groups.is_empty()).then(|| format!("{{{}}}", groups.join(", ")));
    }
    let (one, other) = apart(view)?;
    Some(format!("{{{name}: {}}}", list(&[one, other])))
}

/// New inames with their equations.
type Equations = Vec<(String, String)>;

/// Another order of the values: reversed, shifted, skewed, interchanged.
fn mapped(view: &mut View<'_>, inames: &[String]) -> Equations {
    let (t, u) = (view.fresh("h"), view.fresh("v"));
    match inames {
        [i, j, ..] => match view.draw.below(7) {
            0 => vec![(t.clone(), format!("{t} = {i} + {j}")), (u.clone(), format!("{u} = {j}"))],
            1 => vec![(t.clone(), format!("{t} = {i}")), (u.clone(), format!("{u} = {j} - {i}"))],
            2 => vec![(t.clone(), format!("{t} = {j}")), (u.clone(), format!("{u} = {i}"))],
            3 => vec![(t.clone(), format!("{t} = 2*{i} + {j}")), (u.clone(), format!("{u} = {i}"))],
            4 => vec![(t.clone(), format!("{t} = {i} - {j}")), (u.clone(), format!("{u} = {j} + 2"))],
            5 => vec![(t.clone(), format!("{t} = n - {i}")), (u.clone(), format!("{u} = {j}"))],
            _ => vec![(t.clone(), format!("{t} = {i} + 1")), (u.clone(), format!("{u} = {i} + {j}"))],
        },
        [i] => vec![match view.draw.below(6) {
            0 => (t.clone(), format!("{t} = n - 1 - {i}")),
            1 => (t.clone(), format!("{t} = -{i}")),
            2 => (t.clone(), format!("{t} = 2*{i}")),
            3 => (t.clone(), format!("{t} = {i} - n")),
            _ => (t.clone(), format!("{t} = {i} + {}", 1 + view.draw.below(3))),
        }],
        [] => Vec::new(),
    }
}

fn to_map(view: &mut View<'_>) -> Option<(Vec<String>, Equations)> {
    let mut inames = view.nested();
    inames.truncate(2);
    let new = mapped(view, &inames);
    (!new.is_empty()).then_some((inames, new))
}

pub(super) fn map_domain(view: &mut View<'_>) -> Option<String> {
    let (old, new) = to_map(view)?;
    let names: Vec<String> = new.iter().map(|(name, _)| name.clone()).collect();
    let equations: Vec<String> = new.into_iter().map(|(_, equation)| equation).collect();
    Some(format!("\"{{{} -> {}: {}}}\"", list(&old), list(&names), equations.join(" and ")))
}

pub(super) fn affine_map_inames(view: &mut View<'_>) -> Option<String> {
    let (old, new) = to_map(view)?;
    let names: Vec<String> = new.iter().map(|(name, _)| name.clone()).collect();
    let equations: Vec<String> = new.into_iter().map(|(_, equation)| format!("\"{equation}\"")).collect();
    Some(format!("{} {} {}", list(&old), list(&names), list(&equations)))
}

pub(super) fn join_inames(view: &mut View<'_>) -> Option<String> {
    let inames = view.nested();
    if inames.len() < 2 {
        return None;
    }
    let (name, within) = (view.fresh("w"), view.within());
    let name = view.maybe(2, |_| name);
    let tag = if name.is_empty() { String::new() } else { view.maybe(4, |view| format!("tag={}", view.draw.of(&["g.0", "l.0", "for"]))) };
    Some(format!("{}{name}{tag}{within}", list(&inames)))
}

/// What holds for all sizes of the case.
pub(super) fn assume(view: &mut View<'_>) -> Option<String> {
    let (least, most) = (view.sizes.iter().min()?, view.sizes.iter().max()?);
    let remainder = view.sizes[0].rem_euclid(2);
    let mut known = vec![format!("n >= {least}"), format!("n <= {most}"), format!("{least} <= n and n < {}", most + 1)];
    if view.sizes.iter().all(|size| size.rem_euclid(2) == remainder) {
        known.push(format!("n mod 2 = {remainder}"));
    }
    Some(format!("\"{}\"", view.draw.of(&known)))
}

pub(super) fn fix_parameters(view: &mut View<'_>) -> Option<String> {
    let size = view.draw.of(view.sizes);
    Some(format!("n={size}"))
}

pub(super) fn remove_unused_inames(view: &mut View<'_>) -> Option<String> {
    let inames = view.inames();
    Some(if view.draw.one_in(3) { list(&view.draw.some(&inames, 2)) } else { String::new() })
}

pub(super) fn make_reduction_inames_unique(view: &mut View<'_>) -> Option<String> {
    let inames = view.reduction_inames();
    let some = view.draw.any(&inames)?;
    Some(if view.draw.one_in(2) { String::new() } else { list(&[some]) })
}

fn split_reduction(view: &mut View<'_>) -> Option<String> {
    let inames = view.reduction_inames();
    let some = view.draw.any(&inames)?;
    let within = view.within();
    Some(format!("{some}{within}"))
}

pub(super) fn split_reduction_inward(view: &mut View<'_>) -> Option<String> {
    split_reduction(view)
}

pub(super) fn split_reduction_outward(view: &mut View<'_>) -> Option<String> {
    split_reduction(view)
}
