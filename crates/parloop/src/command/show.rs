//! `parloop show`: the code of a kernel in a `.loop` file.

use std::path::Path;

use parloop_loop::file::LoopFile;
use parloop_loop::syntax::Target;

/// The targets by name, as the command line has them.
pub(super) const TARGETS: [&str; 5] = ["c", "opencl", "cuda", "hip", "ispc"];

/// The code, and whether there is any; what is wrong goes to standard error.
pub(super) fn show(path: &Path, target: Option<&str>, kernel: bool) -> (String, bool) {
    match text(path, target, kernel) {
        Ok(text) => (text, true),
        Err(message) => {
            eprintln!("parloop: {}: {message}", path.display());
            (String::new(), false)
        }
    }
}

fn text(path: &Path, target: Option<&str>, kernel: bool) -> Result<String, String> {
    let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let program = LoopFile::parse(&source).map_err(|error| error.to_string())?.program().map_err(|error| error.to_string())?;
    if kernel {
        let kernels = program.callables.values().filter_map(|callable| callable.kernel());
        return Ok(kernels.map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    let target = target.map_or(program.target.unwrap_or(Target::C), named);
    let generated = program.generate(target).map_err(|error| error.to_string())?;
    Ok(generated.code.text)
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
            let (code, success) = show(&file("vector_add.loop"), Some(target), false);
            assert!(success && code.contains("add(") && named(target).to_string() == target, "{target}: {code}");
        }
        let (text, success) = show(&file("vector_add.loop"), None, true);
        assert!(success && text.starts_with("kernel add\n"), "{text}");
    }

    #[test]
    fn a_missing_file_gives_no_code() {
        assert_eq!(show(&file("nowhere.loop"), None, false), (String::new(), false));
    }
}
