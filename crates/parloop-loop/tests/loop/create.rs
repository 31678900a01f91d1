//! Creating kernels: what is inferred from text.

use parloop_device::DType;
use parloop_loop::create::{CreateError, Data, KernelBuilder, Order, Warning, make_kernel, parse_dim_tags};
use parloop_loop::syntax::{
    AddressSpace, ArgumentKind, DimTag, Expr, Initializer, Instruction, InstructionKind, KernelOptions, LoopKernel, Offset, Shape, Stride,
    SyncScope, Target,
};
use parloop_loop::{Name, Set};

/// A kernel that is accepted, with what is found in it: arguments with their shapes; temporaries; for each instruction its inames and
/// what it depends on.
struct Row {
    title: &'static str,
    domains: &'static [&'static str],
    instructions: &'static str,
    gives: &'static str,
}

fn words<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    let names: Vec<&str> = names.into_iter().map(|name| name.as_str()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Auto => "[auto]".to_owned(),
        Shape::Unknown => "[?]".to_owned(),
        Shape::Known(lengths) => format!("[{}]", lengths.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn describe(kernel: &LoopKernel) -> String {
    let arguments: Vec<String> = kernel
        .arguments
        .iter()
        .map(|argument| match &argument.kind {
            ArgumentKind::Array { layout, .. } => format!("{}{}", argument.name, shape(&layout.shape)),
            ArgumentKind::Value => argument.name.to_string(),
            other => format!("{}: {other:?}", argument.name),
        })
        .collect();
    let temporaries: Vec<String> = kernel
        .temporaries
        .values()
        .map(|temporary| format!("<>{}{}", temporary.name, shape(&temporary.layout.shape)).replace("[]", ""))
        .collect();
    let instructions =
        kernel.instructions.iter().map(|insn| format!("{} in {} after {}", insn.id, words(&insn.within_inames), words(&insn.depends_on)));
    let parts = [arguments.join(", "), temporaries.join(", ")].into_iter().filter(|part| !part.is_empty());
    parts.chain(instructions).collect::<Vec<_>>().join("; ")
}

fn kernel(domains: &[&str], instructions: &str) -> Result<LoopKernel, CreateError> {
    KernelBuilder::new().domains(domains.iter().copied()).instructions(instructions).build_kernel()
}

const ACCEPTED: &[Row] = &[
    Row { title: "scale", domains: &["{[i]: 0<=i<n}"], instructions: "out[i] = 2*a[i]", gives: "a[n], n, out[n]; insn in i after -" },
    Row {
        title: "matmul",
        domains: &["{[i,j,k]: 0<=i,j,k<n}"],
        instructions: "c[i,j] = sum(k, a[i,k]*b[k,j])",
        gives: "a[n, n], b[n, n], c[n, n], n; insn in i j after -",
    },
    Row {
        title: "rectangular matmul",
        domains: &["{[i,j,k]: 0<=i<n and 0<=j<m and 0<=k<l}"],
        instructions: "c[i,j] = sum(k, a[i,k]*b[k,j])",
        gives: "a[n, l], b[l, m], c[n, m], l, m, n; insn in i j after -",
    },
    Row {
        title: "scalar result",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "total = sum(i, a[i])",
        gives: "a[n], n, total[]; insn in - after -",
    },
    Row {
        title: "value argument",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = alpha*a[i]",
        gives: "a[n], alpha, n, out[n]; insn in i after -",
    },
    Row {
        title: "fixed bounds",
        domains: &["{[i]: 0<=i<16}"],
        instructions: "out[i] = a[i] + a[i+1]",
        gives: "a[17], out[16]; insn in i after -",
    },
    Row {
        title: "stencil",
        domains: &["{[i]: 1<=i<n-1}"],
        instructions: "out[i] = a[i-1] - 2*a[i] + a[i+1]",
        gives: "a[n], n, out[n - 1]; insn in i after -",
    },
    Row {
        title: "temporary",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "<> t = a[i]*a[i]\nout[i] = t + 1",
        gives: "a[n], n, out[n]; <>t; insn in i after -; insn_0 in i after insn",
    },
    Row {
        title: "typed temporary",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "<float32> t = a[i]\nout[i] = t",
        gives: "a[n], n, out[n]; <>t; insn in i after -; insn_0 in i after insn",
    },
    Row {
        title: "array temporary",
        domains: &["{[i,j]: 0<=i<n and 0<=j<4}"],
        instructions: "<> t[j] = a[i,j] {id=load}\nout[i,j] = t[3-j] {id=store}",
        gives: "a[n, 4], n, out[n, 4]; <>t[4]; load in i j after -; store in i j after load",
    },
    Row {
        title: "chain",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "<> x = a[i] {id=one}\n<> y = 2*x {id=two}\nout[i] = y {id=three}",
        gives: "a[n], n, out[n]; <>x, <>y; one in i after -; two in i after one; three in i after two",
    },
    Row {
        title: "triangle",
        domains: &["{[i,j]: 0<=i<n and 0<=j<=i}"],
        instructions: "out[i,j] = a[j]",
        gives: "a[n], n, out[n, n]; insn in i j after -",
    },
    Row {
        title: "inner domain",
        domains: &["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"],
        instructions: "out[i] = sum(j, a[j])",
        gives: "a[n - 1], n, out[n]; insn in i after -",
    },
    Row { title: "reversed", domains: &["{[i]: 0<=i<n}"], instructions: "out[i] = a[n-1-i]", gives: "a[n], n, out[n]; insn in i after -" },
    Row {
        title: "strided",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[2*i+1] = a[3*i]",
        gives: "a[3*n - 2], n, out[2*n]; insn in i after -",
    },
    Row {
        title: "offset by a value",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = a[i+k]",
        gives: "a[k + n], k, n, out[n]; insn in i after -",
    },
    Row {
        title: "gather",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = a[ind[i]]",
        gives: "a[?], ind[n], n, out[n]; insn in i after -",
    },
    Row {
        title: "gather and plain",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = a[i] + a[ind[i]]",
        gives: "a[n], ind[n], n, out[n]; insn in i after -",
    },
    Row { title: "modulo", domains: &["{[i]: 0<=i<n}"], instructions: "out[i] = a[i % 7]", gives: "a[7], n, out[n]; insn in i after -" },
    Row {
        title: "floor division",
        domains: &["{[i]: 0<=i<16}"],
        instructions: "out[i] = a[i // 4]",
        gives: "a[4], out[16]; insn in i after -",
    },
    Row {
        title: "two writers",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = 0 {id=zero}\nout[i] = out[i] + a[i] {id=more, dep=zero}",
        gives: "a[n], n, out[n]; zero in i after -; more in i after zero",
    },
    Row { title: "self reference", domains: &["{[i]: 0<=i<n}"], instructions: "x[i] = x[i] + 1", gives: "n, x[n]; insn in i after -" },
    Row {
        title: "for block",
        domains: &["{[i,j]: 0<=i,j<n}"],
        instructions: "for i\n  <> s = 0 {id=init}\n  for j\n    s = s + a[i,j] {id=add, dep=init}\n  end\n  out[i] = s {id=put, dep=add}\nend",
        gives: "a[n, n], n, out[n]; <>s; init in i after -; add in i j after init; put in i after add",
    },
    Row {
        title: "if block",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "if i % 2 == 0\n  out[i] = a[i] {id=even}\nelse\n  out[i] = b[i] {id=odd}\nend",
        gives: "a[n], b[n], n, out[n]; even in i after -; odd in i after -",
    },
    Row {
        title: "wildcards",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id=init_a}\nb[i] = 2 {id=init_b}\nc[i] = 3 {id=use, dep=init*}",
        gives: "a[n], b[n], c[n], n; init_a in i after -; init_b in i after -; use in i after init_a init_b",
    },
    Row {
        title: "final dependencies",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id=one}\nb[i] = a[i] {id=two, dep=*}",
        gives: "a[n], b[n], n; one in i after -; two in i after -",
    },
    Row {
        title: "prefixes",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id_prefix=set}\nb[i] = 1 {id_prefix=set}\nc[i] = 1 {id_prefix=set}",
        gives: "a[n], b[n], c[n], n; set in i after -; set_0 in i after -; set_1 in i after -",
    },
    Row {
        title: "ids",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1\nb[i] = 1\nc[i] = 1",
        gives: "a[n], b[n], c[n], n; insn in i after -; insn_0 in i after -; insn_1 in i after -",
    },
    Row {
        title: "rule",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "f(x) := a[x]**2\nout[i] = f(i) + f(i+1)",
        gives: "a[n + 1], n, out[n]; insn in i after -",
    },
    Row {
        title: "rule without arguments",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "half := alpha/2\nout[i] = half*a[i]",
        gives: "a[n], alpha, n, out[n]; insn in i after -",
    },
    Row {
        title: "rule in a reduction",
        domains: &["{[i,k]: 0<=i,k<n}"],
        instructions: "g(p) := b[p]\nout[i] = sum(k, a[i,k]*g(k))",
        gives: "a[n, n], b[n], n, out[n]; insn in i after -",
    },
    Row {
        title: "data-dependent bound",
        domains: &["{[i]: 0<=i<n}", "{[j]: 0<=j<len}"],
        instructions: "<int32> len = lengths[i] {id=length}\nout[i] = sum(j, a[j]) {id=add}",
        gives: "a[?], lengths[n], n, out[n]; <>len; length in i after -; add in i after length",
    },
    Row {
        title: "barrier",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id=one}\n... gbarrier {id=bar, dep=one}\nb[i] = a[n-1-i] {id=two, dep=bar}",
        gives: "a[n], b[n], n; one in i after -; bar in - after one; two in i after bar one",
    },
    Row {
        title: "inames added",
        domains: &["{[i,j]: 0<=i,j<n}"],
        instructions: "out[i] = a[i] {inames=+j}",
        gives: "a[n], n, out[n]; insn in i j after -",
    },
    Row {
        title: "loop-carried scalar",
        domains: &["{[i,j]: 0<=i,j<n}"],
        instructions: "<> s = a[i] {id=s}\nout[j] = s {id=o, inames=+j}",
        gives: "a[n], n, out[n]; <>s; s in i after -; o in i j after s",
    },
    Row {
        title: "comparison",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = a[i] if i > 3 else b[i]",
        gives: "a[n], b[n], n, out[n]; insn in i after -",
    },
    Row {
        title: "predicate reads",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = 1 {if=mask[i] > 0}",
        gives: "mask[n], n, out[n]; insn in i after -",
    },
    Row {
        title: "two axes of different lengths",
        domains: &["{[i,j]: 0<=i<n and 0<=j<m}"],
        instructions: "out[j,i] = a[i,j]",
        gives: "a[n, m], m, n, out[m, n]; insn in i j after -",
    },
    Row {
        title: "assigned twice with a group",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id=one, groups=g}\nb[i] = 2 {id=two, conflicts=g}",
        gives: "a[n], b[n], n; one in i after -; two in i after -",
    },
    Row {
        title: "a limit of its own is the shape",
        domains: &["{[i,j]: 0<=i<n and 0<=j<m and i<j}"],
        instructions: "out[i,j] = a[i]",
        gives: "a[n], m, n, out[n, m]; insn in i j after -",
    },
    Row {
        title: "parameters before the set",
        domains: &["[n, m] -> {[i]: 0<=i<n and i<m}"],
        instructions: "out[i] = 1",
        gives: "m, n, out[m]; insn in i after -",
    },
    Row { title: "no iname", domains: &[], instructions: "x = y + 1", gives: "x[], y; insn in - after -" },
    Row {
        title: "several reductions",
        domains: &["{[i,j]: 0<=i,j<n}"],
        instructions: "out = sum((i,j), a[i,j])",
        gives: "a[n, n], n, out[]; insn in - after -",
    },
    Row {
        title: "argmin",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "low, where = argmin(i, abs(a[i]), i)",
        gives: "a[n], low[], n, where[]; insn in - after -",
    },
    Row {
        title: "query",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "a[i] = 1 {id=one, tags=setup}\nb[i] = 1 {id=two, tags=setup}\nc[i] = 2 {id=three, dep_query=(tag:setup)}",
        gives: "a[n], b[n], c[n], n; one in i after -; two in i after -; three in i after one two",
    },
];

