//! `map_domain`: replaces inames by a relation between old and new ones.

use std::collections::BTreeMap;

use parloop_ir::affine::from_affine;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::{IslError, Name, Relation};

use super::replace::{self, Group, InameError};
use super::rewrite::Scope;

/// Why a domain cannot be mapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapDomainError {
    /// Points are lost or repeated.
    #[error("`{map}` does not pair each value of `{}` with one of `{}` and back", list(.inputs), list(.outputs))]
    NotBijective {
        /// The relation.
        map: String,
        /// The old inames.
        inputs: Vec<Name>,
        /// The new inames.
        outputs: Vec<Name>,
    },
    /// The old inames are not expressions of the new ones.
    #[error("`{map}` does not give `{}` as expressions of `{}`", list(.inputs), list(.outputs))]
    NoExpression {
        /// The relation.
        map: String,
        /// The old inames.
        inputs: Vec<Name>,
        /// The new inames.
        outputs: Vec<Name>,
    },
    /// Some points of the domain have no partner.
    #[error("`{map}` leaves out points of the domain `{domain}`")]
    PartOnly {
        /// The relation.
        map: String,
        /// The domain.
        domain: String,
    },
    /// The inames are not in one domain.
    #[error("no domain of kernel `{kernel}` has all of the inames `{}`", list(.inputs))]
    Apart {
        /// The kernel.
        kernel: Name,
        /// The inames.
        inputs: Vec<Name>,
    },
    /// A priority names an old iname.
    #[error("the priority {} names `{iname}`, which is mapped; prioritize loops after the map", list(.chain))]
    Prioritized {
        /// The chain.
        chain: Vec<Name>,
        /// The iname.
        iname: Name,
    },
    /// The inames cannot be replaced.
    #[error(transparent)]
    Iname(#[from] InameError),
}

impl From<IslError> for MapDomainError {
    fn from(error: IslError) -> MapDomainError {
        MapDomainError::Iname(error.into())
    }
}

fn list(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<&str>>().join(", ")
}

/// Replaces the inputs of a relation, which are inames of one domain, by its outputs: `{[t, x] -> [tt, d]: tt = t + x and d = t - x}`
/// skews a loop nest.
///
/// ```
/// use parloop_isl::Relation;
/// use parloop_loop::{create::KernelBuilder, transform::map_domain};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = map_domain(&kernel, &Relation::parse("{[i] -> [k]: k = n - 1 - i}")?)?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "2*a[-k + n - 1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the relation is not a one-to-one pairing or leaves out points, its inputs are not inames of one domain, its outputs are names in use,
/// a priority or a part of the instructions names some of the inputs alone.
pub fn map_domain(kernel: &LoopKernel, map: &Relation) -> Result<LoopKernel, MapDomainError> {
    let (inputs, outputs) = (map.inputs(), map.outputs());
    let mut names = UniqueNames::of_variables(kernel);
    inputs.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    for name in outputs {
        replace::fresh(kernel, &mut names, Some(name), name)?;
    }
    check(kernel, map)?;
    let no_expression = || MapDomainError::NoExpression { map: map.to_string(), inputs: inputs.to_vec(), outputs: outputs.to_vec() };
    let affines = map.inputs_of_outputs()?.ok_or_else(no_expression)?;
    let values: BTreeMap<_, _> = inputs.iter().cloned().zip(affines.iter().map(from_affine)).collect();
    let keeps_order = matches!((&affines[..], outputs), ([value], [output]) if value.coefficient(output) > 0 && !value.has_floors());
    let group = Group { old: inputs.to_vec(), new: outputs.to_vec(), values, keeps_order };
    Ok(replace::replace(kernel, &Scope::whole(kernel), &[group], &|domain, _| {
        if domain.has_dim(&inputs[0]) {
            return map.apply(domain);
        }
        let mut mapped = domain.clone();
        for (iname, affine) in inputs.iter().zip(&affines) {
            mapped = replace::put(&mapped, iname, affine)?;
        }
        Ok(mapped)
    })?)
}

fn check(kernel: &LoopKernel, map: &Relation) -> Result<(), MapDomainError> {
    let inputs = map.inputs();
    for chain in &kernel.priorities {
        if let Some(iname) = chain.iter().find(|iname| inputs.contains(iname)) {
            return Err(MapDomainError::Prioritized { chain: chain.clone(), iname: iname.clone() });
        }
    }
    let has_all = |domain: &&parloop_isl::Set| inputs.iter().all(|iname| domain.has_dim(iname));
    let Some(home) = kernel.domains.iter().find(has_all).filter(|_| !inputs.is_empty()) else {
        return Err(MapDomainError::Apart { kernel: kernel.name.clone(), inputs: inputs.to_vec() });
    };
    if !map.is_bijective()? {
        return Err(MapDomainError::NotBijective { map: map.to_string(), inputs: inputs.to_vec(), outputs: map.outputs().to_vec() });
    }
    if !home.project_onto(inputs)?.is_subset(&map.pairs().project_onto(inputs)?)? {
        return Err(MapDomainError::PartOnly { map: map.to_string(), domain: home.to_string() });
    }
    Ok(())
}
