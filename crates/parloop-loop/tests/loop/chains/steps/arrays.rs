//! Transformations of arrays: arguments, temporaries, and what is fetched or computed into them.

use std::collections::BTreeSet;

use parloop_loop::syntax::Expr;

use super::{View, list};

/// Where what is fetched is kept, and by whom it is fetched.
fn how(view: &mut View<'_>) -> String {
    let tag =
        view.draw.of(&["", "", " default_tag=None", " default_tag=None", " default_tag=l.auto", " default_tag=for", " default_tag=unr"]);
    let bounding = view.draw.of(&["", "", " fetch_bounding_box=True"]);
    let space =
        view.draw.of(&["", "", " temporary_address_space=global", " temporary_address_space=local", " temporary_address_space=private"]);
    let within = view.within();
    format!("{tag}{bounding}{space}{within}")
}

/// Inames that the indices of an array, or the arguments of a rule, are made of; at times any.
fn sweep(view: &mut View<'_>, name: &str) -> String {
    let mut found = BTreeSet::new();
    for expr in view.kernel.instructions.iter().flat_map(|known| known.rhs()) {
        expr.visit(&mut |part| match part {
            Expr::Subscript(array, indices) if array.written_name().is_some_and(|array| array == name) => {
                found.extend(indices.iter().flat_map(|index| index.variables()));
            }
            Expr::Call(call) if call.function == name => found.extend(call.args.iter().flat_map(|arg| arg.variables())),
            _ => {}
        });
    }
    let mut inames: Vec<String> = found.iter().map(ToString::to_string).filter(|name| view.inames().contains(name)).collect();
    if inames.is_empty() || view.draw.one_in(8) {
        inames = view.inames();
    }
    let some = if inames.is_empty() { inames } else { view.draw.some(&inames, 2) };
    if view.draw.one_in(8) { "[]".to_owned() } else { list(&some) }
}

pub(super) fn add_prefetch(view: &mut View<'_>) -> Option<String> {
    let mut arrays = view.arrays();
    arrays.extend(view.temporaries().into_iter().filter(|(_, axes)| *axes > 0));
    let read: Vec<String> = view.kernel.instructions.iter().flat_map(|known| known.reads()).map(|name| name.to_string()).collect();
    arrays.retain(|(name, _)| read.contains(name));
    let (array, axes) = view.draw.any(&arrays)?;
    let sweep = sweep(view, &array);
    let outer = view.maybe(8, |view| format!("fetch_outer_inames={}", list(&view.nested())));
    let named = view.maybe(5, |_| format!("dim_arg_names={}", list(&(0..axes).map(|at| format!("d{at}")).collect::<Vec<_>>())));
    let how = how(view);
    Some(format!("{array} {sweep}{named}{outer}{how}"))
}

pub(super) fn precompute(view: &mut View<'_>) -> Option<String> {
    let mut used = BTreeSet::new();
    for expr in view.kernel.instructions.iter().flat_map(|known| known.rhs()) {
        expr.visit(&mut |part| _ = matches!(part, Expr::Call(call) if used.insert(call.function.clone())));
    }
    let rules: Vec<String> = view.kernel.substitutions.keys().filter(|rule| used.contains(*rule)).map(ToString::to_string).collect();
    let rule = view.draw.any(&rules)?;
    let sweep = sweep(view, &rule);
    let outer = view.maybe(8, |view| format!("precompute_outer_inames={}", list(&view.nested())));
    let how = how(view);
    Some(format!("{rule} {sweep}{outer}{how}"))
}

pub(super) fn alias_temporaries(view: &mut View<'_>) -> Option<String> {
    let names: Vec<String> = view.temporaries().into_iter().map(|(name, _)| name).collect();
    let some = if names.len() < 2 { return None } else { view.draw.some(&names, 3) };
    (some.len() > 1).then(|| list(&some))
}

pub(super) fn allocate_temporaries_for_base_storage(view: &mut View<'_>) -> Option<String> {
    (!view.kernel.temporaries.is_empty()).then(|| view.draw.of(&["", "aliased=False"]).to_owned())
}

pub(super) fn privatize_temporaries_with_inames(view: &mut View<'_>) -> Option<String> {
    let (temporaries, inames) = (view.temporaries(), view.nested());
    let (name, _) = view.draw.any(&temporaries)?;
    if inames.is_empty() {
        return None;
    }
    let only = view.maybe(2, |_| name);
    Some(format!("{}{only}", list(&inames)))
}

pub(super) fn set_temporary_address_space(view: &mut View<'_>) -> Option<String> {
    let temporaries = view.temporaries();
    let (name, _) = view.draw.any(&temporaries)?;
    Some(format!("{name} {}", view.draw.of(&["private", "local", "global"])))
}

