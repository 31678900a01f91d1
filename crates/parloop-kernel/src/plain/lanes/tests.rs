//! Which functions have a form for vectors, and what is in it.

use crate::{LaneParam, Language, PlainC, Source};

fn read(text: &str) -> PlainC {
    PlainC::read(&[Source::text(text)], &[], &[], Language::C).unwrap()
}

/// The form of `f` without what stands in front.
fn body(text: &str, params: &[LaneParam]) -> Result<String, &'static str> {
    let (name, text) = read(text).in_lanes("f", 8, params)?;
    assert_eq!(name, "pl_lanes_f");
    Ok(text.split_once("void pl_vector_f(").unwrap().1.split_once("static inline").unwrap().0.to_owned())
}

const EACH: LaneParam = LaneParam::Each(3);

#[test]
fn numbers_of_elements_are_vectors_and_others_are_not() {
    let text = "void f(double *A, const double *restrict x, const double *c) {\n\
        double t[2] = {1.0, -2.0}, s = 0.5; double d, u[2]; const double k = c[0] * 2;\n\
        d = -x[0];\n for (int i = 0; i < 2; ++i) { u[i] = t[i] * s; A[i] += u[i] * d + k / fabs(x[i]); }\n}";
    let found = body(text, &[EACH, EACH, LaneParam::Same(2)]).unwrap();
    let expected = [
        "static const double t[2] = {1.0, -2.0};",
        "double s = 0.5;",
        "pl_vector d;",
        "double u[2];",
        "const double k = (c[0] * 2);",
        "d = (- pl_read(x + 8 * (0)));",
        "u[i] = (t[i] * s);",
        "(*(pl_place *)(A + 8 * (i))) += ((pl_all(u[i]) * d) + (pl_all(k) / pl_each_fabs(pl_read(x + 8 * (i)))));",
    ];
    for line in expected {
        assert!(found.contains(&format!("{line}\n")), "{line}\n{found}");
    }
}

#[test]
fn headers_and_complex_numbers_elsewhere_do_not_matter() {
    let text = "#include <math.h>\n#include <complex.h>\nstatic const double w[2] = {1, 2};\nvoid f(double *A) { A[0] = w[1]; }";
    assert!(body(text, &[EACH]).unwrap().contains("= pl_all(w[1]);"));
}

#[test]
fn what_is_assigned_further_down_counts_in_the_next_turn() {
    let text = "void f(double *A, const double *x) { double a = 0, b = 0; for (int i = 0; i < 3; i++) { A[i] = a; a = b; b = x[i]; } }";
    let found = body(text, &[EACH, EACH]).unwrap();
    assert!(found.contains("pl_vector a = pl_all(0);") && found.contains("pl_vector b = pl_all(0);"), "{found}");
}

#[test]
fn conditions_pick_lanes() {
    let text = "void f(double *A, const double *x) { int n = 2; A[0] = x[0] > 1 && x[1] < 2 ? sqrt(x[0]) : n > 1 ? x[1] : 0; }";
    let found = body(text, &[EACH, EACH]).unwrap();
    assert!(found.contains("= pl_pick((((pl_truth)(") && found.contains("pl_each_sqrt(") && found.contains("((n > 1)) ? "), "{found}");
}

#[test]
fn numbers_have_the_types_that_c_gives_them() {
    let text = "static const float w[2] = {1, 2};\nvoid f(double *A, const double *x, double c) {\n\
        int n = 2; double y = {0}; double m[2 * 1] = {{0}, {x[1]}}; y += x[0];\n\
        A[0] = x[0] > 0 ? n : c; A[1] = x[0] > 0 ? w[0] : 1.0; A[2] = n > 1 ? x[1] : 0; A[0] += 0x1p-1 + 0xffL + 1e3f + 017u + m[1] + y;\n}";
    let found = body(text, &[EACH, EACH, LaneParam::Same(1)]).unwrap();
    let expected = [
        "pl_vector y = pl_all(0);",
        "pl_vector m[(2 * 1)] = {pl_all(0), pl_read(x + 8 * (1))};",
        "pl_all(n), pl_all(c));",
        "pl_all(w[0]), pl_all(1.0));",
        "? pl_read(x + 8 * (1)) : pl_all(0));",
    ];
    for part in expected {
        assert!(found.contains(part), "{part}\n{found}");
    }
}

