//! Instructions as text: blocks, options, declarations, and that what is printed reads back.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::Name;
use parloop_loop::create::KernelBuilder;
use parloop_loop::parse::{Draft, Parsed, Which, Within, instructions, instructions_with, query};
use parloop_loop::syntax::{
    Assignment, Atomicity, CCode, CInstruction, CallInstruction, Expr, Instruction, InstructionKind, MemoryKind, SyncScope, TemporaryType,
    TrustedC,
};
use proptest::prelude::*;

use super::expressions::{any_expr, name};

fn read(text: &str) -> Parsed {
    instructions_with(text, Some(promise())).unwrap_or_else(|error| panic!("{error}"))
}

fn one(text: &str) -> Draft {
    let mut parsed = read(text);
    assert_eq!(parsed.drafts.len(), 1, "{text}");
    parsed.drafts.remove(0)
}

fn set(names: &[&str]) -> BTreeSet<Name> {
    names.iter().map(|&name| name.into()).collect()
}

fn message(text: &str) -> String {
    instructions_with(text, Some(promise())).expect_err(text).to_string()
}

fn predicates(draft: &Draft) -> Vec<String> {
    draft.predicates.iter().map(ToString::to_string).collect()
}

#[test]
fn lines_go_on_while_a_bracket_is_open_and_comments_are_left_out() {
    let text = "\n# before (\n a[i,  # not here: )\n   j] = f(x,\n # between\n y)  {id=one} # after\n\nb = 1\n";
    let parsed = read(text);
    assert_eq!(parsed.drafts.iter().map(|draft| draft.kind.to_string()).collect::<Vec<_>>(), ["a[i, j] = f(x, y)", "b = 1"]);
    assert_eq!(parsed.drafts[0].id.as_deref(), Some("one"));
    assert_eq!(&text[parsed.drafts[1].span.clone()], "b = 1");
    assert!(text[parsed.drafts[0].span.clone()].starts_with("a[i,") && text[parsed.drafts[0].span.clone()].ends_with("{id=one}"));
}

#[test]
fn left_sides_declare_temporaries() {
    let draft = one("<int> a, <>b, c[i] = f(x)");
    let InstructionKind::Call(call) = &draft.kind else { panic!("{draft:?}") };
    assert_eq!(call.declares, [Some(TemporaryType::Given(DType::I64.into())), Some(TemporaryType::Inferred), None]);
    assert_eq!(call.lhs, [Expr::var("a"), Expr::var("b"), Expr::subscript("c", [Expr::var("i")])]);
    let InstructionKind::Assign(assignment) = one("<np.float32>x = 2").kind else { panic!() };
    assert_eq!(assignment.declares, Some(TemporaryType::Given(DType::F32.into())));
}

#[test]
fn arrays_as_arguments_or_results_make_a_call() {
    for text in ["y[i] = f([j]: x[j])", "[i]: y[i] = f(x)", "y[:] = f(x[:])", "f(x)", "a, b = argmax(i, x[i], i)", "y = f(key=[j]: x[j])"] {
        assert!(matches!(one(text).kind, InstructionKind::Call(_)), "{text}");
    }
    for text in ["y[i] = f(x[i])", "y = sum(i, x[i])", "y[:] = 2*x[:]"] {
        assert!(matches!(one(text).kind, InstructionKind::Assign(_)), "{text}");
    }
}

#[test]
fn options_are_read() {
    let draft = one("a = 1 {id=x, priority=-3, dup=i->j:k, dep=*p:q*, dep_query=(writes:b and not id:c), nosync=r@local:s, \
                     nosync_query=tag:t@global, groups=g:h, conflicts=k, inames=+i:j, if=a[i, j] > 3:b, tags=t:!u, atomic=init}");
    assert_eq!((draft.id.as_deref(), draft.priority), (Some("x"), -3));
    assert_eq!(draft.duplicate, [("i".into(), Some("j".into())), ("k".into(), None)]);
    assert!(draft.depends_on_is_final);
    let shown: Vec<String> = draft
        .depends_on
        .iter()
        .map(|which| match which {
            Which::Named(glob) => glob.to_string(),
            Which::Query(query) => query.to_string(),
        })
        .collect();
    assert_eq!(shown, ["p", "q*", "writes:b and not id:c"]);
    let scopes: Vec<SyncScope> = draft.nosync.iter().map(|(_, scope)| *scope).collect();
    assert_eq!(scopes, [SyncScope::Local, SyncScope::Any, SyncScope::Global]);
    assert_eq!((&draft.groups, &draft.conflicts, &draft.tags), (&set(&["g", "h"]), &set(&["k"]), &set(&["t", "!u"])));
    assert_eq!(draft.within, Within::Added(set(&["i", "j"])));
    assert_eq!(predicates(&draft), ["b", "a[i, j] > 3"]);
    assert!(matches!(draft.kind, InstructionKind::Assign(Assignment { atomic: Some(Atomicity::Init), .. })));

    let draft = one("a = 1 {dep=p:*, inames=, atomic}");
    assert!(draft.depends_on_is_final && draft.depends_on.len() == 1);
    assert_eq!(draft.within, Within::Final(set(&[])));
    assert!(matches!(draft.kind, InstructionKind::Assign(Assignment { atomic: Some(Atomicity::Update), .. })));
}

