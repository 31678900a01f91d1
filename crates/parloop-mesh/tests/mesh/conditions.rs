//! Kernels with conditions of the preprocessor: their signatures are read without it, and must be those that are compiled.

use parloop_device::DType;
use parloop_mesh::{Access, Dat, Kernel, KernelOptions, MeshError, Set, par_loop};

use crate::devices::everywhere;

/// The function `f` of a source that the compiler of a CPU is given with these arguments.
fn f_with(source: &str, arguments: &[&str]) -> Result<Kernel, MeshError> {
    let arguments = arguments.iter().map(ToString::to_string).collect();
    // SAFETY: it stays inside of what the loops of these tests pass, or is not run.
    unsafe { Kernel::c(source, "f", &KernelOptions { arguments, ..KernelOptions::default() }) }
}

#[test]
fn kernels_whose_signature_conditions_decide_are_refused() {
    let error = |source: &str, arguments: &[&str]| f_with(source, arguments).unwrap_err().to_string();
    let (flat, rows) = ("void f(double *d, const double *s) { d[0] += s[0]; }", "void f(double **d, const double *s) { d[0][0] += s[0]; }");
    for (first, second) in [(flat, rows), (rows, flat)] {
        let told = error(&format!("#ifdef FLAT\n{first}\n#else\n{second}\n#endif"), &[]);
        assert!(told.contains("<f>:4: `f` is defined twice, as `void f(double *"), "{told}");
    }
    let told = "`f` uses the type `real`, which has more than one definition, and preprocessor conditions or compiler arguments select \
        one; use a type with one definition";
    let f = "void f(real *d) { d[0] = 1; }";
    let types = format!("#ifndef DOUBLE\ntypedef float real;\n#else\ntypedef double real;\n#endif\n{f}");
    assert_eq!(error(&types, &[]), format!("<f>:6: {told}"));
    let default = format!("#ifndef real\n#define real double\n#endif\n{f}");
    assert_eq!(error(&default, &["-Dreal=float"]), format!("<f>:4: {told}"));
}

#[test]
fn kernels_with_conditions_that_do_no_harm_run() {
    let nodes = Set::new(4, "nodes").unwrap();
    let sources = [
        "#ifndef real\n#define real double\n#endif\nvoid f(real *d) { d[0] += 1; }",
        "#if 0\nvoid f(float **d) { }\n#endif\nvoid f(double *d) { d[0] += 1; }",
        "#ifdef FAST\nvoid f(double *d) { *d += 1; }\n#else\nvoid f(double *x) { x[0] += 1; }\n#endif",
        "#ifdef FAST\nstatic double g(float x) { return 1; }\n#else\nstatic double g(double x) { return 1; }\n#endif\nvoid f(double *d) { d[0] += g(2); }",
        "void f(double *d) {\n#ifdef FAST\n*d += 1;\n#else\nd[0] += 1;\n#endif\n}",
    ];
    for (context, source) in everywhere(&[1]).iter().flat_map(|context| sources.map(|source| (context, source))) {
        let dat = Dat::zeros(&nodes.data(1).unwrap(), DType::F64, "d").unwrap();
        let kernel = f_with(source, &[]).unwrap_or_else(|error| panic!("{source}: {error}"));
        par_loop(&kernel, &nodes, vec![dat.arg(Access::Rw, None)], context).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(dat.to_vec::<f64>().unwrap(), [1.0; 4], "{source} on {context:?}");
    }
}

#[test]
fn a_call_that_the_compiler_finds_to_be_of_another_function_is_an_error() {
    let nodes = Set::new(4, "nodes").unwrap();
    let dat = Dat::zeros(&nodes.data(1).unwrap(), DType::F64, "d").unwrap();
    let source = "static double *one;\nvoid g(double **d) { *d = one; }\nvoid h(float *d) { *d = 1; }\nvoid f(double *d) { d[0] = 1; }\n\
        #ifdef OTHER\n#define f OTHER\n#endif";
    for other in ["-DOTHER=g", "-DOTHER=h"] {
        let kernel = f_with(source, &[other]).unwrap();
        let error = par_loop(&kernel, &nodes, vec![dat.arg(Access::Rw, None)], &everywhere(&[1])[0]).unwrap_err().to_string();
        assert!(error.contains("incompatible pointer type"), "{error}");
    }
}