#[test]
fn functions_that_may_mean_something_else_for_vectors_are_refused() {
    let cases = [
        ("int i = x[0]; A[i] = 1;", "control flow, an index or an integer depends on a floating-point number"),
        ("if (x[0] > 0) A[0] = 1;", "control flow, an index or an integer depends on a floating-point number"),
        ("A[(int)x[0]] = 1;", "it converts numbers to a type that is not known for vectors"),
        ("while (A[0] > 1) A[0] *= 0.5;", "control flow, an index or an integer depends on a floating-point number"),
        ("static double last = 0; A[0] = last; last = x[0];", "it keeps values from one call to the next"),
        ("double *p = A; p[0] = 1;", "it declares a pointer or a function"),
        ("g(A);", "it has a statement that is not known for vectors"),
        ("A[0] = g(x[0]);", "it calls a function that is not known for vectors"),
        ("A[0] = UNKNOWN;", "it uses a name that its source does not declare"),
        ("float y = x[0]; A[0] = y;", "it declares a variable of a type that is not known for vectors"),
        ("int n = 0; A[0] = x[0] > 0 ? x[0] / (1 / n) : 1;", "a quotient that is the same in all lanes stands behind a condition"),
        ("int n = 7; A[0] = x[0] > 0 ? x[n] : 1;", "an index that may be valid only in some lanes stands behind a condition"),
        ("register double y = 1; A[0] = y;", "it declares a variable of a type that is not known for vectors"),
        ("double _Complex z = 1; A[0] = x[0];", "its text cannot be parsed"),
        ("A[0] = (x[0] > 1) + 1;", "it computes with the truth of a condition"),
        ("double pl_x = 1; A[0] = pl_x;", "it uses a name that begins with pl_"),
        ("switch (1) { default: A[0] = 1; }", "it has a statement that is not known for vectors"),
        ("goto end; end: A[0] = 1;", "it has a statement that is not known for vectors"),
        ("A[0] = (x[0] > 0 ? 3 : 1) / 2;", "a condition chooses between numbers that are not double"),
        ("A[0] = (x[0] > 0 ? 0.1f : 0.3f) * 3.0f;", "a condition chooses between numbers that are not double"),
        ("A[0] = x[0] > 0 ? -1 : 1u;", "a condition chooses between numbers that are not double"),
        ("A[0] = x[0] * 1e-18L;", "it has a number of a type that is not known for vectors"),
        ("A[0] = x[0] * 1e-18w;", "it has a number of a type that is not known for vectors"),
        ("A[0] = x[0] * (long double)1;", "it converts numbers to a type that is not known for vectors"),
        ("A[0] = x[0] > 1 ? x[3] : 1.0;", "an index that may be valid only in some lanes stands behind a condition"),
        (
            "double t[2] = {x[0], 1}; A[0] = x[0] > 1 ? t[2] : 1.0;",
            "an index that may be valid only in some lanes stands behind a condition",
        ),
        ("A[0] = x[0] > 1 ? x[0] + 1 / (1 - 1) : 1.0;", "a quotient that is the same in all lanes stands behind a condition"),
        ("double t[5000]; t[0] = x[0]; A[0] = t[0];", "its arrays are too long for vectors, or of a length that is not a number"),
        ("double t[50 * 10 * 10]; t[0] = x[0]; A[0] = t[0];", "its arrays are too long for vectors, or of a length that is not a number"),
        ("int n = 2; double t[n]; t[0] = x[0]; A[0] = t[0];", "its arrays are too long for vectors, or of a length that is not a number"),
        ("double t[99999999999][99999999999]; t[0][0] = x[0];", "its arrays are too long for vectors, or of a length that is not a number"),
    ];
    for (statements, expected) in cases {
        let text = format!("double g(double x) {{ return x; }}\nvoid f(double *A, const double *x) {{ {statements} }}");
        assert_eq!(body(&text, &[EACH, EACH]), Err(expected), "{statements}");
    }
    let takes = |text: &str| body(text, &[EACH]);
    assert!(takes("void f(double *x) { __attribute__((aligned(64))) double y = 1; x[0] = y; }").is_err());
    assert_eq!(takes("void f(float *x) { x[0] = 1; }"), Err("it takes other parameters than pointers to double"));
    assert_eq!(takes("#define N 2\nvoid f(double *x) { x[0] = N; }"), Err("its source has directives of the preprocessor"));
    assert_eq!(body("void f(double *c) { c[0] = 1; }", &[LaneParam::Same(2)]), Err("it changes what all lanes share"));
    assert_eq!(body("void f(double *c) { (c[0])++; }", &[LaneParam::Same(2)]), Err("it has a statement that is not known for vectors"));
    assert_eq!(
        takes("typedef double *p;\nstatic double g[1];\nstatic const p t = g;\nvoid f(double *x) { t[0] += 1; x[0] = 1; }"),
        Err("it uses a name that its source does not declare")
    );
    assert_eq!(
        takes("static const long double w = 1;\nvoid f(double *x) { x[0] = w; }"),
        Err("it uses a name that its source does not declare")
    );
    assert_eq!(
        takes("void g(void) {\n#define fabs(x) 1\n}\nvoid f(double *x) { x[0] = fabs(x[0]); }"),
        Err("its source has directives of the preprocessor")
    );
    assert!(takes("%:define fabs(x) 1\nvoid f(double *x) { x[0] = fabs(x[0]); }").is_err());
    assert_eq!(takes("void f(double *pl_lane) { pl_lane[0] = 1; }"), Err("it uses a name that begins with pl_"));
    assert_eq!(takes("#include <tgmath.h>\nvoid f(double *x) { x[0] = sqrt(0.1f); }"), Err("it uses tgmath.h"));
    let reversed: String = (0..100).rev().map(|i| format!("v{i} = v{};", i + 1)).collect();
    let declared: String = (0..101).map(|i| format!("double v{i} = 0;")).collect();
    let chain = format!(
        "void f(double *x) {{ {declared} for (int i = 0; i < 2; i++) {{ x[0] = v0; {} v100 = x[0]; }} }}",
        reversed.split_inclusive(';').rev().collect::<String>()
    );
    assert_eq!(takes(&chain), Err("too many of its variables depend on each other"));
    assert_eq!(read("void f(double *x) { x[0] = 1; }").in_lanes("f", 3, &[EACH]), Err("lanes do not fill vectors"));
    let chain = format!("void f(double *x) {{ x[0] = x[0]{}; }}", " + x[0]".repeat(5000));
    assert_eq!(takes(&chain), Err("it is nested too deep"));
}