#[test]
fn blocks_give_their_options_to_what_is_inside() {
    let parsed = read(
        "for i
            with {id_prefix=w, dep=a, tags=t}
                for j, k
                    x = 1
                end
                y = 2 {dep=b, tags=u, inames=+l}
            end
            z = 3 {inames=m}
        end
        v = 4",
    );
    let [x, y, z, v] = &parsed.drafts[..] else { panic!() };
    assert_eq!(x.within, Within::Final(set(&["i", "j", "k"])));
    assert_eq!((x.id_prefix.as_deref(), x.depends_on.len(), &x.tags), (Some("w"), 1, &set(&["t"])));
    assert_eq!((y.within.clone(), y.depends_on.len(), &y.tags), (Within::Added(set(&["i", "l"])), 2, &set(&["u"])));
    assert_eq!((z.within.clone(), z.id_prefix.clone()), (Within::Final(set(&["m"])), None));
    assert_eq!(v.within, Within::Auto);
}

#[test]
fn parts_of_an_if_exclude_each_other() {
    let parsed = read("if a\n x = 1\n if b > 1\n y = 1\n end\nelif c\n x = 2\nelse\n x = 3\nend\nx = 4 {if=d}");
    let found: Vec<Vec<String>> = parsed.drafts.iter().map(predicates).collect();
    assert_eq!(found, [vec!["a"], vec!["a", "b > 1"], vec!["c", "not a"], vec!["not a", "not c"], vec!["d"]]);
}

#[test]
fn barriers_and_nops_are_read() {
    let parsed = read("... gbarrier {id=a}\n... lbarrier{mem_kind=global}\n... nop\n...lbarrier");
    let kinds: Vec<InstructionKind> = parsed.drafts.iter().map(|draft| draft.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            InstructionKind::Barrier { scope: SyncScope::Global, memory: MemoryKind::Global },
            InstructionKind::Barrier { scope: SyncScope::Local, memory: MemoryKind::Global },
            InstructionKind::Nop,
            InstructionKind::Barrier { scope: SyncScope::Local, memory: MemoryKind::Local },
        ]
    );
}

#[test]
fn substitution_rules_are_read() {
    let parsed = read("f(x, y) := x*y + a[x]\ng := 3\nb = f(1, g())");
    assert_eq!(parsed.substitutions.iter().map(ToString::to_string).collect::<Vec<_>>(), ["f(x, y) := x*y + a[x]", "g := 3"]);
    assert_eq!(parsed.drafts.len(), 1);
}

#[test]
fn patterns_fit_whole_names() {
    use parloop_loop::matching::Glob;
    for (pattern, fits, not) in [
        ("a*b*c", "axxbyyc", "axxbyy"),
        ("*", "", "-"),
        ("a?", "ab", "a"),
        ("insn[12]", "insn2", "insn3"),
        ("x[!a-c]", "xd", "xb"),
        ("[]a]", "]", "b"),
        ("a[b", "a[b", "ab"),
        ("name", "name", "names"),
    ] {
        assert!(Glob::new(pattern).matches(fits), "{pattern} {fits}");
        assert!(not == "-" || !Glob::new(pattern).matches(not), "{pattern} {not}");
    }
    assert!(!Glob::new("*a".repeat(200)).matches(&"a".repeat(150)));
}

