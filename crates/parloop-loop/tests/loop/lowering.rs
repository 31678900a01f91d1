//! Code of small kernels, as text.

use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::lower::Code;
use parloop_loop::prelude::*;
use parloop_loop::syntax::{
    CCode, CInstruction, ClassAxis, ClassField, ClassSource, ClassType, Expr, InameTag, InstructionKind, LoopKernel, OpaqueType, Program,
    Target, TrustedC, Type,
};
use parloop_loop::transform::{Prefetch, Split, add_prefetch, split_iname};

/// The code of a program's only entry point.
pub fn code(program: &Program, target: Target) -> Code {
    program.generate(target).unwrap_or_else(|error| panic!("{target}: {error}")).code
}

pub fn map(program: &Program, change: impl Fn(&LoopKernel) -> LoopKernel) -> Program {
    program.with_kernel(change(program.entry().unwrap()))
}

pub fn split(program: &Program, iname: &str, length: i64, outer: Option<&str>, inner: Option<&str>) -> Program {
    let tags = |tag: Option<&str>| tag.map(|tag| tag.parse::<InameTag>().unwrap()).into_iter();
    map(program, |kernel| {
        let kernel = split_iname(kernel, iname, &Split::by(length)).unwrap();
        let mut kernel = kernel;
        for tag in tags(outer) {
            kernel.inames.get_mut(format!("{iname}_outer").as_str()).unwrap().tags.insert(tag);
        }
        for tag in tags(inner) {
            kernel.inames.get_mut(format!("{iname}_inner").as_str()).unwrap().tags.insert(tag);
        }
        kernel
    })
}

pub fn add() -> Program {
    KernelBuilder::new()
        .name("add")
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = a[i] + 2*b[i]")
        .data(Data::global("a, b, out").dtype(DType::F32))
        .data(Data::value("n").dtype(DType::I32))
        .build()
        .unwrap()
}

pub fn matmul(size: Option<i64>) -> Program {
    let program = KernelBuilder::new()
        .name("matmul")
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a,b,c").dtype("float32").shape("n,n"))
        .rest();
    let program = match size {
        Some(size) => program.fixed_parameter("n", size),
        None => program,
    };
    let program = program.build().unwrap();
    let program = split(&program, "i", 16, Some("g.0"), Some("l.1"));
    let program = split(&program, "j", 16, Some("g.1"), Some("l.0"));
    let program = split(&program, "k", 16, None, None);
    map(&program, |kernel| {
        let kernel = add_prefetch(kernel, &Prefetch::new("a", ["k_inner", "i_inner"])).unwrap();
        add_prefetch(&kernel, &Prefetch::new("b", ["j_inner", "k_inner"])).unwrap()
    })
}

pub fn tag(program: &Program, iname: &str, tag: &str) -> Program {
    map(program, |kernel| {
        let mut kernel = kernel.clone();
        kernel.inames.get_mut(iname).unwrap().tags.insert(tag.parse().unwrap());
        kernel
    })
}

/// With `i` split, and its first and last parts apart.
pub fn slabs(program: &Program, length: i64, (first, last): (u32, u32)) -> Program {
    map(program, |kernel| split_iname(kernel, "i", &Split::by(length).slabs(first, last)).unwrap())
}

/// The function of a text, without what stands in front of it.
fn body(text: &str) -> &str {
    let at = ["GPUKERN void", "__kernel void", "extern \"C\"", "\nvoid ", "export void", "task void"];
    let start = at.iter().filter_map(|word| text.find(word)).min().unwrap();
    text[start..].trim()
}

#[test]
fn a_plain_loop_reads_as_one_would_write_it() {
    let expected = "void add(float const *__restrict__ a, float const *__restrict__ b, float *__restrict__ out, int32_t const n)\n{\n  \
                    for (int32_t i = 0; i < n; ++i)\n    out[i] = a[i] + 2.0f * b[i];\n}";
    assert_eq!(body(&code(&add(), Target::C).text), expected);
}

#[test]
fn work_items_beyond_the_end_do_nothing() {
    let program = split(&add(), "i", 16, Some("g.0"), Some("l.0"));
    let steps = "  if (i_inner + 16 * i_outer < n)\n    \
                 out[i_inner + i_outer * 16] = a[i_inner + i_outer * 16] + 2.0f * b[i_inner + i_outer * 16];\n}";
    let opencl = code(&program, Target::OpenCl);
    assert_eq!(
        opencl.text,
        format!(
            "__kernel void __attribute__ ((reqd_work_group_size(16, 1, 1))) add(__global float const *__restrict__ a, \
             __global float const *__restrict__ b, __global float *__restrict__ out, int const n)\n{{\n  \
             int const i_outer = get_group_id(0);\n  int const i_inner = get_local_id(0);\n{steps}\n"
        )
    );
    let cuda = "extern \"C\" __global__ void __launch_bounds__(16) add(float const *__restrict__ a, float const *__restrict__ b, \
                float *__restrict__ out, int const n)\n{\n  int const i_outer = blockIdx.x;\n  int const i_inner = threadIdx.x;\n";
    assert_eq!(code(&program, Target::Cuda).text, format!("{cuda}{steps}\n"));
    assert_eq!(code(&program, Target::Hip).text, format!("{cuda}{steps}\n"));
    let launch = &opencl.launches[0];
    assert_eq!((launch.group_size.as_slice(), launch.groups[0].to_string().as_str()), (&[Expr::int(16)][..], "(n + 15) // 16"));
}

