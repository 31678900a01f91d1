//! Complete kernels as text: the contents of a `.loop` file, from which the same kernel can be recreated.

use std::fmt::{self, Display, Formatter};

use parloop_isl::Set;

use super::{InstructionText, KernelText, options};
use crate::parse::{Datum, print_initializer};
use crate::print::{joined, quoted};
use crate::syntax::{AddressSpace, Argument, ArgumentKind, DimTag, Layout, LoopKernel, Offset, Phase, Shape, Stride, Temporary};

impl KernelText {
    /// A complete kernel; reading it gives the same kernel.
    pub fn of(kernel: &LoopKernel) -> KernelText {
        // All fields are listed, so that adding one is a compile error here.
        let LoopKernel {
            name,
            domains,
            instructions: _,
            arguments,
            temporaries,
            inames,
            substitutions: _,
            assumptions,
            priorities,
            preambles,
            index_type,
            default_type,
            options,
            phase,
        } = kernel;
        let arguments = arguments.iter().cloned().map(Datum::Argument);
        let temporaries = temporaries.values().cloned().map(Datum::Temporary);
        KernelText {
            domains: domains.iter().map(ToString::to_string).collect(),
            assumptions: if is_universe(assumptions) { Vec::new() } else { vec![assumptions.to_string()] },
            inames: inames.iter().map(|(name, iname)| (name.clone(), iname.clone())).collect(),
            priorities: priorities.iter().cloned().collect(),
            index_type: Some(*index_type),
            default_type: *default_type,
            options: options.clone(),
            preambles: preambles.iter().cloned().collect(),
            phase: Some(*phase),
            data: arguments.chain(temporaries).collect(),
            instructions: InstructionText::of(kernel),
            ..KernelText::named(name)
        }
    }
}

fn is_universe(set: &Set) -> bool {
    set.params().is_empty() && set.dims().is_empty() && matches!(set.pieces(), [piece] if piece.is_empty())
}

/// The canonical text of the kernel.
impl Display for LoopKernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        KernelText::of(self).fmt(f)
    }
}

impl Display for Phase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Parsed => "parsed",
            Phase::Resolved => "resolved",
            Phase::Typed => "typed",
            Phase::Described => "described",
            Phase::Realised => "realised",
        })
    }
}

impl Display for KernelText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", if self.is_function { "function" } else { "kernel" }, self.name)?;
        self.write_header(f)?;
        if !self.data.is_empty() || self.rest {
            writeln!(f, "data")?;
            self.data.iter().try_for_each(|datum| writeln!(f, "  {datum}"))?;
            f.write_str(if self.rest { "  ...\n" } else { "" })?;
        }
        if !self.instructions.text().is_empty() {
            writeln!(f, "instructions")?;
            for line in self.instructions.text().split('\n') {
                writeln!(f, "{}{line}", if line.is_empty() { "" } else { "  " })?;
            }
        }
        Ok(())
    }
}

impl KernelText {
    fn write_header(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.domains.iter().try_for_each(|domain| writeln!(f, "domain {domain}"))?;
        self.assumptions.iter().try_for_each(|assumption| writeln!(f, "assume {assumption}"))?;
        for (name, iname) in &self.inames {
            let tags: Vec<String> = iname.tags.iter().map(ToString::to_string).collect();
            let colon = if tags.is_empty() { "" } else { ": " };
            write!(f, "iname {name}{colon}{}", tags.join(", "))?;
            match iname.slabs {
                (0, 0) => writeln!(f)?,
                (first, last) => writeln!(f, " {{slabs={first}:{last}}}")?,
            }
        }
        for chain in &self.priorities {
            writeln!(f, "priority {}", joined(chain.iter(), ", "))?;
        }
        if let Some(dtype) = self.index_type {
            writeln!(f, "index_type {dtype}")?;
        }
        if let Some(dtype) = self.default_type {
            writeln!(f, "default_type {dtype}")?;
        }
        options::print(&self.options).iter().try_for_each(|option| writeln!(f, "option {option}"))?;
        for preamble in &self.preambles {
            writeln!(f, "preamble {} {}", quoted(preamble.key()), quoted(preamble.text()))?;
        }
        if let Some(target) = self.target {
            writeln!(f, "target {target}")?;
        }
        if self.sequential {
            writeln!(f, "sequential")?;
        }
        if let Some(phase) = self.phase {
            writeln!(f, "phase {phase}")?;
        }
        Ok(())
    }
}

