//! Arithmetic of data on sets: zeros, copies, sums, products, norms. It runs where the numbers are.

use parloop_device::Device;
use parloop_kernel::{Context, KernelError};

use crate::Result;
use crate::dat::Dat;
use crate::error::MeshError;
use crate::storage::{Layout, Storage};

impl Dat {
    /// Sets all numbers to zero, ghosts and all.
    ///
    /// # Errors
    /// When a device fails.
    pub fn zero(&self) -> Result<()> {
        let (context, layout) = place_of(self.storage())?;
        let memory = self.storage().place(&context, layout, false, true)?;
        Ok(context.stream().fill(&memory, 0, memory.len(), 0).map_err(KernelError::from)?)
    }

    /// Copies all numbers, ghosts and all, into another of the same shape and type.
    ///
    /// # Errors
    /// [`MeshError::Shapes`], [`MeshError::ElementType`], or when a device fails.
    pub fn copy_to(&self, other: &Dat) -> Result<()> {
        let (from, to) = (self.storage(), other.storage());
        if from.is_same(to) {
            return Ok(());
        }
        if from.dtype() != to.dtype() {
            return Err(MeshError::ElementType { asked: to.dtype(), found: from.dtype() });
        }
        if (from.rows(), from.count()) != (to.rows(), to.count()) {
            return Err(shapes(self, other));
        }
        let (context, layout) = place_of(from)?;
        if to.layout_on(&context).is_some_and(|there| there != layout) {
            let host = Context::on(Device::open("cpu").and_then(|device| device.default_stream()).map_err(KernelError::from)?);
            return copy_on(&host, Layout::Rows, from, to);
        }
        copy_on(&context, layout, from, to)
    }
}

fn copy_on(context: &Context, layout: Layout, from: &Storage, to: &Storage) -> Result<()> {
    let source = from.place(context, layout, true, false)?;
    let target = to.place(context, layout, false, true)?;
    Ok(context.stream().copy(&target, 0, &source, 0, source.len()).map_err(KernelError::from)?)
}

/// The context that has the newest numbers, and how they lie there.
fn place_of(storage: &Storage) -> Result<(Context, Layout)> {
    let context = match storage.newest() {
        Some(context) => context,
        None => Context::on(Device::open("cpu").and_then(|device| device.default_stream()).map_err(KernelError::from)?),
    };
    let layout = storage.layout_on(&context).unwrap_or_default();
    Ok((context, layout))
}

fn shapes(first: &Dat, second: &Dat) -> MeshError {
    MeshError::Shapes {
        first: first.name().to_owned(),
        first_shape: first.dataset().axes().to_vec(),
        second: second.name().to_owned(),
        second_shape: second.dataset().axes().to_vec(),
    }
}