#[test]
fn queries_are_read_and_match() {
    for text in [
        "id:a*",
        "not (id:a or tag:b) and iname:i",
        "all",
        "not not in_kernel:k",
        "reads:a or writes:b and id:c",
        "(id:a or id:b) and id:c",
    ] {
        assert_eq!(query(text).unwrap().to_string(), text);
    }
    for (text, error) in [
        ("id:", "line 1, column 4: expected a name or a pattern with `*` and `?`, found the end\n  id:\n     ^"),
        (
            "tags:a",
            "line 1, column 1: queries have no field `tags:` (did you mean `tag:`?); the fields are `id:`, `tag:`, `writes:`, `reads:`, `iname:`, `in_kernel:`\n  tags:a\n  ^^^^",
        ),
        ("id:a id:b", "line 1, column 6: expected `and`, `or` or the end, found `id:b`\n  id:a id:b\n       ^^^^"),
        ("(id:a", "line 1, column 6: expected `)`, found the end\n  (id:a\n       ^"),
        ("foo", "line 1, column 1: expected `not`, `(` or a term such as `id:a*`, found `foo`\n  foo\n  ^^^"),
    ] {
        assert_eq!(query(text).unwrap_err().to_string(), error);
    }
    assert!(query(&"not ".repeat(100_000)).is_err() && query(&"id:a and ".repeat(100_000)).is_err());
}

#[test]
fn mistakes_show_the_line_and_the_place() {
    for (text, error) in [
        ("a = 1\nb[i = 2\n", "line 2, column 2: `[` has no closing `]`\n  b[i = 2\n   ^"),
        ("b = 2)", "line 1, column 6: unmatched `)`\n  b = 2)\n       ^"),
        ("a += 1", "line 1, column 3: `+=` is not supported: write `a = a + b`\n  a += 1\n    ^^"),
        ("a + b", "line 1, column 1: `a + b` is not an instruction: expected `variable = expression`, or a call\n  a + b\n  ^^^^^"),
        (
            "f(x) = 3  # why",
            "line 1, column 1: cannot assign to `f(x)`: the left side must be a variable, an element `a[i]`, a part `[i]: a[i]` or a field `p.x`\n  f(x) = 3  # why\n  ^^^^",
        ),
        (
            "a, b = 3",
            "line 1, column 8: several left sides need a single call, or a single reduction such as `argmax`, on the right side, but `3` is neither\n  a, b = 3\n         ^",
        ),
        ("a = 1 {ids=3}", "line 1, column 8: unknown option `ids` (did you mean `id`?)\n  a = 1 {ids=3}\n         ^^^"),
        (
            "a = 1 {priority=x}",
            "line 1, column 17: option `priority` takes a 32-bit integer, found `x`\n  a = 1 {priority=x}\n                  ^",
        ),
        (
            "a = 1 {mem_kind=local}",
            "line 1, column 8: option `mem_kind` cannot be given here: it applies only to barriers\n  a = 1 {mem_kind=local}\n         ^^^^^^^^",
        ),
        (
            "with {id=a}\nend",
            "line 1, column 7: option `id` cannot be given in a `with` block: it belongs to a single instruction\n  with {id=a}\n        ^^",
        ),
        (
            "f(x) {atomic}",
            "line 1, column 7: option `atomic` cannot be given here: it applies only to an assignment with one left side\n  f(x) {atomic}\n        ^^^^^^",
        ),
        (
            "a = 1 {nosync=b@here}",
            "line 1, column 17: option `nosync` takes `local`, `global` or `any` after `@`, found `here`\n  a = 1 {nosync=b@here}\n                  ^^^^",
        ),
        ("a = 1 {id=b,}", "line 1, column 13: expected an option, found nothing\n  a = 1 {id=b,}\n              ^"),
        ("a = 1 {}", "line 1, column 7: expected an option, found nothing\n  a = 1 {}\n        ^^"),
        (
            "a = 1 {id=b} c",
            "line 1, column 14: expected the end of the line after the options, found `c`\n  a = 1 {id=b} c\n               ^",
        ),
        ("for i\na = 1", "line 1, column 1: `for` has no closing `end`\n  for i\n  ^^^^^"),
        ("for\nend", "line 1, column 4: expected the name of an iname, found the end\n  for\n     ^"),
        ("for i:\nend", "line 1, column 6: expected `,` or the end of the line, found `:`\n  for i:\n       ^"),
        ("end", "line 1, column 1: unmatched `end`\n  end\n  ^^^"),
        ("for i\nelse\nend", "line 2, column 1: `else` needs an `if` block around it, but the innermost block is `for`\n  else\n  ^^^^"),
        (
            "if a\nelse\nelif b\nend",
            "line 3, column 1: `elif` needs an `if` block around it, but the innermost block is `else`\n  elif b\n  ^^^^^^",
        ),
        ("if\nend", "line 1, column 3: expected an expression, found the end\n  if\n    ^"),
        (
            "... gbarier",
            "line 1, column 5: expected `gbarrier`, `lbarrier`, `nop` or `c` after `...` (did you mean `gbarrier`?), found `gbarier`\n  ... gbarier\n      ^^^^^^^",
        ),
        ("f(x) := x\nf := 2", "line 2, column 1: substitution rule `f` already exists\n  f := 2\n  ^"),
        ("f(x, x) := x", "line 1, column 1: parameter `x` already exists\n  f(x, x) := x\n  ^^^^^^^"),
        ("f(x) := x {id=a}", "line 1, column 11: a substitution rule takes no options\n  f(x) := x {id=a}\n            ^^^^^^"),
        (
            "<flaot32> x = 1",
            "line 1, column 2: `flaot32` is not a type (did you mean `float32`?): use a NumPy name such as `float32` or `int64`\n  <flaot32> x = 1\n   ^^^^^^^",
        ),
        ("<float32 x = 1", "line 1, column 10: expected `>`, found `x`\n  <float32 x = 1\n           ^"),
    ] {
        assert_eq!(message(text), error, "{text}");
    }
}

