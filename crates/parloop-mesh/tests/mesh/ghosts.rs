//! Ghosts of tables that are on a GPU: they are exchanged there, whatever the type and the length of a row, and the host's copy is left alone.

use parloop_device::{Complex32, Complex64, Element};
use parloop_kernel::{Context, Scalar};
use parloop_mesh::{Access, By, Comm, Dat, LoopOptions, Map, MeshError, Operand, Operation, ParLoop, Rounding, Set, distribute};
use parloop_mpirun::launchers;

use crate::devices::gpus;
use crate::kernels::kernel_of;

const EDGES: usize = 40;

/// A line of edges, dealt out in pieces, with data on its nodes.
struct Line {
    edges: Set,
    nodes: Set,
    ends: Map,
}

impl Line {
    fn new() -> Line {
        let (edges, nodes) = (Set::new(EDGES, "edges").unwrap(), Set::new(EDGES + 1, "nodes").unwrap());
        let ends: Vec<i32> = (0..EDGES as i32).flat_map(|edge| [edge, edge + 1]).collect();
        let ends = Map::new(&edges, &nodes, 2, &ends, "ends").unwrap();
        Line { edges, nodes, ends }
    }

    fn distribute(&self, comm: &Comm) {
        // Short pieces, so that every process is next to others.
        let ranks: Vec<u32> = (0..EDGES).map(|edge| (edge / 4 % comm.size()) as u32).collect();
        distribute(&self.edges, By::Ranks(&ranks), comm).unwrap();
    }

    /// The numbers of this process's rows, ghosts and all.
    fn rows(&self) -> Vec<i32> {
        self.nodes.current().halo().unwrap().numbers().to_vec()
    }

    fn owned(&self) -> usize {
        self.nodes.current().size()
    }
}

/// What is done so that the device alone has the numbers.
type ToDevice = fn(&Dat, &Context);

/// Row by row.
fn lend(dat: &Dat, context: &Context) {
    dat.storage().lent_on(context).unwrap().expect("rows were not asked for otherwise");
}

/// By a loop over the elements themselves, which prefers columns.
fn multiply(dat: &Dat, context: &Context) {
    dat.update(Operation::Multiply, Operand::Number(Scalar::Int(1)), Rounding::Refuse, context).unwrap();
}

/// Ghosts with numbers of nobody become those of their owners, on the device alone.
fn check<T: Element + PartialEq + std::fmt::Debug>(
    comm: &Comm,
    context: &Context,
    count: usize,
    to_device: ToDevice,
    number: fn(i32) -> T,
) {
    let line = Line::new();
    let zeros = vec![T::ZERO; (EDGES + 1) * count];
    let x = Dat::new(&line.nodes.data(count).unwrap(), &zeros, "x").unwrap();
    line.distribute(comm);
    let (x, rows, owned) = (x.current(), line.rows(), line.owned());
    assert!(rows.len() > owned, "there are ghosts");
    for turn in 0..3 {
        let of_row = |row: i32| (0..count as i32).map(move |column| number(1 + turn + row * count as i32 + column));
        let all: Vec<T> = rows.iter().flat_map(|&row| of_row(row)).collect();
        let mut stale = all.clone();
        stale[owned * count..].fill(number(99));
        x.storage().write(&stale).unwrap();
        to_device(x, context);
        x.storage().set_ghosts_fresh(false);
        let before = x.storage().version();
        x.renew_ghosts().unwrap();
        assert!(x.storage().are_ghosts_fresh() && x.storage().version() > before);
        assert!(!x.storage().is_on_host() && x.storage().newest().is_some_and(|newest| newest.is_same(context)), "the host has a copy");
        assert_eq!(x.storage().to_vec::<T>().unwrap(), all, "rows of {count} on rank {}", comm.rank());
    }
}

#[test]
fn ghosts_of_every_type_and_length_are_exchanged_on_the_device() {
    for launcher in launchers() {
        for ranks in [2, 3] {
            launcher.passes(ranks, "ghosts::worker_types");
        }
    }
}

#[test]
#[ignore = "a process of ghosts_of_every_type_and_length_are_exchanged_on_the_device"]
fn worker_types() {
    let comm = Comm::world().unwrap();
    for context in gpus() {
        let at = &context;
        for count in [1, 3, 4, 17, 40] {
            check(&comm, at, count, lend, |number| number as u8);
            check(&comm, at, count, lend, |number| number as i16);
            check(&comm, at, count, lend, |number| number as f32);
            check(&comm, at, count, lend, f64::from);
            check(&comm, at, count, lend, |number| Complex32 { re: number as f32, im: -1.5 });
            check(&comm, at, count, lend, |number| Complex64 { re: f64::from(number), im: -1.5 });
        }
        check(&comm, at, 3, multiply, f64::from);
        check(&comm, at, 5, multiply, |number| number as i8);
        check(&comm, at, 20, multiply, |number| number as u16);
        check(&comm, at, 3, multiply, |number| Complex64 { re: f64::from(number), im: 2.5 });
        // Bits that no arithmetic keeps.
        check_bits(&comm, at);
    }
    println!("done");
}