#[test]
fn kernels_are_made_from_domains_and_instructions_alone() {
    let mut wrong = Vec::new();
    for row in ACCEPTED {
        let found = match kernel(row.domains, row.instructions) {
            Ok(kernel) => describe(&kernel),
            Err(error) => format!("error: {error}"),
        };
        if found != row.gives {
            wrong.push(format!("{}:\n  wanted {}\n  found  {found}", row.title, row.gives));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ACCEPTED.len(), wrong.join("\n"));
}

pub(crate) fn on(domain: &str) -> KernelBuilder {
    KernelBuilder::new().domain(domain)
}

/// A builder with the domain `0 <= i < n` and these instructions.
pub(crate) fn over_i(instructions: &str) -> KernelBuilder {
    on("{[i]: 0<=i<n}").instructions(instructions)
}

fn array_layout<'a>(kernel: &'a LoopKernel, name: &str) -> &'a parloop_loop::syntax::Layout {
    match &kernel.arguments.iter().find(|argument| argument.name == name).unwrap().kind {
        ArgumentKind::Array { layout, .. } => layout,
        other => panic!("{name} is {other:?}"),
    }
}

fn nested(level: usize, pad_to: u64) -> DimTag {
    DimTag::Stride(Stride::Nested { level, pad_to })
}

