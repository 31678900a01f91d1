//! Parloop: write a kernel once; run it on CPU threads, OpenCL, CUDA and HIP devices. Linux only.
//!
//! # A tour
//!
//! A [`Context`] is a device with a stream. It holds arrays and compiles portable C; kernels and the types of their
//! arguments come from the source, and a call that does not fit is an error before anything runs. What the compiler of Rust cannot see in C,
//! above all that indices stay inside of arrays, is promised where C is compiled, which is `unsafe`; calls are not.
//!
//! ```
//! use parloop::prelude::*;
//!
//! let ctx = Context::open("cpu")?;
//! let source = "GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
//!     VECTORIZE_OVER(i, n)
//!         y[i] += a * x[i];
//!     END_VECTORIZE
//! }";
//! // SAFETY: all calls pass `n` elements of `x` and of `y`.
//! let prog = unsafe { ctx.compile(source)? };
//! let (x, mut y) = (ctx.array(&[1.0, 2.0, 3.0])?, ctx.array(&[0.0, 0.0, 1.0])?);
//! prog.kernel("axpy")?.call(args![2.0, &x, &mut y, x.len()])?;
//! assert_eq!(y.to_vec()?, [2.0, 4.0, 7.0]);
//!
//! let error = prog.kernel("axpy")?.call(args![2.0, &x, &mut y, 1.5]).unwrap_err();
//! assert_eq!(error.to_string(), "argument `n` of kernel `axpy` is declared `int64_t`, but the number 1.5 was given");
//! # Ok::<(), parloop::KernelError>(())
//! ```
//!
//! Typed objects are Rust structs in the memory of any device. [`Object`](derive@Object) gives a struct its layout and its C
//! functions, by which kernels read and write it in place: `Beam_get_x(beam, i)`, `Beam_set_x(beam, i, value)`, `Beam_len_x(beam)`.
//! Python lays out the same bytes and writes the same functions.
//!
//! ```
//! use parloop::prelude::*;
//!
//! #[derive(Object, Debug, PartialEq)]
//! struct Beam { charge: f64, x: Vec<f64>, name: String }
//!
//! let ctx = Context::open("cpu")?;
//! let source = "GPUKERN void move_by(Beam beam, const double step) {
//!     VECTORIZE_OVER(i, Beam_len_x(beam))
//!         Beam_set_x(beam, i, Beam_get_x(beam, i) + step);
//!     END_VECTORIZE
//! }";
//! // SAFETY: the kernel stays inside of `x`.
//! let prog = unsafe { ctx.compile_with_objects(source, &[Beam::object_type()], &ObjectOptions::default())? };
//! let mut beam = ctx.place(&Beam { charge: 1.0, x: vec![0.0, 1.0], name: "probe".into() })?;
//! prog.kernel("move_by")?.call(args![&mut beam, 0.5])?;
//! assert_eq!(beam.get()?, Beam { charge: 1.0, x: vec![0.5, 1.5], name: "probe".into() });
//! # Ok::<(), parloop::ObjectError>(())
//! ```
//!
//! Loop kernels say what is computed over which integers, and leave open how. Transformations say how: they split loops, spread them
//! over the axes of a GPU or the threads of a CPU, fetch into fast memory, and never change the numbers. See [`loops`].
//!
//! ```
//! use parloop::prelude::*;
//!
//! let product = KernelBuilder::new()
//!     .domain("{[i,j,k]: 0<=i,j,k<n}")
//!     .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
//!     .data(Data::global("a, b, c").dtype("float64").shape("n, n"))
//!     .rest()
//!     .build()?
//!     .split_iname("i", Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(1)))?
//!     .split_iname("j", Split::by(16).outer(InameTag::Group(1)).inner(InameTag::Local(0)))?
//!     .split_iname("k", Split::by(16))?
//!     .add_prefetch(Prefetch::new("a", ["k_inner", "i_inner"]))?
//!     .add_prefetch(Prefetch::new("b", ["j_inner", "k_inner"]))?;
//!
//! let ctx = Context::open("cpu")?;
//! let (a, b, mut c) = (ctx.array(&[1.0, 2.0, 3.0, 4.0])?, ctx.array(&[0.0, 1.0, 1.0, 0.0])?, ctx.zeros::<f64>(4)?);
//! product.compile(&ctx)?.call(loop_args! { a: (&a, [2, 2]), b: (&b, [2, 2]), c: (&mut c, [2, 2]) })?;
//! assert_eq!(c.to_vec()?, [2.0, 1.0, 4.0, 3.0]);
//!
//! assert!(product.generate(Target::Cuda)?.code.text.contains("__shared__"));
//! # Ok::<(), parloop::loops::LoopError>(())
//! ```
//!
//! Mesh loops run a kernel for each element of a set: on its own data, on what its maps lead to, and on what all elements share. What the
//! kernel does with each is said; how writes of different elements are kept apart is the plan's business, on every device. See [`mesh`].
//!
//! ```
//! use parloop::prelude::*;
//!
//! let (edges, nodes) = (Set::new(3, "edges")?, Set::new(4, "nodes")?);
//! let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2, 2, 3], "ends")?;
//! let x = Dat::new(&nodes.data(1)?, &[0.0, 1.0, 3.0, 6.0], "x")?;
//! let (sum, longest) = (Dat::new(&nodes.data(1)?, &[0.0; 4], "sum")?, Global::new(1, &[0.0], "longest")?);
//! let source = "void lump(const double **x, double **sum, double *longest) {
//!     double length = x[1][0] - x[0][0];
//!     sum[0][0] += length / 2;
//!     sum[1][0] += length / 2;
//!     if (length > *longest) *longest = length;
//! }";
//! // SAFETY: the map leads to two nodes of one number each.
//! let lump = unsafe { MeshKernel::new(source, "lump")? };
//! let args = vec![x.arg(Access::Read, &ends), sum.arg(Access::Inc, &ends), longest.arg(Access::Max)];
//! par_loop(&lump, &edges, args, &Context::open("cpu")?)?;
//! assert_eq!(sum.to_vec::<f64>()?, [0.5, 1.5, 2.5, 1.5]);
//! assert_eq!(longest.to_vec::<f64>()?, [3.0]);
//! # Ok::<(), MeshError>(())
//! ```
//!
//! The layers are crates of their own: [`parloop_device`] (devices, memory, streams, events, modules), [`parloop_kernel`]
//! (portable C, signatures, the compile cache, launch), [`parloop_object`] (types, buffers, views, C functions of objects),
//! `parloop_isl` (sets of integers), [`parloop_loop`] (loop kernels) and [`parloop_mesh`] (loops over meshes).