#[test]
fn many_nested_blocks_are_refused() {
    assert!(message(&"for i\n".repeat(1000)).contains("blocks are nested more than 100 levels deep"));
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    let text: String = (0..20_000).map(|i| format!("a{i}[i, j] = 2*b{i}[i + 1, j] + c # line {i}\n")).collect();
    let begin = std::time::Instant::now();
    assert_eq!(read(&text).drafts.len(), 20_000);
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

fn lhs() -> impl Strategy<Value = Expr> {
    prop_oneof![
        name().prop_map(Expr::Variable),
        (name(), any_expr()).prop_map(|(array, index)| Expr::subscript(array, [Expr::int(1), index]))
    ]
}

fn declared() -> impl Strategy<Value = Option<TemporaryType>> {
    prop_oneof![Just(None), Just(Some(TemporaryType::Inferred)), Just(Some(TemporaryType::Given(DType::F32.into())))]
}

fn kind() -> impl Strategy<Value = InstructionKind> {
    let atomic = prop_oneof![Just(None), Just(Some(Atomicity::Update)), Just(Some(Atomicity::Init))];
    let call = || proptest::collection::vec(any_expr(), 0..3).prop_map(|args| Expr::call("f", args));
    let is_part = |expr: &Expr| {
        matches!(expr, Expr::SubArray(_))
            || matches!(expr, Expr::Subscript(_, list) if list.iter().any(|index| matches!(index, Expr::Slice(_))))
    };
    prop_oneof![
        (lhs(), any_expr(), atomic, declared())
            .prop_filter("a call on arrays is not an assignment", move |(_, rhs, ..)| !matches!(rhs, Expr::Call(call) if call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)).any(is_part)))
            .prop_map(|(lhs, rhs, atomic, declares)| InstructionKind::Assign(Assignment { lhs, rhs, atomic, declares })),
        (proptest::collection::vec((lhs(), declared()), 0..4).prop_filter("one is an assignment", |list| list.len() != 1), call()).prop_map(|(left, rhs)| {
            let (lhs, declares) = left.into_iter().unzip();
            InstructionKind::Call(CallInstruction { lhs, rhs, declares })
        }),
        (".{0,20}", proptest::collection::btree_set(name(), 0..3), proptest::collection::vec(lhs(), 0..2), proptest::collection::vec((name(), any_expr()), 0..2))
            .prop_map(|(code, reads, writes, bindings)| InstructionKind::C(CInstruction { code: CCode::new(code, promise()), bindings, reads, writes })),
        (any::<bool>(), any::<bool>()).prop_map(|(global, memory)| InstructionKind::Barrier {
            scope: if global { SyncScope::Global } else { SyncScope::Local },
            memory: if memory { MemoryKind::Global } else { MemoryKind::Local },
        }),
        Just(InstructionKind::Nop),
    ]
}

