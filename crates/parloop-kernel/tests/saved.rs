//! Programs saved to files and loaded again, on every device.

mod devices;

use std::path::{Path, PathBuf};

use devices::{devices, on_every_device};
use parloop_device::{DType, DeviceKind};
use parloop_kernel::{
    Arg, CompileOptions, Context, DescribedParam, Grid, KernelDescription, KernelError, Origin, Program, SavedProgram, Scalar, Source, args,
};

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

fn load(ctx: &Context, path: &Path) -> Result<Program, KernelError> {
    // SAFETY: these tests wrote the file, and a damaged one is refused.
    unsafe { ctx.load(path) }
}

const SOURCE: &str = "
typedef GPUGLMEM struct Cells_s *Cells;
GPUFUN GPUGLMEM double *Cells_getp(Cells c, int64_t i) {
#ifdef PARLOOP_CHECKED
    if (!PARLOOP_CHECK(i >= 0 && i < 4, 0, i, 4)) return (GPUGLMEM double *)c;
#endif
    return (GPUGLMEM double *)c + i;
}
GPUKERN void scale(Cells c, const double by, const int64_t n) {
    VECTORIZE_OVER(i, 2 * n - n)
        *Cells_getp(c, i) *= by;
    END_VECTORIZE
}
GPUKERN void main(GPUGLMEM int32_t *x, const int32_t value) { x[0] = value; }
GPUKERN void count(GPUGLMEM int32_t *hits) { atomicAdd(&hits[0], 1); }
";

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.prog");
    (folder, path)
}

fn compile(ctx: &Context, checked: bool) -> Program {
    let objects = vec![
        DescribedParam { name: Some("cells".into()), class: Some("Cells".into()), ..Default::default() },
        DescribedParam { dtype: Some(DType::F64), ..Default::default() },
        DescribedParam::default(),
    ];
    let mut kernels = vec![
        KernelDescription { name: "grow".into(), c_name: Some("scale".into()), params: Some(objects), ..Default::default() },
        KernelDescription { name: "count".into(), grid: Grid::Items(3), block: Some(1), ..Default::default() },
    ];
    if ctx.device().kind() == DeviceKind::Cpu {
        kernels.push(KernelDescription { name: "place".into(), c_name: Some("Cells_getp".into()), ..Default::default() });
    }
    let (classes, check_sites) = (vec!["Cells".into()], vec!["Cells.values".into()]);
    let options = CompileOptions { kernels, classes, checked, check_sites, ..Default::default() };
    compile_sources(ctx, &[Source::text(SOURCE)], &options).unwrap()
}

fn object(array: &parloop_kernel::Array<f64>) -> Arg<'_> {
    Arg::Object { memory: array.memory(), offset: 0, class: "Cells", writable: true }
}

#[test]
fn a_loaded_program_does_what_the_saved_one_did() {
    on_every_device(|ctx| {
        let (_folder, path) = file();
        let saved = compile(ctx, false);
        saved.save(&path).unwrap();
        let loaded = load(ctx, &path).unwrap();
        assert_eq!((loaded.origin(), loaded.source()), (Origin::File, ""));
        let list = |prog: &Program| prog.kernels().map(|(name, kernel)| (name.to_owned(), kernel.signature().clone())).collect::<Vec<_>>();
        assert_eq!(list(&loaded), list(&saved));
        for prog in [&saved, &loaded] {
            let cells = ctx.array(&[1.0, 2.0, 3.0, 4.0]).unwrap();
            prog.kernel("grow").unwrap().call(&mut [object(&cells), Arg::from(10.0), Arg::from(3)]).unwrap();
            assert_eq!(cells.to_vec().unwrap(), [10.0, 20.0, 30.0, 4.0]);
            let mut x = vec![0i32];
            prog.kernel("main").unwrap().call(args![&mut x, 42]).unwrap();
            assert_eq!(x, [42]);
            let mut hits = vec![0i32];
            prog.kernel("count").unwrap().call(args![&mut hits]).unwrap();
            assert_eq!(hits, [if ctx.device().kind() == DeviceKind::Cpu { 1 } else { 3 }]);
            if let Ok(place) = prog.kernel("place") {
                let address = place.call(&mut [object(&cells), Arg::from(2)]).unwrap();
                assert_eq!(address, Some(Scalar::Address(cells.memory().handle() + 16)));
            }
            let wrong = prog.kernel("grow").unwrap().call(args![1.0, 2.0, 3]).unwrap_err().to_string();
            assert_eq!(
                wrong,
                "argument `cells` of kernel `scale` is declared `Cells`, but the number 1.0 was given; pass an object of that class"
            );
        }
        let again = SavedProgram::from_bytes(&std::fs::read(&path).unwrap(), &path).unwrap();
        assert_eq!(again.kind(), ctx.device().kind());
        assert!(again.names().any(|name| name == "grow"));
    });
}

