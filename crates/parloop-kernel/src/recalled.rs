//! What reading large sources gave, kept in the compile cache: a program whose sources and headers did not change is not read again.
//!
//! Reading depends on the sources, the options, the code that reads, and on files. All but the files make the key of an entry; what was
//! asked about files is in the entry, and it counts only where the file system still gives the same answers. Mistakes are not kept.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parloop_device::DeviceKind;

use crate::cache::{Cache, Key};
use crate::codec::{Reader, Writer};
use crate::description::KernelDescription;
use crate::error::Result;
use crate::files::Files;
use crate::options::{CompileOptions, checked_by_environment};
use crate::prepare::{Helper, Prepared};
use crate::source::Source;
use crate::unread::folders_of_environment;

/// The code that reads sources.
const READER: &str = env!("PARLOOP_READER");
/// Changes with what an entry holds.
const FORMAT: u64 = 2;
/// Texts with fewer bytes than this are read faster than they are found on disk.
const LARGE: usize = 1 << 16;

/// The program of these sources for a target, read or recalled.
pub(crate) fn prepare(sources: &[Source], options: &CompileOptions, target: DeviceKind, cache: &Cache) -> Result<Prepared> {
    let hooked: Vec<Source>;
    let sources = match &options.source_hook {
        Some(hook) => {
            hooked = sources.iter().cloned().map(|source| source.map_text(|text| hook(text))).collect();
            &hooked
        }
        None => sources,
    };
    checked_by_environment()?;
    let key = may_be_large(sources).then(|| key(sources, options, target)).flatten();
    if let Some(known) = key.and_then(|key| cache.get(key)).and_then(|entry| decode(&entry)) {
        return Ok(known);
    }
    let files = Files::default();
    let prepared = Prepared::new(sources, options, target, &files)?;
    if let Some(key) = key.filter(|_| prepared.source.len() >= LARGE && !prepared.reads_files) {
        cache.put(key, encode(&prepared, &files));
    }
    Ok(prepared)
}

/// Whether the text may be large once the headers are in place.
fn may_be_large(sources: &[Source]) -> bool {
    sources.iter().map(|source| source.content().len()).sum::<usize>() >= LARGE
        || sources.iter().any(|source| source.content().contains("include"))
}

/// All that reading depends on but files. `None` where relative paths lead nowhere.
fn key(sources: &[Source], options: &CompileOptions, target: DeviceKind) -> Option<Key> {
    let CompileOptions {
        language,
        include_folders,
        arguments,
        kernels,
        classes,
        checked,
        guarded,
        check_sites: _,
        source_hook: _,
        save_source_as: _,
    } = options;
    let mut out = Writer::default();
    out.text(target.name());
    out.text(&format!("{language:?}"));
    out.byte(u8::from(*checked));
    out.byte(u8::from(*guarded));
    let path = |out: &mut Writer, path: &Path| out.bytes(path.as_os_str().as_bytes());
    path(&mut out, &std::env::current_dir().ok()?);
    out.list(include_folders, |out, folder| path(out, folder));
    out.list(&folders_of_environment(), |out, folder: &PathBuf| path(out, folder));
    out.list(arguments, |out, argument| out.text(argument));
    out.list(classes, |out, class| out.text(class));
    out.list(kernels, |out, kernel: &KernelDescription| out.text(kernel.c_name()));
    out.list(sources, |out, source| {
        out.text(source.name());
        out.list(source.folder().as_slice(), |out, folder| path(out, folder));
        out.byte(u8::from(source.is_api()));
        out.text(source.content());
    });
    Some(Key::of(&[b"reading", READER.as_bytes(), &FORMAT.to_le_bytes(), &out.0]))
}

fn encode(prepared: &Prepared, files: &Files) -> Vec<u8> {
    let Prepared { functions, helpers, is_recorded, source, arguments, reads_files: _, takes_declarations } = prepared;
    let mut out = Writer::default();
    files.write(&mut out);
    out.list(functions, |out, function| out.signature(function));
    out.list(helpers, |out, helper| {
        out.text(&helper.name);
        out.byte(u8::from(helper.is_kernel));
        out.list(helper.refused.as_slice(), |out, reason| out.text(reason));
    });
    out.byte(u8::from(*is_recorded));
    out.byte(u8::from(*takes_declarations));
    out.list(arguments, |out, argument| out.text(argument));
    out.text(source);
    out.0
}

