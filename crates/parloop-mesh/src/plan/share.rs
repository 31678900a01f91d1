//! What a process has of distributed sets: the elements it owns, and copies of others that its loops touch.

use super::partition::Link;

/// What a process has of a set, in the order in which it numbers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The number in the whole set of each element. Those that need nothing of other processes come first, then the others that it owns, then
    /// those that it runs because they lead to elements that it owns, then those that are only looked at; ascending in each of the first two, unless
    /// they were renumbered, by owner in the others.
    pub numbers: Vec<i32>,
    /// Elements all of whose targets this process owns.
    pub core: usize,
    /// Elements that it owns.
    pub owned: usize,
    /// With elements of others that lead to some that it owns: whoever runs all these has every contribution to what it owns.
    pub exec: usize,
}

/// What a process has of each set. `owners` has the owner of each element, set by set.
///
/// ```
/// use parloop_mesh::plan::{Link, shares};
/// // Four cells in a line, two for each process, and the edges between them.
/// let edges = Link { from: 1, to: 0, arity: 2, values: &[0, 1, 1, 2, 2, 3] };
/// let second = shares(&[&[0, 0, 1, 1], &[0, 0, 1]], &[edges], 1);
/// assert_eq!((&second[0].numbers[..], second[0].owned), (&[2, 3, 1][..], 2), "a cell of the other process is seen");
/// assert_eq!((&second[1].numbers[..], second[1].core, second[1].exec), (&[2, 1][..], 1, 2), "and an edge of it is run");
/// ```
pub fn shares(owners: &[&[u32]], links: &[Link<'_>], rank: u32) -> Vec<Share> {
    let owns = |set: usize, element: i32| owners[set][element as usize] == rank;
    let mut roles: Vec<Vec<Role>> = owners.iter().map(|of_set| vec![Role::Absent; of_set.len()]).collect();
    for (set, of_set) in owners.iter().enumerate() {
        for (role, _) in roles[set].iter_mut().zip(*of_set).filter(|(_, owner)| **owner == rank) {
            *role = Role::Core;
        }
    }
    for link in links {
        for (element, role) in roles[link.from].iter_mut().enumerate() {
            let mut targets = link.row(element).iter();
            match role {
                Role::Core if targets.any(|&target| !owns(link.to, target)) => *role = Role::Border,
                Role::Absent if targets.any(|&target| owns(link.to, target)) => *role = Role::Exec,
                _ => {}
            }
        }
    }
    for link in links {
        let runs: Vec<usize> = (0..roles[link.from].len()).filter(|&element| roles[link.from][element] < Role::Ghost).collect();
        for element in runs {
            for &target in link.row(element) {
                let role = &mut roles[link.to][target as usize];
                *role = (*role).min(Role::Ghost);
            }
        }
    }
    // A row that leads out of what is here needs somewhere to lead.
    while let Some((to, target)) = links.iter().find_map(|link| first_missing(link, &roles)) {
        roles[to][target as usize] = Role::Ghost;
    }
    roles.iter().zip(owners).map(|(roles, owners)| share(roles, owners)).collect()
}

/// A target of a link whose set has no element here, although one of here leads there.
fn first_missing(link: &Link<'_>, roles: &[Vec<Role>]) -> Option<(usize, i32)> {
    let is_here = |role: &Role| *role != Role::Absent;
    let first = roles[link.from].iter().position(is_here)?;
    if roles[link.to].iter().any(is_here) { None } else { link.row(first).first().map(|&target| (link.to, target)) }
}

/// What an element is for a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Core,
    Border,
    Exec,
    Ghost,
    Absent,
}

fn share(roles: &[Role], owners: &[u32]) -> Share {
    let of = |role: Role| (0..roles.len() as i32).filter(move |&element| roles[element as usize] == role);
    let by_owner = |role: Role| {
        let mut elements: Vec<i32> = of(role).collect();
        elements.sort_by_key(|&element| owners[element as usize]);
        elements
    };
    let mut numbers: Vec<i32> = of(Role::Core).collect();
    let core = numbers.len();
    numbers.extend(of(Role::Border));
    let owned = numbers.len();
    numbers.extend(by_owner(Role::Exec));
    let exec = numbers.len();
    numbers.extend(by_owner(Role::Ghost));
    Share { numbers, core, owned, exec }
}

impl Share {
    /// For each element of the whole set its number here, or -1.
    pub fn places(&self, whole: usize) -> Vec<i32> {
        let mut places = vec![-1; whole];
        for (place, &number) in self.numbers.iter().enumerate() {
            places[number as usize] = place as i32;
        }
        places
    }

    /// The rows of a link for the elements here, with numbers of here. Rows that lead to elements which are not here lead to the first one
    /// instead; all that loops run are whole.
    pub fn localised(&self, link: &Link<'_>, places: &[i32]) -> Vec<i32> {
        let mut values = Vec::with_capacity(self.numbers.len() * link.arity);
        for &number in &self.numbers {
            let row = link.row(number as usize);
            match row.iter().all(|&target| places[target as usize] >= 0) {
                true => values.extend(row.iter().map(|&target| places[target as usize])),
                false => values.extend(std::iter::repeat_n(0, link.arity)),
            }
        }
        values
    }
}
