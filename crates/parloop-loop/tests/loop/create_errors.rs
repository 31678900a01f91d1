//! Creating kernels: what is wrong with a text, and what to do about it.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::syntax::{Expr, Initializer, SubstitutionRule};

use super::create::{describe, on, over_i};

#[test]
fn mistakes_say_what_is_wrong_and_what_to_do() {
    let n_and = |names: &str| over_i("out[i] = a[i]").data(Data::value("n")).data(Data::global(names));
    let mistakes: Vec<(KernelBuilder, &str)> = vec![
        // domains and names
        (over_i("out[i] = 1").domain("{[i]: 0<=i<5}"), "domain 2 has the iname `i`, which is already in domain 1; rename one of them"),
        (
            over_i("out[i] = 1").name("2fast"),
            "`2fast` is not a valid name; names consist of letters, digits and `_`, and do not begin with a digit",
        ),
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
            "two instructions have the id `x`; ids must differ (`id_prefix=x` chooses a unique one)",
        ),
        (
            n_and("a, b"),
            "instruction `insn` writes `out`, which is not declared (`<>out = …` declares a temporary); available: `a`, `b`, `i`, `n`",
        ),
        (
            over_i("out[i] = alhpa*a[i]").data(Data::value("n, alpha")).data(Data::global("a, out")),
            "instruction `insn` uses `alhpa`, which is not declared (add `...` to the data to infer arguments); available: `a`, `alpha`, `i`, `n`, `out`",
        ),
        (
            over_i("out[i] = 1").data(Data::global("out").shape("n, width")).data(Data::value("n")),
            "the shape, strides or offset of `out` uses `width`, which is not declared (add `...` to the data to infer arguments); available: `i`, `n`, `out`",
        ),
        (
            over_i("out[i] = 1").assumptions("i > 0"),
            "assumptions are about parameters, but `i` is an iname; put the condition into its domain",
        ),
        // inames
        (over_i("out[i] = 1 {inames=i:jj}"), "instruction `insn` runs in iname `jj`, but no domain has it; available: `i`"),
        (
            on("{[i_outer]: 0<=i_outer<n}").instructions("for i_otuer\nout = 1\nend"),
            "instruction `insn` runs in iname `i_otuer`, but no domain has it; did you mean `i_outer`?",
        ),
        (over_i("out = sum(k, a[k])"), "instruction `insn` reduces over `k`, but no domain has that iname; available: `i`"),
        (
            over_i("[k]: out[k] = f([i]: a[i])"),
            "instruction `insn` sweeps a sub-array with `k`, but no domain has that iname; available: `i`",
        ),
        (over_i("out[i] = 1").priority(["i", "j"]), "a loop priority names the iname `j`, but no domain has it; available: `i`"),
        // dependencies
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {dep=frist}"),
            "instruction `insn` depends on `frist`, but no instruction has that id; available: `first`, `insn`",
        ),
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {dep=init*}"),
            "instruction `insn` depends on `init*`, but no instruction has that id; available: `first`, `insn`",
        ),
        (over_i("a[i] = 1 {id=first, dep=first}"), "instruction `first` depends on itself"),
        (
            over_i("a[i] = 1 {id=first}\nb[i] = 1 {nosync=second}"),
            "instruction `insn` has `nosync` with `second`, but no instruction has that id; available: `first`, `insn`",
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
        (over_i("<> t = 1\n<> t = 2"), "instruction `insn_0` declares the temporary `t`, which is already a temporary; leave out the `<>`"),
        (
            over_i("<> a = 1").data(Data::global("a")).rest(),
            "instruction `insn` declares the temporary `a`, which is already an argument; leave out the `<>`",
        ),
        (
            over_i("<int32> m = 1 {id=one}\nm = 2 {id=two}\nout[i] = sum(j, a[j])").domain("{[j]: 0<=j<m}"),
            "`m` bounds a loop, so exactly one instruction must write it, not 2: `one`, `two`",
        ),
        (
            over_i("out[i] = sum(j, a[j])").domain("{[j]: 0<=j<m}").data(Data::temporary("m").dtype("int32").shape("()")).rest(),
            "`m` bounds a loop, so exactly one instruction must write it, not none",
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
            "cannot infer the shape of `a`: the index of `a[ind[i], i]` in instruction `insn` is not affine in inames and parameters; give `a` a shape",
        ),
        (
            over_i("<> t[ind[i]] = 1\nout[i] = t[ind[i]]"),
            "cannot infer the shape of `t`: the index of `t[ind[i]]` in instruction `insn` is not affine in inames and parameters; give `t` a shape",
        ),
        // data
        (n_and("a, out").data(Data::global("b").dtype("flaot32")), "unknown type `flaot32` of `b`; use a NumPy name such as `float32`"),
        (n_and("a, out").data(Data::global("b").shape("n").dim_tags("c,c")), "`b`: dim tags `c,c` describe 2 axes, but the array has 1"),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("c,N0")),
            "`b`: dim tags `c,N0` mix an order (`c`, `f`) with nesting levels (`N0`, `N1`); use one of the two",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0,N0")),
            "`b`: dim tags `N0,N0` use nesting level 0 twice; each axis needs its own level",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0,N2")),
            "`b`: dim tags `N0,N2` skip nesting level 1; levels must be consecutive",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("rows")),
            "`b`: `rows` is not a dim tag; use `c`, `f`, `N0`, `N1`, …, `stride:EXPR`, `stride:auto`, `sep` or `vec`",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("N0(pad=x)")),
            "`b`: the padding in dim tag `N0(pad=x)` must be a whole number of elements, at least 1",
        ),
        (n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("vec,vec")), "`b`: dim tags `vec,vec` have more than one `vec` axis"),
        (
            n_and("a, out").data(Data::global("b").shape("n").dim_tags("c->0")),
            "`b`: dim tag `c->0` names an axis of an image; arrays have one axis in memory, so leave out the `->`",
        ),
        (
            n_and("a, out").data(Data::global("b").shape("n,n").dim_tags("N0:stride:3,N1")),
            "`b`: dim tags `N0:stride:3,N1`: the stride of level 1 cannot be computed from the given stride of a lower level; give both or neither",
        ),
        (n_and("a, out").data(Data::global("b").shape("n,n").strides("1")), "`b` has 2 axes, but strides, dim tags or axis names for 1"),
        (n_and("a, out").data(Data::global("b").shape("n,n").axis_names(["x", "x"])), "two axes of `b` are called `x`"),
        (n_and("a, out").data(Data::image("b")), "image `b` needs a shape of one to three axes"),
        (
            n_and("a, out").data(Data::global("b").is_input(false).is_output(false)),
            "argument `b` is neither input nor output; it must be one of them",
        ),
        (n_and("a, out").data(Data::global("b").read_only(true)), "`b` is an argument, which cannot have `read_only`"),
        (n_and("a, out").data(Data::temporary("b").is_output(true)), "`b` is a temporary, which cannot have a direction"),
        (n_and("a, out").data(Data::value("b").shape("n")), "`b` is an argument passed by value, which cannot have a shape"),
        (
            n_and("a, out").data(Data::temporary("b").initializer(Initializer {
                dtype: DType::F64,
                shape: vec![3],
                bytes: [0; 16].into(),
            })),
            "the values of `b` are 16 bytes, but its shape and type need 24",
        ),
        (
            n_and("a, out").data(Data::temporary("b").shape("2").initializer(Initializer {
                dtype: DType::I8,
                shape: vec![3],
                bytes: [0; 3].into(),
            })),
            "`b` has shape (2), but its values have shape (3)",
        ),
        (over_i("out[i] = 1").index_type(DType::F32), "the index type must be `int32` or `int64`, not `float32`"),
        (over_i("out[i] = sum(i, a[i])"), "instruction `insn` reduces over `i`, but also runs in that iname; reduce over another one"),
        (
            over_i("out[i] = b[i]").data(Data::global("b").dim_tags("c,c")).rest(),
            "`b` has 1 axes, but strides, dim tags or axis names for 2",
        ),
        // slices, rules, copies
        (
            over_i("out[:] = 2*a[:]").data(Data::global("a, out").shape("n")).rest(),
            "instruction `insn` assigns to an array, but its right side is not a call; write a loop over the elements",
        ),
        (
            over_i("out[i] = a[:]").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: the slice `a[:]` is not an argument of a call; write a loop: an iname with a domain, and `a[i]`",
        ),
        (over_i("out[i] = f(a[:])"), "instruction `insn`: `a` is sliced, so its shape must be known; give `a` a shape"),
        (
            over_i("out[i] = f(a[::0])").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: the step of slice `::0` must be a nonzero integer",
        ),
        (
            over_i("out[i] = f(a[1:-1])").data(Data::global("a").shape("n")).rest(),
            "instruction `insn`: slice `1:-1` ends at a negative index; count from the beginning (`n - 1` to leave out the last element)",
        ),
        (
            over_i("out[i] = f(a[:])").data(Data::global("a").shape("n*m")).rest(),
            "instruction `insn`: the limits of slice `:` (axis length `n*m`) are not affine in parameters",
        ),
        (
            over_i("out[i] = f(1, 2)").substitution(SubstitutionRule {
                name: "f".into(),
                parameters: vec!["x".into(); 2],
                body: Expr::var("x"),
            }),
            "substitution rule `f` has two parameters called `x`",
        ),
        (over_i("f(x) := x\nout[i] = f(1, 2)"), "substitution rule `f` takes 1 arguments, but is called with 2 in `insn`"),
        (
            over_i("f(x) := g(x)\ng(x) := f(x)\nout[i] = f(1)"),
            "substitution rule `f` calls itself: `f` → `g` → `f`; define one of them without the others",
        ),
        (
            over_i("out[i] = cse(a[i]*2) {dup=i->j}"),
            "instruction `insn` has both `dup=` and `cse(…)`; move the common subexpression out of it by hand",
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
