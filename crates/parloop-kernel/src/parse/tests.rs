use super::*;
use proptest::prelude::*;

/// What OpenCL makes of `double *x`.
const PAIR: &str = "GPUGLMEM char *x__base, long x__offset";
const LOCAL: &str = " GPUGLMEM double *x = (GPUGLMEM void *)(x__base + x__offset);";

fn parse(text: &str, target: DeviceKind) -> Result<Parsed> {
    super::parse(&Joined::from(text), Dialect { target, language: Language::C, classes: &[], checked: false, arguments: &[], wanted: &[] })
}

fn signatures(text: &str, target: DeviceKind) -> Vec<String> {
    parse(text, target).unwrap().functions.iter().map(ToString::to_string).collect()
}

/// What a source for a CPU says of `f`: its signature, or why it cannot be called.
fn f_in(text: &str, arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let dialect =
        Dialect { target: DeviceKind::Cpu, language: Language::C, classes: &[], checked: false, arguments: &arguments, wanted: &[] };
    let parsed = super::parse(&Joined::from(text), dialect).unwrap();
    let refused = parsed.refused.iter().find(|(name, _)| name == "f").map(|(_, mistake)| mistake.reason.clone());
    let found: Vec<String> = parsed.functions.iter().filter(|function| function.name == "f").map(ToString::to_string).collect();
    assert_eq!(found.len() + usize::from(refused.is_some()), 1, "{text}: {found:?} {refused:?}");
    refused.unwrap_or_else(|| found[0].clone())
}

