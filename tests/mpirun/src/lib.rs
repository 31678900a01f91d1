//! Tests that start their own program again, as processes of MPI, under every `mpirun` that is installed. What a process does is another test,
//! which is ignored otherwise.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An `mpirun`.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    options: &'static [&'static str],
    /// The binary interface that its processes must find, by the name of `parloop_mpi::Abi`.
    pub abi: &'static str,
}

/// In which environment variable a process finds [`Launcher::abi`].
pub const ABI: &str = "PARLOOP_TEST_ABI";

/// How long processes may take before they are taken to hang.
const LIMIT: Duration = Duration::from_secs(300);

/// Those that are installed. With `CI=true` all must be.
///
/// # Panics
/// One is missing, with `CI=true`.
pub fn launchers() -> Vec<Launcher> {
    let known: [(&str, &'static [&'static str], &'static str); 2] =
        [("mpirun.openmpi", &["--allow-run-as-root", "--oversubscribe"], "OpenMpi"), ("mpirun.mpich", &[], "Mpich")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find = |program: &str| std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.exists());
    let found: Vec<Launcher> =
        known.iter().filter_map(|(program, options, abi)| Some(Launcher { program: find(program)?, options, abi })).collect();
    if found.len() < known.len() {
        let reason = "skipped: mpirun.openmpi or mpirun.mpich is not installed (bash scripts/drivers.sh)";
        assert!(std::env::var("CI").is_err(), "{reason}");
        eprintln!("{reason}");
    }
    found
}

impl Launcher {
    /// Runs a test of this program as so many processes: whether all passed, and what they wrote.
    ///
    /// # Panics
    /// They cannot be started, or hang.
    pub fn run(&self, ranks: usize, worker: &str) -> (bool, String) {
        let mut command = Command::new(&self.program);
        command.args(self.options).args(["-n", &ranks.to_string()]).arg(std::env::current_exe().expect("a test is a program"));
        command.args(["--exact", worker, "--ignored", "--nocapture", "--test-threads=1"]).env(ABI, self.abi);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun starts");
        let streams: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|out| Box::new(out) as _), child.stderr.take().map(|out| Box::new(out) as _)];
        let readers = streams.map(|stream| std::thread::spawn(move || stream.map(std::io::read_to_string)));
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if start.elapsed() > LIMIT {
                child.kill().expect("a child can be killed");
                panic!("{ranks} processes of {} hang in {worker}", self.program.display());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let texts = readers.into_iter().filter_map(|reader| reader.join().ok()??.ok());
        (status.success(), texts.collect())
    }

    /// Runs a test of this program as so many processes, each of which must pass and print `done`.
    ///
    /// # Panics
    /// One does not.
    pub fn passes(&self, ranks: usize, worker: &str) {
        let (passed, text) = self.run(ranks, worker);
        assert!(passed && text.matches("done").count() == ranks, "{ranks} processes of {}, {worker}:\n{text}", self.program.display());
    }
}