#[test]
fn dim_tags_are_read_from_text() {
    let fixed = |expr: Expr| DimTag::Stride(Stride::Fixed(expr));
    let table: &[(&str, &[DimTag])] = &[
        ("c", &[nested(0, 1)]),
        ("c,c,c", &[nested(2, 1), nested(1, 1), nested(0, 1)]),
        ("f,f", &[nested(0, 1), nested(1, 1)]),
        ("C, F", &[nested(0, 1), nested(1, 1)]),
        ("f,c", &[nested(1, 1), nested(0, 1)]),
        ("N2,N0,N1", &[nested(2, 1), nested(0, 1), nested(1, 1)]),
        ("N5,N4", &[nested(1, 1), nested(0, 1)]),
        ("sep,c", &[DimTag::Separate, nested(0, 1)]),
        ("N0,vec", &[nested(0, 1), DimTag::Vector]),
        ("stride:3", &[fixed(Expr::int(3))]),
        ("stride:auto,stride:1", &[DimTag::Stride(Stride::Auto), fixed(Expr::int(1))]),
        ("stride:min(n, m),c", &[fixed(Expr::Min([Expr::var("n"), Expr::var("m")].into())), nested(0, 1)]),
        // The padding of an axis is that of the stride one level above.
        ("N1,N0(pad=16)", &[nested(1, 16), nested(0, 1)]),
        ("c,c(pad=4)", &[nested(1, 4), nested(0, 1)]),
        ("N1:stride:7,N0", &[fixed(Expr::int(7)), nested(0, 1)]),
    ];
    for (text, wanted) in table {
        assert_eq!(parse_dim_tags(text, None).as_deref(), Ok(*wanted), "{text}");
    }
    assert_eq!(parse_dim_tags("sep?,c", Some(1)).unwrap(), [nested(0, 1)]);
    assert_eq!(parse_dim_tags("sep?,c", Some(2)).unwrap(), [DimTag::Separate, nested(0, 1)]);
}

