//! Kernels that together cover all features of generated code.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::syntax::{AddressSpace, Initializer, KernelOptions, Program};

use super::lowering::{add, matmul, slabs, split, tag};

fn builder(name: &str, domain: &str, instructions: &str) -> KernelBuilder {
    KernelBuilder::new().name(name).domain(domain).instructions(instructions)
}

fn arrays(builder: KernelBuilder, list: &[(&str, &str)]) -> Program {
    let builder = list.iter().fold(builder, |builder, (names, dtype)| builder.data(Data::global(*names).dtype(*dtype)));
    builder.rest().build().unwrap_or_else(|error| panic!("{error}"))
}

fn table(values: &[f64]) -> Initializer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    Initializer { dtype: DType::F64, shape: vec![values.len()], bytes: bytes.into() }
}

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Program)> {
    let mut found = vec![
        ("add", add()),
        ("add_groups", split(&add(), "i", 16, Some("g.0"), Some("l.0"))),
        ("add_nested", split(&add(), "i", 16, None, None)),
        ("add_unrolled", split(&add(), "i", 4, None, Some("unr"))),
        ("add_hint", split(&add(), "i", 4, None, Some("unr_hint"))),
        ("add_slabs", slabs(&add(), 16, (0, 1))),
        ("matmul", matmul(None)),
        ("matmul_fixed", matmul(Some(64))),
    ];
    found.push(("csr", super::sizes::csr(false)));
    found.push(("csr_checked", super::sizes::csr(true)));
    found.extend(arithmetic());
    found.extend(memory());
    found.extend(parallel());
    found.extend(functions());
    found.extend(super::c_functions::samples());
    found.extend(ATOMIC_TYPES.map(|dtype| (dtype, atomics(dtype))));
    found
}

fn arithmetic() -> Vec<(&'static str, Program)> {
    let over_n = "{[i]: 0<=i<n}";
    vec![
        ("triangle", arrays(builder("triangle", "{[i,j]: 0<=i<n and 0<=j<=i}", "out[i] = sum(j, a[j])"), &[("a, out", "float64")])),
        ("every_third", arrays(builder("every_third", "{[i]: 0<=i<n and i mod 3 = 1}", "out[i] = 2*a[i]"), &[("a, out", "float64")])),
        (
            "floors",
            arrays(
                builder(
                    "floors",
                    over_n,
                    "x[i] = (i-5)//3 + 10*((i-5)%3) \n y[i] = i//4 + (i-5)%4 + i%7 \n z[i] = k[i]//3 - k[i]%5 \n f[i] = g[i]//2 + g[i]%3",
                ),
                &[("x, y, z, k", "int32"), ("f, g", "float64")],
            ),
        ),
        ("quotients", arrays(builder("quotients", over_n, "x[i] = i/2 + 1/(k[i]+1) + a[i]/k[i]"), &[("k", "int32"), ("x, a", "float64")])),
        (
            "powers",
            arrays(
                builder("powers", over_n, "x[i] = a[i]**2 + (a[i]+1)**3 + a[i]**0.5 + 2**a[i] \n k[i] = i**2 + 2**(i%10)"),
                &[("x, a", "float64"), ("k", "int32")],
            ),
        ),
        (
            "choices",
            arrays(
                builder(
                    "choices",
                    over_n,
                    "x[i] = min(a[i], b[i], 2) if i < 5 and a[i] > 0 else max(a[i], i) \n l[i] = not (a[i] > 1 or i == 3)",
                ),
                &[("x, a, b", "float32"), ("l", "int8")],
            ),
        ),
        ("bits", arrays(builder("bits", over_n, "x[i] = (k[i] & 7) | (k[i] << 2) ^ (~k[i] >> 1)"), &[("x, k", "int64")])),
        ("small", arrays(builder("small", over_n, "x[i] = k[i] + l[i] \n y[i] = u[i]*2 - 1"), &[("x, k, l", "int8"), ("y, u", "uint8")])),
        (
            "complex",
            arrays(
                builder(
                    "complex",
                    over_n,
                    "z[i] = a[i]*b[i] + 2j - a[i]/b[i] + 3*a[i] \n w[i] = -c[i]*2.5 + d[i] \n y[i] = real(a[i]) + abs(b[i]) \n e[i] = a[i] == b[i]",
                ),
                &[("z, a, b", "complex128"), ("w, c", "complex64"), ("d", "float32"), ("y", "float64"), ("e", "int8")],
            ),
        ),
        (
            "predicates",
            arrays(
                builder("predicates", over_n, "if a[i] > 0 \n x[i] = 1 {id=one} \n y[i] = 2 \n else \n x[i] = 3 {dep=one} \n end"),
                &[("a, x, y", "float64")],
            ),
        ),
    ]
}

