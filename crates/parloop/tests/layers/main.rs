//! The rules of ARCHITECTURE.md that can be read from source text: modules of a crate do not import each other in a cycle, crates depend on
//! those below them, and drivers, Python, `unsafe` and locks of the standard library stay where they belong.

mod graph;
mod manifest;
mod modules;
mod tokens;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use graph::{Cycle, cycles, levels};
use manifest::{Manifest, diagram};
use modules::Crate;

/// Crates that speak to drivers of devices.
const DRIVERS: [&str; 2] = ["cudarc", "opencl3"];

/// Dependencies that are forbidden although they point down, and why.
const FORBIDDEN: [(&str, &str, &str); 1] =
    [("parloop-loop", "parloop-object", "the loop layer knows a class by its name, fields and C functions")];

/// Where `unsafe` may stand: crates, folders and files.
const UNSAFE: [&str; 29] = [
    "crates/parloop-device/src",
    "crates/parloop-object/src",
    "crates/parloop-python/src",
    "crates/parloop-isl/src/solver",
    "crates/parloop-mpi/src",
    "crates/parloop-kernel/src/kernel.rs",
    "crates/parloop-kernel/src/check.rs",
    "crates/parloop-kernel/src/staging.rs",
    "crates/parloop-kernel/src/fft.rs",
    "crates/parloop-kernel/src/fft/host.rs",
    // Where C enters: whoever gives it makes a promise, and whoever writes some of our own keeps it.
    "crates/parloop-kernel/src/context.rs",
    "crates/parloop-kernel/src/program.rs",
    "crates/parloop-ir/src/callable",
    "crates/parloop-ir/src/functions",
    "crates/parloop-ir/src/syntax",
    "crates/parloop-ir/src/text/options.rs",
    "crates/parloop-codegen/src/c_function",
    "crates/parloop-codegen/src/lower/launch.rs",
    "crates/parloop-loop/src/file",
    "crates/parloop-loop/src/run/executable.rs",
    // Tables of meshes are filled and read where they are, and searched in vectors.
    "crates/parloop-mesh/src/storage.rs",
    "crates/parloop-mesh/src/plan/sparsity/search.rs",
    "crates/parloop-mesh/src/kernel/mod.rs",
    "crates/parloop-mesh/src/lower/pairs.rs",
    "crates/parloop-mesh/src/lower/piece.rs",
    "crates/parloop-mesh/src/lower/mod.rs",
    // MPI reads and writes messages in the memory of a GPU.
    "crates/parloop-mesh/src/run/direct.rs",
    "crates/parloop-mesh/src/run/job/tests.rs",
    "crates/parloop/src",
];

/// Locks of the standard library: a forked child waits forever for one that another thread held. `parloop_device::forked::Lock` and
/// `parloop_device::once::Once` are those that it does not wait for.
const WAITING: [&str; 5] = ["Mutex", "RwLock", "Condvar", "OnceLock", "LazyLock"];

/// Where they may stand nevertheless, and why a child does not wait there.
const MAY_WAIT: [(&str, &str); 7] = [
    ("crates/parloop-python/src", "held only by threads that hold the GIL, as the thread that forks does"),
    ("crates/parloop-mpi/src", "MPI does not survive a fork"),
    ("crates/parloop-device/src/sync.rs", "the crew of a child is a new one"),
    ("crates/parloop-device/src/cpu/crew.rs", "the crew of a child is a new one"),
    ("crates/parloop-device/src/interrupt/wait.rs", "belongs to one wait"),
    ("crates/parloop-device/src/gpu/graph/tests.rs", "a test"),
    ("crates/parloop-kernel/src/fft/host.rs", "belongs to one transform"),
];

/// Backends, which never import each other.
const BACKENDS: [&str; 4] = ["cpu", "opencl", "cuda", "hip"];

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in crates/ of the workspace")
}

/// The text of a file of the workspace.
fn text_of(path: &Path) -> Option<String> {
    std::fs::read_to_string(workspace().join(path)).ok()
}

/// The folders of all crates, by name.
fn crates() -> Vec<(String, PathBuf)> {
    let folders = std::fs::read_dir(workspace().join("crates")).expect("there is a folder of crates");
    let names = folders.map(|folder| folder.expect("a folder can be read").file_name().to_string_lossy().into_owned());
    let mut found: Vec<_> = names.map(|name| (name.clone(), Path::new("crates").join(name))).collect();
    found.retain(|(_, folder)| text_of(&folder.join("Cargo.toml")).is_some());
    found.sort();
    found
}

