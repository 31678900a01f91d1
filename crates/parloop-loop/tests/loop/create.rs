//! Kernels as they are made: what is found from text, and what is wrong with it.

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

fn describe(kernel: &LoopKernel) -> String {
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
        gives: "a[n], n, out[-1 + n]; insn in i after -",
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
        gives: "a[-1 + n], n, out[n]; insn in i after -",
    },
    Row { title: "reversed", domains: &["{[i]: 0<=i<n}"], instructions: "out[i] = a[n-1-i]", gives: "a[n], n, out[n]; insn in i after -" },
    Row {
        title: "strided",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[2*i+1] = a[3*i]",
        gives: "a[-2 + 3*n], n, out[2*n]; insn in i after -",
    },
    Row {
        title: "offset by a value",
        domains: &["{[i]: 0<=i<n}"],
        instructions: "out[i] = a[i+k]",
        gives: "a[n + k], k, n, out[n]; insn in i after -",
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
        gives: "a[1 + n], n, out[n]; insn in i after -",
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
        gives: "a[len], lengths[n], n, out[n]; <>len; length in i after -; add in i after -",
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
        title: "parameters before the set",
        domains: &["[n, m] -> {[i]: 0<=i<n and i<m}"],
        instructions: "out[i] = 1",
        gives: "m, n, out[n]; insn in i after -",
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

fn on(domain: &str) -> KernelBuilder {
    KernelBuilder::new().domain(domain)
}

/// A builder with the domain `0 <= i < n` and these instructions.
fn over_i(instructions: &str) -> KernelBuilder {
    on("{[i]: 0<=i<n}").instructions(instructions)
}

#[test]
fn mistakes_say_what_is_wrong_and_what_to_do() {
    let n_and = |names: &str| over_i("out[i] = a[i]").data(Data::value("n")).data(Data::global(names));
    let mistakes: Vec<(KernelBuilder, &str)> = vec![
        // domains and names
        (over_i("out[i] = 1").domain("{[i]: 0<=i<5}"), "domain 2 has the iname `i`, which is one of domain 1 already; rename one of them"),
        (over_i("out[i] = 1").name("2fast"), "`2fast` is no name; names are letters, digits and `_`, and do not begin with a digit"),
        (n_and("a, out, i"), "`i` is an argument but also an iname; rename one of them"),
        (n_and("a, out, a"), "`a` is an argument but also an argument; rename one of them"),
        (n_and("a, out").data(Data::temporary("a")), "`a` is a temporary but also an argument; rename one of them"),
        (over_i("i(x) := 2*x\nout[i] = 1"), "`i` is a substitution rule but also an iname; rename one of them"),
        (
            over_i("f(x) := x\nout[i] = f(1)").data(Data::global("f")).rest(),
            "`f` is an argument but also a substitution rule; rename one of them",
        ),
        (
            over_i("a[i] = 1 {id=x}\nb[i] = 2 {id=x}"),
            "two instructions have the id `x`; ids must differ (`id_prefix=x` chooses one that does)",
        ),
        (
            n_and("a, b"),
            "instruction `insn` writes `out`, which is not declared (`<>out = …` declares a temporary); there are `a`, `b`, `i`, `n`",
        ),
        (
            over_i("out[i] = alhpa*a[i]").data(Data::value("n, alpha")).data(Data::global("a, out")),
            "instruction `insn` uses `alhpa`, which is not declared (`...` among the data has arguments found); there are `a`, `alpha`, `i`, `n`, `out`",
        ),
        (
            over_i("out[i] = 1").data(Data::global("out").shape("16")),
            "`n` is a parameter of a domain, but not declared (`...` among the data has arguments found); there are `i`, `out`",
        ),
        (
            over_i("out[i] = 1").data(Data::global("out").shape("n, width")).data(Data::value("n")),
            "the shape, strides or offset of `out` uses `width`, which is not declared (`...` among the data has arguments found); there are `i`, `n`, `out`",
        ),
        (
            over_i("out[i] = 1").assumptions("i > 0"),
            "assumptions are about parameters, but `i` is an iname; put the condition into its domain",
        ),
        // inames
        (over_i("out[i] = 1 {inames=i:jj}"), "instruction `insn` is to be within iname `jj`, but no domain has it; there is `i`"),
        (
            on("{[i_outer]: 0<=i_outer<n}").instructions("for i_otuer\nout = 1\nend"),
            "instruction `insn` is to be within iname `i_otuer`, but no domain has it; did you mean `i_outer`?",
        ),
        (over_i("out = sum(k, a[k])"), "instruction `insn` reduces over `k`, but no domain has that iname; there is `i`"),
        (
            over_i("[k]: out[k] = f([i]: a[i])"),
            "instruction `insn` sweeps a sub-array with `k`, but no domain has that iname; there is `i`",
        ),
        (over_i("out[i] = 1").priority(["i", "j"]), "a loop priority names the iname `j`, but no domain has it; there is `i`"),
        // dependencies
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {dep=frist}"),
            "instruction `insn` depends on `frist`, but no instruction is called so; there are `first`, `insn`",
        ),
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {dep=init*}"),
            "instruction `insn` depends on `init*`, but no instruction is called so; there are `first`, `insn`",
        ),
        (over_i("a[i] = 1 {id=first, dep=first}"), "instruction `first` depends on itself"),
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {nosync=second}"),
            "instruction `insn` has `nosync` with `second`, but no instruction is called so; there are `first`, `insn`",
        ),
        // what is written
        (over_i("i = 1"), "instruction `insn` writes `i`, which is an iname; only arrays and temporaries can be written"),
        (
            over_i("n = 1"),
            "instruction `insn` writes `n`, which is an argument passed by value; only arrays and temporaries can be written",
        ),
        (
            over_i("c[i] = 1").data(Data::constant("c")).rest(),
            "instruction `insn` writes `c`, which is an argument in constant memory; only arrays and temporaries can be written",
        ),
        (
            over_i("t[i] = 1").data(Data::temporary("t").shape("n").read_only(true)).rest(),
            "instruction `insn` writes `t`, which is a read-only temporary; only arrays and temporaries can be written",
        ),
        (
            over_i("f(x) := x\nf = a[i]"),
            "instruction `insn` writes `f`, which is a substitution rule; only arrays and temporaries can be written",
        ),
        (over_i("<> t = 1\n<> t = 2"), "instruction `insn_0` declares the temporary `t`, which is a temporary already; leave out the `<>`"),
        (
            over_i("<> a = 1").data(Data::global("a")).rest(),
            "instruction `insn` declares the temporary `a`, which is an argument already; leave out the `<>`",
        ),
        (
            over_i("<int32> m = 1 {id=one}\nm = 2 {id=two}\nout[i] = sum(j, a[j])").domain("{[j]: 0<=j<m}"),
            "`m` bounds a loop, so exactly one instruction must write it; found 2: `one`, `two`",
        ),
        (
            over_i("out[i] = sum(j, a[j])").domain("{[j]: 0<=j<m}").data(Data::temporary("m").dtype("int32").shape("()")).rest(),
            "`m` bounds a loop, so exactly one instruction must write it; found none",
        ),
        // how data is used
        (over_i("out[i] = a[i] + a[i, i]"), "`a` is used with 1 and with 2 indices (instruction `insn`)"),
        (
            over_i("out[i] = a[i]").data(Data::global("a").shape("n, n")).rest(),
            "`a` has 2 axes, but instruction `insn` uses it with 1 indices: `a[i]`",
        ),
        (
            over_i("out[i] = alpha[i]").data(Data::value("alpha")).rest(),
            "`alpha` has 0 axes, but instruction `insn` uses it with 1 indices: `alpha[i]`",
        ),
        (
            over_i("out[i] = a + 1").data(Data::global("a").shape("n")).rest(),
            "`a` is an array of 1 axes, but instruction `insn` uses it without indices",
        ),
        (
            over_i("out[i] = a[ind[i], i]"),
            "the shape of `a` cannot be found: the index of `a[ind[i], i]` in instruction `insn` is not affine in inames and parameters; give `a` a shape",
        ),
        (
            over_i("<> t[ind[i]] = 1\nout[i] = t[ind[i]]"),
            "the shape of `t` cannot be found: the index of `t[ind[i]]` in instruction `insn` is not affine in inames and parameters; give `t` a shape",
        ),
        (
            over_i("out[i] = a[[2*i]]"),
            "the shape of `a` cannot be found: `a[[2*i]]` in instruction `insn` goes by the place in memory; give `a` a shape",
        ),
        // data
        (
            n_and("a, out").data(Data::global("b").dtype("flaot32")),
            "the type `flaot32` of `b` is not known; use a name of NumPy's, such as `float32`",
        ),
        (n_and("a, out").data(Data::global("b").shape("n").dim_tags("c,c")), "`b`: dim tags `c,c` are 2, but the array has 1 axes"),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("c,N0")),
            "`b`: dim tags `c,N0` mix an order (`c`, `f`) with nesting levels (`N0`, `N1`); use one of the two",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0,N0")),
            "`b`: dim tags `N0,N0` use nesting level 0 twice; each axis needs a level of its own",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0,N2")),
            "`b`: dim tags `N0,N2` leave out nesting level 1; levels must follow each other",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("rows")),
            "`b`: `rows` is no dim tag; use `c`, `f`, `N0`, `N1`, …, `stride:EXPR`, `stride:auto`, `sep` or `vec`",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("N0(pad=x)")),
            "`b`: the padding in dim tag `N0(pad=x)` must be a whole number of elements, at least 1",
        ),
        (n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("vec,vec")), "`b`: dim tags `vec,vec` have more than one `vec` axis"),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("c->0")),
            "`b`: dim tag `c->0` names an axis of an image; arrays have one axis in memory, leave out the `->`",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0:stride:3,N1")),
            "`b`: dim tags `N0:stride:3,N1`: the stride of level 1 cannot be computed from the given stride of a lower level; give both or none",
        ),
        (n_and("a, out").data(Data::global("b").shape("n,n").strides("1")), "`b` has 2 axes, but strides, dim tags or axis names for 1"),
        (n_and("a, out").data(Data::global("b").shape("n,n").axis_names(["x", "x"])), "two axes of `b` are called `x`"),
        (n_and("a, out").data(Data::image("b")), "image `b` needs a shape of one to three axes"),
        (
            n_and("a, out").data(Data::global("b").is_input(false).is_output(false)),
            "argument `b` is neither input nor output; it must be one of them",
        ),
        // slices, rules, copies
        (
            over_i("out[:] = 2*a[:]").data(Data::global("a, out").shape("n")).rest(),
            "instruction `insn` assigns an array, but its right side is no call; write a loop over the elements",
        ),
        (
            over_i("out[i] = a[:]").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: the slice `a[:]` stands outside of a call; write a loop: an iname with a domain, and `a[i]`",
        ),
        (over_i("out[i] = f(a[:])"), "instruction `insn`: `a` is sliced, so its shape must be known; give `a` a shape"),
        (
            over_i("out[i] = f(a[::0])").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: the step of slice `::0` must be an integer other than 0",
        ),
        (
            over_i("out[i] = f(a[1:-1])").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: slice `1:-1` goes up to a negative index; count from the beginning (`n - 1` for the last but one)",
        ),
        (
            over_i("out[i] = f(a[:])").data(Data::global("a").shape("n*m")).rest(),
            "instruction `insn`: the limits of slice `:` (axis length `n*m`) are not affine in parameters",
        ),
        (over_i("f(x, x) := x\nout[i] = f(1, 2)"), "substitution rule `f` has two parameters called `x`"),
        (over_i("f(x) := x\nout[i] = f(1, 2)"), "substitution rule `f` takes 1 arguments, but is called with 2 in `insn`"),
        (
            over_i("f(x) := g(x)\ng(x) := f(x)\nout[i] = f(1)"),
            "substitution rule `f` calls itself: `f` → `g` → `f`; write one of them without the others",
        ),
        (
            over_i("out[i] = cse(a[i]*2) {dup=i->j}"),
            "instruction `insn` has both `dup=` and `cse(…)`; take the common subexpression out of it by hand",
        ),
    ];
    let mut wrong = Vec::new();
    for (builder, wanted) in &mistakes {
        let found = match builder.clone().build() {
            Ok(program) => format!("a kernel: {}", describe(program.entry().unwrap())),
            Err(error) => error.to_string(),
        };
        if found != *wanted {
            wrong.push(format!("wanted {wanted}\nfound  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), mistakes.len(), wrong.join("\n"));
}