#[test]
fn data_says_types_shapes_and_layouts() {
    let kernel = over_i("out[i, j] = a[i, j] + b[i, j] + c[j, i] {inames=+j}")
        .domain("{[j]: 0<=j<3}")
        .data(Data::global("a, b").dtype("np.float32").shape("n, 3").order(Order::Fortran))
        .data(Data::global("c").dtype(DType::F64).shape("(3, n)").strides("n+1, 1").offset_text("n//2"))
        .data(Data::value("n").dtype("int64"))
        .data(Data::temporary("t").dtype("float64").shape("3").space(AddressSpace::Local))
        .rest()
        .build_kernel()
        .unwrap();
    assert_eq!(words(kernel.arguments.iter().map(|argument| &argument.name)), "a b c n out");
    assert_eq!(kernel.arguments[0].ty, Some(DType::F32.into()));
    assert_eq!(kernel.arguments[3].ty, Some(DType::I64.into()));
    assert!(array_layout(&kernel, "a").fortran_order && array_layout(&kernel, "b").fortran_order);
    let c = array_layout(&kernel, "c");
    assert_eq!(shape(&c.shape), "[3, n]");
    assert_eq!(c.dim_tags[1], DimTag::Stride(Stride::Fixed(Expr::int(1))));
    assert!(matches!(&c.offset, Offset::Given(offset) if offset.to_string() == "n // 2"));
    assert_eq!(shape(&array_layout(&kernel, "out").shape), "[n, 3]");
    assert_eq!(kernel.temporaries["t"].space, Some(AddressSpace::Local));
}