/// `None` where files changed, or where the entry is not one of ours.
fn decode(entry: &[u8]) -> Option<Prepared> {
    let mut input = Reader(entry);
    let files = Files::read(&mut input)?;
    if !files.still_hold() {
        return None;
    }
    let functions = input.list(Reader::signature)?;
    let helpers =
        input.list(|input| Some(Helper { name: input.text()?, is_kernel: input.flag()?, refused: input.option(Reader::text)? }))?;
    let (is_recorded, takes_declarations) = (input.flag()?, input.flag()?);
    let (arguments, source) = (input.list(Reader::text)?, input.text()?);
    input.0.is_empty().then_some(Prepared { functions, helpers, is_recorded, source, arguments, reads_files: false, takes_declarations })
}

#[cfg(test)]
mod tests {
    use parloop_device::Language;
    use proptest::prelude::*;

    use super::*;

    /// A folder for headers, and one with a cache.
    fn places() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache"), 1 << 26);
        (folder, cache)
    }

    /// A large text with functions of every kind.
    fn large(extra: &str) -> Source {
        let helpers: String =
            (0..1200).map(|at| format!("GPUFUN double helper_{at}(struct odd x[{at}], const double y) {{ return y; }}\n")).collect();
        let kernels = "GPUKERN void k(const double *x, double *y, int64_t n) { VECTORIZE_OVER(i, n) y[i] = 2 * x[i]; END_VECTORIZE }\n\
                       int plain(int a, char *b) { return a; }\n#ifdef FAST\nint fast(int a) { return a; }\n#endif\n";
        Source::text(format!("{helpers}{kernels}{extra}\n"))
    }

    fn shown(prepared: &Prepared) -> String {
        let Prepared { functions, helpers, is_recorded, source, arguments, reads_files, takes_declarations } = prepared;
        format!("{functions:?} {helpers:?} {is_recorded} {source} {arguments:?} {reads_files} {takes_declarations}")
    }

    fn entries(cache: &Cache) -> usize {
        cache.info().entries
    }

    #[test]
    fn what_is_recalled_is_what_was_read() {
        for target in DeviceKind::ALL {
            let (_folder, cache) = places();
            let sources = [large(""), Source::named("api.h", "double of_api(double x) { return x; }").api()];
            let described = KernelDescription { name: "helper_3".into(), ..Default::default() };
            for options in [
                CompileOptions::default(),
                CompileOptions { arguments: vec!["-DFAST".into(), "-USLOW".into()], ..Default::default() },
                CompileOptions { kernels: vec![KernelDescription { name: "of_api".into(), ..Default::default() }], ..Default::default() },
            ] {
                let [first, second] = [(); 2].map(|()| shown(&prepare(&sources, &options, target, &cache).unwrap()));
                assert_eq!(first, second);
                assert_eq!(first, shown(&Prepared::new(&sources, &options, target, &Files::default()).unwrap()));
            }
            assert_eq!(entries(&cache), 3);
            // What reading refuses is refused again, in the same words.
            let options = CompileOptions { kernels: vec![described], ..Default::default() };
            let refused = [(); 2].map(|()| prepare(&sources, &options, target, &cache).err().map(|error| error.to_string()));
            assert_eq!(refused[0], refused[1]);
        }
    }

    #[test]
    fn a_mistake_is_told_each_time_and_nothing_is_kept() {
        let (_folder, cache) = places();
        let sources = [large("GPUKERN void bad(double *x) { VECTORIZE_OVER(i, 3) x[i] = 1; }")];
        let refused = || prepare(&sources, &CompileOptions::default(), DeviceKind::Cuda, &cache).err().unwrap().to_string();
        let (first, second) = (refused(), refused());
        assert!(first.starts_with("<source>:"), "{first}");
        assert_eq!(first, second);
        assert_eq!(entries(&cache), 0);
    }

    #[test]
    fn other_options_are_read_anew() {
        let (folder, cache) = places();
        let base = CompileOptions::default();
        let described = |name: &str| vec![KernelDescription { name: name.into(), ..Default::default() }];
        let others = [
            CompileOptions { language: Language::Cpp, ..base.clone() },
            CompileOptions { include_folders: vec![folder.path().to_owned()], ..base.clone() },
            CompileOptions { arguments: vec!["-DFAST".into()], ..base.clone() },
            CompileOptions { kernels: described("helper_1"), ..base.clone() },
            CompileOptions { classes: vec!["Cells".into()], ..base.clone() },
            CompileOptions { checked: !base.checked, ..base.clone() },
            CompileOptions { guarded: !base.guarded, ..base.clone() },
        ];
        let sources = [large("")];
        let first = key(&sources, &base, DeviceKind::Cpu);
        for other in &others {
            assert_ne!(key(&sources, other, DeviceKind::Cpu), first, "{other:?}");
        }
        assert_ne!(key(&sources, &base, DeviceKind::Cuda), first);
        assert_ne!(key(&[large("").api()], &base, DeviceKind::Cpu), first);
        assert_ne!(key(&[large(" ")], &base, DeviceKind::Cpu), first);
        assert_ne!(key(&[Source::named("other", large("").content())], &base, DeviceKind::Cpu), first);
        assert_eq!(key(&sources, &CompileOptions { check_sites: vec!["x".into()], ..base }, DeviceKind::Cpu), first);
        assert_eq!(entries(&cache), 0);
    }

    #[test]
    fn a_header_that_changes_appears_or_goes_is_read_anew() {
        let (folder, cache) = places();
        let [near, far] = ["near", "far"].map(|name| folder.path().join(name));
        std::fs::create_dir(&near).unwrap();
        std::fs::create_dir(&far).unwrap();
        let options = CompileOptions { include_folders: vec![near.clone(), far.clone()], ..Default::default() };
        let sources = [large("#include \"value.h\"")];
        let read = || prepare(&sources, &options, DeviceKind::Cpu, &cache).unwrap();
        let has = |prepared: &Prepared, name: &str| prepared.functions.iter().any(|function| function.name == name);
        std::fs::write(far.join("value.h"), "int one(int a) { return a; }\n").unwrap();
        assert!(has(&read(), "one") && has(&read(), "one"));
        std::fs::write(far.join("value.h"), "int two(int a) { return a; }\n").unwrap();
        assert!(has(&read(), "two") && !has(&read(), "one"));
        std::fs::write(near.join("value.h"), "int nearer(int a) { return a; }\n").unwrap();
        assert!(has(&read(), "nearer") && !has(&read(), "two"));
        std::fs::remove_file(near.join("value.h")).unwrap();
        assert!(has(&read(), "two"));
        assert_eq!(entries(&cache), 1);
    }

    #[test]
    fn small_sources_are_not_kept() {
        let (_folder, cache) = places();
        prepare(&[Source::text("#include <math.h>\nGPUKERN void k(double *x) { }")], &CompileOptions::default(), DeviceKind::Cpu, &cache)
            .unwrap();
        assert_eq!(entries(&cache), 0);
    }

    #[test]
    fn damaged_entries_are_read_anew() {
        let (_folder, cache) = places();
        let (sources, options) = ([large("")], CompileOptions::default());
        let read = || shown(&prepare(&sources, &options, DeviceKind::Cpu, &cache).unwrap());
        let first = read();
        let place = cache.info().folder.unwrap();
        let entry = || {
            std::fs::read_dir(&place).unwrap().flatten().map(|file| file.path()).find(|path| path.extension().is_some_and(|e| e == "bin"))
        };
        let path = entry().unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut altered = whole.clone();
        altered[whole.len() / 2] ^= 1;
        for damaged in [&altered[..], &whole[..whole.len() / 2], &[]] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read(), first);
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        // One that is whole, but holds something else.
        cache.put(key(&sources, &options, DeviceKind::Cpu).unwrap(), b"something else".to_vec());
        assert_eq!(read(), first);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_without_a_panic(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }

        #[test]
        fn changed_entries_are_decoded_without_a_panic(at: prop::sample::Index, value: u8, cut: prop::sample::Index) {
            let source = Source::text("GPUKERN void k(double *x, int n) { VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE } static int f(struct s x) { }");
            let files = Files::default();
            files.is_file(Path::new("nowhere"));
            let mut bytes = encode(&Prepared::new(&[source], &CompileOptions::default(), DeviceKind::Cpu, &files).unwrap(), &files);
            prop_assert!(decode(&bytes).is_some());
            let place = at.index(bytes.len());
            bytes[place] = value;
            let _ = decode(&bytes);
            let _ = decode(&bytes[..cut.index(bytes.len())]);
        }
    }
}
