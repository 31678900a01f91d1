//! CPU streams: work is done when the call returns.

use crate::backend::{RawEvent, RawStream};
use crate::cpu::event::CpuEvent;
use crate::error::Result;

pub(super) struct CpuStream;

impl RawStream for CpuStream {
    fn handle(&self) -> u64 {
        0
    }

    unsafe fn fill(&self, dst: u64, offset: usize, len: usize, value: u8) -> Result<()> {
        // SAFETY: `dst` is host memory with `offset + len` bytes, as the backend contract guarantees.
        unsafe { (dst as *mut u8).add(offset).write_bytes(value, len) };
        Ok(())
    }

    unsafe fn write(&self, dst: u64, offset: usize, src: *const u8, len: usize, _wait: bool) -> Result<()> {
        // SAFETY: both ranges are valid; `copy` allows them to overlap, as adopted memory may be the source itself.
        unsafe { (dst as *mut u8).add(offset).copy_from(src, len) };
        Ok(())
    }

    unsafe fn read(&self, src: u64, offset: usize, dst: *mut u8, len: usize, _wait: bool) -> Result<()> {
        // SAFETY: as in `write`.
        unsafe { (src as *const u8).add(offset).copy_to(dst, len) };
        Ok(())
    }

    unsafe fn copy(&self, dst: u64, dst_offset: usize, src: u64, src_offset: usize, len: usize) -> Result<()> {
        // SAFETY: both ranges are valid, as the backend contract guarantees.
        unsafe { (dst as *mut u8).add(dst_offset).copy_from((src as *const u8).add(src_offset), len) };
        Ok(())
    }

    fn record(&self, event: &dyn RawEvent) -> Result<()> {
        if let Some(event) = event.as_any().downcast_ref::<CpuEvent>() {
            event.record();
        }
        Ok(())
    }

    fn wait_event(&self, _event: &dyn RawEvent) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn is_idle(&self) -> Result<bool> {
        Ok(true)
    }
}
