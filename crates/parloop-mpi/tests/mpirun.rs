//! What several processes do together, under every `mpirun` that is installed. The tests start this program again, as ranks.

use parloop_mpi::{Abi, Comm, Gpu, GpuBytes, GpuMessages, Messages};
use parloop_mpirun::{ABI, launchers};

/// The world of a worker, whose library is that of its launcher.
fn world() -> Comm {
    let world = Comm::world().unwrap();
    let wanted = if std::env::var(ABI).unwrap() == "OpenMpi" { Abi::OpenMpi } else { Abi::Mpich };
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
    for launcher in launchers() {
        (1..=3).for_each(|ranks| launcher.passes(ranks, "worker_bytes"));
    }
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
    // Some or all have nothing.
    let some = |from: usize| if from.is_multiple_of(2) { Vec::new() } else { text(from, 1) };
    assert_eq!(world.gather_all(&some(rank)).unwrap(), (0..size).map(some).collect::<Vec<_>>());
    assert_eq!(world.gather_all(&[]).unwrap(), vec![Vec::<u8>::new(); size]);
    assert_eq!(world.gather_alike(&[]).unwrap(), Vec::<u8>::new());
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
    // Combined in the order of the ranks, which concatenation tells apart from others: each has its own bytes and zeros.
    let own: Vec<u8> = (0..size).map(|place| if place == rank { rank as u8 + 1 } else { 0 }).collect();
    let all = world.combine_all(own, |own, other| {
        assert!(own.iter().rposition(|&byte| byte > 0) < other.iter().position(|&byte| byte > 0), "lower ranks come first");
        own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
    });
    assert_eq!(all.unwrap(), (1..=size as u8).collect::<Vec<_>>());
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
    // The same messages again and again, with requests that are kept, and other lengths in between; some have no bytes.
    let mut messages = Messages::default();
    for (turn, kind) in [0, 1, 1, 1, 1, 2, 0, 2, 2, 2, 1, 1, 1].into_iter().enumerate() {
        let length = |from: usize, to: usize| kind * 500 * ((from + to) % 2 + from);
        let letters: Vec<_> = (0..size).map(|with| (with, length(rank, with), length(with, rank))).collect();
        messages.lay_out(&letters).unwrap();
        for &(with, bytes, _) in &letters {
            match messages.outgoing(with) {
                Some(letter) => letter.resize(bytes, (10 * turn + rank) as u8),
                None => assert_eq!(bytes, 0),
            }
        }
        messages.start(&world).unwrap();
        if size > 1 && kind > 0 {
            assert!(messages.outgoing(1).is_none() && messages.incoming(1).is_empty(), "the library has the bytes");
        }
        messages.wait().unwrap();
        for (from, _, bytes) in letters {
            assert_eq!(messages.incoming(from), vec![(10 * turn + from) as u8; bytes], "turn {turn} from {from}");
        }
    }
    // Several to one process, again and again, stay in order.
    let (other, mut messages) = (rank ^ 1, Messages::default());
    if other < size {
        (0..4).for_each(|byte| messages.send(other, vec![byte; 10]));
        (0..4).for_each(|_| messages.receive(other, 10));
        for _ in 0..5 {
            messages.start(&world).unwrap();
            messages.wait().unwrap();
        }
        assert_eq!(messages.finish().unwrap(), (0..4).map(|byte| (other, vec![byte; 10])).collect::<Vec<_>>());
    }
    // By address, to others and to itself. Neither library was built for GPUs, but they take memory of the host.
    assert!(!world.takes_memory_of(Gpu::Cuda) && !world.takes_memory_of(Gpu::Hip));
    let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
    let (mut given, mut comes) = (vec![rank as u8; 3000], vec![0; 3000]);
    let bytes = |with: usize, memory: &mut Vec<u8>| GpuBytes { with, address: memory.as_mut_ptr() as u64, length: memory.len() };
    let (sent, received) = ([bytes(to, &mut given)], [bytes(from, &mut comes)]);
    // SAFETY: the memory is the host's; the messages own it.
    let (_, comes) = unsafe { GpuMessages::start((given, comes), &sent, &received, &world) }.unwrap().finish().unwrap();
    assert_eq!(comes, vec![from as u8; 3000]);
    let nowhere = [GpuBytes { with: size, address: 0, length: 0 }];
    // SAFETY: nothing is sent to a rank that does not exist.
    let error = unsafe { GpuMessages::start((), &nowhere, &[], &world) }.err().unwrap();
    assert_eq!(error.to_string(), format!("rank {size} does not exist; there are {size} processes"));
    world.barrier().unwrap();
    // The handle of one's own duplicate is that of a communicator like others.
    // SAFETY: it is one.
    let again = unsafe { Comm::from_handle(world.handle().unwrap()).unwrap() };
    assert_eq!((again.rank(), again.size(), again.is_same(&world)), (rank, size, false));
    assert_eq!(again.gather_alike(&[rank as u8]).unwrap().len(), size);
    println!("done");
}

#[test]
fn a_rank_that_panics_ends_all() {
    for launcher in launchers() {
        let (passed, text) = launcher.run(3, "worker_panic");
        assert!(!passed && text.contains("the reason") && text.contains("rank 1 of 3 panicked; all ranks are aborted"), "{text}");
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