/// The source of a crate: its library, and its program if it has one.
fn sources(folder: &Path) -> Vec<Crate> {
    let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
    roots.iter().filter(|root| text_of(root).is_some()).map(|root| Crate::read(root, &text_of)).collect()
}

fn manifest(folder: &Path) -> Manifest {
    Manifest::parse(&text_of(&folder.join("Cargo.toml")).expect("a crate has a manifest"))
}

#[test]
fn modules_do_not_import_each_other_in_a_cycle() {
    let mut wrong = String::new();
    for (name, folder) in crates() {
        let found: Vec<Cycle> = sources(&folder).iter().flat_map(|source| cycles(&source.imports())).collect();
        wrong.extend(found.iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(wrong.is_empty(), "\n{wrong}Move what both need below both of them, or what joins them above.");
}

#[test]
fn crates_depend_on_those_below_them() {
    let order = diagram(&text_of(Path::new("ARCHITECTURE.md")).expect("there is an architecture page"));
    let height = |name: &str| order.iter().position(|known| known == name);
    let mut wrong = String::new();
    for (name, folder) in crates() {
        let Some(own) = height(&name) else {
            wrong += &format!("{name} is not in the diagram of ARCHITECTURE.md\n");
            continue;
        };
        for dependency in manifest(&folder).dependencies {
            if height(&dependency).is_some_and(|other| other <= own) {
                wrong += &format!("{name} depends on {dependency}, which is above it in the diagram of ARCHITECTURE.md\n");
            }
            for (from, to, reason) in FORBIDDEN.iter().filter(|(from, to, _)| *from == name && *to == dependency) {
                wrong += &format!("{from} depends on {to}, but {reason}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn drivers_and_python_are_named_by_one_crate_each() {
    let mut wrong = String::new();
    for (name, folder) in crates() {
        let manifest = manifest(&folder);
        let sources = sources(&folder);
        let owned = DRIVERS.map(|driver| (driver, "parloop-device")).into_iter().chain([("pyo3", "parloop-python")]);
        for (word, owner) in owned.filter(|(_, owner)| *owner != name) {
            if manifest.dependencies.contains(word) || manifest.dev_dependencies.contains(word) {
                wrong += &format!("{}/Cargo.toml names {word}: only {owner} may\n", folder.display());
            }
            for (file, line) in sources.iter().filter_map(|source| source.words.get(word)).flatten() {
                wrong += &format!("{}:{line} names {word}: only {owner} may\n", file.display());
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn unsafe_stands_where_it_is_allowed() {
    let mut wrong = String::new();
    for (file, line) in
        crates().iter().flat_map(|(_, folder)| sources(folder)).flat_map(|mut source| source.words.remove("unsafe")).flatten()
    {
        if !UNSAFE.iter().any(|allowed| file.starts_with(allowed)) {
            wrong += &format!("{}:{line} is unsafe, which ARCHITECTURE.md does not allow there\n", file.display());
        }
    }
    wrong.extend(
        UNSAFE.iter().filter(|path| !workspace().join(path).exists()).map(|path| format!("there is no {path}; correct the list UNSAFE\n")),
    );
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn backends_do_not_import_each_other() {
    let imports: Vec<_> = sources(Path::new("crates/parloop-device")).iter().flat_map(Crate::imports).collect();
    let levels = levels(&imports);
    let edges = &levels[&[][..]];
    let backends: BTreeSet<&str> = BACKENDS.into();
    let mut wrong = String::new();
    for (from, to, import) in edges.iter().flat_map(|(from, all)| all.iter().map(move |(to, import)| (from, to, import))) {
        if backends.contains(from) && backends.contains(to) {
            wrong += &format!("{}:{}: backend {from} imports backend {to}\n", import.file.display(), import.line);
        }
    }
    assert!(backends.iter().all(|backend| edges.contains_key(backend)), "the backends are {:?}", edges.keys());
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn locks_are_those_that_a_forked_child_does_not_wait_for() {
    let mut wrong = String::new();
    for mut source in crates().iter().flat_map(|(_, folder)| sources(folder)) {
        for word in WAITING {
            for (file, line) in source.words.remove(word).into_iter().flatten() {
                if !MAY_WAIT.iter().any(|(allowed, _)| file.starts_with(allowed)) {
                    wrong += &format!(
                        "{}:{line} names {word}; use parloop_device::forked::Lock or parloop_device::once::Once\n",
                        file.display()
                    );
                }
            }
        }
    }
    let missing = MAY_WAIT.iter().filter(|(path, _)| !workspace().join(path).exists());
    wrong.extend(missing.map(|(path, _)| format!("there is no {path}; correct the list MAY_WAIT\n")));
    assert!(wrong.is_empty(), "\n{wrong}");
}
