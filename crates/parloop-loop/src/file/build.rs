//! Builds a program from the contents of a file and applies its transformations.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_analysis::sequence;
use parloop_create::{CreateError, KernelBuilder};
use parloop_device::DType;
use parloop_ir::callable::CallableKernel;
use parloop_ir::parse::{Datum, Draft, ParseError};
use parloop_ir::program::Program;
use parloop_ir::syntax::LoopKernel;
use parloop_ir::text::KernelText;
use parloop_isl::{IslError, Name, Set};
use parloop_transform::{ApplyError, apply};

use super::LoopFile;

/// Why a program cannot be built from a file.
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
        "kernel `{kernel}` has a `phase` line, so it must be complete, but instruction `{instruction}` does not give its id, its inames or other options"
    )]
    Open { kernel: Name, instruction: String },
    #[error("kernel `{kernel}` has a `phase` line, so it must be complete, but data `{name}` has no kind")]
    Untold { kernel: Name, name: Name },
    #[error("line {line}: {error}")]
    Step { line: usize, error: Box<ApplyError> },
}

impl LoopFile {
    /// The kernels, before any transformation.
    ///
    /// # Errors
    /// Errors of creating a kernel.
    pub fn untransformed(&self) -> Result<Program, FileError> {
        let mut kernels = self.kernels.iter();
        let mut program = program_of(kernels.next().ok_or(FileError::Empty)?)?;
        for text in kernels {
            if program.callables.contains_key(&text.name) {
                return Err(FileError::Twice { name: text.name.clone() });
            }
            let kernel = kernel_of(text)?;
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
    /// Errors of creating a kernel, and of the first transformation that fails.
    pub fn program(&self) -> Result<Program, FileError> {
        let mut program = self.untransformed()?;
        for (line, step) in &self.steps {
            program = apply(&program, step).map_err(|error| FileError::Step { line: *line, error: Box::new(error) })?;
        }
        Ok(program)
    }
}

fn program_of(written: &KernelText) -> Result<Program, FileError> {
    let mut program = Program { target: written.target, ..Program::of(kernel_of(written)?) };
    if written.is_function {
        program.entrypoints.clear();
    }
    Ok(program)
}

/// The kernel: as written if its phase is given, else with missing parts inferred.
///
/// # Errors
/// Errors in texts, names, shapes or dependencies.
pub fn kernel_of(written: &KernelText) -> Result<LoopKernel, FileError> {
    if written.phase.is_some() { exact(written) } else { created(written) }
}

fn created(written: &KernelText) -> Result<LoopKernel, FileError> {
    let mut builder = KernelBuilder::new()
        .name(&written.name)
        .domains(written.domains.iter().cloned())
        .options(written.options.clone())
        .sequential_dependencies(written.sequential)
        .index_type(written.index_type.unwrap_or(DType::I32));
    for datum in &written.data {
        builder = match datum {
            Datum::Argument(argument) => builder.argument(argument.clone()),
            Datum::Temporary(temporary) => builder.temporary(temporary.clone()),
            Datum::Named(name) => builder.argument_named(name.as_str()),
        };
    }
    let parsed = written.instructions.parse()?;
    builder = parsed.drafts.into_iter().fold(builder, KernelBuilder::draft);
    builder = parsed.substitutions.into_iter().fold(builder, KernelBuilder::substitution);
    if written.rest {
        builder = builder.rest();
    }
    if !written.assumptions.is_empty() {
        builder = builder.assumptions(written.assumptions.join(" and "));
    }
    if let Some(dtype) = written.default_type {
        builder = builder.default_type(dtype);
    }
    for chain in &written.priorities {
        builder = builder.priority(chain.iter().cloned());
    }
    for preamble in &written.preambles {
        builder = builder.preamble(preamble.clone());
    }
    let mut kernel = builder.build_kernel().map_err(|error| FileError::Create { kernel: written.name.clone(), error: Box::new(error) })?;
    for (name, iname) in &written.inames {
        kernel.inames.insert(name.clone(), iname.clone());
    }
    Ok(kernel)
}

fn exact(written: &KernelText) -> Result<LoopKernel, FileError> {
    let domain = |text: &String| {
        Set::parse(text).map_err(|error| FileError::Domain { kernel: written.name.clone(), domain: text.clone(), error: Box::new(error) })
    };
    let parsed = written.instructions.parse()?;
    let finished = |draft: &Draft| {
        let open = || FileError::Open { kernel: written.name.clone(), instruction: draft.kind.to_string() };
        draft.exact().map(Arc::new).ok_or_else(open)
    };
    let mut assumptions = Set::universe(&[], &[]);
    for text in &written.assumptions {
        assumptions = assumptions.join(&domain(text)?).map_err(|error| FileError::Domain {
            kernel: written.name.clone(),
            domain: text.clone(),
            error: Box::new(error),
        })?;
    }
    let (mut arguments, mut temporaries) = (Vec::new(), BTreeMap::new());
    for datum in &written.data {
        match datum {
            Datum::Argument(argument) => arguments.push(argument.clone()),
            Datum::Temporary(temporary) => drop(temporaries.insert(temporary.name.clone(), temporary.clone())),
            Datum::Named(name) => return Err(FileError::Untold { kernel: written.name.clone(), name: name.clone() }),
        }
    }
    Ok(sequence::created(LoopKernel {
        name: written.name.clone(),
        domains: written.domains.iter().map(domain).collect::<Result<_, _>>()?,
        instructions: parsed.drafts.iter().map(finished).collect::<Result<_, _>>()?,
        arguments,
        temporaries,
        inames: written.inames.iter().cloned().collect(),
        substitutions: parsed.substitutions.into_iter().map(|rule| (rule.name.clone(), rule)).collect(),
        assumptions,
        priorities: written.priorities.iter().cloned().collect(),
        preambles: written.preambles.iter().cloned().collect(),
        index_type: written.index_type.unwrap_or(DType::I32),
        default_type: written.default_type,
        options: written.options.clone(),
        phase: written.phase.unwrap_or(parloop_ir::syntax::Phase::Parsed),
    }))
}