impl Display for AddressSpace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressSpace::Private => "private",
            AddressSpace::Local => "local",
            AddressSpace::Global => "global",
            AddressSpace::Constant => "constant",
        })
    }
}

impl Display for Datum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Argument(argument) => argument.fmt(f),
            Datum::Temporary(temporary) => temporary.fmt(f),
            Datum::Named(name) => f.write_str(name),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.kind {
            ArgumentKind::Array { space: space @ (AddressSpace::Global | AddressSpace::Constant), .. } => write!(f, "{space}")?,
            ArgumentKind::Array { space, .. } => write!(f, "arg {space}")?,
            ArgumentKind::Value => f.write_str("value")?,
            ArgumentKind::Object => f.write_str("object")?,
            ArgumentKind::Image(axes) => write!(f, "image{axes}")?,
        }
        if let Some(ty) = &self.ty {
            write!(f, " {ty}")?;
        }
        let mut options = Vec::new();
        if let ArgumentKind::Array { layout, alignment, .. } = &self.kind {
            if self.ty.is_none() {
                f.write_str(" ")?;
            }
            f.write_str(&shape(&layout.shape))?;
            layout_options(layout, &mut options);
            options.extend(alignment.map(|bytes| format!("align={bytes}")));
        }
        for (name, value) in [("in", self.is_input), ("out", self.is_output)] {
            options.extend(value.map(|yes| format!("{name}={}", if yes { "yes" } else { "no" })));
        }
        if !self.tags.is_empty() {
            options.push(format!("tags={}", joined(self.tags.iter(), ":")));
        }
        braces(f, &options)
    }
}

impl Display for Temporary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.space {
            None => f.write_str("temp")?,
            Some(space @ (AddressSpace::Private | AddressSpace::Local)) => write!(f, "{space}")?,
            Some(space) => write!(f, "temp {space}")?,
        }
        if let Some(ty) = &self.ty {
            write!(f, " {ty}")?;
        }
        if self.layout.shape != Shape::Known(Vec::new()) {
            write!(f, "{}{}", if self.ty.is_none() { " " } else { "" }, shape(&self.layout.shape))?;
        }
        let mut options = Vec::new();
        layout_options(&self.layout, &mut options);
        if self.read_only {
            options.push("read_only".to_owned());
        }
        options.extend(self.base_storage.as_ref().map(|base| format!("base={base}")));
        if !self.tags.is_empty() {
            options.push(format!("tags={}", joined(self.tags.iter(), ":")));
        }
        options.extend(self.initializer.as_ref().map(|values| format!("init={}", print_initializer(values))));
        braces(f, &options)
    }
}

fn braces(f: &mut Formatter<'_>, options: &[String]) -> fmt::Result {
    if options.is_empty() { Ok(()) } else { write!(f, " {{{}}}", options.join(", ")) }
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Auto => "[auto]".to_owned(),
        Shape::Unknown => "[unknown]".to_owned(),
        Shape::Known(lengths) => format!("[{}]", list(lengths)),
    }
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn layout_options(layout: &Layout, options: &mut Vec<String>) {
    if layout.fortran_order {
        options.push("order=f".to_owned());
    }
    if !layout.dim_tags.is_empty() {
        options.push(format!("dim_tags=[{}]", list(&layout.dim_tags)));
    }
    match &layout.offset {
        Offset::Zero => {}
        Offset::Auto => options.push("offset=auto".to_owned()),
        Offset::Given(offset) => options.push(format!("offset={offset}")),
    }
    if let Some(axes) = &layout.axis_names {
        options.push(format!("axes={}", joined(axes.iter(), ":")));
    }
}

/// As in lines of data: `N0`, `nested(1, 16)`, `stride(e)`, `auto`, `sep`, `vec`.
impl Display for DimTag {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DimTag::Stride(Stride::Nested { level, pad_to: 1 }) => write!(f, "N{level}"),
            DimTag::Stride(Stride::Nested { level, pad_to }) => write!(f, "nested({level}, {pad_to})"),
            DimTag::Stride(Stride::Fixed(stride)) => write!(f, "stride({stride})"),
            DimTag::Stride(Stride::Auto) => f.write_str("auto"),
            DimTag::Separate => f.write_str("sep"),
            DimTag::Vector => f.write_str("vec"),
        }
    }
}
