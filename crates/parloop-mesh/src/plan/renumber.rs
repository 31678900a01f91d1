//! The numbers of elements inside of a part: neighbours close to each other, where the numbers of the whole set do not see to it.

use super::partition::Link;
use super::share::Share;
use super::{Elements, Incidence, PlanError, Table, cuthill_mckee, locality};

/// Renumbers what a process has of each set in reverse Cuthill-McKee order: the core, the other elements that it owns, and the ghosts of each
/// owner, each by themselves. Sets whose numbers have an order already keep it.
///
/// ```
/// use parloop_mesh::plan::{Link, renumber, shares};
/// // Edge `i` joins the nodes `5003 i` and `5003 (i + 1)`, modulo 10,000.
/// let ends: Vec<i32> = (0..10_000).flat_map(|edge| [edge * 5003 % 10_000, (edge + 1) * 5003 % 10_000]).collect();
/// let links = [Link { from: 0, to: 1, arity: 2, values: &ends }];
/// let owners: [&[u32]; 2] = [&[0; 10_000], &[0; 10_000]];
/// let mut part = shares(&owners, &links, 0);
/// renumber(&mut part, &owners, &links)?;
/// let places = part[1].places(10_000);
/// let far = ends.chunks(2).filter(|edge| places[edge[0] as usize].abs_diff(places[edge[1] as usize]) > 2).count();
/// assert_eq!(far, 0, "neighbours are next to each other");
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// Those of an [`Incidence`].
pub fn renumber(shares: &mut [Share], owners: &[&[u32]], links: &[Link<'_>]) -> Result<(), PlanError> {
    let mut ranks: Vec<Option<Vec<i32>>> = vec![None; shares.len()];
    for (set, rank) in ranks.iter_mut().enumerate() {
        // The map whose rows tell most about who is next to whom.
        let known = links.iter().filter(|link| link.to == set && link.arity > 1);
        if let Some(link) = known.max_by_key(|link| shares[link.from].exec * link.arity) {
            *rank = rank_of_targets(link, shares, owners[set].len())?;
        }
    }
    // Elements that nothing leads to stand in the order of what they lead to.
    for set in 0..ranks.len() {
        let is_reached = links.iter().any(|link| link.to == set && link.arity > 1);
        let onward = links.iter().find_map(|link| Some((link, ranks[link.to].as_ref()?)).filter(|_| link.from == set && !is_reached));
        if let Some((link, rank)) = onward {
            ranks[set] = Some(rank_by_targets(link, rank, shares, owners[link.to].len()));
        }
    }
    for ((share, rank), owners) in shares.iter_mut().zip(ranks).zip(owners) {
        if let Some(rank) = rank {
            sort(share, &rank, owners);
        }
    }
    Ok(())
}

/// The places of the elements that the rows of a link lead to; none where they are close to each other as they are.
fn rank_of_targets(link: &Link<'_>, shares: &[Share], whole: usize) -> Result<Option<Vec<i32>>, PlanError> {
    let (from, to) = (&shares[link.from], &shares[link.to]);
    let values = from.localised(link, &to.places(whole));
    // The rows of other ghosts may lead out of the part.
    let values = &values[..from.exec * link.arity];
    let table = Table { values, arity: link.arity, set: 0, targets: to.numbers.len(), drops: false };
    if locality(&table).is_local() {
        return Ok(None);
    }
    cuthill_mckee(&Incidence::new(Elements::Range(0..from.exec), &[table])?).map(Some)
}

/// The place of the first of the elements that each leads to; those that no loop runs come last.
fn rank_by_targets(link: &Link<'_>, rank: &[i32], shares: &[Share], whole: usize) -> Vec<i32> {
    let (from, places) = (&shares[link.from], shares[link.to].places(whole));
    let first = |&number: &i32| link.row(number as usize).iter().map(|&target| rank[places[target as usize] as usize]).min();
    let run = from.numbers[..from.exec].iter().map(|number| first(number).unwrap_or(i32::MAX));
    run.chain(std::iter::repeat_n(i32::MAX, from.numbers.len() - from.exec)).collect()
}

/// Puts the elements of each kind in the order of a rank.
fn sort(share: &mut Share, rank: &[i32], owners: &[u32]) {
    let Share { core, owned, exec, .. } = *share;
    let mut ranked: Vec<(i32, i32)> = rank.iter().copied().zip(share.numbers.iter().copied()).collect();
    ranked[..core].sort_by_key(|(place, _)| *place);
    ranked[core..owned].sort_by_key(|(place, _)| *place);
    let of_owner = |(place, number): &(i32, i32)| (owners[*number as usize], *place);
    ranked[owned..exec].sort_by_key(of_owner);
    ranked[exec..].sort_by_key(of_owner);
    share.numbers = ranked.into_iter().map(|(_, number)| number).collect();
}
