//! Lines `option …`: options that are not the default.

use crate::print::quoted;
use crate::syntax::{KernelOptions, Promised};

/// The text after `option`, for each option that is not the default.
pub(super) fn print(options: &KernelOptions) -> Vec<String> {
    // All fields are listed, so that adding one is a compile error here.
    let KernelOptions {
        checked,
        insert_global_barriers,
        annotate,
        return_dict,
        skip_arg_checks,
        loopy_arithmetic,
        silenced,
        other,
        promised: Promised { bounds, order, lenient, build_options },
    } = options;
    let flags = [
        (*checked == Some(true), "checked"),
        (*checked == Some(false), "unchecked"),
        (*bounds, "no_check_bounds"),
        (!insert_global_barriers, "no_insert_global_barriers"),
        (*annotate, "annotate"),
        (*return_dict, "return_dict"),
        (*skip_arg_checks, "skip_arg_checks"),
        (*loopy_arithmetic, "loopy_arithmetic"),
        (*order, "planned_order"),
        (*lenient, "lenient"),
    ];
    let mut lines: Vec<String> = flags.into_iter().filter(|(given, _)| *given).map(|(_, name)| name.to_owned()).collect();
    lines.extend(silenced.iter().map(|warning| format!("silence {}", quoted(warning))));
    lines.extend(build_options.iter().map(|flag| format!("build {}", quoted(flag))));
    lines.extend(other.iter().map(|(name, value)| format!("other {} {}", quoted(name), quoted(value))));
    lines
}

/// The message for an option that only trusted text may have.
const UNTRUSTED: &str = "no option that replaces a check, which only trusted text may have (see `LoopFile::parse_trusted`)";

/// As [`read`], but also accepts options that replace a check.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// What [`KernelOptions::set_check_bounds`], [`KernelOptions::set_planned_order`], [`KernelOptions::set_lenient`] and
/// [`KernelOptions::set_build_options`] require.
pub unsafe fn read_trusted(options: &mut KernelOptions, words: &[String]) -> Result<(), &'static str> {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["no_check_bounds"] => options.promised.bounds = true,
        ["planned_order"] => options.promised.order = true,
        ["lenient"] => options.promised.lenient = true,
        ["build", flag] => options.promised.build_options.push(flag.to_owned()),
        _ => return read(options, words),
    }
    Ok(())
}

/// Parses the text after `option`: its words, without quotes.
///
/// # Errors
/// What was expected: the possible options, or trusted text.
pub fn read(options: &mut KernelOptions, words: &[String]) -> Result<(), &'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["checked"] => options.checked = Some(true),
        ["unchecked"] => options.checked = Some(false),
        ["no_insert_global_barriers"] => options.insert_global_barriers = false,
        ["annotate"] => options.annotate = true,
        ["return_dict"] => options.return_dict = true,
        ["skip_arg_checks"] => options.skip_arg_checks = true,
        ["loopy_arithmetic"] => options.loopy_arithmetic = true,
        ["silence", warning] => {
            options.silenced.insert(warning.into());
        }
        ["build", flag] => options.add_build_option(flag).map_err(|_| UNTRUSTED)?,
        ["no_check_bounds" | "planned_order" | "lenient"] => return Err(UNTRUSTED),
        ["other", name, value] => {
            options.other.insert(name.into(), value.to_owned());
        }
        _ => {
            return Err(
                "`checked`, `unchecked`, `no_check_bounds`, `no_insert_global_barriers`, `annotate`, `return_dict`, `skip_arg_checks`, \
                        `loopy_arithmetic`, `planned_order`, `lenient`, `silence NAME`, `build \"FLAG\"` or `other NAME \"VALUE\"`",
            );
        }
    }
    Ok(())
}