fn memory() -> Vec<(&'static str, Program)> {
    let over_n = "{[i]: 0<=i<n}";
    let tabled = Data::temporary("t").dtype("float64").shape("4").initializer(table(&[1.0, 2.5, -3.0, 1e300])).read_only(true);
    let checked = KernelOptions { checked: Some(true), ..KernelOptions::default() };
    vec![
        ("table", builder("table", over_n, "x[i] = t[i%4]").data(tabled).data(Data::global("x").dtype("float64")).rest().build().unwrap()),
        (
            "strides",
            builder("strides", "{[i,j]: 0<=i<n and 0<=j<m}", "x[i,j] = a[j,i]")
                .data(Data::global("a").dtype("float64").shape("m,n").auto_strides())
                .data(Data::global("x").dtype("float64").shape("n,m").dim_tags("N0,N1"))
                .rest()
                .build()
                .unwrap(),
        ),
        (
            "separate",
            tag(
                &builder("separate", "{[i,j]: 0<=i<n and 0<=j<3}", "x[i] = a[i,j] {dep=*} \n y[i,j] = a[i,j]*2")
                    .data(Data::global("a").dtype("float64").shape("n,3").dim_tags("N0,sep"))
                    .data(Data::global("y").dtype("float64").shape("n,3").dim_tags("N0,sep"))
                    .data(Data::global("x").dtype("float64").shape("n"))
                    .rest()
                    .build()
                    .unwrap(),
                "j",
                "unr",
            ),
        ),
        (
            "lanes",
            tag(
                &builder("lanes", "{[i,j]: 0<=i<n and 0<=j<4}", "y[i,j] = a[i,j]*2")
                    .data(Data::global("a, y").dtype("float32").shape("n,4").dim_tags("c,vec"))
                    .rest()
                    .build()
                    .unwrap(),
                "j",
                "vec",
            ),
        ),
        (
            "checked",
            builder("checked", "{[i]: 0<=i<n}", "x[i] = a[k[i]]")
                .data(Data::global("x, a").dtype("float64").shape("n"))
                .data(Data::global("k").dtype("int32").shape("n"))
                .options(checked)
                .rest()
                .build()
                .unwrap(),
        ),
        (
            "rows",
            KernelBuilder::new()
                .name("rows")
                .domains(["{[i]: 0<=i<n}", "{[j]: start <= j < stop}"])
                .instructions("<> start = ptr[i] \n <> stop = ptr[i+1] \n y[i] = sum(j, v[j]*x[col[j]])")
                .data(Data::global("ptr").dtype("int32").shape("n+1"))
                .data(Data::global("col").dtype("int32").shape("nnz"))
                .data(Data::global("v").dtype("float64").shape("nnz"))
                .data(Data::global("x, y").dtype("float64").shape("n"))
                .rest()
                .build()
                .unwrap(),
        ),
        (
            "wide",
            builder("wide", "{[i]: 0<=i<n}", "x[i] = 2*x[i]")
                .data(Data::global("x").dtype("float64").shape("n"))
                .data(Data::value("n").dtype("int64"))
                .build()
                .unwrap(),
        ),
    ]
}