#[test]
fn a_loaded_program_can_be_described_and_saved_again() {
    on_every_device(|ctx| {
        let (_folder, path) = file();
        compile(ctx, false).save(&path).unwrap();
        let loaded = load(ctx, &path).unwrap();
        let value = DescribedParam { name: Some("number".into()), dtype: Some(DType::I32), ..Default::default() };
        let described = KernelDescription {
            name: "store".into(),
            c_name: Some("main".into()),
            params: Some(vec![DescribedParam { pointer: true, ..Default::default() }, value.clone()]),
            ..Default::default()
        };
        let again = loaded.describe(std::slice::from_ref(&described)).unwrap();
        assert_eq!(again.kernel("store").unwrap().signature().params_text(), "(int32_t * x, int32_t number)");
        assert!(loaded.kernel("store").is_err() && again.kernel("grow").is_ok());
        let mut x = vec![0i32];
        again.kernel("store").unwrap().call(args![&mut x, 7]).unwrap();
        assert_eq!(x, [7]);
        again.save(&path).unwrap();
        assert!(load(ctx, &path).unwrap().kernel("store").is_ok());
        let wrong = KernelDescription { params: Some(vec![value.clone(), value]), ..described.clone() };
        assert_eq!(
            loaded.describe(&[wrong]).unwrap_err().to_string(),
            "kernel `store` was described with argument 1 as `int32_t`, but its source says `void main(int32_t * x, int32_t value)` (line 14)"
        );
        let nothing = KernelDescription { c_name: Some("nothing".into()), ..described };
        assert!(matches!(loaded.describe(&[nothing]), Err(KernelError::NoSuchKernel { .. })));
    });
}

