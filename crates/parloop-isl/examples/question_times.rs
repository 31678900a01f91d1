//! Measures queries: for a set that the solver has not seen, and for one that it has.
//! `cargo run --release -p parloop-isl --example question_times`.

use std::time::Instant;

use parloop_isl::{Affine, Constraint, IslError, Name, Result, Set};

const ROUNDS: i64 = 500;

/// The tile loops of a matrix product, with a constant that makes the set of each round different.
fn tiles(round: i64) -> Result<Set> {
    let text = format!(
        "{{[io, ii, jo, ji, ko, ki]: 0 <= ii, ji, ki < 16 and 0 <= 16*io + ii < n and 0 <= 16*jo + ji < n and 0 <= 16*ko + ki < n + {round}}}"
    );
    Set::parse(&text)
}

fn line(round: i64) -> Result<Set> {
    Set::parse(&format!("{{[i]: 0 <= i < n + {round}}}"))
}

/// Microseconds for one call, over sets that differ.
fn time<T>(sets: &[Set], question: impl Fn(&Set) -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    for set in sets {
        question(set)?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / sets.len() as f64)
}

fn row<T>(what: &str, sets: &[Set], question: impl Fn(&Set) -> Result<T>) -> Result<()> {
    let first = time(sets, &question)?;
    let again = time(sets, &question)?;
    println!("{what:<34}{first:>10.2}{again:>10.2}");
    Ok(())
}

/// Sets with other names, so that none has been seen.
fn unseen(make: fn(i64) -> Result<Set>, tag: usize) -> Result<Vec<Set>> {
    (0..ROUNDS).map(|round| make(round)?.rename(&|name| (name == "n").then(|| Name::from(format!("n{tag}"))))).collect()
}

fn main() -> std::result::Result<(), IslError> {
    line(0)?.is_empty()?;
    println!("{:<34}{:>10}{:>10}", "microseconds", "unseen", "seen");
    let mut tag = 0;
    let mut next = |make| {
        tag += 1;
        unseen(make, tag)
    };
    for (name, make, dim) in [("i < n", line as fn(i64) -> Result<Set>, "i"), ("tiles of matmul", tiles, "ii")] {
        println!("{name}");
        let start = Instant::now();
        for round in 0..ROUNDS {
            make(round)?;
        }
        println!("{:<34}{:>10.2}", "  parse", start.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64);
        let positive = Constraint::not_negative(Affine::name("n").add(&Affine::constant(-1))?);
        row("  join", &next(make)?, |set| set.constrain(std::slice::from_ref(&positive)))?;
        row("  is_empty", &next(make)?, Set::is_empty)?;
        row("  bounds", &next(make)?, |set| set.bounds(dim))?;
        row("  project_out", &next(make)?, |set| set.project_out(&[dim.into()]))?;
        row("  simplify", &next(make)?, Set::simplify)?;
        row("  dim_max", &next(make)?, |set| set.dim_max(dim))?;
        row("  static_max", &next(make)?, |set| set.static_max(dim, &Set::universe(&[], &[])))?;
        let sets = next(make)?;
        let larger = make(0)?.hull()?.rename(&|_| None)?;
        row("  is_subset", &sets, |set| set.is_subset(&larger))?;
        let sets = next(make)?;
        let context = Set::parse("{[ii, ki]: 0 <= ii, ki < 16}")?;
        row("  gist", &sets, |set| set.gist(&context))?;
        row("  stride", &next(make)?, |set| set.stride(dim))?;
        row("  image", &next(make)?, |set| set.image(&[("a".into(), Affine::name(dim))]))?;
    }
    Ok(())
}
