//! From what stands in a file to a program, with its transformations applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::{IslError, Name, Set};

use super::LoopFile;
use crate::callable::CallableKernel;
use crate::create::{CreateError, KernelBuilder};
use crate::parse::{Datum, Draft, ParseError, instructions};
use crate::program::Program;
use crate::syntax::LoopKernel;
use crate::text::KernelText;
use crate::transform::{ApplyError, apply};

/// Why a file gives no program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FileError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error("the file has no kernel: begin with `kernel NAME`")]
    Empty,
    #[error("the file has two kernels `{name}`")]
    Twice { name: Name },
    #[error("kernel `{kernel}`: {error}")]
    Create { kernel: Name, error: Box<CreateError> },
    #[error("kernel `{kernel}`, domain `{domain}`: {error}")]
    Domain { kernel: Name, domain: String, error: Box<IslError> },
    #[error(
        "kernel `{kernel}` has a line `phase`, so all must be said, but instruction `{instruction}` leaves its id, its inames or others open"
    )]
    Open { kernel: Name, instruction: String },
    #[error("kernel `{kernel}` has a line `phase`, so all must be said, but `{name}` is data without a kind")]
    Untold { kernel: Name, name: Name },
    #[error("line {line}: {error}")]
    Step { line: usize, error: Box<ApplyError> },
}

impl LoopFile {
    /// The kernels, before any transformation.
    ///
    /// # Errors
    /// Those of making a kernel.
    pub fn untransformed(&self) -> Result<Program, FileError> {
        let mut kernels = self.kernels.iter();
        let mut program = kernels.next().ok_or(FileError::Empty)?.program()?;
        for text in kernels {
            if program.callables.contains_key(&text.name) {
                return Err(FileError::Twice { name: text.name.clone() });
            }
            let kernel = text.kernel()?;
            if !text.is_function {
                program.entrypoints.insert(text.name.clone());
            }
            program.callables.insert(text.name.clone(), Arc::new(CallableKernel::of(kernel)));
        }
        Ok(program)
    }

    /// The program after all transformations.
    ///
    /// # Errors
    /// Those of making a kernel, and of the first transformation that is not possible.
    pub fn program(&self) -> Result<Program, FileError> {
        let mut program = self.untransformed()?;
        for (line, step) in &self.steps {
            program = apply(&program, step).map_err(|error| FileError::Step { line: *line, error: Box::new(error) })?;
        }
        Ok(program)
    }
}

impl KernelText {
    fn program(&self) -> Result<Program, FileError> {
        let mut program = Program { target: self.target, ..Program::of(self.kernel()?) };
        if self.is_function {
            program.entrypoints.clear();
        }
        Ok(program)
    }

    /// The kernel: as it stands if its phase is said, else with what is not said found from how it is used.
    ///
    /// # Errors
    /// What is wrong in texts, names, shapes or dependencies.
    pub fn kernel(&self) -> Result<LoopKernel, FileError> {
        if self.phase.is_some() { self.exact() } else { self.created() }
    }

    fn created(&self) -> Result<LoopKernel, FileError> {
        let mut builder = KernelBuilder::new()
            .name(&self.name)
            .domains(self.domains.iter().cloned())
            .instructions(&*self.instructions)
            .options(self.options.clone())
            .sequential_dependencies(self.sequential)
            .index_type(self.index_type.unwrap_or(DType::I32));
        for datum in &self.data {
            builder = match datum {
                Datum::Argument(argument) => builder.argument(argument.clone()),
                Datum::Temporary(temporary) => builder.temporary(temporary.clone()),
                Datum::Named(name) => builder.argument_named(name.as_str()),
            };
        }
        if self.rest {
            builder = builder.rest();
        }
        if !self.assumptions.is_empty() {
            builder = builder.assumptions(self.assumptions.join(" and "));
        }
        if let Some(dtype) = self.default_type {
            builder = builder.default_type(dtype);
        }
        for chain in &self.priorities {
            builder = builder.priority(chain.iter().cloned());
        }
        for preamble in &self.preambles {
            builder = builder.preamble(&*preamble.key, &*preamble.text);
        }
        let mut kernel = builder.build_kernel().map_err(|error| FileError::Create { kernel: self.name.clone(), error: Box::new(error) })?;
        for (name, iname) in &self.inames {
            kernel.inames.insert(name.clone(), iname.clone());
        }
        Ok(kernel)
    }

    fn exact(&self) -> Result<LoopKernel, FileError> {
        let domain = |text: &String| {
            Set::parse(text).map_err(|error| FileError::Domain { kernel: self.name.clone(), domain: text.clone(), error: Box::new(error) })
        };
        let parsed = instructions(&self.instructions)?;
        let exact = |draft: &Draft| {
            let open = || FileError::Open { kernel: self.name.clone(), instruction: draft.kind.to_string() };
            draft.exact().map(Arc::new).ok_or_else(open)
        };
        let mut assumptions = Set::universe(&[], &[]);
        for text in &self.assumptions {
            assumptions = domain(text)?;
        }
        let (mut arguments, mut temporaries) = (Vec::new(), BTreeMap::new());
        for datum in &self.data {
            match datum {
                Datum::Argument(argument) => arguments.push(argument.clone()),
                Datum::Temporary(temporary) => drop(temporaries.insert(temporary.name.clone(), temporary.clone())),
                Datum::Named(name) => return Err(FileError::Untold { kernel: self.name.clone(), name: name.clone() }),
            }
        }
        Ok(LoopKernel {
            name: self.name.clone(),
            domains: self.domains.iter().map(domain).collect::<Result<_, _>>()?,
            instructions: parsed.drafts.iter().map(exact).collect::<Result<_, _>>()?,
            arguments,
            temporaries,
            inames: self.inames.iter().cloned().collect(),
            substitutions: parsed.substitutions.into_iter().map(|rule| (rule.name.clone(), rule)).collect(),
            assumptions,
            priorities: self.priorities.iter().cloned().collect(),
            preambles: self.preambles.iter().cloned().collect(),
            index_type: self.index_type.unwrap_or(DType::I32),
            default_type: self.default_type,
            options: self.options.clone(),
            phase: self.phase.unwrap_or(crate::syntax::Phase::Parsed),
        })
    }
}