#[test]
fn the_default_order_holds_where_none_is_said() {
    let build = |order| {
        over_i("out[i, j] = a[i, j] + b[i, j]")
            .domain("{[j]: 0<=j<3}")
            .data(Data::global("b").order(Order::C))
            .rest()
            .default_order(order)
            .build_kernel()
            .unwrap()
    };
    let fortran = build(Order::Fortran);
    assert!(array_layout(&fortran, "a").fortran_order && array_layout(&fortran, "out").fortran_order);
    assert!(!array_layout(&fortran, "b").fortran_order);
    let auto = build(Order::Auto);
    assert_eq!(array_layout(&auto, "a").dim_tags, vec![DimTag::Stride(Stride::Auto); 2]);
    assert_eq!(array_layout(&auto, "b").dim_tags, []);
}

#[test]
fn arguments_keep_the_order_given_and_the_rest_follows_by_name() {
    let kernel = over_i("out[i] = z*a[i] + b[i]").argument_named("out, n").data(Data::global("b")).rest().build_kernel().unwrap();
    assert_eq!(describe(&kernel), "out[n], n, b[n], a[n], z; insn in i after -");
}

#[test]
fn undeclared_arrays_begin_where_the_default_says() {
    let kernel = over_i("out[i] = a[i]").data(Data::global("a")).rest().default_offset(Offset::Auto).build_kernel().unwrap();
    assert_eq!(array_layout(&kernel, "out").offset, Offset::Auto);
    assert_eq!(array_layout(&kernel, "a").offset, Offset::Zero);
}

#[test]
fn guards_keep_accesses_inside_of_what_others_reach() {
    let shapes = |instructions: &str| {
        let kernel = kernel(&["{[i]: 0<=i<n}"], instructions).unwrap();
        shape(&array_layout(&kernel, "a").shape)
    };
    assert_eq!(shapes("out[i] = a[i]\nnext[i] = a[i+1] {if=i < n-1}"), "[n]");
    assert_eq!(shapes("out[i] = a[i] + (a[i+1] if i + 1 < n else 0)"), "[n]");
    assert_eq!(shapes("out[i] = a[i] + (0 if i >= n - 2 else a[i+2])"), "[n]");
    assert_eq!(shapes("if i < n - 1\nout[i] = a[i+1]\nelse\nout[i] = a[0]\nend\nx[i] = a[i]"), "[n]");
    // A condition says nothing of what it looks at itself.
    assert_eq!(shapes("out[i] = a[i] {if=a[i+1] > 0 and i < n-1}"), "[n + 1]");
    // Where all is guarded, guards do not make the array shorter.
    assert_eq!(shapes("out[i] = a[i] {if=i % 2 == 0}"), "[n]");
    assert_eq!(shapes("out[i] = a[i] if i < 4 else 0"), "[n]");
}

#[test]
fn the_larger_of_two_values_is_no_reduction() {
    let rhs = |instructions: &str| {
        let kernel = kernel(&["{[i,k]: 0<=i,k<n}"], instructions).unwrap();
        let InstructionKind::Assign(assignment) = &kernel.instructions[0].kind else { panic!() };
        (assignment.rhs.clone(), kernel)
    };
    assert!(matches!(rhs("out[i] = max(alpha, a[i])").0, Expr::Max(_)));
    assert!(matches!(rhs("out[i] = min(k, a[k])").0, Expr::Reduction(_)));
    let (_, kernel) = rhs("f(i) := max(i, 0)\nout[i] = f(a[i])");
    assert!(matches!(kernel.substitutions["f"].body, Expr::Max(_)));
    // A misspelt iname is reported, not taken for a value.
    let error = kernel_error(&["{[i]: 0<=i<n}"], "out = max(kk, a[kk])");
    assert_eq!(error, "instruction `insn` reduces over `kk`, but no domain has that iname; available: `i`");
}

fn kernel_error(domains: &[&str], instructions: &str) -> String {
    kernel(domains, instructions).unwrap_err().to_string()
}

#[test]
fn footprints_of_several_accesses_are_joined_under_the_assumptions() {
    let two = |assumptions: &str| {
        KernelBuilder::new()
            .domains(["{[i]: 0<=i<n}", "{[j]: 0<=j<m}"])
            .instructions("x[i] = a[i]\ny[j] = a[j]")
            .assumptions(assumptions)
            .build_kernel()
    };
    assert_eq!(shape(&array_layout(&two("n >= m >= 1").unwrap(), "a").shape), "[n]");
    assert!(matches!(two(""), Err(CreateError::ShapeNotStatic { name, axis: 0, .. }) if name == "a"));
}