fn parallel() -> Vec<(&'static str, Program)> {
    let groups = |name: &str, instructions: &str| {
        let domain = "{[g,l]: 0<=g<n and 0<=l<16}";
        let tmp = Data::temporary("tmp").dtype("float64").shape("16").space(AddressSpace::Local);
        let program = builder(name, domain, instructions).data(Data::global("a, x").dtype("float64").shape("16*n")).data(tmp).rest();
        let program = program.build().unwrap_or_else(|error| panic!("{error}"));
        tag(&tag(&program, "g", "g.0"), "l", "l.0")
    };
    let sum = |tag_of: &str| {
        let program = builder("total", "{[g,l]: 0<=g<n and 0<=l<16}", "x[g] = sum(l, a[g,l])")
            .data(Data::global("a").dtype("float64").shape("n,16"))
            .data(Data::global("x").dtype("float64").shape("n"))
            .rest()
            .build()
            .unwrap();
        tag(&tag(&program, "g", "g.0"), "l", tag_of)
    };
    vec![
        ("reverse", groups("reverse", "tmp[l] = a[16*g+l] {id=put} \n x[16*g+l] = tmp[15-l] {dep=put}")),
        ("across", groups("across", "<> p = 2*a[16*g+l] {id=p} \n tmp[l] = p {id=put,dep=p} \n x[16*g+l] = tmp[15-l] + p {dep=put:p}")),
        (
            "at_once",
            tag(
                &builder(
                    "at_once",
                    "{[i,j]: 0<=i<n and 0<=j<4}",
                    "<> t = a[i,j] {id=t} \n <> u = t*t {id=u,dep=t} \n x[i,j] = t + u {dep=t:u}",
                )
                .data(Data::global("a, x").dtype("float64").shape("n,4"))
                .rest()
                .build()
                .unwrap(),
                "j",
                "ilp",
            ),
        ),
        ("total", sum("l.0")),
        ("total_in_order", sum("for")),
        (
            "atomics",
            tag(
                &builder(
                    "atomics",
                    "{[i]: 0<=i<n}",
                    "s[0] = s[0] + a[i] {atomic} \n k[0] = k[0] + 1 {atomic,inames=i} \n m[0] = max(m[0], a[i]) {atomic}",
                )
                .data(Data::global("s, m").dtype("float32").shape("1"))
                .data(Data::global("k").dtype("int32").shape("1"))
                .data(Data::global("a").dtype("float32").shape("n"))
                .rest()
                .build()
                .unwrap(),
                "i",
                "g.0",
            ),
        ),
        (
            "launches",
            tag(
                &tag(
                    &builder(
                        "launches",
                        "{[i,j]: 0<=i,j<n}",
                        "<> t[i] = 2*a[i] {id=one} \n ... gbarrier {id=bar, dep=one} \n x[j] = t[n-1-j] {dep=bar:one}",
                    )
                    .data(Data::global("a, x").dtype("float64").shape("n"))
                    .rest()
                    .build()
                    .unwrap_or_else(|error| panic!("{error}")),
                    "i",
                    "g.0",
                ),
                "j",
                "g.0",
            ),
        ),
        (
            "two_extents",
            tag(
                &tag(
                    &builder("two_extents", "{[i,j]: 0<=i<n and 0<=j<n+3}", "x[i] = 1 \n y[j] = 2")
                        .data(Data::global("x, y").dtype("float64"))
                        .rest()
                        .build()
                        .unwrap(),
                    "i",
                    "g.0",
                ),
                "j",
                "g.0",
            ),
        ),
    ]
}

fn functions() -> Vec<(&'static str, Program)> {
    vec![(
        "functions",
        arrays(
            builder("functions", "{[i]: 0<=i<n}", "x[i] = sin(a[i]) + sqrt(abs(a[i])) + exp(-a[i]) + fmax(a[i], 1) \n y[i] = cos(b[i])"),
            &[("x, a", "float64"), ("y, b", "float32")],
        ),
    )]
}

/// Types of which each target changes a number in one step.
pub const ATOMIC_TYPES: [&str; 4] = ["float64", "float32", "int64", "int32"];

/// The sum, the least and the greatest of numbers, each kept in one place that many change at once.
pub fn atomics(dtype: &str) -> Program {
    let change = "s[0] = s[0] + a[i] {atomic}\nl[0] = min(l[0], a[i]) {atomic}\nm[0] = max(m[0], a[i]) {atomic}";
    let builder = builder("atomics_of_a_type", "{[i]: 0<=i<n}", change)
        .data(Data::global("s, l, m").dtype(dtype).shape("1"))
        .data(Data::global("a").dtype(dtype).shape("n"));
    tag(&builder.rest().build().unwrap(), "i", "g.0")
}
