//! Fourier transforms of complex elements in place: requests, checks and dispatch. The host's part is `host.rs`;
//! a GPU's is its own library, behind `parloop-device`.

mod host;

use std::fmt;
use std::sync::Arc;

use parloop_device::{DType, Device, DeviceError, DeviceFft, DeviceKind, FftDirection, FftShape, Memory, Stream};

use self::host::HostFft;
use crate::arg::Arg;
use crate::args;
use crate::context::Context;
use crate::error::{KernelError, Result};
use crate::kernel::Kernel;
use crate::order::Order;

/// A transform of complex elements along some axes, in place, planned once for one context, shape and type. Clones are the same plan.
///
/// `transform` has no factor and `itransform` the factor `1/N`, where `N` is the product of the lengths along the axes, as `numpy.fft`
/// has them. CPU threads share the lines that are transformed. On CUDA and HIP the device's own library does it, on the context's
/// stream; the data of an OpenCL device is copied to the host, transformed there and copied back. Nothing is done along an axis
/// without elements.
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_device::{Complex64, DType};
/// let ctx = Context::open("cpu")?;
/// let plan = ctx.plan_fft(&[2, 2], &[1], DType::C128)?;
/// let mut x = ctx.array(&[1.0, 2.0, 3.0, 5.0].map(Complex64::from))?;
/// plan.transform(&mut x)?;
/// assert_eq!(x.to_vec()?, [3.0, -1.0, 8.0, -2.0].map(Complex64::from));
/// plan.itransform(&mut x)?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0, 5.0].map(Complex64::from));
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
#[derive(Clone)]
pub struct FftPlan {
    inner: Arc<Inner>,
}

struct Inner {
    stream: Stream,
    shape: Vec<usize>,
    axes: Vec<usize>,
    dtype: DType,
    order: Order,
    bytes: usize,
    work: Work,
}

enum Work {
    /// There is nothing to transform, or only along axes of one element.
    Nothing,
    Host {
        fft: HostFft,
        /// Whose threads do it.
        threads: Device,
    },
    Device {
        fft: DeviceFft,
        /// Multiplies real numbers, of which an element has two.
        scale: Kernel,
        factor: f64,
    },
}

impl Context {
    /// Plans a transform along `axes` of complex elements of that shape, which follow each other in C order.
    ///
    /// # Errors
    /// An axis that does not exist or is repeated, a type that is not complex; on CUDA and HIP a missing library.
    pub fn plan_fft(&self, shape: &[usize], axes: &[usize], dtype: DType) -> Result<FftPlan> {
        self.plan_fft_in(shape, axes, dtype, Order::C)
    }

    /// As [`plan_fft`](Self::plan_fft), for elements that follow each other in that order.
    ///
    /// # Errors
    /// As [`plan_fft`](Self::plan_fft).
    pub fn plan_fft_in(&self, shape: &[usize], axes: &[usize], dtype: DType, order: Order) -> Result<FftPlan> {
        let stream = self.stream().clone();
        if !dtype.is_complex() {
            return Err(KernelError::FftType { dtype: dtype.to_string() });
        }
        for (place, &axis) in axes.iter().enumerate() {
            if axis >= shape.len() {
                return Err(KernelError::FftAxis { axis: i64::try_from(axis).unwrap_or(i64::MAX), ndim: shape.len() });
            }
            if axes[..place].contains(&axis) {
                return Err(KernelError::FftAxisTwice { axis });
            }
        }
        let bytes = shape.iter().try_fold(dtype.size(), |bytes, &len| bytes.checked_mul(len)).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| too_large(stream.device(), u64::MAX))?;
        if bytes as u64 > stream.device().properties().memory_total {
            return Err(too_large(stream.device(), bytes as u64));
        }
        let planned = in_c_order(shape, axes, dtype, order);
        let work = self.plan_work(&planned, bytes)?;
        Ok(FftPlan { inner: Arc::new(Inner { stream, shape: shape.into(), axes: axes.into(), dtype, order, bytes, work }) })
    }

    fn plan_work(&self, planned: &FftShape, bytes: usize) -> Result<Work> {
        if bytes == 0 || planned.axes.iter().all(|&axis| planned.lengths[axis] == 1) {
            return Ok(Work::Nothing);
        }
        if let Some(fft) = self.stream().plan_fft(planned)? {
            let source = if planned.dtype == DType::C64 { SCALE_SINGLE } else { SCALE_DOUBLE };
            // SAFETY: it is called with `n` numbers.
            let scale = unsafe { self.compile(source)? }.kernel("parloop_scale")?.clone();
            return Ok(Work::Device { fft, scale, factor: factor(planned) });
        }
        let threads = if self.device().kind() == DeviceKind::Cpu { self.device().clone() } else { Device::open("cpu")? };
        let longest = planned.axes.iter().map(|&axis| planned.lengths[axis]).max().unwrap_or(0);
        // A line, its factors and its scratch space.
        let needed = (longest as u64).saturating_mul(3 * planned.dtype.size() as u64);
        if needed > threads.properties().memory_total {
            return Err(too_large(&threads, needed));
        }
        Ok(Work::Host { fft: HostFft::plan(planned, factor(planned)), threads })
    }
}