#[test]
fn versions_of_a_function_that_are_not_called_alike_are_refused() {
    let (one, other) = ("void f(double *d) { }", "void f(double **d) { }");
    let twice = "`f` is defined twice, as `void f(double * d)` and as `void f(double ** d)`, and preprocessor conditions select one; give \
        each its own name";
    for conditions in [["#ifdef A", "#else"], ["#ifndef A", "#endif\n#ifdef A"], ["#if A > 2", "#elif B"], ["#if defined(A)", "#else"]] {
        let text = |first: &str, second: &str| format!("{}\n{first}\n{}\n{second}\n#endif\n", conditions[0], conditions[1]);
        assert_eq!(f_in(&text(one, other), &[]), twice);
        assert_eq!(f_in(&text(one, "void f(double *e) { e[0] = 1; }"), &[]), "void f(double * d)");
        for other in ["void f(const double *d) {}", "void f(float *d) {}", "void f(double *d, int n) {}", "int f(double *d) {}"] {
            assert!(f_in(&text(one, other), &[]).starts_with("`f` is defined twice"), "{other}");
        }
        assert_eq!(f_in(&text(one, "void f(double *d, ...) {}"), &[]), "`f` takes a variable number of arguments");
        let kernels = text("GPUKERN void f(double *d) {}", "GPUKERN void f(float *d) {}");
        for target in DeviceKind::ALL {
            assert!(parse(&kernels, target).unwrap_err().to_string().contains("`f` is defined twice"));
        }
        // Others are not asked for.
        assert_eq!(f_in(&format!("{}void f(float *x) {{}}", text(one, other).replace("void f", "void g")), &[]), "void f(float * x)");
    }
    let inside = f_in("void f(double *d\n#ifdef A\n, int n\n#endif\n) {}", &[]);
    assert!(inside.contains("`f`"), "{inside}");
    for text in [
        "void f(\n#ifdef A\nfloat *d\n#else\ndouble *d\n#endif\n) {}",
        "#ifdef A\nvoid f(double *d)\n#else\nvoid f(double **d)\n#endif\n{ }",
        "#ifdef A\nvoid f(double *d) {\n#else\nvoid f(double **d) {\n#endif\n}",
        "void\n#ifdef A\nf(double *d)\n#else\nf(double **d)\n#endif\n{ }",
        "void f(double *\n#ifdef A\n*\n#endif\nd) { }",
        "void f(double\n#ifdef A\n*\n#else\n**\n#endif\nd) { }",
        "#ifdef A\n#define P *\n#else\n#define P **\n#endif\nvoid f(double P d) { }",
    ] {
        let found = parse(text, DeviceKind::Cpu).map(|parsed| parsed.functions).unwrap_or_default();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn what_is_never_compiled_is_not_read() {
    let (old, new) = ("void f(double *d) { }\ntypedef float real;", "typedef double real;\nvoid f(real **d) { }");
    for text in [
        format!("#if 0\n{old}\n#endif\n{new}"),
        format!("{new}\n#if 0\n{old}\n#endif"),
        format!("#if 1\n{new}\n#else\n{old}\n#endif"),
        format!("#if 0\n{old}\n#else\n{new}\n#endif"),
        format!("#if 0\n{old}\n#elif 1\n{new}\n#else\n{old}\n#endif"),
    ] {
        assert_eq!(f_in(&text, &[]), "void f(double ** d)", "{text}");
    }
}

#[test]
fn types_that_conditions_give_several_meanings_are_refused() {
    let told = |name: &str| {
        format!(
            "`f` uses the type `{name}`, which has more than one definition, and preprocessor conditions or compiler arguments select one; \
             use a type with one definition"
        )
    };
    let f = "void f(const real *d) {}";
    for (single, double) in [("typedef float real;", "typedef double real;"), ("#define real float", "#define real double")] {
        let text = format!("#ifndef DOUBLE\n{single}\n#else\n{double}\n#endif\n{f}");
        assert_eq!(f_in(&text, &[]), told("real"));
        assert_eq!(f_in(&format!("#ifdef A\n{double}\n#else\n{double}\n#endif\n{f}"), &[]), "void f(const double * d)");
        assert_eq!(f_in(&format!("#ifdef A\n{double}\n#endif\n{f}"), &[]), "void f(const double * d)");
        // The source goes on with the one that it defines last.
        assert_eq!(f_in(&format!("{single}\n#undef real\n{double}\n{f}"), &[]), "void f(const double * d)");
        let more = format!("{text}\ntypedef real number;\nreal g(real x) {{ return x; }}\n");
        assert_eq!(f_in(&format!("{more}void f(double x) {{}}").replace(f, ""), &[]), "void f(double x)");
        assert_eq!(f_in(&format!("{more}number f(double x) {{}}").replace(f, ""), &[]), told("number"));
    }
    let default = format!("#ifndef real\n#define real double\n#endif\n{f}");
    assert_eq!(f_in(&default, &[]), "void f(const double * d)");
    assert_eq!(f_in(&default, &["-Dreal=double"]), "void f(const double * d)");
    assert_eq!(f_in(&default, &["-O2", "-Dreal=float"]), told("real"));
    assert_eq!(f_in(&default, &["-D", "real=float"]), told("real"));
    assert_eq!(f_in(f, &["-Dreal=float"]), "void f(const float * d)");
    let guarded = format!("#ifndef REAL_H\n#define REAL_H\ntypedef double real;\n#endif\n{f}");
    assert_eq!(f_in(&guarded, &[]), "void f(const double * d)");
    assert_eq!(f_in(&guarded, &["-DREAL_H", "-Dreal=float"]), told("real"));
    assert_eq!(f_in("#ifdef SINGLE\n#define double float\n#endif\nvoid f(double *d) {}", &[]), told("double"));
    assert_eq!(f_in("#ifdef A\ntypedef double real;\n#else\ntypedef double *real;\n#endif\nvoid f(real *d) {}", &[]), told("real"));
    assert_eq!(f_in("#ifdef A\ntypedef long int64_t;\n#endif\nvoid f(int64_t *d) {}", &[]), "void f(int64_t * d)");
    assert_eq!(f_in("#define a b\n#define b a\nvoid f(a *d) {}", &[]), "void f(a * d)");
    // A length with several meanings is one that is not known.
    let rows = "#ifdef A\n#define N 2\n#else\n#define N 3\n#endif\nvoid f(double d[][N]) {}";
    assert_eq!([f_in(rows, &[]), f_in(&rows.replace('3', "2"), &[])], ["void f(double * d)", "void f(double (*d)[2])"]);
}

#[test]
fn what_is_nested_too_deep_is_an_error_and_no_overflow() {
    let kernel = "GPUKERN void k(double *x) {}\n";
    let blocks = |count: usize, open: &str| format!("{}{kernel}{}", open.repeat(count), "#endif\n".repeat(count));
    let limit = "conditional blocks are nested more than 500 deep (each `#elif` is one level); split them";
    for text in [
        blocks(100_000, "#if 1\n"),
        blocks(30_000, "#if 0\n#else\n"),
        format!("#if 0\n{}{kernel}#endif\n", "#elif 0\n".repeat(30_000)),
        format!("{}{kernel}{}", "extern \"C\" {\n".repeat(30_000), "}\n".repeat(30_000)),
    ] {
        let error = parse(&text, DeviceKind::Cpu).unwrap_err().to_string();
        assert!(error.ends_with(limit), "{error}");
    }
    assert_eq!(parse(&blocks(400, "#if 1\n"), DeviceKind::Cpu).unwrap().functions.len(), 1);
    let limit = "a parameter of `f` is declared with more than 256 levels; use a typedef for a part of its type";
    for (open, close) in [("(", ")"), ("(*", ")"), ("*", ""), ("", "[2]")] {
        let text = |count: usize| format!("GPUKERN void f(double {}y{}) {{}}", open.repeat(count), close.repeat(count));
        let error = parse(&text(30_000), DeviceKind::Cpu).unwrap_err().to_string();
        assert!(error.ends_with(limit), "{error}");
        assert!(parse(&text(100), DeviceKind::Cpu).err().is_none_or(|error| !error.to_string().ends_with(limit)));
    }
    let structs = format!("{}int x;{}\n{kernel}", "struct { ".repeat(10_000), "} y;".repeat(10_000));
    assert_eq!(parse(&structs, DeviceKind::Cpu).unwrap().functions.len(), 1);
    assert_eq!(parse(&structs, DeviceKind::Cuda).unwrap().functions.len(), 1);
}

#[test]
fn kernels_by_the_word_of_cuda_keep_their_names() {
    for text in [
        "__global__ void f(double *x) {}",
        "extern \"C\" __global__ void f(double *x) {}",
        "extern \"C\" __global__ void __launch_bounds__(256) f(double *x) {}",
        "extern \"C\" {\n__global__ void f(double *x) {} }",
    ] {
        for target in [DeviceKind::Cuda, DeviceKind::Hip] {
            assert_eq!(parse(text, target).unwrap().text.matches("extern \"C\"").count(), 1, "{text}");
        }
    }
}

#[test]
fn signatures_are_read_in_every_spelling() {
    let text = "typedef double real;\n#define COUNT unsigned long\n\
        GPUKERN void a(const double a, GPUGLMEM const double *x, GPUGLMEM double * RESTRICT y, const int64_t n) {}\n\
        GPUKERN\nvoid b(real v[3], COUNT n, char const *name, void *any, float **rows, struct S *s) {}\n\
        double c(void) { return 1; }\nunsigned d(short int s, long long unsigned int u, bool flag) { return 0; }";
    assert_eq!(
        signatures(text, DeviceKind::Cpu),
        [
            "void a(double a, const double * x, double * y, int64_t n)",
            "void b(double * v, uint64_t n, const char * name, void * any, float ** rows, struct S * s)",
            "double c()",
            "uint32_t d(int16_t s, uint64_t u, bool flag)",
        ]
    );
    let kernels: Vec<bool> = parse(text, DeviceKind::Cpu).unwrap().functions.iter().map(|f| f.is_kernel).collect();
    assert_eq!(kernels, [true, true, false, false]);
}

#[test]
fn a_kernel_that_cannot_be_called_is_an_error_at_its_line() {
    let text = "#line 1 \"<source>\"\n\nGPUKERN void f(struct S s) {}";
    let error = parse(text, DeviceKind::Cpu).unwrap_err();
    assert_eq!(error.to_string(), "<source>:2: parameter `s` of `f` has type `struct S`, which is neither a scalar type nor a pointer");
    let error = parse("#line 1 \"k.c\"\nGPUKERN double f(double x) { return x; }", DeviceKind::Cuda).unwrap_err();
    assert_eq!(error.to_string(), "k.c:1: kernel `f` returns a value, which is possible only on a CPU; write the result through a pointer");
}

#[test]
fn helpers_and_constants_get_the_qualifiers_of_their_target() {
    let text =
        "static const double T[2] = {1, 2};\ninline double f(double x) { return T[0] * x; }\nGPUKERN void k(double *x) { x[0] = f(x[0]); }";
    let qualified = |target| parse(text, target).unwrap().text;
    assert_eq!(qualified(DeviceKind::Cpu), text.replace("inline", "static inline"));
    assert_eq!(
        qualified(DeviceKind::OpenCl),
        text.replace("static const", "GPUCONST static const")
            .replace("inline", "static inline")
            .replace("(double *x) {", &format!("({PAIR}) {{{LOCAL}"))
    );
    assert_eq!(qualified(DeviceKind::Hip), text.replace("static const", "GPUCONST static const").replace("inline", "GPUFUN inline"));
}

#[test]
fn complex_types_are_read_in_both_orders() {
    let text = "void f(double complex a, const complex  float *b, float _Complex c, _Complex double d) {}";
    let expected = ["void f(double _Complex a, const float _Complex * b, float _Complex c, double _Complex d)"];
    assert_eq!(signatures(text, DeviceKind::Cpu), expected);
}

#[test]
fn types_that_opencl_kernels_cannot_take_give_way_to_others_of_their_size() {
    let text = "GPUKERN void k(const bool on, size_t n, unsigned long long m, long long *x) { bool b = on; }";
    let parsed = parse(text, DeviceKind::OpenCl).unwrap();
    let local = LOCAL.replace("double", "long");
    assert_eq!(parsed.text, format!("GPUKERN void k(const uchar on, ulong n, unsigned long  m, {PAIR}) {{{local} bool b = on; }}"));
    assert_eq!(parsed.functions[0].to_string(), "void k(bool on, uint64_t n, uint64_t m, int64_t * x)");
    assert_eq!(parse(text, DeviceKind::Cpu).unwrap().text, text);
}

#[test]
fn a_return_ends_its_iteration() {
    let text = "GPUKERN void k(double *x, int n) { if (!n) return; VECTORIZE_OVER(i, n) if (i) return; x[i] = 1; END_VECTORIZE }";
    let expected = "GPUKERN void k(double *x, int n) { if (!n) return; VECTORIZE_OVER(i, n) { if (i) goto parloop_next_71; x[i] = 1; \
                    } parloop_next_71: ; END_VECTORIZE }";
    assert_eq!(parse(text, DeviceKind::Cpu).unwrap().text, expected);
    let value = "double f(int n) { VECTORIZE_OVER(i, n) return 2; END_VECTORIZE return 1; }";
    assert_eq!(parse(value, DeviceKind::Cpu).unwrap().text, value);
}

#[test]
fn a_loop_inside_another_is_an_error_at_its_line() {
    let text = "#line 1 \"k.c\"\nGPUKERN void k(int n) {\nVECTORIZE_OVER(i, n)\n VECTORIZE_OVER(j, n) END_VECTORIZE END_VECTORIZE }";
    let error = parse(text, DeviceKind::OpenCl).unwrap_err();
    assert_eq!(error.to_string(), "k.c:3: VECTORIZE_OVER is nested inside another; write the inner loop as a plain `for`");
}

#[test]
fn kernels_keep_no_words_that_their_target_refuses_and_prototypes_get_theirs() {
    let text = "GPUKERN void k(double *x);\nGPUKERN static void k(double *x) {}";
    let expected = format!("GPUKERN void k({PAIR});\nGPUKERN  void k({PAIR}) {{{LOCAL}}}");
    assert_eq!(parse(text, DeviceKind::OpenCl).unwrap().text, expected);
}

#[test]
fn words_that_a_macro_repeats_are_dropped_on_the_cpu() {
    let text = "GPUFUN static inline int f(int x) { return x; }";
    assert_eq!(parse(text, DeviceKind::Cpu).unwrap().text, "GPUFUN   int f(int x) { return x; }");
}

#[test]
fn loops_belong_to_the_kernel_around_them() {
    let text = "GPUKERN void a(int n) { VECTORIZE_OVER(i, n) END_VECTORIZE }\n\
                GPUKERN void b(int m) { VECTORIZE_OVER(i, 2*m) END_VECTORIZE VECTORIZE_OVER(j, f(m)) END_VECTORIZE }";
    let parsed = parse(text, DeviceKind::Cpu).unwrap();
    assert_eq!(parsed.functions[0].loops, [Count::Param(0)]);
    assert_eq!(parsed.functions[1].loops.len(), 2);
    assert_eq!(parsed.functions[1].loops[1], Count::Unknown);
    assert!(parsed.needs.strides);
    assert!(!parse("GPUKERN void a(int n) { VECTORIZE_OVER(i, n) END_VECTORIZE }", DeviceKind::Cuda).unwrap().needs.strides);
    let in_helper = "GPUFUN void h(int n) { VECTORIZE_OVER(i, n) END_VECTORIZE }";
    assert!(parse(in_helper, DeviceKind::Cuda).unwrap().needs.strides);
}

#[test]
fn a_count_that_the_kernel_changes_is_not_known_before_the_launch() {
    let count = |body: &str| {
        let text = format!("GPUKERN void f(int n, int m) {{ {body} VECTORIZE_OVER(i, n) g(n, m == n, n + 1); END_VECTORIZE return; }}");
        parse(&text, DeviceKind::Cuda).unwrap().functions[0].loops[0].clone()
    };
    for harmless in ["", "m = n;", "int nn = 2; nn++;", "if (n == 2 && n) return;", "m += n;", "int k = m & n;"] {
        let expected = if harmless.contains("& n;") { Count::Unknown } else { Count::Param(0) };
        assert_eq!(count(harmless), expected, "{harmless}");
    }
    for change in ["n = 2*n;", "n *= 2;", "n++;", "--n;", "h(&n);", "int n = 3;", "long n; n = 3;", "n <<= 1;"] {
        assert_eq!(count(change), Count::Unknown, "{change}");
    }
}

#[test]
fn loops_that_cannot_be_cut_alike_are_not_shared_out() {
    let align = |body: &str| {
        let helper = "GPUFUN int64_t f(int n) { return n; }\nGPUFUN void looped(int n) { VECTORIZE_OVER(k, n) END_VECTORIZE }\n";
        let text = format!("{helper}GPUKERN void g(int n, int m) {{ {body} }}");
        parse(&text, DeviceKind::Cpu).unwrap().functions.iter().find(|function| function.is_kernel).unwrap().loops_align
    };
    let twice = |first: &str, second: &str| format!("VECTORIZE_OVER(i, {first}) END_VECTORIZE VECTORIZE_OVER(j, {second}) END_VECTORIZE");
    assert!(align(&twice("n", "m")));
    assert!(align(&twice("f(n)", "f(n)")) && align(&twice("k * n", "k * n")));
    assert!(!align(&twice("c[0]", "c[0]")) && !align(&twice("*c", "*c")));
    assert!(align(&format!("int64_t c = f(n); {}", twice("c", "c"))));
    assert!(align("VECTORIZE_OVER(i, f(m)) END_VECTORIZE"));
    assert!(!align(&twice("f(n)", "n")));
    assert!(!align(&format!("int64_t c = f(n); {} c = 2; {}", twice("c", "c"), twice("c", "c"))));
    assert!(!align("looped(n); VECTORIZE_OVER(i, n) END_VECTORIZE"));
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_a_panic(
        text in "(GPUKERN|GPUFUN|void|int|double|f|x|const|static|VECTORIZE_OVER|END_VECTORIZE|[(){}*,;\\[\\]#\n é=]){0,40}"
    ) {
        for target in DeviceKind::ALL {
            let _ = parse(&text, target);
        }
    }
}
