//! What several processes do together, under every `mpirun` that is installed. The tests start this program again, as ranks.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use parloop_mpi::{Abi, Comm, Messages};

/// A launcher, and the interface that its processes must find.
struct Launcher {
    program: PathBuf,
    options: &'static [&'static str],
    abi: &'static str,
}

fn launchers() -> Vec<Launcher> {
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

/// The end of processes that were started together: their status and all that they wrote.
fn mpirun(launcher: &Launcher, ranks: usize, worker: &str) -> (bool, String) {
    let mut command = Command::new(&launcher.program);
    command.args(launcher.options).args(["-n", &ranks.to_string()]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", worker, "--ignored", "--nocapture", "--test-threads=1"]).env("WORKER_ABI", launcher.abi);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut readers = Vec::new();
    for stream in [Box::new(child.stdout.take().unwrap()) as Box<dyn std::io::Read + Send>, Box::new(child.stderr.take().unwrap())] {
        readers.push(std::thread::spawn(move || std::io::read_to_string(stream).unwrap_or_default()));
    }
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{} hangs with {ranks} ranks of {worker}", launcher.program.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    (status.success(), readers.into_iter().map(|reader| reader.join().unwrap()).collect())
}

fn all_ranks_pass(worker: &str) {
    for launcher in launchers() {
        for ranks in [1, 2, 3] {
            let (passed, text) = mpirun(&launcher, ranks, worker);
            assert!(passed, "{} -n {ranks} {worker}:\n{text}", launcher.program.display());
            let lines = text.matches(&format!("ranks: {ranks}")).count();
            assert_eq!(lines, ranks, "{} -n {ranks} {worker}:\n{text}", launcher.program.display());
        }
    }
}

/// The world of a worker, whose library is that of its launcher.
fn world() -> Comm {
    let world = Comm::world().unwrap();
    let wanted = if std::env::var("WORKER_ABI").unwrap() == "OpenMpi" { Abi::OpenMpi } else { Abi::Mpich };
    assert_eq!(world.abi(), Some(wanted));
    world
}

#[test]
fn without_a_launcher_the_world_is_this_process() {
    let world = Comm::world().unwrap();
    assert_eq!((world.rank(), world.size(), world.abi()), (0, 1, None));
    world.barrier().unwrap();
    assert_eq!(world.broadcast(b"x", 0).unwrap(), b"x");
    assert_eq!(world.exchange_all(vec![b"y".to_vec()]).unwrap(), [b"y"]);
    assert_eq!(world.broadcast(b"x", 1).unwrap_err().to_string(), "rank 1 does not exist; there are 1 processes");
}

#[test]
fn bytes_go_where_they_are_sent() {
    all_ranks_pass("worker_bytes");
}

#[test]
#[ignore = "a rank of bytes_go_where_they_are_sent"]
fn worker_bytes() {
    let world = world();
    let (rank, size) = (world.rank(), world.size());
    let text = |from: usize, to: usize| format!("{from}>{to}:{}", "x".repeat(1000 * from + to)).into_bytes();

    let all = world.gather_all(&text(rank, 0)).unwrap();
    assert_eq!(all, (0..size).map(|from| text(from, 0)).collect::<Vec<_>>());
    assert_eq!(world.gather_alike(&[rank as u8; 2]).unwrap(), (0..size).flat_map(|from| [from as u8; 2]).collect::<Vec<_>>());
    for from in 0..size {
        let own = if rank == from { text(from, 7) } else { Vec::new() };
        assert_eq!(world.broadcast(&own, from).unwrap(), text(from, 7));
    }
    // Some of the messages have no bytes.
    let to_each = (0..size).map(|to| if (rank + to) % 3 == 1 { Vec::new() } else { text(rank, to) }).collect();
    let received = world.exchange_all(to_each).unwrap();
    for (from, bytes) in received.into_iter().enumerate() {
        assert_eq!(bytes, if (rank + from) % 3 == 1 { Vec::new() } else { text(from, rank) });
    }
    // Two batches at once do not mix, since messages between two processes stay in order; one that is dropped is waited for.
    let start = |byte: u8| {
        let mut messages = Messages::default();
        (0..size).for_each(|with| messages.add(with, vec![byte + rank as u8; 100], 100));
        messages.start(&world).unwrap();
        messages
    };
    let (first, second, third) = (start(10), start(20), start(30));
    drop(second);
    for (messages, byte) in [(first, 10), (third, 30)] {
        let expected: Vec<(usize, Vec<u8>)> = (0..size).map(|from| (from, vec![byte + from as u8; 100])).collect();
        assert_eq!(messages.finish().unwrap(), expected);
    }
    world.barrier().unwrap();
    // The handle of one's own duplicate is that of a communicator like others.
    // SAFETY: it is one.
    let again = unsafe { Comm::from_handle(world.handle().unwrap()).unwrap() };
    assert_eq!((again.rank(), again.size(), again.is_same(&world)), (rank, size, false));
    assert_eq!(again.gather_alike(&[rank as u8]).unwrap().len(), size);
    println!("ranks: {size}");
}

#[test]
fn a_rank_that_panics_ends_all() {
    for launcher in launchers() {
        let (passed, text) = mpirun(&launcher, 3, "worker_panic");
        assert!(!passed && text.contains("the reason") && text.contains("rank 1 of 3 panicked and ends all"), "{text}");
    }
}

#[test]
#[ignore = "a rank of a_rank_that_panics_ends_all"]
fn worker_panic() {
    let world = world();
    assert_ne!(world.rank(), 1, "the reason");
    // For ever, if nobody ends it.
    world.barrier().unwrap();
}