/// An array or a temporary with axes.
fn with_axes(view: &mut View<'_>) -> Option<(String, usize)> {
    let mut arrays = view.temporaries();
    if arrays.is_empty() || view.draw.one_in(2) {
        arrays = view.arrays();
    }
    // The layout of a very large array stays as it is.
    arrays.retain(|(name, axes)| *axes > 0 && name != "h");
    view.draw.any(&arrays)
}

pub(super) fn tag_array_axes(view: &mut View<'_>) -> Option<String> {
    let (array, axes) = with_axes(view)?;
    let is_temporary = view.kernel.temporaries.contains_key(array.as_str());
    let mut levels: Vec<usize> = (0..axes).collect();
    view.draw.shuffle(&mut levels);
    let mut tags: Vec<String> = levels.iter().map(|level| format!("N{level}")).collect();
    let last = tags.len() - 1;
    match view.draw.below(6) {
        0 if axes > 1 => tags[levels.iter().position(|level| *level > 0).unwrap_or(0)] += "(pad=4)",
        1 if is_temporary => {
            tags = vec!["c".to_owned(); axes];
            tags[view.draw.below(axes)] = "sep".to_owned();
        }
        2 if is_temporary => {
            tags = vec!["c".to_owned(); axes];
            tags[last] = "vec".to_owned();
        }
        3 => tags = vec![view.draw.of(&["f", "c"]).to_owned(); axes],
        4 if axes == 1 => tags = vec![format!("stride:{}", 1 + view.draw.below(3))],
        _ => {}
    }
    Some(format!("{array} \"{}\"", tags.join(",")))
}

pub(super) fn split_array_axis(view: &mut View<'_>) -> Option<String> {
    let (array, axes) = with_axes(view)?;
    let order = view.draw.of(&["", "", " order=F"]);
    Some(format!("{array} {} {}{order}", view.draw.below(axes), 2 + view.draw.below(4)))
}

pub(super) fn set_array_axis_names(view: &mut View<'_>) -> Option<String> {
    let (array, axes) = with_axes(view)?;
    Some(format!("{array} {}", list(&(0..axes).map(|at| format!("axis{at}")).collect::<Vec<_>>())))
}

pub(super) fn rename_argument(view: &mut View<'_>) -> Option<String> {
    let arrays: Vec<(String, usize)> = view.arrays().into_iter().filter(|(name, _)| name != "h").collect();
    let (name, _) = view.draw.any(&arrays)?;
    Some(format!("{name} {name}_"))
}

pub(super) fn set_argument_order(view: &mut View<'_>) -> Option<String> {
    let mut names: Vec<String> = view.kernel.arguments.iter().map(|argument| argument.name.to_string()).collect();
    view.draw.shuffle(&mut names);
    Some(list(&names))
}

pub(super) fn simplify_indices(_: &mut View<'_>) -> Option<String> {
    Some(String::new())
}

pub(super) fn remove_unused_arguments(_: &mut View<'_>) -> Option<String> {
    Some(String::new())
}

pub(super) fn add_padding(view: &mut View<'_>) -> Option<String> {
    let (array, axes) = with_axes(view)?;
    Some(format!("{array} {} {}", view.draw.below(axes), view.draw.of(&["2", "3", "4"])))
}

pub(super) fn buffer_array(view: &mut View<'_>) -> Option<String> {
    let mut arrays = view.arrays();
    arrays.extend(view.temporaries().into_iter().filter(|(_, axes)| *axes > 0));
    let written: Vec<String> = view.kernel.instructions.iter().flat_map(|known| known.writes()).map(|name| name.to_string()).collect();
    arrays.retain(|(name, _)| written.contains(name));
    let (array, _) = view.draw.any(&arrays)?;
    let sweep = sweep(view, &array);
    let init = view.draw.of(&["", "", "", "", " init_expression=3"]);
    let how = how(view);
    Some(format!("{array} {sweep}{init}{how}"))
}

pub(super) fn concatenate_arrays(view: &mut View<'_>) -> Option<String> {
    let mut names: Vec<String> = view.temporaries().into_iter().filter(|(_, axes)| *axes > 0).map(|(name, _)| name).collect();
    // Those of other types are refused.
    let first = view.draw.any(&names)?;
    let ty = |name: &str| view.kernel.temporaries.get(name).map(|temporary| (temporary.ty.clone(), temporary.space));
    if !view.draw.one_in(4) {
        names.retain(|name| ty(name) == ty(&first));
    }
    let some = if names.len() < 2 { return None } else { view.draw.some(&names, 2) };
    (some.len() > 1).then(|| format!("{} joined", list(&some)))
}

pub(super) fn unprivatize_temporaries_with_inames(view: &mut View<'_>) -> Option<String> {
    let (temporaries, inames) = (view.temporaries(), view.nested());
    let (name, _) = view.draw.any(&temporaries)?;
    if inames.is_empty() {
        return None;
    }
    let only = view.maybe(2, |_| name);
    Some(format!("{}{only}", list(&inames)))
}
