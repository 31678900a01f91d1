//! User options for the code of a kernel and its checks.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Name;

/// User options for code and checks.
///
/// Some options replace a check or are passed to a compiler verbatim. Only `unsafe` functions set these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelOptions {
    /// Whether every index is checked at run time; `None` leaves it to the environment.
    pub checked: Option<bool>,
    /// Missing global barriers are inserted rather than reported.
    pub insert_global_barriers: bool,
    /// Whether the code has comments with instruction ids.
    pub annotate: bool,
    /// Results by name instead of by position.
    pub return_dict: bool,
    /// Whether arguments are not checked beyond what memory safety needs.
    pub skip_arg_checks: bool,
    /// Numbers behave as in loopy: quotients of integers are truncated when assigned to an integer, and `2j` is always a double-precision
    /// complex number.
    pub loopy_arithmetic: bool,
    /// Silenced warnings.
    pub silenced: BTreeSet<Name>,
    /// Options that this compiler ignores, kept as given.
    pub other: BTreeMap<Name, String>,
    /// What the functions of these options set.
    pub promised: Promised,
}

/// Options that `unsafe` functions of [`KernelOptions`] set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promised {
    pub(crate) bounds: bool,
    pub(crate) order: bool,
    pub(crate) lenient: bool,
    pub(crate) build_options: Vec<String>,
}

impl KernelOptions {
    /// Whether every index is checked at run time.
    pub fn is_checked(&self) -> bool {
        self.checked == Some(true)
    }

    /// Whether bounds are proved before code is generated.
    pub fn check_bounds(&self) -> bool {
        !self.promised.bounds
    }

    /// Sets whether bounds are proved before code is generated. The default is true.
    ///
    /// # Safety
    /// With `false`: in every kernel that gets these options, or a copy of them, each access is inside its array for all arguments that a
    /// call accepts.
    pub unsafe fn set_check_bounds(&mut self, check_bounds: bool) {
        self.promised.bounds = !check_bounds;
    }

    /// Whether the author of the kernel guarantees the order of its instances.
    pub fn planned_order(&self) -> bool {
        self.promised.order
    }

    /// Sets whether the author of the kernel guarantees the order of its instances, which is then not checked.
    ///
    /// # Safety
    /// With `true`: in every kernel that gets these options, or a copy of them, no two concurrent instances access the same memory if one
    /// of them writes it, unless both are atomic.
    pub unsafe fn set_planned_order(&mut self, planned_order: bool) {
        self.promised.order = planned_order;
    }

    /// Whether races, lost orders and reads of temporaries before they are written are warnings and not errors.
    pub fn is_lenient(&self) -> bool {
        self.promised.lenient
    }

    /// Sets whether races, lost orders, variables that overwrite each other's memory, and reads of temporaries before they are written are
    /// warnings and not errors.
    ///
    /// # Safety
    /// With `true`: in every kernel that gets these options, or a copy of them, what the warnings report is harmless: the values are
    /// unused, or all writers store the same value.
    pub unsafe fn set_lenient(&mut self, lenient: bool) {
        self.promised.lenient = lenient;
    }

    /// Additional flags for the target's compiler.
    pub fn build_options(&self) -> &[String] {
        &self.promised.build_options
    }

    /// Adds a flag for the target's compiler that cannot change what memory the code accesses: optimisation levels, warnings, debugging
    /// information, floating-point rounding, and loop unrolling and vectorisation.
    ///
    /// ```
    /// # use parloop_ir as parloop_loop;
    /// use parloop_loop::syntax::KernelOptions;
    /// let mut options = KernelOptions::default();
    /// options.add_build_option("-O2")?;
    /// assert!(options.add_build_option("-include=other.h").is_err());
    /// assert_eq!(options.build_options(), ["-O2"]);
    /// # Ok::<(), parloop_loop::syntax::BuildOptionError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildOptionError`] for any other flag; [`set_build_options`](Self::set_build_options) takes it.
    pub fn add_build_option(&mut self, option: &str) -> Result<(), BuildOptionError> {
        if !is_harmless(option) {
            return Err(BuildOptionError { option: option.to_owned() });
        }
        self.promised.build_options.push(option.to_owned());
        Ok(())
    }