#[test]
fn a_checked_program_is_checked_after_loading() {
    on_every_device(|ctx| {
        let (_folder, path) = file();
        compile(ctx, true).save(&path).unwrap();
        let loaded = load(ctx, &path).unwrap();
        let cells = ctx.array(&[1.0; 8]).unwrap();
        let scale = loaded.kernel("scale").unwrap();
        scale.call(&mut [object(&cells), Arg::from(2.0), Arg::from(4)]).unwrap();
        let error = scale.call(&mut [object(&cells), Arg::from(2.0), Arg::from(5)]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `scale`: index 4 is outside 0..4 of Cells.values");
    });
}

#[test]
fn a_program_for_one_kind_of_device_is_refused_by_the_others() {
    let (_folder, path) = file();
    for from in devices() {
        compile(&Context::on(from.default_stream().unwrap()), false).save(&path).unwrap();
        for to in devices() {
            let loaded = load(&Context::on(to.default_stream().unwrap()), &path);
            // Two OpenCL devices may have different drivers.
            if from.kind() == to.kind() && (from.kind() != DeviceKind::OpenCl || from.same(&to)) {
                assert!(loaded.is_ok(), "{loaded:?}");
                continue;
            }
            let error = loaded.unwrap_err();
            assert!(matches!(&error, KernelError::OtherTarget { device, .. } if *device == to.id().to_string()), "{error}");
            let words = format!("program file {} is for {} ", path.display(), from.kind());
            assert!(error.to_string().starts_with(&words), "{error}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_or_written_are_told() {
    let ctx = Context::open("cpu:1").unwrap();
    let (folder, path) = file();
    let error = load(&ctx, &path).unwrap_err();
    let words = format!("program file {} could not be read: No such file or directory (os error 2)", path.display());
    assert_eq!(error.to_string(), words);
    let nowhere = folder.path().join("no").join("a.prog");
    let error = compile(&ctx, false).save(&nowhere).unwrap_err();
    let words =
        format!("program file {} could not be saved: folder {} does not exist", nowhere.display(), folder.path().join("no").display());
    assert_eq!(error.to_string(), words);
    std::fs::write(&path, "text").unwrap();
    assert_eq!(load(&ctx, &path).unwrap_err().to_string(), format!("{} is not a program that parloop saved", path.display()));
    compile(&ctx, false).save(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let words = format!("program file {} is damaged: its content does not match its checksum; save the program again", path.display());
    assert_eq!(load(&ctx, &path).unwrap_err().to_string(), words);
}

#[test]
fn saving_replaces_a_file_and_leaves_nothing_else() {
    let ctx = Context::open("cpu:1").unwrap();
    let (folder, path) = file();
    std::fs::write(&path, "old").unwrap();
    compile(&ctx, false).save(&path).unwrap();
    assert!(load(&ctx, &path).is_ok());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_another_user_could_have_written_is_refused() {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let ctx = Context::open("cpu:1").unwrap();
    let (folder, _) = file();
    let (outer, inner) = (folder.path().join("outer"), folder.path().join("outer").join("inner"));
    create_dir(&outer).unwrap();
    create_dir(&inner).unwrap();
    let path = inner.join("a.prog");
    compile(&ctx, false).save(&path).unwrap();
    assert!(load(&ctx, &path).is_ok());
    let refused = |path: &Path| load(&ctx, path).unwrap_err().to_string();
    let words = |path: &Path, reason: String| format!("program file {} could not be trusted: {reason}", path.display());
    let by_others = "is writable by other users; run `chmod go-w` on it";
    let mode = |path: &Path, mode: u32| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for open in [0o666, 0o664] {
        mode(&path, open);
        assert_eq!(refused(&path), words(&path, format!("it {by_others}")));
    }
    mode(&path, 0o644);
    for wrong in [&outer, &inner] {
        mode(wrong, 0o777);
        assert_eq!(refused(&path), words(&path, format!("{} {by_others}", wrong.canonicalize().unwrap().display())));
        mode(wrong, 0o755);
    }
    // Others cannot rename what is ours in a sticky folder.
    mode(&outer, 0o1777);
    assert!(load(&ctx, &path).is_ok());
    // A link is as good as what it leads to.
    let link = folder.path().join("link.prog");
    symlink(&path, &link).unwrap();
    assert!(load(&ctx, &link).is_ok());
    mode(&path, 0o646);
    assert_eq!(refused(&link), words(&link, format!("it {by_others}")));
    mode(&path, 0o644);
    if chown(&path, Some(12345), None).is_err() {
        println!("skipped: only root can give a file away");
        return;
    }
    assert_eq!(refused(&path), words(&path, "it belongs to user 12345, not to this one".to_owned()));
    chown(&path, Some(0), None).unwrap();
    chown(&outer, Some(12345), None).unwrap();
    let outer = outer.canonicalize().unwrap();
    assert_eq!(refused(&path), words(&path, format!("{} belongs to user 12345, not to this one", outer.display())));
}

#[test]
#[ignore = "runs with a umask of its own"]
fn saved_and_loaded() {
    let ctx = Context::open("cpu:1").unwrap();
    let (folder, path) = file();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    compile(&ctx, false).save(&path).unwrap();
    load(&ctx, &path).unwrap();
}

#[test]
fn what_is_saved_can_be_loaded_whatever_the_umask() {
    let test = std::env::current_exe().unwrap();
    let command = "umask 0; exec \"$0\" --exact saved_and_loaded --ignored";
    let output = std::process::Command::new("sh").args(["-c", command]).arg(test).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
