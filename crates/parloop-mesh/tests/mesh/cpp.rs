//! Kernels in C++: on CPU threads and CUDA, by every plan; refused on OpenCL.

use parloop_device::{Complex64, DeviceKind};
use parloop_kernel::Context;
use parloop_mesh::{
    Access, Dat, Global, Kernel, KernelOptions, Lanes, Language, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set, par_loop,
};

use crate::devices::{everywhere, gpus};

fn cpp(source: &str, name: &str) -> Result<Kernel, MeshError> {
    // SAFETY: the functions of these tests stay inside of what the loops of these tests pass.
    unsafe { Kernel::c(source, name, &KernelOptions { language: Language::Cpp, ..KernelOptions::default() }) }
}

fn refusal(source: &str) -> String {
    cpp(source, "f").unwrap_err().to_string()
}

/// Devices that take C++.
fn contexts() -> Vec<Context> {
    everywhere(&[1, 2]).into_iter().filter(|context| context.device().kind() != DeviceKind::OpenCl).collect()
}

/// What every compiler of C++ has.
const LENGTHS: &str = r#"
#include <cmath>
namespace shapes {
template <int N> struct Point {
  double at[N];
  double dot(const Point &other) const { double sum = 0; for (int i = 0; i < N; i++) sum += at[i] * other.at[i]; return sum; }
};
}
using real = double;
constexpr int dim = 2;
inline real scaled(real x) { return 2 * x; }
inline real scaled(int x) { return 1'000.0 * x; }
template <class T> T &at(T *x, int i) { return x[i]; }
[[maybe_unused]] static real depth(int n) { return n ? 1 + depth(n - 1) : 0; }
void lengths(real **sums, double total[1], const real (*x)[dim], long long *count) {
  shapes::Point<dim> edge{{x[1][0] - x[0][0], x[1][1] - x[0][1]}};
  auto length = std::sqrt(edge.dot(edge));
  for (int i = 0; i < 2; i++) at(sums[i], 0) += scaled(length) + scaled(1) - 1000 + depth(3) - 3;
  total[0] += std::abs(-length);
  count[0] += [](auto n) { return n + 1; }(0);
}
"#;

#[test]
fn a_kernel_in_cpp_gives_the_numbers_of_one_in_c_by_every_plan() {
    let (edges, nodes) = (Set::new(41, "edges").unwrap(), Set::new(42, "nodes").unwrap());
    let table: Vec<i32> = (0..41).flat_map(|edge| [edge, edge + 1]).collect();
    let ends = Map::new(&edges, &nodes, 2, &table, "ends").unwrap();
    let points: Vec<f64> = (0..42).flat_map(|node| [3.0 * f64::from(node), 4.0 * f64::from(node)]).collect();
    let kernel = cpp(LENGTHS, "lengths").unwrap_or_else(|error| panic!("{error}"));
    for context in contexts() {
        let mut ways: Vec<LoopOptions> =
            [PlanChoice::Auto, PlanChoice::Sequential, PlanChoice::Owner, PlanChoice::Colour, PlanChoice::Atomic]
                .map(|plan| LoopOptions { plan, ..LoopOptions::default() })
                .into();
        ways.push(LoopOptions { lanes: Lanes::Always, ..LoopOptions::default() });
        ways.push(LoopOptions { checked: true, ..LoopOptions::default() });
        let mut ran = 0;
        for options in ways {
            let x = Dat::new(&nodes.data(2).unwrap(), &points, "x").unwrap();
            let sums = Dat::new(&nodes.data(1).unwrap(), &[0.0; 42], "sums").unwrap();
            let total = Global::new(1, &[0.0], "total").unwrap();
            let count = Dat::new(&edges.data(1).unwrap(), &[0i64; 41], "count").unwrap();
            let args = vec![sums.arg(Access::Inc, &ends), total.arg(Access::Inc), x.arg(Access::Read, &ends), count.arg(Access::Inc, None)];
            match ParLoop::new(&kernel, &edges, args, options).unwrap().run(&context) {
                Err(MeshError::Plan { .. }) => continue,
                done => done.unwrap_or_else(|error| panic!("{options:?} on {context:?}: {error}")),
            }
            let expected: Vec<f64> = (0..42).map(|node| if node == 0 || node == 41 { 10.0 } else { 20.0 }).collect();
            assert_eq!(sums.to_vec::<f64>().unwrap(), expected, "{options:?} on {context:?}");
            assert_eq!(total.to_vec::<f64>().unwrap(), [205.0]);
            assert_eq!(count.to_vec::<i64>().unwrap(), [1; 41]);
            ran += 1;
        }
        assert!(ran >= 3, "{context:?}");
    }
}

#[test]
fn cpu_kernels_have_the_standard_library_and_its_complex_numbers() {
    let cells = Set::new(5, "cells").unwrap();
    let source = "#include <algorithm>\n#include <array>\n#include <complex>\n#include <numeric>\n\
        extern \"C\" void turn(std::complex<double> *z, const double *table, signed char *small) {\n\
        std::array<double, 3> a{3.0, 1.0, 2.0}; std::sort(a.begin(), a.end());\n\
        z[0] *= std::complex<double>(0, std::accumulate(a.begin(), a.end(), 0.0) + table[99]); small[0]++; }";
    let turn = cpp(source, "turn").unwrap_or_else(|error| panic!("{error}"));
    let table: Vec<f64> = (0..100).map(f64::from).collect();
    for context in everywhere(&[1, 2]).into_iter().filter(|context| context.device().kind() == DeviceKind::Cpu) {
        let z = Dat::new(&cells.data(1).unwrap(), &[Complex64::new(1.0, 2.0); 5], "z").unwrap();
        let small = Dat::new(&cells.data(1).unwrap(), &[-3i8; 5], "small").unwrap();
        let table = Global::constant(100, &table, "table").unwrap();
        let args = vec![z.arg(Access::Rw, None), table.arg(Access::Read), small.arg(Access::Rw, None)];
        par_loop(&turn, &cells, args, &context).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(z.to_vec::<Complex64>().unwrap(), [Complex64::new(-210.0, 105.0); 5]);
        assert_eq!(small.to_vec::<i8>().unwrap(), [-2; 5]);
    }
}

#[test]
fn what_cannot_run_says_so() {
    let cells = Set::new(3, "cells").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[1.0; 3], "x").unwrap();
    let kernel = cpp("template <class T> T twice(T x) { return 2 * x; }\nvoid f(double *x) { x[0] = twice(x[0]); }", "f").unwrap();
    for context in gpus().into_iter().filter(|context| context.device().kind() == DeviceKind::OpenCl) {
        let error = par_loop(&kernel, &cells, vec![x.arg(Access::Rw, None)], &context).unwrap_err().to_string();
        let told = "`f` is written in C++, which target opencl does not support; write it in C, or run it on cpu, cuda or hip";
        assert!(error.ends_with(told), "{error}");
    }
    let overloaded = "`f` is overloaded, as `void f(double * x)` and as `void f(float * x)`; a function that is called from the host needs a unique name";
    assert_eq!(refusal("void f(double *x) {}\nvoid f(float *x) {}"), format!("<f>:2: {overloaded}"));
    assert_eq!(refusal("void f(double &x) {}"), "<f>:1: parameter `arg0` of `f` is neither a scalar nor a pointer");
    let default = "`f` has a parameter with a default value, which calls from the host cannot use; remove the default";
    assert_eq!(refusal("void f(double *x = nullptr) {}"), format!("<f>:1: {default}"));
    assert_eq!(refusal("template <class T> void f(T *x) {}\nvoid g(double *x) {}"), "the source has no function `f`; it has g");
    assert_eq!(refusal("auto f(double *x) { return x; }"), "<f>:1: `f` returns `auto`, which is not a scalar type");
    let wrong = cpp("void f(double *x) {\n  std::nothing(x);\n}", "f").unwrap();
    let error = par_loop(&wrong, &cells, vec![x.arg(Access::Rw, None)], &Context::open("cpu:1").unwrap()).unwrap_err().to_string();
    assert!(error.contains("<f>:2:") && error.contains("    2 |   std::nothing(x);"), "{error}");
}
