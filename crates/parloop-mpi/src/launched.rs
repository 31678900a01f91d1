//! Whether this process is one of several, read from what launchers leave in the environment.

/// A launcher and how many processes it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    pub launcher: &'static str,
    pub size: usize,
    /// Libraries that such processes use, the likeliest first.
    pub libraries: &'static [&'static str],
}

/// Open MPI.
const OPEN: &[&str] = &["libmpi.so.40", "libmpi.so.80", "libmpi.so", STANDARD];
/// MPICH, and what shares its interface.
const MPICH: &[&str] = &["libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so", STANDARD];
const ANY: &[&str] = &["libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so", STANDARD];
/// The interface of MPI 5, of any library that has it.
const STANDARD: &str = "libmpi_abi.so.1";

/// All names under which a library may be loaded already. One with the interface of MPI 5 may load the other of the same library.
pub const NAMES: &[&str] = &[STANDARD, "libmpi.so.40", "libmpi.so.80", "libmpi.so.12", "libmpich.so.12", "libmpich.so", "libmpi.so"];

/// What `variable` says about the environment.
pub fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name).and_then(|value| value.trim().parse::<usize>().ok());
    if let Some(size) = number("OMPI_COMM_WORLD_SIZE") {
        return Some(Launched { launcher: "Open MPI's mpirun", size, libraries: OPEN });
    }
    // Hydra: mpirun of MPICH, Intel MPI and MVAPICH, and srun with --mpi=pmi2.
    if let Some(size) = number("PMI_SIZE") {
        return Some(Launched { launcher: "an mpirun of MPICH's kind", size, libraries: MPICH });
    }
    // srun with PMIx, which both kinds of library understand.
    if variable("PMIX_RANK").is_some()
        && let Some(size) = number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS"))
    {
        return Some(Launched { launcher: "srun", size, libraries: ANY });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let with = |set: &'static [(&'static str, &'static str)]| {
            launched(move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
                .map(|found| (found.launcher, found.size))
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("SLURM_NTASKS", "4")]), None, "a job's script is one process");
        assert_eq!(with(&[("OMPI_COMM_WORLD_SIZE", "3")]), Some(("Open MPI's mpirun", 3)));
        assert_eq!(with(&[("PMI_SIZE", "2")]), Some(("an mpirun of MPICH's kind", 2)));
        assert_eq!(with(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_NTASKS", "9")]), Some(("srun", 8)));
    }
}
