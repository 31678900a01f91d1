//! Fast Fourier transforms by a library of the device's own. What the host can do, and what a caller requests, are in `parloop-kernel`.

use std::fmt;

use crate::backend::RawFft;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{DeviceError, Result};
use crate::memory::Memory;
use crate::stream::Stream;
use crate::transform::{FftDirection, FftShape};

/// A transform that a device's own library was asked to plan, on one stream.
pub struct DeviceFft {
    stream: Stream,
    raw: Box<dyn RawFft>,
    bytes: usize,
    dtype: DType,
}

impl DeviceFft {
    pub(crate) fn plan(stream: &Stream, shape: &FftShape) -> Result<Option<DeviceFft>> {
        let device = stream.device();
        let refused = || DeviceError::Unsupported { device: device.id().to_string(), what: format!("plan a transform of {shape:?}") };
        let bytes = shape.checked_bytes().ok_or_else(refused)?;
        let raw = device.raw.plan_fft(stream.handle(), shape)?;
        Ok(raw.map(|raw| DeviceFft { stream: stream.clone(), raw, bytes, dtype: shape.dtype }))
    }

    /// Queues the transform of the elements from byte `offset` of `memory` on, in place.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], [`DeviceError::OutOfBounds`], [`DeviceError::Misaligned`], or the library's failure.
    pub fn run(&self, memory: &Memory, offset: usize, direction: FftDirection) -> Result<()> {
        self.stream.refuse_recording(|| "a Fourier transform".to_owned(), None)?;
        self.stream.check("transform", memory, offset, self.bytes)?;
        if self.bytes == 0 {
            return Ok(());
        }
        let address = memory.handle() + offset as u64;
        // The library loads whole elements at once, which faults between two of them.
        if !address.is_multiple_of(self.dtype.size() as u64) {
            let device = self.device().id().to_string();
            return Err(DeviceError::Misaligned { device, offset, alignment: self.dtype.size() });
        }
        // SAFETY: `memory` is live memory of this device, and as many bytes as were planned for lie at the address.
        self.stream.timed("fft", || unsafe { self.raw.run(address, direction) })
    }

    /// The device it was planned for.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }
}

impl Stream {
    /// Plans a transform by the device's own library, to be run on this stream; `None` where the device has none (cpu, opencl).
    ///
    /// # Errors
    /// [`DeviceError::LibraryMissing`], [`DeviceError::Unsupported`] for an invalid shape, or the library's failure.
    pub fn plan_fft(&self, shape: &FftShape) -> Result<Option<DeviceFft>> {
        DeviceFft::plan(self, shape)
    }
}

impl fmt::Debug for DeviceFft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<DeviceFft of {} bytes on {}>", self.bytes, self.device().id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_transformed_is_planned() {
        let shape = |lengths: &[usize], axes: &[usize], dtype| FftShape { lengths: lengths.into(), axes: axes.into(), dtype };
        assert_eq!(shape(&[2, 3], &[0, 1], DType::C64).checked_bytes(), Some(48));
        assert_eq!(shape(&[2, 0], &[1], DType::C128).checked_bytes(), Some(0));
        for wrong in [
            shape(&[2, 3], &[1, 0], DType::C64),
            shape(&[2, 3], &[1, 1], DType::C64),
            shape(&[2, 3], &[2], DType::C64),
            shape(&[2, 3], &[0], DType::F64),
            shape(&[usize::MAX, 3], &[0], DType::C64),
            shape(&[usize::MAX / 20], &[0], DType::C128),
        ] {
            assert_eq!(wrong.checked_bytes(), None, "{wrong:?}");
            let stream = Device::open("cpu:1").unwrap().default_stream().unwrap();
            let error = stream.plan_fft(&wrong).unwrap_err().to_string();
            assert_eq!(error, format!("cpu:1 cannot plan a transform of {wrong:?}"));
        }
    }

    #[test]
    fn a_cpu_has_no_library_of_its_own() {
        let stream = Device::open("cpu:1").unwrap().default_stream().unwrap();
        let shape = FftShape { lengths: vec![4], axes: vec![0], dtype: DType::C64 };
        assert!(stream.plan_fft(&shape).unwrap().is_none());
    }
}
