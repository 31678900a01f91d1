//! A separate process that runs cases, so that a crash does not end the test.
//!
//! It takes lines (`seed 17 all`, `case 120 cpu:1` and 120 bytes) and answers by lines that begin with `@`, their fields separated by tabs.
//! It announces what it is about to run.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::case::Case;
use super::chain::{Listener, draw};
use super::verify::{Outcome, TEST_DEVICES, TestDevice, run, verify};

/// Set for the process that answers.
pub const SERVES: &str = "PARLOOP_CHAINS_WORKER";
/// How long one case may take.
const PATIENCE: Duration = Duration::from_secs(120);

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The failure of a panic that was caught.
pub fn panicked() -> Outcome {
    Outcome::Failed { device: TEST_DEVICES[0].to_owned(), what: "panic".to_owned(), message: PANIC.with_borrow(Clone::clone) }
}

struct Told;

impl Listener for Told {
    fn tried(&mut self, case: &Case, refused: Option<Outcome>) {
        let name = case.steps.last().and_then(|step| step.split(' ').next()).unwrap_or("(none)");
        match refused {
            Some(refused) => say("tried", &[name, &case.to_string(), &encode(&refused)]),
            None => say("tried", &[name, "", ""]),
        }
    }
}

fn say(what: &str, fields: &[&str]) {
    let fields: Vec<String> = fields.iter().map(|field| escape(field)).collect();
    println!("@{what}\t{}", fields.join("\t"));
    std::io::stdout().flush().unwrap();
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                other => out.extend(other),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

fn encode(outcome: &Outcome) -> String {
    let fields = match outcome {
        Outcome::Same => vec!["same"],
        Outcome::Refused { stage, kind, message } => vec!["refused", stage, kind, message],
        Outcome::Wrong { device, message } => vec!["wrong", device, message],
        Outcome::Failed { device, what, message } => vec!["failed", device, what, message],
        Outcome::Invalid { message } => vec!["invalid", message],
    };
    fields.into_iter().map(escape).collect::<Vec<_>>().join("\t")
}

fn decode(text: &str) -> Outcome {
    let fields: Vec<String> = text.split('\t').map(unescape).collect();
    let field = |at: usize| fields.get(at).cloned().unwrap_or_default();
    match field(0).as_str() {
        "same" => Outcome::Same,
        "refused" => Outcome::Refused { stage: field(1), kind: field(2), message: field(3) },
        "wrong" => Outcome::Wrong { device: field(1), message: field(2) },
        "failed" => Outcome::Failed { device: field(1), what: field(2), message: field(3) },
        _ => Outcome::Invalid { message: field(1) },
    }
}

/// Answers until nothing is asked any more.
pub fn serve() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("a panic").to_owned();
        PANIC.set(format!("{message}, at {}", info.location().map(ToString::to_string).unwrap_or_default()));
    }));
    let places = TestDevice::all();
    let names: Vec<&str> = places.iter().map(|place| place.name).collect();
    println!();
    say("ready", &names);
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    while input.read_line(&mut line).unwrap() > 0 {
        let words: Vec<&str> = line.trim_end().splitn(3, ' ').collect();
        let only = words.get(2).copied().filter(|only| *only != "all");
        let outcome = match words[0] {
            "seed" => of_seed(words[1].parse().unwrap(), &places, only == Some("cpu")),
            _ => {
                let mut text = vec![0; words[1].parse().unwrap()];
                input.read_exact(&mut text).unwrap();
                let case = Case::parse(std::str::from_utf8(&text).unwrap()).unwrap();
                catch_unwind(AssertUnwindSafe(|| verify(&case, &places, only))).unwrap_or_else(|_| panicked())
            }
        };
        say("outcome", &[&encode(&outcome)]);
        line.clear();
    }
}

fn of_seed(seed: u64, places: &[TestDevice], only_cpu: bool) -> Outcome {
    let drawn = match catch_unwind(|| draw(seed, &mut Told)) {
        Ok(Ok(drawn)) => drawn,
        Ok(Err((case, outcome))) => {
            say("case", &[&case.to_string()]);
            return outcome;
        }
        Err(_) => return panicked(),
    };
    say("case", &[&drawn.case.to_string()]);
    let places = if only_cpu { &places[..places.iter().position(|place| place.name == "opencl").unwrap_or(places.len())] } else { places };
    catch_unwind(AssertUnwindSafe(|| run(&drawn.case, &drawn.program, &drawn.changes, &drawn.meaning, places, None)))
        .unwrap_or_else(|_| panicked())
}

