//! Plans of rustfft in both precisions. Its algorithms are generic, and more code than the kernel layer: they are compiled here, once, while
//! other crates are compiled too, and not in each crate that plans a transform.

use std::sync::Arc;

pub use rustfft::num_complex::Complex;
pub use rustfft::{Fft, FftNum, FftPlanner};

/// A real type that has transforms.
pub trait Real: FftNum {
    /// Makes plans, which share their parts.
    fn planner() -> FftPlanner<Self>;

    /// The forward and the inverse transform of lines of this length.
    ///
    /// ```
    /// use parloop_fft::{Complex, Real};
    ///
    /// let [forward, inverse] = f64::plan(&mut f64::planner(), 2);
    /// let mut line = [3.0, 1.0].map(Complex::from);
    /// forward.process(&mut line);
    /// assert_eq!(line, [4.0, 2.0].map(Complex::from));
    /// inverse.process(&mut line);
    /// assert_eq!(line, [6.0, 2.0].map(Complex::from));
    /// ```
    fn plan(planner: &mut FftPlanner<Self>, len: usize) -> [Arc<dyn Fft<Self>>; 2];
}

macro_rules! real {
    ($($real:ty)*) => {$(
        impl Real for $real {
            fn planner() -> FftPlanner<$real> {
                FftPlanner::new()
            }

            fn plan(planner: &mut FftPlanner<$real>, len: usize) -> [Arc<dyn Fft<$real>>; 2] {
                [planner.plan_fft_forward(len), planner.plan_fft_inverse(len)]
            }
        }
    )*};
}
real!(f32 f64);
