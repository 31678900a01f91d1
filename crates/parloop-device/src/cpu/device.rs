//! The CPU as a device: what it is, read from the system.

use std::sync::Arc;

use super::compiler::{SystemCompiler, instructions};
use super::cpuinfo::cpuinfo_line;
use super::event::CpuEvent;
use super::growable::CpuGrowable;
use super::memory::{AdoptedMemory, HostMemory, Pinned};
use super::module::CpuModule;
use super::pool::Pool;
use super::stream::CpuStream;
use crate::backend::{Compiler, Growable, RawDevice, RawEvent, RawMemory, RawModule, RawPinned, RawStream};
use crate::binary::ModuleBinary;
use crate::error::{CompileError, DeviceError, Result};
use crate::identity::{DeviceId, MAX_THREADS, MemoryInfo, Properties};
use crate::kind::Language;

pub(super) struct CpuDevice {
    properties: Properties,
    pool: Arc<Pool>,
}

impl CpuDevice {
    pub(super) fn new(threads: Option<usize>) -> Result<CpuDevice> {
        let id = DeviceId::Cpu { threads };
        let threads = match threads {
            Some(threads) => threads,
            None => default_threads(std::env::var("PARLOOP_THREADS").ok())?,
        };
        let total = memory_info().total;
        let properties = Properties {
            id,
            name: format!("{threads} × {}", cpu_name()),
            arch: std::env::consts::ARCH.into(),
            driver: format!("parloop {}", env!("CARGO_PKG_VERSION")),
            compute_units: threads as u32,
            simd_width: simd_width(),
            memory_total: total,
            max_allocation: total,
            max_block: 1,
            max_block_dims: [1, 1, 1],
            max_grid: [u32::MAX; 3],
            shared_memory: 0,
            memory_alignment: 1,
            uuid: None,
            pci: None,
        };
        Ok(CpuDevice { properties, pool: Arc::new(Pool::new(threads)) })
    }
}

impl RawDevice for CpuDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn binary_target(&self) -> String {
        instructions().to_owned()
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        Ok(memory_info())
    }

    fn allocate(&self, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        Ok(Arc::new(HostMemory::new(&self.properties, bytes)?))
    }

    fn allocate_zeroed(&self, bytes: usize) -> Result<Option<Arc<dyn RawMemory>>> {
        Ok(Some(Arc::new(HostMemory::zeroed(&self.properties, bytes)?)))
    }

    fn allocate_growable(&self, bytes: usize) -> Result<Arc<Growable>> {
        CpuGrowable::allocate(self, bytes)
    }

    unsafe fn adopt_memory(&self, handle: u64, _bytes: usize) -> Result<Arc<dyn RawMemory>> {
        Ok(Arc::new(AdoptedMemory(handle)))
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Box<dyn RawPinned>> {
        Ok(Box::new(Pinned(HostMemory::new(&self.properties, bytes)?)))
    }

    fn default_stream(&self) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(CpuStream))
    }

    fn create_stream(&self) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(CpuStream))
    }

    unsafe fn adopt_stream(&self, _handle: u64) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(CpuStream))
    }

    fn create_event(&self) -> Result<Arc<dyn RawEvent>> {
        Ok(Arc::new(CpuEvent::new(self.properties.id)))
    }

    fn compiler(&self, language: Language) -> Result<Arc<dyn Compiler>, CompileError> {
        Ok(Arc::new(SystemCompiler::find(language)?))
    }

    fn load(&self, binary: &ModuleBinary) -> Result<Arc<dyn RawModule>> {
        Ok(Arc::new(CpuModule::load(&self.properties, binary, self.pool.clone())?))
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn share(&self, items: u64, expected_ns: f64, work: &(dyn Fn(u64, u64) + Sync)) {
        match self.pool.hands_for(items, expected_ns) {
            Some(hands) => hands.share(0, items, work),
            None => work(0, items),
        }
    }
}

/// As many as the variable says, else as many as run at once.
fn default_threads(variable: Option<String>) -> Result<usize> {
    let Some(value) = variable.filter(|value| !value.is_empty()) else {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS));
    };
    match value.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(DeviceError::Variable { name: "PARLOOP_THREADS", value, expected: format!("a number from 1 to {MAX_THREADS}") }),
    }
}

fn cpu_name() -> String {
    cpuinfo_line("model name").map_or_else(|| std::env::consts::ARCH.to_owned(), |name| name.replace("(R)", "").replace("(TM)", ""))
}

fn simd_width() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return 8;
        }
        if is_x86_feature_detected!("avx") {
            return 4;
        }
    }
    2
}

fn memory_info() -> MemoryInfo {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    };
    let total = bytes("MemTotal:").unwrap_or(u64::MAX);
    MemoryInfo { free: bytes("MemAvailable:").unwrap_or(total), total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_that_is_none_is_an_error() {
        assert_eq!(default_threads(Some("3".into())), Ok(3));
        assert!(default_threads(None).is_ok_and(|threads| threads >= 1));
        let error = default_threads(Some("many".into())).unwrap_err();
        assert_eq!(error.to_string(), "the environment variable PARLOOP_THREADS is `many`, but it must be a number from 1 to 1024");
        assert!(default_threads(Some("0".into())).is_err());
    }
}
