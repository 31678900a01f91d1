//! Lines `option …`: choices about code and checks that are not as by default.

use crate::print::quoted;
use crate::syntax::KernelOptions;

/// What stands after `option`, one for each choice that is not the default.
pub(super) fn print(options: &KernelOptions) -> Vec<String> {
    // Every field is named, so that a further one is not forgotten here.
    let KernelOptions {
        checked,
        check_bounds,
        insert_global_barriers,
        annotate,
        return_dict,
        skip_arg_checks,
        planned_order,
        silenced,
        build_options,
        other,
    } = options;
    let flags = [
        (*checked, "checked"),
        (!check_bounds, "no_check_bounds"),
        (!insert_global_barriers, "no_insert_global_barriers"),
        (*annotate, "annotate"),
        (*return_dict, "return_dict"),
        (*skip_arg_checks, "skip_arg_checks"),
        (*planned_order, "planned_order"),
    ];
    let mut lines: Vec<String> = flags.into_iter().filter(|(given, _)| *given).map(|(_, name)| name.to_owned()).collect();
    lines.extend(silenced.iter().map(|warning| format!("silence {}", quoted(warning))));
    lines.extend(build_options.iter().map(|flag| format!("build {}", quoted(flag))));
    lines.extend(other.iter().map(|(name, value)| format!("other {} {}", quoted(name), quoted(value))));
    lines
}

/// Reads what stands after `option`: its words, without quotes. Says what was expected instead.
///
/// # Errors
/// The choices that there are.
pub fn read(options: &mut KernelOptions, words: &[String]) -> Result<(), &'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["checked"] => options.checked = true,
        ["no_check_bounds"] => options.check_bounds = false,
        ["no_insert_global_barriers"] => options.insert_global_barriers = false,
        ["annotate"] => options.annotate = true,
        ["return_dict"] => options.return_dict = true,
        ["skip_arg_checks"] => options.skip_arg_checks = true,
        ["planned_order"] => options.planned_order = true,
        ["silence", warning] => {
            options.silenced.insert(warning.into());
        }
        ["build", flag] => options.build_options.push(flag.to_owned()),
        ["other", name, value] => {
            options.other.insert(name.into(), value.to_owned());
        }
        _ => {
            return Err("`checked`, `no_check_bounds`, `no_insert_global_barriers`, `annotate`, `return_dict`, `skip_arg_checks`, \
                        `planned_order`, `silence NAME`, `build \"FLAG\"` or `other NAME \"VALUE\"`");
        }
    }
    Ok(())
}