#[test]
fn common_subexpressions_are_computed_once() {
    let kernel = kernel(&["{[i]: 0<=i<n}"], "out[i] = cse(a[i]**2, \"square\") + 1/cse(a[i]**2, \"square\") {id=use}").unwrap();
    assert_eq!(describe(&kernel), "a[n], n, out[n]; <>cse_square; cse_square in i after -; use in i after cse_square");
}

#[test]
fn slices_and_whole_arrays_in_calls_become_sub_arrays() {
    let build = |instructions: &str| {
        let kernel = over_i(instructions)
            .data(Data::global("x, y").shape("n"))
            .data(Data::global("m").shape("n, 4"))
            .data(Data::value("n"))
            .rest()
            .build_kernel()
            .unwrap();
        let InstructionKind::Call(call) = &kernel.instructions[0].kind else { panic!("{:?}", kernel.instructions[0]) };
        let lhs = call.lhs.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ");
        let domains: Vec<String> = kernel.domains[1..].iter().map(Set::to_string).collect();
        (format!("{lhs} = {}", call.rhs), domains, kernel)
    };
    let (text, domains, kernel) = build("y[:] = f(x[:])");
    assert_eq!(text, "[i_0]: y[i_0] = f([i_1]: x[i_1])");
    assert_eq!(domains.len(), 2);
    assert_eq!(kernel.domains[1], Set::parse("[n] -> {[i_0]: 0<=i_0<n}").unwrap());
    assert_eq!(kernel.instructions[0].within_inames, [].into());
    assert_eq!(build("y = f(x)").0, text);
    assert_eq!(build("m[i, 3:-1:-1] = f(x[1:n:2], i)").0, "[i_0]: m[i, -i_0 + 3] = f([i_1]: x[2*i_1 + 1], i)");
    let (_, _, kernel) = build("m[i, ::2] = f(m[:, 0])");
    assert_eq!(kernel.domains[1], Set::parse("{[i_0]: 0<=i_0<=1}").unwrap());
    assert_eq!(kernel.instructions[0].within_inames, ["i".into()].into());
    let (text, ..) = build("m[i, 0] = f(x)");
    assert_eq!(text, "m[i, 0] = f([i_0]: x[i_0])");
}

#[test]
fn fixed_parameters_are_numbers_everywhere() {
    let kernel = over_i("out[i] = a[i] + n").fixed_parameter("n", 16).build_kernel().unwrap();
    assert_eq!(describe(&kernel), "a[16], out[16]; insn in i after -");
    assert_eq!(kernel.domains[0], Set::parse("{[i]: 0<=i<16}").unwrap());
}

#[test]
fn a_copy_of_an_iname_is_for_one_instruction() {
    let kernel = over_i("a[i] = 1 {id=one, dup=i->j}\nb[i] = 2 {id=two}").build_kernel().unwrap();
    assert_eq!(describe(&kernel), "a[n], b[n], n; one in j after -; two in i after -");
    let kernel = over_i("a[i] = 1 {id=one}\nb[i] = 2 {id=two, dup=i}").build_kernel().unwrap();
    assert_eq!(describe(&kernel), "a[n], b[n], n; one in i after -; two in i_0 after -");
    let error = on("{[i,j]: 0<=i,j<n}").instructions("a[i] = 1 {dup=j->k}").build().unwrap_err();
    assert_eq!(error.to_string(), "instruction `insn` duplicates `j` (`dup=`), but does not run in that iname");
}

#[test]
fn sequential_dependencies_replace_those_found() {
    let kernel =
        over_i("a[i] = 1 {id=one}\nb[i] = 2 {id=two}\nc[i] = a[i] {id=three}").sequential_dependencies(true).build_kernel().unwrap();
    assert_eq!(describe(&kernel), "a[n], b[n], c[n], n; one in i after -; two in i after one; three in i after two");
}

#[test]
fn warnings_are_given_and_can_be_silenced() {
    let warnings = |silenced: &[&str]| {
        let options = KernelOptions { silenced: silenced.iter().map(|&name| name.into()).collect(), ..KernelOptions::default() };
        let builder = on("{[i,j]: 0<=i,j<n}").instructions("<> s = a[i]\nout = s").options(options);
        let built = builder.data(Data::temporary("t").shape("()")).instructions("other = t").rest().build_with_warnings().unwrap();
        built.warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings(&[]),
        [
            "instruction `insn_0` runs in `i`, inferred from what it reads; state this with a `for` block or `inames=`",
            "temporary `t` is read, but never written",
            "no instruction uses iname `j`",
        ]
    );
    assert_eq!(warnings(&["read_no_write*", "inferred_iname"]), ["no instruction uses iname `j`"]);
}