/// Numbers that are not numbers arrive with all of their bits.
fn check_bits(comm: &Comm, context: &Context) {
    let line = Line::new();
    let x = Dat::new(&line.nodes.data(1).unwrap(), &[0.0; EDGES + 1], "x").unwrap();
    line.distribute(comm);
    let x = x.current();
    let signalling: Vec<f64> = line.rows().iter().map(|&row| f64::from_bits(0x7ff0_0000_0000_0001 + row as u64)).collect();
    let mut stale = signalling.clone();
    stale[line.owned()..].fill(0.0);
    x.storage().write(&stale).unwrap();
    lend(x, context);
    x.storage().set_ghosts_fresh(false);
    x.renew_ghosts().unwrap();
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&x.storage().to_vec().unwrap()), bits(&signalling));
}

#[test]
fn loops_of_processes_that_share_a_device_move_nothing_but_ghosts() {
    for launcher in launchers() {
        for ranks in [2, 3] {
            launcher.passes(ranks, "ghosts::worker_loops");
        }
    }
}

/// Two tables of different rows in one message, whose core runs meanwhile and writes one of them; then back, one process after another.
#[test]
#[ignore = "a process of loops_of_processes_that_share_a_device_move_nothing_but_ghosts"]
fn worker_loops() -> Result<(), MeshError> {
    let comm = Comm::world()?;
    for context in gpus() {
        let line = Line::new();
        let values: Vec<f64> = (0..3 * (EDGES + 1)).map(|i| (i % 23) as f64).collect();
        let x = Dat::new(&line.nodes.data(3)?, &values, "x")?;
        let marks = Dat::new(&line.nodes.data(1)?, &(0..=EDGES as i32).collect::<Vec<_>>(), "marks")?;
        let sums = Dat::new(&line.nodes.data(1)?, &[0.0; EDGES + 1], "sums")?;
        line.distribute(&comm);
        let source = "void add(double *s, const double *x, const int *m) { for (int i = 0; i < 2; i++) s[i] += x[3*i] + x[3 * (1 - i) + 2] * (m[i] % 3); }";
        let add = kernel_of(source, "add")?;
        let more = kernel_of("void more(double *x, int *m) { x[0] += 1; x[2] += 2; m[0] += 1; }", "more")?;
        let through = |dat: &Dat, access| dat.arg(access, Some(&line.ends));
        let args = vec![through(&sums, Access::Inc), through(&x, Access::Read), through(&marks, Access::Read)];
        let adding = ParLoop::new(&add, &line.edges, args, LoopOptions::default())?;
        let growing = ParLoop::new(&more, &line.nodes, vec![x.arg(Access::Rw, None), marks.arg(Access::Rw, None)], LoopOptions::default())?;
        let both = kernel_of("void both(double *x) { x[0] += 1; x[4] += 2; }", "both")?;
        let in_turn = ParLoop::new(&both, &line.edges, vec![through(&x, Access::Rw)], LoopOptions::default())?;

        let (mut xs, mut ms, mut expected) = (values, (0..=EDGES as i32).collect::<Vec<_>>(), vec![0.0; EDGES + 1]);
        for turn in 0..4 {
            growing.run(&context)?;
            adding.run(&context)?;
            for node in 0..=EDGES {
                (xs[3 * node], xs[3 * node + 2], ms[node]) = (xs[3 * node] + 1.0, xs[3 * node + 2] + 2.0, ms[node] + 1);
            }
            for edge in 0..EDGES {
                for (here, there) in [(edge, edge + 1), (edge + 1, edge)] {
                    expected[here] += xs[3 * here] + xs[3 * there + 2] * f64::from(ms[here] % 3);
                }
            }
            for dat in [&x, &marks, &sums] {
                assert!(!dat.current().storage().is_on_host(), "{} was copied to the host in turn {turn}", dat.name());
            }
        }
        assert_eq!(sums.gather::<f64>()?, expected, "{context:?}");
        // Processes in turn: what one left in its ghosts is sent back.
        in_turn.run(&context)?;
        assert!(!x.current().storage().is_on_host());
        for edge in 0..EDGES {
            (xs[3 * edge], xs[3 * edge + 4]) = (xs[3 * edge] + 1.0, xs[3 * edge + 4] + 2.0);
        }
        assert_eq!(x.gather::<f64>()?, xs, "{context:?}");
    }
    println!("done");
    Ok(())
}