    /// Sets arbitrary additional flags for the target's compiler.
    ///
    /// # Safety
    /// For every kernel that gets these options, or a copy of them, the compiler generates code that does what the kernel specifies, on the
    /// machine where it runs. Libraries named in the flags run their own code when they are loaded.
    pub unsafe fn set_build_options(&mut self, options: Vec<String>) {
        self.promised.build_options = options;
    }

    /// Whether an option of [`other`](Self::other) is present and false, as Python and JSON write it.
    pub fn is_false(&self, option: &str) -> bool {
        self.other.get(option).is_some_and(|value| matches!(value.as_str(), "False" | "false"))
    }
}

impl Default for KernelOptions {
    fn default() -> KernelOptions {
        KernelOptions {
            checked: None,
            insert_global_barriers: true,
            annotate: false,
            return_dict: false,
            skip_arg_checks: false,
            loopy_arithmetic: false,
            silenced: BTreeSet::new(),
            other: BTreeMap::new(),
            promised: Promised::default(),
        }
    }
}

/// A compiler flag that is not known to be safe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the compiler flag `{option}` is not known to be safe; set it with the unsafe function `set_build_options`")]
pub struct BuildOptionError {
    /// The argument.
    pub option: String,
}

/// Compiler flags that change neither what memory the code accesses nor what is read and linked.
const HARMLESS: &[&str] = &[
    "-O0 -O1 -O2 -O3 -Os -Oz -Og -g -g0 -g1 -g2 -g3 -w -pedantic -pipe",
    "-ffast-math -fno-fast-math -fmath-errno -fno-math-errno -ftrapping-math -fno-trapping-math -fsigned-zeros -fno-signed-zeros",
    "-fassociative-math -fno-associative-math -freciprocal-math -fno-reciprocal-math -frounding-math -fno-rounding-math",
    "-ffp-contract=off -ffp-contract=on -ffp-contract=fast",
    "-funroll-loops -fno-unroll-loops -ftree-vectorize -fno-tree-vectorize -fvectorize -fno-vectorize -fslp-vectorize -fno-slp-vectorize",
    "-finline-functions -fno-inline-functions -fno-inline -fomit-frame-pointer -fno-omit-frame-pointer",
    "-cl-opt-disable -cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only -cl-fast-relaxed-math",
    "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt",
    "-use_fast_math --use_fast_math --fmad=true --fmad=false -lineinfo --generate-line-info -G --device-debug",
];

fn is_harmless(option: &str) -> bool {
    // Warnings; not `-Wl,…`, `-Wa,…` and `-Wp,…`, which go to other programs.
    let is_warning = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'=' | b'+'));
    HARMLESS.iter().any(|line| line.split(' ').any(|known| known == option)) || option.strip_prefix("-W").is_some_and(is_warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_that_are_known_to_be_harmless_need_no_promise() {
        let mut options = KernelOptions::default();
        for option in ["-O3", "-g", "-ffast-math", "-Wall", "-Wno-unused-variable", "-W", "-Werror=vla", "--use_fast_math"] {
            options.add_build_option(option).unwrap();
        }
        let refused = [
            "",
            "-O2 -lm",
            "-lm",
            "a.o",
            "-include",
            "-I.",
            "-Dn=1",
            "-Un",
            "-Wl,-init,f",
            "-Wa,x",
            "-Wp,-Dn=1",
            "-fno-wrapv",
            "-fplugin=p.so",
            "-fstrict-overflow",
            "-mavx512f",
            "-specs=x",
            "@file",
            "-o",
            "-x",
            "-Ofast",
            "-cl-uniform-work-group-size",
        ];
        for option in refused {
            let error = options.add_build_option(option).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the compiler flag `{option}` is not known to be safe; set it with the unsafe function `set_build_options`")
            );
        }
        assert_eq!(options.build_options().len(), 8);
    }
}
