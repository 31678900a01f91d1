//! What kernels can call: functions of the target, other kernels, a function in C, BLAS. `cargo run --release --example 04_callables`.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use parloop::loops::callable::{ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, CallSite, CallableError, Emitted, Inference};
use parloop::loops::{Access, Axis, CFunction, Callable, Expr, FunctionLookup, Name, Preamble, Program, Type};
use parloop::prelude::*;

fn main() -> Result<(), LoopError> {
    sine_at_two_types()?;
    a_kernel_calls_a_kernel()?;
    a_function_in_c()?;
    blas()
}

/// The name `sin` is one function; each argument type gets its own entry.
fn sine_at_two_types() -> Result<(), LoopError> {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("y[i] = sin(x[i])\nv[i] = sin(u[i])")
        .data(Data::global("x, y").dtype("float64"))
        .data(Data::global("u, v").dtype("float32"))
        .rest()
        .build()?;
    let generated = program.generate(Target::C)?;
    let names = generated.program.callables.values().filter(|callable| *callable.name() == "sin").filter_map(|c| c.name_in_target());
    let mut names: Vec<&str> = names.map(|name| name.as_str()).collect();
    names.sort();
    names.dedup();
    println!("sin is called as {names:?} in C");
    assert_eq!(names, ["sin", "sinf"]);
    Ok(())
}

/// Called or inlined, a kernel gives the same numbers.
fn a_kernel_calls_a_kernel() -> Result<(), LoopError> {
    let centre = KernelBuilder::new()
        .name("centre")
        .domain("{[i,j]: 0<=i,j<4}")
        .instructions("<> mean = sum(i, a[i])/4\nb[j] = a[j] - mean")
        .build_function()?;
    let rows = KernelBuilder::new()
        .name("rows")
        .domain("{[r]: 0<=r<n}")
        .instructions("y[r, :] = centre(x[r, :])")
        .data(Data::global("x, y").dtype("float64").shape("n, 4"))
        .rest()
        .build()?;
    let called = rows.merge(&centre)?;
    let inlined = called.inline_callable_kernel("centre")?;
    for device in Device::list() {
        let ctx = Context::on(device.default_stream()?);
        let x = ctx.array(&[1.0, 2.0, 3.0, 6.0, 0.0, 0.0, 0.0, 8.0])?;
        for program in [&called, &inlined] {
            let mut y = ctx.zeros::<f64>(8)?;
            program.compile(&ctx)?.call(loop_args! { x: (&x, [2, 4]), y: (&mut y, [2, 4]) })?;
            assert_eq!(y.to_vec()?, [-2.0, -1.0, 0.0, 3.0, -2.0, -2.0, -2.0, 6.0]);
        }
        println!("{}: centred rows are the same, called and inlined", device.id());
    }
    Ok(())
}

/// A function in C says by its signature what it takes; `Access` says what a pointer is for.
fn a_function_in_c() -> Result<(), LoopError> {
    let source = "
        static inline void turn(const double *from, double *to) {
            to[0] = -from[1];
            to[1] = from[0];
        }";
    // SAFETY: the kernel below passes two numbers and takes two.
    let turn = unsafe { CFunction::parse(source, "turn")? }.with_access([Access::Read, Access::Write]);
    let program = KernelBuilder::new()
        .domain("{[e,i]: 0<=e<n and 0<=i<2}")
        .instructions(
            "<> from[i] = x[e,i] {dup=i, id=gather}
             [i]: to[i] = turn([i]: from[i]) {dep=gather, id=turn}
             y[e,i] = to[i] {dup=i, dep=turn}",
        )
        .data(Data::global("x, y").dtype("float64").shape("n, 2"))
        .data(Data::temporary("to").dtype("float64").shape("2"))
        .rest()
        .build()?
        .register_callable("turn", turn)?;
    for device in Device::list() {
        let ctx = Context::on(device.default_stream()?);
        let (x, mut y) = (ctx.array(&[1.0, 2.0, 3.0, 4.0])?, ctx.zeros::<f64>(4)?);
        program.compile(&ctx)?.call(loop_args! { x: (&x, [2, 2]), y: (&mut y, [2, 2]) })?;
        assert_eq!(y.to_vec()?, [-2.0, 1.0, -4.0, 3.0]);
        println!("{}: a function in C turned {:?}", device.id(), x.to_vec()?);
    }
    Ok(())
}

/// A matrix times a vector by BLAS: a look-up gives the callable, which says how it is called for which types and layouts.
fn blas() -> Result<(), LoopError> {
    if !["/usr/include/cblas.h", "/usr/include/x86_64-linux-gnu/cblas.h"].iter().any(|path| Path::new(path).exists()) {
        println!("no cblas.h here: apt-get install libopenblas-dev");
        return Ok(());
    }
    let program = KernelBuilder::new()
        .domain("{:}")
        .instructions("y[:] = gemv(a[:, :], x[:])")
        .data(Data::global("a").dtype("float64").shape("n, m"))
        .data(Data::global("x").dtype("float64").shape("m"))
        .data(Data::global("y").shape("n"))
        .rest()
        .build()?
        .register_function_lookup(Blas)?;
    let program = link(&program, "-lopenblas")?;
    let ctx = Context::open("cpu:1")?;
    let (a, x, mut y) = (ctx.array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?, ctx.array(&[1.0, 0.0, -1.0])?, ctx.array(&[f64::NAN; 2])?);
    program.compile(&ctx)?.call(loop_args! { a: (&a, [2, 3]), x: &x, y: &mut y })?;
    assert_eq!(y.to_vec()?, [-2.0, -2.0]);
    println!("cpu:1: BLAS multiplied {:?}", y.to_vec()?);
    Ok(())
}

