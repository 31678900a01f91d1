//! The C functions of object types: their text, that every compiler takes it, and what they do to bytes laid by hand.

mod samples;

use std::path::PathBuf;

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
