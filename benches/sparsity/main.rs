//! The pattern of a matrix of linear triangles, and the positions of the blocks of each cell: ours and by hand in C (`hand.c`), in turns.
//!
//! `cargo bench -p parloop-mesh --bench sparsity [-- ROUNDS]` prints medians in milliseconds: CPU time on one thread, elapsed time on two.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use parloop_mesh::plan::{Elements, Flat, Pair, Pattern, PatternSize, Positions, Table};

/// Squares of the mesh, of two triangles each: a million.
const SQUARES: [i32; 2] = [1000, 500];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(11);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("sparsity_hand");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/sparsity/hand.c");
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    let compiled = Command::new(compiler).args(["-O3", "-march=native", "-std=gnu11", "-o"]).arg(&program).arg(source).status()?;
    assert!(compiled.success(), "hand.c was not compiled");
    println!("{:<44} {:>9} {:>9} {:>7}", "what", "ours, ms", "C, ms", "ratio");
    for (numbering, cells) in [("ordered", mesh()), ("shuffled", shuffled(&mesh()))] {
        compare(numbering, &cells, &mut Hand::start(&program, &folder.join("sparsity_cells"), &cells)?, rounds)?;
    }
    Ok(())
}

fn compare(numbering: &str, cells: &[i32], hand: &mut Hand, rounds: usize) -> Result<(), Failure> {
    let table = Table { values: cells, arity: 3, set: 0, targets: nodes(), drops: false };
    let size = PatternSize { rows: nodes(), columns: nodes(), diagonal: true };
    let (mut one, mut two, mut by_hand) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (threads, times) in [(1, &mut one), (2, &mut two)] {
            let (started, cpu) = (Instant::now(), cpu_seconds()?);
            let vertices = Flat::new(Elements::Range(0..cells.len() / 3), table)?;
            let pair = Pair::new(&vertices, &vertices)?;
            let pattern = Pattern::new(size, &[pair], threads)?;
            let (made, made_cpu) = (Instant::now(), cpu_seconds()?);
            let Positions::Narrow(positions) = pattern.positions(pair, threads)? else { unreachable!("few blocks") };
            let (found, found_cpu) = (Instant::now(), cpu_seconds()?);
            times.push(
                [made - started, found - made]
                    .map(|time| time.as_secs_f64())
                    .into_iter()
                    .chain([made_cpu - cpu, found_cpu - made_cpu])
                    .collect(),
            );
            if threads == 1 {
                let (times, sums) = hand.round()?;
                assert_eq!(sums, [checksum(pattern.columns()), checksum(&positions)], "the results differ");
                by_hand.push(times);
            }
        }
    }
    for (column, what) in ["pattern", "positions"].into_iter().enumerate() {
        let (elapsed, cpu, shared) = (median(&one, column), median(&one, column + 2), median(&two, column));
        let hand = median(&by_hand, column);
        println!("{:<44} {:>9.1} {:>9.1} {:>7.2}", format!("{what}, {numbering}, 1 thread (CPU time)"), 1e3 * cpu, 1e3 * hand, cpu / hand);
        println!(
            "{:<44} {:>9.1} {:>9.1} {:>7.2}",
            format!("{what}, {numbering}, 2 threads (elapsed)"),
            1e3 * shared,
            1e3 * hand,
            shared / hand
        );
        println!("{:<44} {:>27.2}", format!("{what}, {numbering}, 2 threads over 1"), elapsed / shared);
    }
    Ok(())
}

/// The program in C, which waits to be asked.
struct Hand {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Hand {
    fn start(program: &Path, file: &Path, cells: &[i32]) -> Result<Self, Failure> {
        std::fs::write(file, cells.iter().flat_map(|cell| cell.to_ne_bytes()).collect::<Vec<u8>>())?;
        let sizes = [nodes().to_string(), (cells.len() / 3).to_string()];
        let mut child = Command::new(program).arg(file).args(sizes).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, answers })
    }

    /// Does the work once: CPU seconds and checksums of the pattern and of the positions.
    fn round(&mut self) -> Result<(Vec<f64>, [u64; 2]), Failure> {
        self.child.stdin.as_mut().ok_or("no input")?.write_all(b"\n")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [pattern, positions, of_pattern, of_positions] = words[..] else { return Err(format!("hand.c says {line:?}").into()) };
        Ok((vec![pattern.parse()?, positions.parse()?], [of_pattern.parse()?, of_positions.parse()?]))
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The CPU time of this thread. The system brings it up to date when a thread yields.
fn cpu_seconds() -> Result<f64, Failure> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: u64 = text.split_whitespace().next().ok_or("an empty schedstat")?.parse()?;
    Ok(nanoseconds as f64 * 1e-9)
}

fn median(rounds: &[Vec<f64>], column: usize) -> f64 {
    let mut times: Vec<f64> = rounds.iter().map(|round| round[column]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn checksum(values: &[i32]) -> u64 {
    values.iter().fold(0, |sum: u64, &value| sum.wrapping_mul(31).wrapping_add(value as u64))
}

fn nodes() -> usize {
    SQUARES.into_iter().map(|squares| squares as usize + 1).product()
}

/// The vertices of each triangle, row by row.
fn mesh() -> Vec<i32> {
    let [width, height] = SQUARES;
    let node = |i: i32, j: i32| j * (width + 1) + i;
    let square = |i: i32, j: i32| [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j), node(i + 1, j + 1), node(i, j + 1)];
    (0..height).flat_map(|j| (0..width).flat_map(move |i| square(i, j))).collect()
}

/// The same mesh with vertices and triangles in random orders.
fn shuffled(cells: &[i32]) -> Vec<i32> {
    let mut state = 12345u64;
    let mut shuffle = |count: usize| -> Vec<i32> {
        let mut numbers: Vec<i32> = (0..count as i32).collect();
        for last in (1..count).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            numbers.swap(last, (state >> 33) as usize % (last + 1));
        }
        numbers
    };
    let (numbers, order) = (shuffle(nodes()), shuffle(cells.len() / 3));
    let row = |cell: i32| &cells[3 * cell as usize..][..3];
    order.into_iter().flat_map(row).map(|&node| numbers[node as usize]).collect()
}
