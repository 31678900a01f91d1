//! The C functions of object types: their text, that every compiler takes it, and what they do to bytes laid by hand.

mod behaviour;
mod lay;
mod probe;
mod random;
mod samples;

use std::path::PathBuf;

use probe::{contexts, strict};
use samples::{all, apis, source};

/// The text in `tests/capi/<name>.h`; `PARLOOP_BLESS=1` writes it anew.
fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/capi").join(format!("{name}.h"));
    if std::env::var_os("PARLOOP_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{} differs; PARLOOP_BLESS=1 writes it anew. It is:\n{text}", path.display());
}

#[test]
fn the_text_of_every_class_is_the_reviewed_one() {
    for class in all() {
        let name = class.name().to_lowercase();
        assert_golden(&name, &source(&apis(&[class], false)));
    }
    assert_golden("refs_checked", &source(&apis(&[samples::refs(), samples::mesh(), samples::line()], true)));
}

#[test]
fn every_device_compiles_every_class_checked_or_not_and_twice() {
    let unchecked = source(&apis(&all(), false));
    let checked = format!("#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n{}", source(&apis(&all(), true)));
    let twice = format!("{unchecked}{}", apis(&all(), false).iter().map(|api| api.source.clone()).collect::<String>());
    for ctx in contexts() {
        for text in [&unchecked, &checked, &twice] {
            let text = format!("{text}GPUKERN void last(GPUGLMEM int64_t *x) {{ x[0] = 1; }}\n");
            let compiled = ctx.compile_with(&[parloop_kernel::Source::text(&text)], &strict(&ctx));
            assert!(compiled.is_ok(), "on {ctx:?}: {}", compiled.unwrap_err());
        }
    }
}
