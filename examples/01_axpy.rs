//! y += a x on a device: `cargo run --release --example 01_axpy -- cpu`.

use parloop::prelude::*;

fn main() -> Result<(), KernelError> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cpu".into());
    let ctx = Context::open(&name)?;
    let source = "GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
             VECTORIZE_OVER(i, n)
                 y[i] += a * x[i];
             END_VECTORIZE
         }";
    // SAFETY: the call below passes `n` elements of `x` and of `y`.
    let prog = unsafe { ctx.compile(source)? };

    let n = 1_000_000;
    let xs: Vec<f64> = (0..n).map(f64::from).collect();
    let (x, mut y) = (ctx.array(&xs)?, ctx.zeros::<f64>(xs.len())?);
    prog.kernel("axpy")?.call(args![2.0, &x, &mut y, n])?;

    let ys = y.to_vec()?;
    assert!(ys.iter().zip(&xs).all(|(y, x)| *y == 2.0 * x));
    println!("{ctx:?}: y[{}] = {}", n - 1, ys[n as usize - 1]);
    Ok(())
}
