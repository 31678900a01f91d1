//! Where the elements of a set are known before it is distributed: each process has consecutive ones, and answers for them.

use std::ops::Range;

use parloop_mpi::Comm;

use crate::Result;

/// Which process knows which elements of a set.
pub struct Homes {
    comm: Comm,
    /// Process `r` has the elements from `starts[r]` to `starts[r + 1]`.
    starts: Vec<usize>,
}

impl Homes {
    /// Given how many this process has. All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn new(size: usize, comm: &Comm) -> Result<Homes> {
        let sizes = comm.gather_alike(&(size as u64).to_le_bytes())?;
        let mut starts = vec![0];
        for size in words::<8>(&sizes) {
            starts.push(starts[starts.len() - 1] + u64::from_le_bytes(size) as usize);
        }
        Ok(Homes { comm: comm.clone(), starts })
    }

    /// How many elements the set has.
    pub fn whole(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Those that this process has.
    pub fn here(&self) -> Range<usize> {
        self.starts[self.comm.rank()]..self.starts[self.comm.rank() + 1]
    }

    /// Who has an element.
    fn of(&self, element: i32) -> usize {
        self.starts.partition_point(|&start| start <= element as usize) - 1
    }

    /// What is known of these elements, ascending, one after another: `answer` appends it for an element of this process, counted from its first.
    /// All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn ask(&self, elements: &[i32], answer: impl Fn(usize, &mut Vec<u8>)) -> Result<Vec<u8>> {
        let mut questions = vec![Vec::new(); self.comm.size()];
        for &element in elements {
            questions[self.of(element)].extend(element.to_le_bytes());
        }
        let first = self.here().start;
        let answers = self.comm.exchange_all(questions)?.into_iter().map(|asked| {
            let mut answers = Vec::new();
            words::<4>(&asked).for_each(|element| answer(i32::from_le_bytes(element) as usize - first, &mut answers));
            answers
        });
        Ok(self.comm.exchange_all(answers.collect())?.concat())
    }

    /// Sends a record about each of some elements to the process that has it, and gives those that came for the elements of this one: the element, counted
    /// from the first of this process, and the record. All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn tell<const N: usize>(&self, records: impl Iterator<Item = (i32, [u8; N])>) -> Result<Vec<(usize, [u8; N])>> {
        let mut letters = vec![Vec::new(); self.comm.size()];
        for (element, record) in records {
            let letter: &mut Vec<u8> = &mut letters[self.of(element)];
            letter.extend(element.to_le_bytes());
            letter.extend(record);
        }
        let (first, mut found) = (self.here().start, Vec::new());
        for letter in self.comm.exchange_all(letters)? {
            for record in letter.chunks_exact(4 + N) {
                let (element, record) = record.split_at(4);
                let element = i32::from_le_bytes(element.try_into().expect("invariant: four bytes")) as usize - first;
                found.push((element, record.try_into().expect("invariant: the rest of a record")));
            }
        }
        Ok(found)
    }
}

/// Bytes, some at a time.
pub fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).map(|word| word.try_into().expect("invariant: as many bytes"))
}