#[cfg(feature = "cli")]
pub mod command;
pub mod loops;

pub use parloop_device::{
    CompileError, Complex32, Complex64, DType, Device, DeviceError, DeviceId, DeviceKind, Element, Event, FftDirection, Memory,
    PinnedMemory, Stream,
};
pub use parloop_kernel::{
    Arg, Array, Cache, CompileOptions, Context, DescribedParam, FftPlan, Grid, Kernel, KernelDescription, KernelError, Order, Program,
    Recording, Replay, Scalar, Signature, Source, args,
};

pub use parloop_derive::FacadeObject as Object;
pub use parloop_mesh as mesh;
pub use parloop_object as objects;
pub use parloop_object::typed::Object;
pub use parloop_object::{Buffer, BufferError, ObjectError, ObjectOptions, PlaceObjects, Placed, View};

/// What most programs use.
pub mod prelude {
    pub use crate::loops::{
        Compile as _, Data, Generate as _, InameTag, KernelBuilder, LoopArg, LoopError, LoopKernel, Prefetch, Split, Target,
        Transform as _, loop_args, make_kernel,
    };
    pub use crate::mesh::{Access, Dat, Global, Kernel as MeshKernel, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set, par_loop};
    pub use crate::{
        Array, Buffer, CompileOptions, Context, DType, Device, DeviceKind, Grid, Kernel, KernelError, Object, ObjectError, ObjectOptions,
        PlaceObjects, Placed, Program, Source, args,
    };
}

/// Foreign code enters by `unsafe` functions alone.
///
/// ```compile_fail,E0133
/// parloop::Context::open("cpu").unwrap().compile("void f(void) {}");
/// ```
/// ```compile_fail,E0133
/// parloop::Context::open("cpu").unwrap().load("a file");
/// ```
/// ```compile_fail,E0133
/// use parloop::prelude::*;
/// parloop::Context::open("cpu").unwrap().compile_with_objects("", &[], &ObjectOptions::default());
/// ```
/// ```compile_fail,E0133
/// parloop::loops::CFunction::parse("void f(void) {}", "f");
/// ```
/// ```compile_fail,E0133
/// parloop::mesh::Kernel::new("void f(void) {}", "f");
/// ```
/// ```compile_fail,E0133
/// parloop::loops::LoopFile::parse_trusted("");
/// ```
/// ```compile_fail,E0133
/// parloop_loop::syntax::Preamble::new("key", "text");
/// ```
/// ```compile_fail,E0133
/// parloop_loop::syntax::TrustedC::promise();
/// ```
/// ```compile_fail,E0423
/// parloop_loop::syntax::TrustedC(());
/// ```
/// ```compile_fail,E0133
/// parloop::Device::open("cpu").unwrap().allocate_growable(1);
/// ```
/// ```compile_fail,E0133
/// use parloop_device::{DType, FftDirection};
/// let ctx = parloop::Context::open("cpu").unwrap();
/// let (plan, memory) = (ctx.plan_fft(&[2], &[0], DType::C128).unwrap(), ctx.device().allocate(32).unwrap());
/// plan.run_memory(&memory, 0, FftDirection::Forward);
/// ```
#[cfg(doctest)]
struct ForeignCode;
