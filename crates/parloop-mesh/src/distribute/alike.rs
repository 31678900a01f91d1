//! Whether all processes start with the same mesh: hashes of everything in it, compared before anything is dealt out.

use std::hash::{DefaultHasher, Hash, Hasher};

use parloop_mpi::Comm;

use crate::Result;
use crate::declare::dat::Dat;

/// What a process has, as hashes with the names of things.
#[derive(Default)]
pub struct Described {
    /// Sets and maps, which must be the same ones in the same order.
    structure: Vec<(String, u64)>,
    /// Subsets and data. A process may have some for itself: those of a name are compared where all processes have as many.
    contents: Vec<(String, u64)>,
}

/// What two processes have in different forms.
pub struct Difference {
    pub what: String,
    pub rank: usize,
}

/// How many bytes of data are hashed at a time.
const PIECE: usize = 1 << 20;

impl Described {
    /// A set or a map.
    pub fn add(&mut self, what: String, value: &impl Hash) {
        self.structure.push((what, hash(value)));
    }

    /// A subset.
    pub fn add_content(&mut self, what: String, value: &impl Hash) {
        self.contents.push((what, hash(value)));
    }

    /// Data, with all of its numbers.
    ///
    /// # Errors
    /// When a device that has the numbers fails.
    pub fn add_data(&mut self, dat: &Dat) -> Result<()> {
        let (storage, mut hasher, mut bytes) = (dat.storage(), DefaultHasher::new(), Vec::new());
        (storage.dtype(), dat.dataset().axes()).hash(&mut hasher);
        let _turn = storage.turn(false)?;
        let rows: Vec<i32> = (0..storage.rows() as i32).collect();
        for piece in rows.chunks((PIECE / storage.row_bytes().max(1)).max(1)) {
            bytes.clear();
            storage.pack(piece, &mut bytes)?;
            hasher.write(&bytes);
        }
        self.contents.push((format!("data `{}`", dat.name()), hasher.finish()));
        Ok(())
    }

    /// The first thing that another process has in another form. All processes must call it, and each finds a difference if one does.
    ///
    /// # Errors
    /// What MPI says.
    pub fn difference(&self, comm: &Comm) -> Result<Option<Difference>> {
        let told = |things: &[(String, u64)]| things.iter().map(|(name, hash)| format!("{name}\t{hash:x}\n")).collect::<String>();
        let (structure, contents) = (told(&self.structure), told(&self.contents));
        let (structures, all_contents) = (comm.gather_all(structure.as_bytes())?, comm.gather_all(contents.as_bytes())?);
        if let Some((rank, other)) = structures.iter().enumerate().find(|(_, other)| *other != structure.as_bytes()) {
            let other = String::from_utf8_lossy(other);
            let differs = structure.lines().zip(other.lines()).position(|(own, other)| own != other);
            let what = differs.map_or_else(|| "the number of sets and maps".to_owned(), |place| self.structure[place].0.clone());
            return Ok(Some(Difference { what, rank }));
        }
        for (rank, other) in all_contents.iter().enumerate().filter(|(_, other)| *other != contents.as_bytes()) {
            let other = String::from_utf8_lossy(other);
            if let Some((what, _)) = self.contents.iter().find(|(what, _)| !are_same(&of_name(&contents, what), &of_name(&other, what))) {
                return Ok(Some(Difference { what: what.clone(), rank }));
            }
        }
        Ok(None)
    }
}

/// The hashes of all things of a name.
fn of_name<'a>(told: &'a str, name: &str) -> Vec<&'a str> {
    told.lines().filter_map(|line| line.rsplit_once('\t')).filter(|(known, _)| *known == name).map(|(_, hash)| hash).collect()
}

/// Whether things of one name are the same, as far as they can be compared.
fn are_same(own: &[&str], other: &[&str]) -> bool {
    own.len() != other.len() || own == other
}

/// The same for the same value in every process of a program.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
