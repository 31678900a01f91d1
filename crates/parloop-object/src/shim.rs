//! stand-in
use parloop_device::*;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};
pub struct Export;
#[derive(Clone)]
pub struct GrowableMemory {
    m: Arc<Mutex<Memory>>,
    handle: Arc<AtomicU64>,
}
impl GrowableMemory {
    pub fn new(d: &Device, len: usize) -> Result<Self, DeviceError> {
        let m = d.allocate(len)?;
        let h = m.handle();
        Ok(GrowableMemory { m: Arc::new(Mutex::new(m)), handle: Arc::new(AtomicU64::new(h)) })
    }
    pub fn len(&self) -> usize {
        self.m.lock().unwrap().len()
    }
    pub fn handle(&self) -> u64 {
        self.handle.load(Ordering::Relaxed)
    }
    pub fn host_pointer(&self) -> Option<*mut u8> {
        self.m.lock().unwrap().host_pointer()
    }
    pub fn memory(&self) -> Memory {
        self.m.lock().unwrap().clone()
    }
    pub fn grow(&self, stream: &Stream, len: usize) -> Result<(), DeviceError> {
        let mut m = self.m.lock().unwrap();
        if len <= m.len() {
            return Ok(());
        }
        let n = stream.device().allocate(len)?;
        if m.len() > 0 {
            let mut b = vec![0; m.len()];
            stream.read(&m, 0, &mut b)?;
            stream.write(&n, 0, &b)?;
        }
        self.handle.store(n.handle(), Ordering::Relaxed);
        *m = n;
        Ok(())
    }
    pub fn export(&self) -> Result<Export, DeviceError> {
        Ok(Export)
    }
}
