//! `.loop` files: a kernel, its data, its transformations, and the expected output, all readable.
//!
//! ```text
//! kernel scale
//! domain {[i]: 0 <= i < n}
//! assume n >= 1
//! data
//!   a: global float32[n]
//!   ...
//! instructions
//!   out[i] = 2*a[i]
//!
//! split_iname i 16 outer_tag=g.0 inner_tag=l.0
//! ---- opencl
//! …
//! ```
//! A line that begins with `;` is a comment. Lines of `data` and `instructions` are indented. A kernel with a `phase` line is read as
//! written, which is how kernels are printed; in any other, missing parts are inferred as [`create`](parloop_create) does.

mod build;
mod read;

use std::fmt;

pub use build::{FileError, kernel_of};

use parloop_ir::parse::ParseError;
use parloop_ir::step::TransformStep;
pub use parloop_ir::text::{InstructionText, KernelText};

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopFile {
    /// Kernels and functions, in the order written.
    pub kernels: Vec<KernelText>,
    /// Transformations, in the order written, each with its line, counted from 1.
    pub steps: Vec<(usize, TransformStep)>,
    /// What is expected, in the order written.
    pub expected: Vec<Expected>,
}

/// Expected text: what follows a line `---- what`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Of what: `c`, `opencl`, `kernel`, `error` …
    pub what: String,
    /// The text, to the next such line.
    pub text: String,
}

impl LoopFile {
    /// Parses the text of a file.
    ///
    /// ```
    /// use parloop_loop::file::LoopFile;
    /// let file = LoopFile::parse("kernel f\ndomain {[i]: 0 <= i < 8}\ninstructions\n  a[i] = 1\n\ntag_inames i=unr\n")?;
    /// assert_eq!((file.kernels.len(), file.steps.len()), (1, 1));
    /// # Ok::<(), parloop_loop::parse::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Reports what was expected and what was found, with the line and a caret. C code, in a `preamble` line or an instruction (`... c`),
    /// is refused, and so is an `option` that replaces a check; see [`parse_trusted`](Self::parse_trusted).
    pub fn parse(text: &str) -> Result<LoopFile, ParseError> {
        read::file(text)
    }

    /// Parses the text of a file whose kernels may have preambles, instructions in C and all options.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), but for these.
    ///
    /// # Safety
    /// For each preamble what [`Preamble::new`](crate::syntax::Preamble::new) requires, for each instruction in C what
    /// [`TrustedC::promise`](crate::syntax::TrustedC::promise) requires, and for each option what the functions of
    /// [`KernelOptions`](crate::syntax::KernelOptions) that set it require.
    pub unsafe fn parse_trusted(text: &str) -> Result<LoopFile, ParseError> {
        // SAFETY: the caller guarantees it.
        unsafe { read::trusted_file(text) }
    }

    /// Splits the text of a file before the first line `---- what`, into input and expected output. This works even if parsing fails, which
    /// may be what is expected.
    pub fn split(text: &str) -> (&str, Vec<Expected>) {
        read::split(text)
    }
}

impl fmt::Display for LoopFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kernel in &self.kernels {
            writeln!(f, "{kernel}")?;
        }
        for (_, step) in &self.steps {
            writeln!(f, "{step}")?;
        }
        for expected in &self.expected {
            write!(f, "---- {}\n{}", expected.what, expected.text)?;
        }
        Ok(())
    }
}
