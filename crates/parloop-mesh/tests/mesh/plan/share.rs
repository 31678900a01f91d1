//! Parts of a mesh: every process has what its loops need, and numbers it as it says.

use parloop_mesh::plan::{Graph, Link, Share, by_coordinates, follow, shares};
use proptest::prelude::*;

/// Two sets, a map from one to the other and one back, and who owns the elements of the first.
#[derive(Clone, Debug)]
struct Whole {
    sizes: [usize; 2],
    arities: [usize; 2],
    there: Vec<i32>,
    back: Vec<i32>,
    owners: Vec<u32>,
    parts: usize,
}

impl Whole {
    fn links(&self) -> [Link<'_>; 2] {
        let [there, back] = self.arities;
        [Link { from: 0, to: 1, arity: there, values: &self.there }, Link { from: 1, to: 0, arity: back, values: &self.back }]
    }
}

fn whole() -> impl Strategy<Value = Whole> {
    (1usize..30, 1usize..20, 1usize..4, 1usize..3, 1usize..5).prop_flat_map(|(first, second, there, back, parts)| {
        let values = |count: usize, below: usize| prop::collection::vec(0..below as i32, count);
        (values(first * there, second), values(second * back, first), prop::collection::vec(0..parts as u32, first)).prop_map(
            move |(to_second, to_first, owners)| Whole {
                sizes: [first, second],
                arities: [there, back],
                there: to_second,
                back: to_first,
                owners,
                parts,
            },
        )
    })
}

fn check(whole: &Whole, owners: &[&[u32]], rank: u32, share: &[Share]) {
    for (set, share) in share.iter().enumerate() {
        assert!(share.core <= share.owned && share.owned <= share.exec && share.exec <= share.numbers.len());
        let mut numbers = share.numbers.clone();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each element once");
        let owned: Vec<i32> = (0..owners[set].len() as i32).filter(|&element| owners[set][element as usize] == rank).collect();
        let mut here = share.numbers[..share.owned].to_vec();
        here.sort_unstable();
        assert_eq!(here, owned, "what it owns comes first");
    }
    for link in whole.links() {
        let (from, to) = (&share[link.from], &share[link.to]);
        let (here, there) = (from.places(whole.sizes[link.from]), to.places(whole.sizes[link.to]));
        let is_owned = |target: i32| owners[link.to][target as usize] == rank;
        for (element, &place) in here.iter().enumerate() {
            let row = link.row(element);
            if row.iter().any(|&target| is_owned(target)) {
                assert!(place >= 0 && (place as usize) < from.exec, "what leads to owned elements is run");
            }
            if place >= 0 && (place as usize) < from.core {
                assert!(row.iter().all(|&target| is_owned(target)), "the core needs nothing of others");
            }
            if place >= 0 && (place as usize) < from.exec {
                assert!(row.iter().all(|&target| there[target as usize] >= 0), "what is run has all its targets");
            }
        }
        let values = from.localised(&link, &there);
        for (place, &element) in from.numbers.iter().enumerate() {
            let row = &values[place * link.arity..][..link.arity];
            let numbers: Vec<i32> = row.iter().map(|&target| to.numbers[target as usize]).collect();
            if link.row(element as usize).iter().all(|&target| there[target as usize] >= 0) {
                assert_eq!(numbers, link.row(element as usize));
            } else {
                assert!(place >= from.exec && row.iter().all(|&target| target == 0), "no loop runs it");
            }
        }
    }
}

proptest! {
    #[test]
    fn every_process_has_what_its_loops_need(whole in whole()) {
        let links = whole.links();
        let owners = follow(&whole.sizes, &links, 0, whole.owners.clone(), whole.parts).unwrap();
        let owners: Vec<Vec<u32>> = owners.into_iter().map(Option::unwrap).collect();
        prop_assert!(owners[1].iter().all(|&owner| (owner as usize) < whole.parts));
        let slices: Vec<&[u32]> = owners.iter().map(|of_set| &of_set[..]).collect();
        for rank in 0..whole.parts as u32 {
            check(&whole, &slices, rank, &shares(&slices, &links, rank));
        }
    }

    #[test]
    fn bisection_deals_points_out_evenly(points in prop::collection::vec(-1e3..1e3f64, 0..60), parts in 1usize..9) {
        let points = &points[..points.len() / 2 * 2];
        let part_of = by_coordinates(points, 2, parts).unwrap();
        let counts: Vec<usize> = (0..parts as u32).map(|part| part_of.iter().filter(|&&found| found == part).count()).collect();
        prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 2, "{:?}", counts);
    }
}

#[test]
fn bisection_cuts_across_the_longest_side() {
    // A strip of eight points along the second axis.
    let points: Vec<f64> = (0..8).flat_map(|point| [f64::from(point % 2), f64::from(7 - point)]).collect();
    assert_eq!(by_coordinates(&points, 2, 4).unwrap(), [3, 3, 2, 2, 1, 1, 0, 0]);
    assert_eq!(
        by_coordinates(&points, 3, 2).unwrap_err().to_string(),
        "table 0 has 16 values, which is not a multiple of its arity 3; give `rows * arity` values"
    );
}

