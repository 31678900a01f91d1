//! Files that a compiler reads by itself: what they hold is not part of the text that is compiled, so that the compile cache cannot know
//! when they change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::directive::Directive;
use crate::files::Files;
use crate::scan::without_comments;

/// Whether a compiler may read files of the user's for this text, in which the headers that were found are in place. System headers are not
/// the user's. `folders` are those in which headers were looked for.
pub(crate) fn reads_files(text: &str, folders: &[PathBuf], arguments: &[String], files: &Files) -> bool {
    let is_there = |folder: &Path, file: &str| files.is_file(&folder.join(file));
    // A large source includes the same headers again and again.
    let mut known: HashMap<(String, bool), bool> = HashMap::new();
    let mut is_unread = |line: &str| match Directive::read(line) {
        Directive::Include { file, system } => {
            let look = || folders.iter().any(|folder| is_there(folder, file)) || !system && is_there(Path::new("."), file);
            *known.entry((file.to_owned(), system)).or_insert_with(look)
        }
        _ => is_include(line),
    };
    let bare = without_comments(text);
    bare.lines().any(&mut is_unread) || bare.contains("__has_include") && !arguments.is_empty() || arguments_read_files(arguments, files)
}

/// The folders in which compilers look for headers because variables of the environment say so, those of the system aside.
pub(crate) fn folders_of_environment() -> Vec<PathBuf> {
    let variables = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"].into_iter().filter_map(std::env::var_os);
    let folders: Vec<PathBuf> = variables.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).collect();
    folders.into_iter().filter(|folder| !["/usr/include", "/usr/local/include"].iter().any(|system| folder == Path::new(system))).collect()
}

/// Directives that read a file, also by a name that is a macro.
fn is_include(line: &str) -> bool {
    let line = line.trim_start();
    let directive = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")).or_else(|| line.strip_prefix("??=")).map(str::trim_start);
    let is_word = |directive: &str, word: &str| {
        directive.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_'))
    };
    directive.is_some_and(|directive| ["include", "include_next", "import", "embed"].iter().any(|word| is_word(directive, word)))
}

/// Arguments by which a compiler finds files that were not looked for: `-I`, `-isystem` and `-iquote` are read with the sources.
fn arguments_read_files(arguments: &[String], files: &Files) -> bool {
    const OTHERS: [&str; 11] =
        ["-idirafter", "--include", "-iprefix", "-iwithprefix", "-isysroot", "--sysroot", "-B", "-specs", "-Wp,", "-Xpreprocessor", "@"];
    arguments.iter().enumerate().any(|(at, argument)| {
        let in_front = ["-include", "-imacros"].into_iter().find_map(|flag| argument.strip_prefix(flag));
        match in_front {
            // The content of a file that an argument names is part of the cache's key, but what it includes is not.
            Some("") => {
                let named = arguments.get(at + 1).and_then(|file| files.text(Path::new(file)).ok());
                named.is_none_or(|text| reads_files(&text, &[], &[], files) || without_comments(&text).lines().any(is_quoted))
            }
            Some(_) => true,
            None => OTHERS.iter().any(|other| argument.starts_with(other)),
        }
    })
}

fn is_quoted(line: &str) -> bool {
    matches!(Directive::read(line), Directive::Include { system: false, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_files(text: &str, folders: &[PathBuf], arguments: &[String]) -> bool {
        super::reads_files(text, folders, arguments, &Files::default())
    }

    #[test]
    fn every_form_of_a_directive_that_reads_a_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("foo.h"), "int x;\n").unwrap();
        let folders = [folder.path().to_owned()];
        for form in [
            "/* c */ #include \"foo.h\"",
            "#/* c */include/* d */<foo.h>",
            "#include \\\n\"foo.h\"",
            "#inc\\\nlude \"foo.h\"",
            "#define H <foo.h>\n#include H",
            "%:include \"foo.h\"",
            "#include_next <foo.h>",
            "#import \"foo.h\"",
            "#embed \"foo.h\"",
            "/* a\n*/ #include \"foo.h\"",
            "#include \"foo.h\" //only_for_context cpu",
        ] {
            assert!(reads_files(form, &folders, &[]), "{form}");
        }
        for form in [
            "#include <math.h>",
            "#include \"math.h\"",
            "// #include \"foo.h\"",
            "/*\n#include \"foo.h\"\n*/",
            "const char *s = \"\\\" // #include\";\nint include;",
            "#pragma include H",
        ] {
            assert!(!reads_files(form, &folders, &[]), "{form}");
        }
    }

    #[test]
    fn arguments_that_lead_to_files_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, other) = (folder.path().join("plain.h"), folder.path().join("other.h"));
        std::fs::write(&plain, "#include <math.h>\nint x;\n").unwrap();
        std::fs::write(&other, "#include \"plain.h\"\n").unwrap();
        let reads = |arguments: &[&str]| reads_files("", &[], &arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (plain, other) = (plain.display().to_string(), other.display().to_string());
        for arguments in [
            &["-idirafter", "x"][..],
            &["-idirafterx"],
            &["--include-directory=x"],
            &["-include", "nowhere.h"],
            &["-include", &other],
            &["-includefoo.h"],
            &["-imacros", "nowhere.h"],
            &["@options"],
        ] {
            assert!(reads(arguments), "{arguments:?}");
        }
        for arguments in [&["-O3", "-I", "x"][..], &["-isystem", "x"], &["-include", &plain], &["-lm"]] {
            assert!(!reads(arguments), "{arguments:?}");
        }
    }
}