pub fn any_instruction() -> impl Strategy<Value = Instruction> {
    let names = || proptest::collection::btree_set(name(), 0..3);
    let scope = prop_oneof![Just(SyncScope::Local), Just(SyncScope::Global), Just(SyncScope::Any)];
    let lists =
        (names(), any::<bool>(), proptest::collection::btree_set((name(), scope), 0..2), names(), names(), names(), any::<bool>(), names());
    (name(), kind(), lists, any::<i32>(), proptest::collection::btree_set(any_expr(), 0..2)).prop_map(
        |(
            id,
            kind,
            (depends_on, depends_on_is_final, nosync, groups, conflicts, within_inames, within_inames_is_final, tags),
            priority,
            predicates,
        )| {
            Instruction {
                id,
                kind,
                depends_on,
                depends_on_is_final,
                nosync,
                groups,
                conflicts,
                within_inames,
                within_inames_is_final,
                priority,
                predicates,
                tags,
                origin: Default::default(),
            }
        },
    )
}

proptest! {
    #[test]
    fn any_instruction_reads_back_as_it_was_printed(instruction in any_instruction()) {
        let text = instruction.to_string();
        match instructions_with(&text, Some(promise())) {
            Ok(parsed) => {
                let read: Vec<Option<Instruction>> = parsed.drafts.iter().map(Draft::exact).collect();
                prop_assert_eq!(read, [Some(instruction)], "printed as {}", text);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in proptest::collection::vec(prop_oneof![
        "[a-c0-9.()\\[\\]{}:,<>=+* \n'\"#@-]{0,8}", Just("for i\n".to_owned()), Just("end\n".to_owned()), Just("if a\n".to_owned()),
        Just("else\n".to_owned()), Just("a = b {id=c, dep=*d:e, if=f}\n".to_owned()), Just("... c {reads=a}".to_owned()), Just("f(x) := ".to_owned()),
        Just("<>".to_owned()), Just("é".to_owned()), Just("\"\"\"".to_owned()),
    ], 0..8)) {
        if let Ok(parsed) = instructions_with(&text.concat(), Some(promise())) {
            for draft in parsed.drafts {
                let mut instruction = Instruction::bare("x", draft.kind);
                instruction.predicates = draft.predicates;
                let printed = instruction.to_string();
                let read: Vec<Option<Instruction>> = instructions_with(&printed, Some(promise())).unwrap_or_else(|error| panic!("{error}")).drafts.iter().map(Draft::exact).collect();
                prop_assert_eq!(read, [Some(instruction)], "printed as {}", printed);
            }
        }
    }
}

fn promise() -> TrustedC {
    // SAFETY: the code is not run.
    unsafe { TrustedC::promise() }
}

#[test]
fn c_instructions_need_a_promise() {
    let text = "a = 1\n... c {reads=a, writes=b} \"\"\"b = a;\"\"\"";
    let message = "line 2, column 1: expected no C code, which only trusted text may have (see `LoopFile::parse_trusted` and \
        `KernelBuilder::trusted_c`), found `... c`\n  ... c {reads=a, writes=b} \"\"\"b = a;\"\"\"\n  ^^^^^";
    assert_eq!(instructions(text).unwrap_err().to_string(), message);
    let builder = || KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions(text).rest();
    assert!(builder().build().unwrap_err().to_string().ends_with(message));
    builder().trusted_c(promise()).build().unwrap();
    assert_eq!(instructions_with(text, Some(promise())).unwrap().drafts.len(), 2);
}

#[test]
fn c_instructions_print_and_read() {
    let code = CInstruction {
        code: CCode::new("x = \"a\\n\";\n  # y(\n\"\"\"", promise()),
        bindings: vec![(
            "x".into(),
            Expr::SubArray(Arc::new(parloop_loop::syntax::SubArray { inames: vec![], array: "a".into(), indices: vec![Expr::int(0)] })),
        )],
        reads: set(&["a"]),
        writes: vec![Expr::subscript("b", [Expr::var("i"), Expr::int(2)])],
    };
    let instruction = Instruction::bare("c", InstructionKind::C(code));
    let text = instruction.to_string();
    assert!(text.starts_with("... c {id=c, reads=a, writes=b[i, 2], bind=x->([]: a[0])} \"\"\"x = \\\"a"), "{text}");
    assert_eq!(one(&text).exact(), Some(instruction));
}
