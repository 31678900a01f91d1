//! Without libisl: what needs no solver works, and other errors say how to get it. A separate process, since a library stays open.

use parloop_isl::{IslError, Set};

#[test]
fn a_missing_library_is_an_error_that_says_where_to_get_it() {
    // SAFETY: no other thread of this process runs yet.
    unsafe { std::env::set_var("PARLOOP_ISL", "/nowhere/libisl.so") };
    let loops = Set::parse("{[i, j]: 0 <= i < n and 0 <= j <= i}").unwrap();
    assert_eq!(loops.project_out(&["j".into()]).unwrap().to_string(), "[n] -> { [i] : i < n and i >= 0 }");
    assert!(!loops.is_empty().unwrap());
    let tiles = Set::parse("{[o, i]: 0 <= i < 16 and 0 <= 16*o + i < n}").unwrap();
    assert_eq!(tiles.project_out(&["i".into()]).unwrap().to_string(), "[n] -> { [o] : 16*o < n and o >= 0 }");
    assert_eq!(tiles.project_out(&["o".into()]).unwrap().to_string(), "[n] -> { [i] : i <= 15 and i < n and i >= 0 }");
    assert_eq!(tiles.static_max("o", &Set::universe(&[], &[])).unwrap().to_string(), "floor((n + 15)/16) - 1");
    assert_eq!(
        tiles.gist(&Set::parse("{[i]: 0 <= i < 16}").unwrap()).unwrap().to_string(),
        "[n] -> { [o, i] : i + 16*o < n and i + 16*o >= 0 }"
    );
    let groups = Set::parse("{[o, i]: 0 <= i < 16 and 16*o + i < n and 0 <= o < floor((n + 15)/16)}").unwrap();
    let context = Set::parse("{[o]: 0 <= o < floor((n + 15)/16)}").unwrap();
    assert_eq!(groups.gist(&context).unwrap().to_string(), "[n] -> { [o, i] : i <= 15 and i + 16*o < n and i >= 0 }");
    let error = loops.is_bounded().unwrap_err();
    let IslError::Missing { reason } = &error else { panic!("{error}") };
    assert!(reason.starts_with("PARLOOP_ISL is `/nowhere/libisl.so`, but "), "{reason}");
    assert!(error.to_string().ends_with("; install Debian's libisl23 or PyPI's islpy, or name the file in PARLOOP_ISL"), "{error}");
}