/// With one more flag for the compiler.
fn link(program: &Program, flag: &str) -> Result<Program, LoopError> {
    program.transform(|kernel| {
        let mut kernel = kernel.clone();
        // SAFETY: the library has what the header declares.
        unsafe { kernel.options.set_build_options(vec![flag.into()]) };
        Ok::<_, parloop::loops::TransformError>(kernel)
    })
}

#[derive(Debug)]
struct Blas;

impl FunctionLookup for Blas {
    fn find(&self, _target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        let gemv = || Gemv { name: "gemv".into(), in_target: None, types: None, descriptors: None };
        Ok((name == "gemv").then(|| Arc::new(gemv()) as Arc<dyn Callable>))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `y = A x`. It is specialised in two steps: for types, which choose the function, and for layouts, which give sizes and strides.
#[derive(Clone, Debug, PartialEq)]
struct Gemv {
    name: Name,
    in_target: Option<Name>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl Gemv {
    fn misfit(&self, reason: &str) -> CallableError {
        CallableError::Misfit { function: self.name.clone(), reason: reason.into() }
    }

    /// The lengths of an array's axes, and its strides.
    fn axes(&self, id: ArgId) -> Result<(Vec<Expr>, Vec<Expr>), CallableError> {
        let Some(ArgDescriptor::Array { layout, .. }) = self.descriptors.as_ref().and_then(|all| all.get(&id)) else {
            return Err(self.misfit("it takes arrays"));
        };
        let axes = layout.axes(&self.name).map_err(|error| self.misfit(&error.to_string()))?;
        let stride = |axis: Axis| if let Axis::Stride(stride) = axis { Ok(stride) } else { Err(self.misfit("plain axes are needed")) };
        Ok((layout.lengths().unwrap_or_default().to_vec(), axes.into_iter().map(stride).collect::<Result<_, _>>()?))
    }
}

// SAFETY: what it emits is a call of `cblas_dgemv` or `cblas_sgemv` with the lengths and strides of the arrays that it gets.
unsafe impl Callable for Gemv {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        self.in_target.as_ref()
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, _: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let (Some(matrix), Some(vector)) = (types.get(&ArgId::argument(0)), types.get(&ArgId::argument(1))) else {
            return Ok(Arc::new(self.clone()));
        };
        let in_target = match (matrix, vector) {
            (Type::Scalar(DType::F32), Type::Scalar(DType::F32)) => "cblas_sgemv",
            (Type::Scalar(DType::F64), Type::Scalar(DType::F64)) => "cblas_dgemv",
            _ => return Err(self.misfit("matrix and vector must both be float32 or float64")),
        };
        let ids = [ArgId::argument(0), ArgId::argument(1), ArgId::result(0)];
        let types = ids.into_iter().map(|id| (id, vector.clone())).collect();
        Ok(Arc::new(Gemv { in_target: Some(in_target.into()), types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        _: &CallSite<'_>,
        _: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        Ok(Arc::new(Gemv { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    /// `cblas_dgemv(order, trans, n, m, alpha, A, lda, x, incx, beta, y, incy)`; the result is written through its address.
    fn emit_call_insn(&self, _: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        let ((lengths, matrix), (_, x), (_, y)) =
            (self.axes(ArgId::argument(0))?, self.axes(ArgId::argument(1))?, self.axes(ArgId::result(0))?);
        let ([n, m], [lda, column], [x], [y]) = (&lengths[..], &matrix[..], &x[..], &y[..]) else {
            return Err(self.misfit("a matrix and two vectors are needed"));
        };
        if *column != Expr::int(1) {
            return Err(self.misfit("the rows of the matrix must lie together"));
        }
        let function = self.in_target.clone().ok_or_else(|| self.misfit("its types are not known"))?;
        let number = |expr: &Expr| Emitted::Expr(expr.clone(), Some(DType::I32.into()));
        let text = |text: &str| Emitted::Text(text.into());
        let (vector, result) = (Emitted::argument(1), Emitted::Arg(ArgId::result(0)));
        let (order, beta) = ([text("CblasRowMajor"), text("CblasNoTrans")], text("0"));
        let factors = [number(n), number(m), text("1"), Emitted::argument(0), number(lda), vector, number(x)];
        Ok((Emitted::Call(function, order.into_iter().chain(factors).chain([beta, result, number(y)]).collect()), false))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        match target {
            // SAFETY: a header that declares functions.
            Target::C => Ok(vec![unsafe { Preamble::new("99_cblas", "#include <cblas.h>") }]),
            _ => Err(CallableError::NotOnTarget { function: self.name.clone(), target }),
        }
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<Gemv>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
