//! Functions in plain C that loop kernels call: every form of parameter, on every device.

use std::sync::Arc;

use parloop_loop::callable::{Access, CFunction};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::run::{Executable, LoopArg, target_of};
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::{Tags, register_callable, tag_inames};

use super::run::contexts;

/// The elements of a mesh of triangles in a row, each of which reads the two coordinates of its three points and adds to them.
fn mesh_loop(source: &str, name: &str) -> Program {
    let function = CFunction::parse(source, name).unwrap_or_else(|error| panic!("{error}"));
    with_function(function.with_access([Access::Read, Access::ReadWrite]))
}

fn with_function(function: CFunction) -> Program {
    let name = function.signature().name.clone();
    let program = KernelBuilder::new()
        .name("mesh_loop")
        .domain("{[e, i, d, i1, d1, i2, d2, i3, d3, i4, d4]: 0<=e<n and 0<=i, i1, i2, i3, i4<3 and 0<=d, d1, d2, d3, d4<2}")
        .instructions(&format!(
            "t0[i,d] = x[map[e,i], d] {{id=in}}
             t1[i1,d1] = 0.0 {{id=zero, inames=+e}}
             [i3,d3]: t1[i3,d3] = {name}([i2,d2]: t0[i2,d2], [i3,d3]: t1[i3,d3]) {{id=call, dep=in:zero}}
             out[map[e,i4], d4] = out[map[e,i4], d4] + t1[i4,d4] {{dep=call}}"
        ))
        .data(Data::global("x, out").dtype("float64").shape("m, 2"))
        .data(Data::global("map").dtype("int32").shape("n, 3"))
        .data(Data::temporary("t0, t1").dtype("float64").shape("3, 2"))
        .rest()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let program = register_callable(&program, &name, Arc::new(function), false).unwrap();
    let tags = "i:unr, d:unr, i1:unr, d1:unr, i4:unr, d4:unr".parse::<Tags>().unwrap();
    let kernel = tag_inames(program.entry().unwrap(), &tags).unwrap();
    program.with_kernel(kernel)
}

fn run(program: &Program) {
    let (n, m) = (5usize, 7usize);
    let map: Vec<i32> = (0..n as i32).flat_map(|e| [e, e + 2, e + 1]).collect();
    let x: Vec<f64> = (0..2 * m).map(|at| (at * at % 11) as f64 - 3.0).collect();
    let mut expected = vec![1.0; 2 * m];
    for row in map.chunks(3) {
        for (i, point) in row.iter().enumerate() {
            for d in 0..2 {
                let next = row[(i + 1) % 3] as usize;
                expected[*point as usize * 2 + d] += x[next * 2 + d].abs() / 2.0 - (d + 1) as f64;
            }
        }
    }
    for context in contexts() {
        let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
        let (map, x) = (context.array(&map).unwrap(), context.array(&x).unwrap());
        let mut out = context.array(&vec![1.0; 2 * m]).unwrap();
        let (n, m) = (n as i64, m as i64);
        let args = &mut [
            ("x", LoopArg::shaped(&x, &[m, 2])),
            ("out", LoopArg::shaped(&mut out, &[m, 2])),
            ("map", LoopArg::shaped(&map, &[n, 3])),
        ];
        executable.call(args).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
        assert_eq!(out.to_vec().unwrap(), expected, "on {}\n{}", context.device().kind(), generated.code.text);
    }
}

const FORMS: [[&str; 2]; 6] = [
    ["double **x", "double **y"],
    ["const double *const *x", "double *y[2]"],
    ["const double x[3][2]", "double y[][2]"],
    ["double (*x)[2]", "double (*restrict y)[2]"],
    ["double *x[2]", "double y[3][2]"],
    ["const double **x", "double * const * y"],
];

fn rows_source([x, y]: [&str; 2]) -> String {
    format!(
        "#include <math.h>\n#define HALF(x) ((x) / 2)\nstatic const double shift[2] = {{1, 2}};\nconst int next = 1;\n\
         double far(double x, int d) {{ return HALF(fabs(x)) - shift[d]; }}\n\
         void res({x}, {y}) {{\n  for (int i = 0; i < 3; i++)\n    for (int d = 0; d < 2; d++) y[i][d] += far(x[(i + next) % 3][d], d);\n}}\n"
    )
}

/// Programs whose code every compiler must take.
pub fn samples() -> Vec<(&'static str, Program)> {
    let mut found: Vec<(&'static str, Program)> = FORMS.into_iter().map(|form| (form[0], mesh_loop(&rows_source(form), "res"))).collect();
    found.push(("portable", mesh_loop(PORTABLE, "portable")));
    found
}

/// Everything that plain C for all targets may have.
const PORTABLE: &str = r#"#include <math.h>
#include <stdlib.h>
#include "float.h"
#define SQUARE(a) ((a) * (a))
static const double table[3] = {1.5, 2.5, 3.5};
const float single = 1.5f, other = 2;
static double later(double x, int n);
enum { ROWS = 3 };
typedef struct { double re, im; } pair;
static inline double helper(const double *x, int n) {
  static const double weights[2] = {0.25, 0.75};
  double s = 0;
  for (int i = 0; i < n; i++) s += weights[i % 2] * x[i];
  return s;
}
unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
double later(double x, int n) { return x / n; }
void portable(const double x[restrict static ROWS][2], double **y) {
  pair p = {fmin(1, x[0][0]), pow(x[0][1], 2)};
  _Bool flag = abs(-3) - 5 < 0;
  for (int i = 0; i < ROWS; i++) {
    y[i][0] += sqrt(2) * fabs(x[i][0]) + table[i] + M_PI * single + 7 / 2 + INFINITY;
    y[i][1] += fmax(x[i][1], 0) + helper(x[i], 2) + later(p.re, 3) + SQUARE(p.im) + flag + cbrtf(8) + DBL_MAX;
    y[i][1] += exp(-x[i][0]) + (isnan(p.re) ? NAN : labs(-2L)) + atan2(1, 2) + floor(other);
  }
}
"#;

#[test]
fn pointers_to_rows_and_rows_are_passed_in_every_form() {
    for form in FORMS {
        run(&mesh_loop(&rows_source(form), "res"));
    }
}

#[test]
fn flat_arrays_are_passed_as_they_are() {
    let source = "void res(const double *x, double y[6]) { for (int k = 0; k < 6; k++) y[k] += fabs(x[(k + 2) % 6]) / 2 - (k % 2 + 1); }";
    run(&mesh_loop(source, "res"));
    let text = mesh_loop(source, "res").generate(Target::C).unwrap().code.text;
    assert!(text.contains("  res(t0, t1);"), "{text}");
}