/// Compiled for the device whose library transforms.
const SCALE_SINGLE: &str = "GPUKERN void parloop_scale(GPUGLMEM float *x, const float by, const int64_t n) {
    VECTORIZE_OVER(i, n) x[i] *= by; END_VECTORIZE
}";
const SCALE_DOUBLE: &str = "GPUKERN void parloop_scale(GPUGLMEM double *x, const double by, const int64_t n) {
    VECTORIZE_OVER(i, n) x[i] *= by; END_VECTORIZE
}";

/// The same elements with their axes in C order.
fn in_c_order(shape: &[usize], axes: &[usize], dtype: DType, order: Order) -> FftShape {
    let (mut lengths, mut axes) = (shape.to_vec(), axes.to_vec());
    if order == Order::Fortran {
        lengths.reverse();
        axes.iter_mut().for_each(|axis| *axis = shape.len() - 1 - *axis);
    }
    axes.sort_unstable();
    FftShape { lengths, axes, dtype }
}

/// What the inverse transform is multiplied by.
fn factor(shape: &FftShape) -> f64 {
    1.0 / shape.axes.iter().map(|&axis| shape.lengths[axis] as f64).product::<f64>()
}

fn too_large(device: &Device, asked: u64) -> KernelError {
    DeviceError::OutOfMemory { device: device.id().to_string(), asked, free: None }.into()
}