#[test]
fn on_a_cpu_groups_are_shared_out_and_work_items_are_a_loop_that_vectorises() {
    let program = split(&add(), "i", 16, Some("g.0"), Some("l.0"));
    let expected = "GPUKERN void add(float const *__restrict__ a, float const *__restrict__ b, float *__restrict__ out, int32_t const n)\n{\n  \
        VECTORIZE_OVER(group, (int64_t)((n + 15) >> 4))\n    int32_t const i_outer = (int32_t)group;\n#pragma GCC ivdep\n#pragma GCC unroll 1\n    \
        for (int32_t i_inner = 0; i_inner < pl_min_int32(16, n - 16 * i_outer); ++i_inner)\n      \
        out[i_inner + i_outer * 16] = a[i_inner + i_outer * 16] + 2.0f * b[i_inner + i_outer * 16];\n  END_VECTORIZE\n}";
    assert_eq!(body(&code(&program, Target::C).text), expected);
}

#[test]
fn a_private_value_that_outlives_a_barrier_is_an_array_over_the_work_items() {
    let text = code(&matmul(Some(64)), Target::C).text;
    assert!(text.contains("float acc_k_outer_k_inner[16][16]"), "{text}");
    // Rows of the accumulator stay near the work items' innermost loop, inside the loop over the tile.
    let rows = "for (int32_t k_inner = 0; k_inner < 16; ++k_inner)\n        {\n#pragma GCC ivdep\n#pragma GCC unroll 1\n          \
                for (int32_t j_inner = 0; j_inner < 16; ++j_inner)\n            \
                acc_k_outer_k_inner[i_inner][j_inner] += a_fetch[16 * i_inner + k_inner] * b_fetch[16 * k_inner + j_inner];";
    assert!(text.contains(rows), "{text}");
}

#[test]
fn a_product_in_tiles_has_two_barriers_in_its_loop_and_no_condition_around_them() {
    let text = code(&matmul(None), Target::Cuda).text;
    assert_eq!(text.matches("    __syncthreads();").count(), 2, "{text}");
    assert!(text.contains("  __shared__ float a_fetch[256];\n"), "{text}");
}

#[test]
fn apart_from_the_last_slab_no_limit_is_asked_for() {
    let text = code(&slabs(&add(), 16, (0, 1)), Target::C).text;
    println!("{text}");
    assert_eq!(text.matches("i_inner < 16;").count(), 1, "{text}");
}

#[test]
fn ispc_launches_a_task_for_each_group() {
    let text = code(&split(&add(), "i", 8, Some("g.0"), Some("l.0")), Target::Ispc).text;
    assert!(text.contains("task void add_task(") && text.contains("export void add("), "{text}");
    assert!(text.contains("  launch[(n + 7) >> 3] add_task(a, b, out, n);\n  sync;\n"), "{text}");
}

/// A class `P` with numbers `x` along an axis and a number `w`.
fn particle(text: &str) -> Type {
    let axes = vec![ClassAxis { length: "P_dim_x".into(), indices: 0, axis: 0 }];
    let x = ClassField { dtype: DType::F64, axes, getter: "P_get_x".into(), setter: "P_set_x".into(), is_behind_reference: false };
    let w = ClassField { axes: Vec::new(), getter: "P_get_w".into(), setter: "P_set_w".into(), ..x.clone() };
    // SAFETY: the code is not run.
    let class = unsafe { ClassType::new("P", [("x".into(), x), ("w".into(), w)].into(), vec![ClassSource::new("P", text)]) };
    Type::Class(Arc::new(class))
}

fn kick(class: Type, instructions: &str) -> Program {
    let kernel = KernelBuilder::new().name("kick").domain("{[i]: 0<=i<n}").instructions(instructions);
    kernel.data(Data::object("p").dtype(class)).rest().build().unwrap()
}

#[test]
fn fields_of_objects_are_read_and_written_by_the_functions_of_their_class() {
    let program = kick(particle("/* functions of P */"), "p.x[i] = 2*p.x[i] + p.w");
    let text = code(&program, Target::Cuda).text;
    assert!(text.starts_with("/* functions of P */\n"), "{text}");
    assert!(text.contains("kick(P p, int const n)"), "{text}");
    assert!(text.contains("    P_set_x(p, (long)i, 2.0 * P_get_x(p, (long)i) + P_get_w(p));"), "{text}");
}

#[test]
fn an_object_that_is_only_read_is_constant() {
    let program = kick(particle(""), "out[i] = p.x[i] {inames=i}");
    assert!(code(&program, Target::C).text.contains("P const p"), "{}", code(&program, Target::C).text);
}