#[test]
fn neighbours_are_those_that_a_row_joins_or_that_share_targets() {
    let edges = Link { from: 1, to: 0, arity: 2, values: &[0, 1, 1, 2, 2, 3] };
    let line = Graph::of(0, 4, &[edges]).unwrap();
    assert_eq!((&line.starts[..], &line.list[..]), (&[0, 1, 3, 5, 6][..], &[1, 0, 2, 1, 3, 2][..]));
    assert_eq!(line.cut(&[0, 0, 1, 1]), 1);
    // Triangles around a vertex are neighbours where they share a side.
    let triangles = Link { from: 0, to: 1, arity: 3, values: &[0, 1, 2, 0, 2, 3, 0, 4, 5] };
    assert_eq!(Graph::of(0, 3, &[triangles]).unwrap().list, [1, 0]);
}

#[test]
fn cells_are_neighbours_over_their_sides_whichever_maps_there_are() {
    let vertices = Link { from: 0, to: 1, arity: 3, values: &[0, 1, 2, 1, 3, 2, 3, 4, 2] };
    let sides = Link { from: 0, to: 2, arity: 3, values: &[0, 1, 2, 3, 4, 1, 5, 6, 4] };
    let row = Graph::of(0, 3, &[vertices]).unwrap();
    assert_eq!((&row.starts[..], &row.list[..]), (&[0, 1, 3, 4][..], &[1, 0, 2, 1][..]));
    for links in [&[sides][..], &[vertices, sides], &[sides, vertices]] {
        assert_eq!(Graph::of(0, 3, links).unwrap(), row, "{links:?}");
    }
    // Triangles that meet at points alone.
    let points = Link { from: 0, to: 1, arity: 3, values: &[0, 1, 2, 2, 3, 4, 5, 6, 7] };
    assert_eq!(Graph::of(0, 3, &[points]).unwrap().list, [1, 0]);
    // A target that a row has twice counts once.
    let twice = Link { from: 0, to: 1, arity: 3, values: &[0, 0, 1, 0, 2, 3, 3, 2, 4] };
    assert_eq!(Graph::of(0, 3, &[twice]).unwrap().list, [2, 1]);
    assert_eq!(Graph::of(0, 2, &[]).unwrap(), Graph { starts: vec![0, 0, 0], list: vec![] });
}

/// The pole of a mesh: triangles around one vertex, whose numbers have no order. Each shares a side with two.
#[test]
fn neighbours_around_a_crowded_target_are_found_at_their_other_targets() {
    for size in [5, 128, 130, 1009] {
        let number = |place: usize| place * 3 % size;
        let mut values = vec![0; 3 * size];
        for place in 0..size {
            let next = 1 + (place + 1) % size;
            values[3 * number(place)..][..3].copy_from_slice(&[0, 1 + place as i32, next as i32]);
        }
        let graph = Graph::of(0, size, &[Link { from: 0, to: 1, arity: 3, values: &values }]).unwrap();
        for place in 0..size {
            let mut expected = [number((place + size - 1) % size), number((place + 1) % size)].map(|element| element as i32);
            expected.sort_unstable();
            let (begin, end) = (graph.starts[number(place)] as usize, graph.starts[number(place) + 1] as usize);
            assert_eq!(graph.list[begin..end], expected, "{place} of {size}");
        }
    }
}

#[test]
fn elements_that_all_lead_to_one_target_are_not_all_neighbours() {
    let (size, parts) = (20_000, 3);
    let graph = Graph::of(0, size, &[Link { from: 0, to: 1, arity: 1, values: &vec![0; size] }]).unwrap();
    assert!(graph.list.len() <= 128 * size, "{} pairs", graph.list.len());
    let neighbours = |element: usize| &graph.list[graph.starts[element] as usize..graph.starts[element + 1] as usize];
    assert!((0..size).all(|one| neighbours(one).iter().all(|&other| neighbours(other as usize).contains(&(one as i32)))));
    let part_of = graph.partition(parts).unwrap();
    let counts: Vec<usize> = (0..parts).map(|part| part_of.iter().filter(|&&found| found as usize == part).count()).collect();
    assert!(counts.iter().all(|&count| count.abs_diff(size / parts) < size / 20), "{counts:?}");
}

#[test]
fn the_partition_of_a_grid_is_even_and_cuts_little() {
    let side = 20;
    let at = |row: usize, column: usize| (row * side + column) as i32;
    let across = (0..side).flat_map(|row| (1..side).flat_map(move |column| [at(row, column - 1), at(row, column)]));
    let down = (1..side).flat_map(|row| (0..side).flat_map(move |column| [at(row - 1, column), at(row, column)]));
    let values: Vec<i32> = across.chain(down).collect();
    let graph = Graph::of(0, side * side, &[Link { from: 1, to: 0, arity: 2, values: &values }]).unwrap();
    let part_of = graph.partition(4).unwrap();
    let counts: Vec<usize> = (0..4).map(|part| part_of.iter().filter(|&&found| found == part).count()).collect();
    assert!(counts.iter().all(|&count| (95..=105).contains(&count)), "{counts:?}");
    assert!(graph.cut(&part_of) < 60, "{}", graph.cut(&part_of));
    assert_eq!(graph.partition(1).unwrap(), vec![0; side * side]);
}