impl FftPlan {
    /// Transforms an array, memory or host data in place. On a GPU host data is copied there and back; on a CPU memory is, since others may
    /// have it too. [`run_memory`](Self::run_memory) does without the copy.
    ///
    /// # Errors
    /// [`KernelError::FftData`] for data that is not as planned, which is not changed; or the device's failure.
    pub fn transform<'a>(&self, data: impl Into<Arg<'a>>) -> Result<()> {
        self.run(data.into(), FftDirection::Forward)
    }

    /// The inverse of [`transform`](Self::transform).
    ///
    /// # Errors
    /// As [`transform`](Self::transform).
    pub fn itransform<'a>(&self, data: impl Into<Arg<'a>>) -> Result<()> {
        self.run(data.into(), FftDirection::Inverse)
    }

    fn run(&self, data: Arg<'_>, direction: FftDirection) -> Result<()> {
        let misfit = |dtype: Option<DType>, bytes: usize| {
            let fits = dtype.is_none_or(|dtype| dtype == self.inner.dtype) && bytes == self.inner.bytes;
            let elements = |dtype: DType| format!("{dtype} of {} elements", bytes / dtype.size());
            if fits { Ok(()) } else { Err(self.misfit(dtype.map_or_else(|| format!("{bytes} bytes"), elements))) }
        };
        match data {
            Arg::Memory { writable: false, .. } | Arg::Host { .. } => Err(KernelError::FftReadOnly),
            Arg::Memory { memory, dtype, .. } => {
                misfit(dtype, memory.len())?;
                match (&self.inner.work, dtype) {
                    (Work::Host { .. }, None) => self.run_copy(memory, 0, direction),
                    // SAFETY: an array that can be written is borrowed by the caller alone; a device's library has no `&mut`.
                    _ => unsafe { self.run_memory(memory, 0, direction) },
                }
            }
            Arg::HostMut { bytes, dtype } => {
                misfit(Some(dtype), bytes.len())?;
                self.run_host(bytes, direction)
            }
            Arg::Scalar(_) | Arg::Text(_) | Arg::Object { .. } | Arg::Placed { .. } | Arg::Null => Err(self.misfit("no array".into())),
        }
    }

    /// Transforms the elements from byte `offset` of `memory` on.
    ///
    /// # Errors
    /// When they are not all inside, for memory of another device, or when the device fails.
    ///
    /// # Safety
    /// Nothing else uses these bytes until this returns; on CUDA and HIP, until the work that it queued on the stream is done.
    pub unsafe fn run_memory(&self, memory: &Memory, offset: usize, direction: FftDirection) -> Result<()> {
        self.check_memory(memory, offset)?;
        let bytes = self.inner.bytes;
        match &self.inner.work {
            Work::Nothing => Ok(()),
            Work::Host { .. } => match memory.host_pointer() {
                Some(pointer) => {
                    // SAFETY: host memory that `memory` keeps alive, the range was checked, and the caller has it alone.
                    self.run_host(unsafe { std::slice::from_raw_parts_mut(pointer.add(offset), bytes) }, direction)
                }
                None => self.run_copy(memory, offset, direction),
            },
            Work::Device { fft, scale, factor } => {
                fft.run(memory, offset, direction)?;
                if direction == FftDirection::Inverse {
                    let numbers = 2 * (bytes / self.inner.dtype.size());
                    scale.call(args![&memory.slice(offset, bytes)?, *factor, numbers])?;
                }
                Ok(())
            }
        }
    }

    /// Refuses memory of another device, and a range that is not inside.
    fn check_memory(&self, memory: &Memory, offset: usize) -> Result<()> {
        let Inner { stream, bytes, .. } = &*self.inner;
        let (device, found) = (stream.device(), memory.device());
        // CPU devices differ in their threads only: their memory is the host's.
        let is_host = || device.kind() == DeviceKind::Cpu && found.kind() == DeviceKind::Cpu;
        if !device.same(found) && !is_host() {
            let (expected, found) = (device.id().to_string(), found.id().to_string());
            return Err(DeviceError::OtherDevice { operation: "transform", expected, found }.into());
        }
        if offset.checked_add(*bytes).is_none_or(|end| end > memory.len()) {
            return Err(DeviceError::OutOfBounds { operation: "transform", offset, len: *bytes, size: memory.len() }.into());
        }
        Ok(stream.refuse_recording(|| "a Fourier transform".to_owned(), None)?)
    }

    /// Transforms a copy on the host and writes it back.
    fn run_copy(&self, memory: &Memory, offset: usize, direction: FftDirection) -> Result<()> {
        self.check_memory(memory, offset)?;
        let stream = &self.inner.stream;
        let mut copy = vec![0; self.inner.bytes];
        stream.read(memory, offset, &mut copy)?;
        self.run_host(&mut copy, direction)?;
        Ok(stream.write(memory, offset, &copy)?)
    }

    /// Transforms host data, of as many bytes as were planned for.
    ///
    /// # Errors
    /// For another number of bytes, or when the device fails; the data is then not changed.
    pub fn run_host(&self, bytes: &mut [u8], direction: FftDirection) -> Result<()> {
        if bytes.len() != self.inner.bytes {
            return Err(self.misfit(format!("{} bytes", bytes.len())));
        }
        self.inner.stream.refuse_recording(|| "a Fourier transform".to_owned(), None)?;
        match &self.inner.work {
            Work::Nothing => {}
            Work::Host { fft, threads } => threads.default_stream()?.timed("fft", || {
                fft.run(threads, bytes, direction);
                Ok::<(), KernelError>(())
            })?,
            Work::Device { .. } => {
                let stream = &self.inner.stream;
                let staged = stream.device().allocate(bytes.len())?;
                stream.write(&staged, 0, bytes)?;
                // SAFETY: nobody else has this memory.
                unsafe { self.run_memory(&staged, 0, direction)? };
                stream.read(&staged, 0, bytes)?;
            }
        }
        Ok(())
    }

    /// The error for data that is not as planned.
    pub fn misfit(&self, given: String) -> KernelError {
        let Inner { shape, dtype, order, .. } = &*self.inner;
        KernelError::FftData { planned: describe_array(*dtype, shape, Some(*order)), given }
    }

    /// The length along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.inner.shape
    }

    /// The axes along which it transforms.
    pub fn axes(&self) -> &[usize] {
        &self.inner.axes
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.inner.dtype
    }

    /// The order of the elements in memory.
    pub fn order(&self) -> Order {
        self.inner.order
    }

    /// The stream that it runs on.
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }
}

/// A description of an array; without an order if it is not contiguous.
pub fn describe_array(dtype: DType, shape: &[usize], order: Option<Order>) -> String {
    match order {
        Some(order) => format!("{dtype} of shape {shape:?} in {order} order"),
        None => format!("non-contiguous {dtype} of shape {shape:?}"),
    }
}

impl fmt::Debug for FftPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { stream, shape, axes, dtype, order, .. } = &*self.inner;
        write!(f, "<FftPlan along axes {axes:?} of {} on {}>", describe_array(*dtype, shape, Some(*order)), stream.device().id())
    }
}
