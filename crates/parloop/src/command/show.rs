//! `parloop show`: the code of a kernel in a `.loop` file.

use std::path::Path;

use parloop_loop::file::LoopFile;
use parloop_loop::prelude::*;
use parloop_loop::syntax::Target;

/// The targets by name, as the command line has them.
pub(super) const TARGETS: [&str; 5] = ["c", "opencl", "cuda", "hip", "ispc"];

/// What of the kernel is printed.
#[derive(Clone, Copy)]
pub(super) enum What {
    Code,
    Kernel,
    Schedule,
}

impl What {
    /// As the flags of the command line say.
    pub(super) fn asked(kernel: bool, schedule: bool) -> What {
        match (kernel, schedule) {
            (true, _) => What::Kernel,
            (false, true) => What::Schedule,
            (false, false) => What::Code,
        }
    }
}

/// The code, and whether there is any; what is wrong goes to standard error.
pub(super) fn show(path: &Path, target: Option<&str>, what: What) -> (String, bool) {
    match text(path, target, what) {
        Ok(text) => (text, true),
        Err(message) => {
            eprintln!("parloop: {}: {message}", path.display());
            (String::new(), false)
        }
    }
}

fn text(path: &Path, target: Option<&str>, what: What) -> Result<String, String> {
    let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    // SAFETY: the code is shown, not run.
    let file = unsafe { LoopFile::parse_trusted(&source) };
    let program = file.map_err(|error| error.to_string())?.program().map_err(|error| error.to_string())?;
    if let What::Kernel = what {
        let kernels = program.callables.values().filter_map(|callable| callable.kernel());
        return Ok(kernels.map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    let target = target.map_or(program.target.unwrap_or(Target::C), named);
    let generated = program.generate(target).map_err(|error| error.to_string())?;
    Ok(match what {
        What::Schedule => generated.schedule.to_string(),
        What::Code | What::Kernel => generated.code.text,
    })
}

/// Names that the command line let pass are among [`TARGETS`].
fn named(name: &str) -> Target {
    match name {
        "opencl" => Target::OpenCl,
        "cuda" => Target::Cuda,
        "hip" => Target::Hip,
        "ispc" => Target::Ispc,
        _ => Target::C,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels").join(name)
    }

    #[test]
    fn every_target_shows_the_code_of_a_file() {
        for target in TARGETS {
            let (code, success) = show(&file("vector_add.loop"), Some(target), What::Code);
            assert!(success && code.contains("add(") && named(target).to_string() == target, "{target}: {code}");
        }
        let (text, success) = show(&file("vector_add.loop"), None, What::Kernel);
        assert!(success && text.starts_with("kernel add\n"), "{text}");
        let (text, success) = show(&file("matrix_product.loop"), None, What::Schedule);
        assert!(success && text.contains("barrier local"), "{text}");
    }

    #[test]
    fn a_missing_file_gives_no_code() {
        assert_eq!(show(&file("nowhere.loop"), None, What::Code), (String::new(), false));
    }
}