#[test]
fn in_checked_mode_an_index_of_a_field_is_held_against_the_length_that_the_object_has() {
    let mut program = kick(particle(""), "p.x[i] = p.w");
    let mut kernel = program.kernel("kick").unwrap().clone();
    kernel.options.checked = Some(true);
    program = program.with_kernel(kernel);
    let code = code(&program, Target::C);
    assert_eq!(code.check_sites, ["p.x[i], axis 0"]);
    let guard = "if (pl_inside_int64((int64_t)i, P_dim_x(p, 0l), 0))";
    assert!(code.text.contains(guard), "{}", code.text);
}

#[test]
fn two_classes_of_one_name_are_refused() {
    let kernel = KernelBuilder::new().name("kick").domain("{[i]: 0<=i<n}").instructions("p.x[i] = q.x[i]");
    let kernel = kernel.data(Data::object("p").dtype(particle("/* one */"))).data(Data::object("q").dtype(particle("/* two */")));
    let error = kernel.rest().build().unwrap().generate(Target::C).unwrap_err().to_string();
    assert_eq!(error, "two different classes of objects are named `P`; their C functions would have the same names; rename one of them");
}

#[test]
fn a_checked_kernel_names_each_index_and_touches_nothing_outside() {
    let code = code(&super::samples::all().into_iter().find(|(name, _)| *name == "checked").unwrap().1, Target::C);
    assert_eq!(code.check_sites, ["k[i], axis 0", "a[k[i]], axis 0", "x[i], axis 0"]);
    let guarded = "pl_inside_int32(i, n, 0) ? k[i] : 0";
    assert!(code.text.contains(guarded), "{}", code.text);
    assert!(code.text.contains("if (pl_inside_int32(i, n, 2))\n      x[i] = "), "{}", code.text);
}

#[test]
fn text_in_c_stands_as_it_is_with_its_inames_around_it() {
    let program = add();
    let program = map(&program, |kernel| {
        let mut kernel = kernel.clone();
        let mut insn = (*kernel.instructions[0]).clone();
        let reads = ["a".into(), "i".into()].into();
        // SAFETY: the code is not run.
        let code = CCode::new("out[i] = a[i];", unsafe { TrustedC::promise() });
        let writes = vec![Expr::subscript("out", [Expr::var("i")])];
        insn.kind = InstructionKind::C(CInstruction { code, bindings: Vec::new(), reads, writes });
        kernel.instructions[0] = Arc::new(insn);
        kernel
    });
    assert!(body(&code(&program, Target::C).text).ends_with("for (int32_t i = 0; i < n; ++i)\n  {\n    out[i] = a[i];\n  }\n}"));
}

#[test]
fn names_that_would_be_other_code_are_refused() {
    const OTHER: &str = "x) { } void h(int y";
    fn with_value(kernel: &mut LoopKernel, name: &str) {
        let mut value = kernel.arguments.iter().find(|argument| &*argument.name == "n").unwrap().clone();
        value.name = name.into();
        kernel.arguments.push(value);
        let mut instruction = (*kernel.instructions[0]).clone();
        if let InstructionKind::Assign(assignment) = &mut instruction.kind {
            assignment.rhs = Expr::var(name);
        }
        kernel.instructions[0] = Arc::new(instruction);
    }
    fn with_id(kernel: &mut LoopKernel, id: &str) {
        kernel.options.annotate = true;
        let mut instruction = (*kernel.instructions[0]).clone();
        instruction.id = id.into();
        kernel.instructions[0] = Arc::new(instruction);
    }
    type Change = fn(&mut LoopKernel);
    let changes: [Change; 3] = [|kernel| kernel.name = OTHER.into(), |kernel| with_value(kernel, OTHER), |kernel| with_id(kernel, OTHER)];
    for change in changes {
        let mut kernel = add().entry().unwrap().clone();
        change(&mut kernel);
        let error = Program::of(kernel).generate(Target::C).unwrap_err().to_string();
        assert!(error.contains("contains the name `x) { } void h(int y`, which is not an identifier"), "{error}");
    }
    let mut kernel = add().entry().unwrap().clone();
    with_value(&mut kernel, "y");
    with_id(&mut kernel, "id");
    Program::of(kernel).generate(Target::C).unwrap();
}

#[test]
fn types_of_the_target_are_words() {
    for name in ["", " ", "int)", "int *", "a  b", "a:b", "::", "a\n", "1a", "a;", "(a"] {
        assert_eq!(OpaqueType::new(name), None, "{name}");
        let error = parloop_loop::parse::expression(&format!("cast(opaque({name:?}), a[i])")).unwrap_err().to_string();
        assert!(error.contains("expected the name of a type in quotes: words, which `::` may join"), "{error}");
    }
    for name in ["fftw_plan", "unsigned long", "std::size_t"] {
        assert_eq!(&**OpaqueType::new(name).unwrap().name(), name);
    }
}