#[test]
fn a_parameter_may_come_from_a_kernel_that_is_fused_with_this_one() {
    let built = over_i("out[i] = 1").data(Data::global("out").shape("n + 2")).build_with_warnings().unwrap();
    assert_eq!(describe(built.program.entry().unwrap()), "out[n + 2]; insn in i after -");
    let warning = "`n` is a parameter of a domain, but not an argument (add `...` to the data to infer arguments)";
    assert_eq!(built.warnings.iter().map(Warning::to_string).collect::<Vec<_>>(), [warning]);
}

#[test]
fn tags_of_names_are_dropped_with_a_warning() {
    let built = over_i("f(x) := 2*b$two[x]\nout[i] = a$one[i] + f$three(i)").build_with_warnings().unwrap();
    assert_eq!(describe(built.program.entry().unwrap()), "a[n], b[n], n, out[n]; insn in i after -");
    assert_eq!(built.warnings[0].to_string(), "the tag of `a$one` is dropped: it is the same name without the tag");
    assert_eq!(built.warnings.len(), 3);
}

#[test]
fn instructions_can_be_given_as_values() {
    let assign = Instruction::assign("", Expr::subscript("out", [Expr::var("i")]), Expr::var("t"));
    let kernel = over_i("<> t = a[i] {id=first}").instruction(assign).build_kernel().unwrap();
    assert_eq!(describe(&kernel), "a[n], n, out[n]; <>t; first in i after -; insn in i after first");
}

#[test]
fn temporaries_with_values_have_their_shape() {
    let values = Initializer { dtype: DType::I32, shape: vec![2, 2], bytes: [0u8; 16].as_slice().into() };
    let kernel = over_i("out[i] = t[0, i]").data(Data::temporary("t").initializer(values).read_only(true)).rest().build_kernel().unwrap();
    assert_eq!(describe(&kernel), "n, out[n]; <>t[2, 2]; insn in i after -");
    assert_eq!(kernel.temporaries["t"].ty, Some(DType::I32.into()));
}

#[test]
fn nosync_takes_scopes_and_patterns() {
    let kernel = over_i("a[i] = 1 {id=init_a}\nb[i] = 1 {id=init_b}\nc[i] = 1 {id=c, nosync=init*@global}").build_kernel().unwrap();
    let wanted = [("init_a".into(), SyncScope::Global), ("init_b".into(), SyncScope::Global)];
    assert_eq!(kernel.instructions[2].nosync, wanted.into());
}

#[test]
fn functions_are_no_entry_points() {
    let builder = over_i("out[i] = a[i]").name("f").target(Target::C);
    let kernel = builder.clone().build().unwrap();
    assert_eq!(words(&kernel.entrypoints), "f");
    assert_eq!(kernel.target, Some(Target::C));
    let function = builder.build_function().unwrap();
    assert!(function.entrypoints.is_empty() && function.kernel("f").is_some());
}

#[test]
fn many_nests_are_made_in_linear_time() {
    let count = 500;
    let instructions: String = (0..count).map(|k| format!("b_{k}[i_{k}] = a_{k}[i_{k}] + 1\n")).collect();
    let domains = (0..count).map(|k| format!("{{[i_{k}]: 0<=i_{k}<n}}"));
    let start = std::time::Instant::now();
    let program = KernelBuilder::new().domains(domains).instructions(instructions).build().unwrap();
    assert_eq!(program.entry().unwrap().arguments.len(), 2 * count + 1);
    // Far above what it takes, and far below what anything quadratic would.
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

#[test]
fn the_short_way_guesses_everything() {
    let program = make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]").unwrap();
    assert_eq!(describe(program.entry().unwrap()), "a[n], n, out[n]; insn in i after -");
}

#[test]
fn functions_that_are_known_are_entries_at_once() {
    let program = make_kernel("{[i]: 0<=i<n}", "out[i] = sin(a[i]) + mystery(a[i])").unwrap();
    assert_eq!(words(program.callables.keys()), "loopy_kernel sin");
}
