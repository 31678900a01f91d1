//! From sources and saved files to programs: `Context.compile` and `Context.load`.

use std::path::PathBuf;

use parloop_kernel as ker;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::context::Context;
use crate::error::Result;
use crate::program::{Program, classes_in, classes_of, described_anew, kernel_descriptions, language, sources_of};

#[pymethods]
impl Context {
    /// Compiles portable C, or C++.
    ///
    /// Parameters
    /// ----------
    /// source : str, path, or a list of them
    ///     Text, or files (`pathlib.Path`, or a string that ends in `.c`, `.h`, `.cl` or `.cu`).
    /// kernels : dict of Kernel, optional
    ///     Descriptions that are checked against the source, and grids.
    /// include : list of path, optional
    ///     Folders in which `#include` looks for your headers.
    /// arguments : list of str, optional
    ///     Further arguments for the target's compiler.
    /// api : str, path, or a list of them, optional
    ///     Sources in front of the others, of whose functions only those that `kernels` describes can be called.
    /// classes : list of class or str, optional
    ///     Classes of `parloop.objects`, or just names of types that are pointers to opaque structs; what is passed there is an object
    ///     of that class.
    /// checked : bool, optional
    ///     Whether bad indices and null references in the accessors of classes are errors (`CheckError`); each launch is then waited
    ///     for. Left out, it is what the environment variable `PARLOOP_CHECKED` says.
    /// check_sites : list of str, optional
    ///     What each site of `PARLOOP_CHECK(ok, site, index, limit)` checks, in words.
    /// source_hook : callable, optional
    ///     Changes each source's text before anything else.
    /// save_source_as : path, optional
    ///     Where to write the full source that the compiler is given.
    /// cpp : bool
    ///     Whether the source is C++, which cpu, cuda and hip take. Kernels and other functions that are called from Python are plain
    ///     functions: no templates, overloads, references or default values.
    #[pyo3(signature = (source, *, kernels=None, include=vec![], arguments=vec![], api=None, classes=vec![], checked=None,
                        check_sites=vec![], source_hook=None, save_source_as=None, cpp=false))]
    #[allow(clippy::too_many_arguments)] // the surface of one Python call; each goes to a field of the options
    fn compile<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        kernels: Option<&Bound<'py, PyDict>>,
        include: Vec<PathBuf>,
        arguments: Vec<String>,
        api: Option<&Bound<'py, PyAny>>,
        classes: Vec<Bound<'py, PyAny>>,
        checked: Option<bool>,
        check_sites: Vec<String>,
        source_hook: Option<&Bound<'py, PyAny>>,
        save_source_as: Option<PathBuf>,
        cpp: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let (classes, types) = classes_of(&classes)?;
        let api = api.filter(|api| api.len().is_ok_and(|count| count > 0));
        let mut sources = api.map(|api| sources_of(api, source_hook)).transpose()?.unwrap_or_default();
        sources = sources.into_iter().map(ker::Source::api).collect();
        sources.extend(sources_of(source, source_hook)?);
        let described = kernels.map(|kernels| kernel_descriptions(kernels, &classes)).transpose()?.unwrap_or_default();
        let mut options = ker::CompileOptions {
            language: language(cpp),
            include_folders: include,
            arguments,
            kernels: described.iter().map(|(description, _)| description.clone()).collect(),
            classes,
            check_sites,
            save_source_as,
            ..Default::default()
        };
        options.checked = checked.unwrap_or(options.checked);
        // SAFETY: C in Python programs is its author's business, as with `ctypes`.
        let program = py.detach(|| unsafe { self.inner.compile_with(&sources, &options) })?;
        Program::make(py, program, described, &types)
    }

    /// Loads a program that `Program.save` wrote; no compiler is needed.
    ///
    /// Loading a file runs code that is in it, before any kernel is called: load only files that you trust as you trust a program. A file
    /// that another user could have written is refused: it and its folder must belong to you or to root, and nobody else may write to them
    /// or rename a folder on the way.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// kernels : dict of Kernel, optional
    ///     Further descriptions of what is in it.
    #[pyo3(signature = (path, kernels=None))]
    fn load<'py>(&self, py: Python<'py>, path: PathBuf, kernels: Option<&Bound<'py, PyDict>>) -> Result<Bound<'py, PyAny>> {
        // SAFETY: as the documentation says, a Python program loads files that it trusts.
        let program = py.detach(|| unsafe { self.inner.load(path) })?;
        let described = kernels.map(|kernels| described_anew(&program, kernels)).transpose()?.unwrap_or_default();
        let descriptions: Vec<ker::KernelDescription> = described.iter().map(|(description, _)| description.clone()).collect();
        let types = kernels.map(classes_in).transpose()?.unwrap_or_default();
        Program::make(py, program.describe(&descriptions)?, described, &types)
    }
}