/// A transformation that was tried while a case was drawn.
pub struct Tried {
    pub name: String,
    /// Why not, with the case.
    pub refused: Option<(String, Outcome)>,
}

/// What a worker said of a case.
pub struct Answer {
    pub tried: Vec<Tried>,
    pub case: Option<Case>,
    pub outcome: Outcome,
}

/// The other end: a process that is started again when it ends.
pub struct Worker {
    /// Where compiled kernels are kept.
    folder: std::path::PathBuf,
    /// What the process says before it ends.
    stderr: std::path::PathBuf,
    running: Option<(Child, ChildStdin, Receiver<String>)>,
    pub devices: Vec<String>,
}

impl Worker {
    pub fn new(folder: &std::path::Path) -> Worker {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let stderr = folder.join(format!("stderr-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let mut worker = Worker { folder: folder.to_owned(), stderr, running: None, devices: Vec::new() };
        worker.start();
        worker
    }

    fn start(&mut self) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["chains::a_worker_runs_cases", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(SERVES, "1")
            .env("PARLOOP_CACHE_DIR", &self.folder)
            .env("POCL_CACHE_DIR", self.folder.join("pocl"))
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(std::fs::File::create(&self.stderr).unwrap()))
            .spawn()
            .unwrap();
        let (sender, receiver) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                if line.starts_with('@') && sender.send(line).is_err() {
                    return;
                }
            }
        });
        let ready = receiver.recv_timeout(PATIENCE).expect("a worker starts");
        self.devices = ready.split('\t').skip(1).map(str::to_owned).collect();
        let stdin = child.stdin.take().unwrap();
        self.running = Some((child, stdin, receiver));
    }

    pub fn seed(&mut self, seed: u64, only_cpu: bool) -> Answer {
        self.ask(format!("seed {seed} {}\n", if only_cpu { "cpu" } else { "all" }))
    }

    pub fn case(&mut self, case: &Case, only: Option<&str>) -> Outcome {
        let text = case.to_string();
        self.ask(format!("case {} {}\n{text}", text.len(), only.unwrap_or("all"))).outcome
    }

    fn ask(&mut self, question: String) -> Answer {
        if self.running.is_none() {
            self.start();
        }
        let (_, stdin, answers) = self.running.as_mut().unwrap();
        let _ = stdin.write_all(question.as_bytes()).and_then(|()| stdin.flush());
        let mut answer = Answer { tried: Vec::new(), case: None, outcome: Outcome::Same };
        loop {
            let failure = match answers.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let fields: Vec<String> = line.split('\t').map(unescape).collect();
                    match fields[0].as_str() {
                        "@tried" => {
                            let refused = (!fields[2].is_empty()).then(|| (fields[2].clone(), decode(&fields[3])));
                            answer.tried.push(Tried { name: fields[1].clone(), refused });
                        }
                        "@case" => answer.case = Case::parse(&fields[1]),
                        _ => {
                            answer.outcome = decode(&fields[1]);
                            return answer;
                        }
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => "it does not end",
                Err(RecvTimeoutError::Disconnected) => "the process crashed",
            };
            let (mut child, ..) = self.running.take().unwrap();
            let _ = child.kill();
            let status = child.wait().map(|status| status.to_string()).unwrap_or_default();
            let (device, what) = (TEST_DEVICES[0].to_owned(), "crash".to_owned());
            let said = std::fs::read(&self.stderr).unwrap_or_default();
            let said = String::from_utf8_lossy(&said[said.len().saturating_sub(500)..]).trim().to_owned();
            answer.outcome = Outcome::Failed { device, what, message: format!("{failure} ({status}): {said}") };
            return answer;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((mut child, stdin, _)) = self.running.take() {
            drop(stdin);
            let _ = child.wait();
        }
    }
}
