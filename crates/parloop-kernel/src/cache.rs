//! The compile cache: binaries on disk, keyed by a hash of everything that determines them. It can be trusted (owner, mode and content are
//! checked), shared by processes (entries appear whole or not at all) and lost (without a folder it lives in memory).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parloop_device::forked::{ClosedInChild, Guard, Lock};
use parloop_device::once::Once;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use crate::trust::{self, Owner};

/// The hash of all that decides a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(blake3::Hash);

impl Key {
    /// A key from parts; the parts are delimited.
    pub fn of(parts: &[&[u8]]) -> Key {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(hasher.finalize())
    }

    fn file_name(&self) -> String {
        format!("{}.bin", self.0.to_hex())
    }
}

/// What `parloop cache info` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheInfo {
    /// The folder, or why there is none.
    pub folder: Result<PathBuf, String>,
    /// Entries in it: compiled kernels, what was read of large sources, and plans that were found by timing.
    pub entries: usize,
    /// Their size together.
    pub bytes: u64,
    /// The oldest entries are removed beyond this size.
    pub limit: u64,
}

/// A cache of compiled kernels.
#[derive(Debug)]
pub struct Cache {
    folder: Result<PathBuf, String>,
    limit: u64,
    /// Bytes that were stored since the folder was last listed.
    unlisted: AtomicU64,
    /// Binaries that could not be put on disk.
    in_memory: Lock<HashMap<Key, Arc<Vec<u8>>>>,
    /// One lock for each key that is being compiled.
    in_work: Lock<HashMap<Key, Arc<Lock<()>>>>,
}

/// Where a binary came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Origin {
    Disk,
    Memory,
    Compiled,
    /// Saved by [`Program::save`](crate::Program::save).
    File,
}

const DEFAULT_LIMIT: u64 = 1 << 30;
/// The folder is listed after this part of its limit was stored, and for one key in as many.
const PARTS: u64 = 64;

impl Cache {
    /// The user's cache: the folder `parloop` in `$PARLOOP_CACHE_DIR`, else in `$XDG_CACHE_HOME`, else in `~/.cache`.
    pub fn user() -> &'static Cache {
        static USER: Once<Cache> = Once::new();
        USER.get_or_init(|| match user_folder() {
            Ok(folder) => Cache::at(folder, DEFAULT_LIMIT),
            Err(reason) => Cache::without_folder(reason),
        })
    }

    /// A cache in that folder, which is made if needed; about `limit` bytes are kept, as the folder is listed now and then. Only files with
    /// the names of cache entries are ever changed or removed, and the mode of a folder that exists is not changed.
    pub fn at(folder: impl Into<PathBuf>, limit: u64) -> Cache {
        let folder = folder.into();
        match prepare(&folder) {
            Ok(()) => Cache::new(Ok(folder), limit),
            Err(reason) => Cache::without_folder(reason),
        }
    }

    fn without_folder(reason: String) -> Cache {
        Cache::new(Err(reason), DEFAULT_LIMIT)
    }

    fn new(folder: Result<PathBuf, String>, limit: u64) -> Cache {
        Cache { folder, limit, unlisted: AtomicU64::new(0), in_memory: Lock::default(), in_work: Lock::default() }
    }

    /// The binary under `key`; `make` is called when there is none, by one thread of one process at a time for each key.
    ///
    /// # Errors
    /// Those of `make`; a failure of the folder is not an error.
    pub fn get_or_make<E>(&self, key: Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<(Arc<Vec<u8>>, Origin), E> {
        if let Some(found) = self.look_up(key) {
            return Ok(found);
        }
        let own = lock(&self.in_work).entry(key).or_default().clone();
        let _others_wait = own.lock_or(|| ());
        let _other_processes_wait = self.lock_file(key);
        let result = match self.look_up(key) {
            Some(found) => Ok(found),
            None => make().map(|bytes| {
                let bytes = Arc::new(bytes);
                if self.store(key, &bytes).is_err() {
                    lock(&self.in_memory).insert(key, bytes.clone());
                }
                (bytes, Origin::Compiled)
            }),
        };
        lock(&self.in_work).remove(&key);
        result
    }

    /// What is under `key`, if anything is.
    pub fn get(&self, key: Key) -> Option<Arc<Vec<u8>>> {
        self.look_up(key).map(|(bytes, _)| bytes)
    }

    /// Puts bytes under `key`, replacing any entry; without a folder they are kept in memory. It takes no lock: entries are written
    /// atomically.
    pub fn put(&self, key: Key, bytes: Vec<u8>) {
        if self.store(key, &bytes).is_err() {
            lock(&self.in_memory).insert(key, Arc::new(bytes));
        }
    }

    fn look_up(&self, key: Key) -> Option<(Arc<Vec<u8>>, Origin)> {
        if let Some(bytes) = lock(&self.in_memory).get(&key) {
            return Some((bytes.clone(), Origin::Memory));
        }
        let path = self.folder.as_ref().ok()?.join(key.file_name());
        match read_entry(&path, key) {
            Ok(bytes) => Some((Arc::new(bytes), Origin::Disk)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                // Damaged or untrusted: it is rebuilt and replaced.
                let _ = fs::remove_file(&path);
                None
            }
            Err(_) => None,
        }
    }

    fn store(&self, key: Key, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder.as_ref().map_err(|reason| io::Error::other(reason.clone()))?;
        let mut entry = tempfile::Builder::new().prefix(UNFINISHED).suffix(OURS).rand_bytes(RANDOM).tempfile_in(folder)?;
        entry.write_all(bytes)?;
        entry.write_all(trailer(key, bytes).as_slice())?;
        entry.persist(folder.join(key.file_name())).map_err(|e| e.error)?;
        if self.may_be_too_large(key, bytes.len() as u64) {
            self.shrink();
        }
        Ok(())
    }

    /// Whether to list the folder after an entry was stored. For ten thousand entries that takes half as long as compiling a small kernel, so
    /// it is done when this process has stored a small part of the limit, and, as many processes store less than that, for one key in 64.
    fn may_be_too_large(&self, key: Key, stored: u64) -> bool {
        let unlisted = self.unlisted.fetch_add(stored, Ordering::Relaxed).saturating_add(stored);
        let list = unlisted >= self.limit / PARTS || u64::from(key.0.as_bytes()[1]) % PARTS == 0;
        if list {
            self.unlisted.store(0, Ordering::Relaxed);
        }
        list
    }

    /// A lock between processes, released when its process ends. Some file systems have none: two processes may then compile the same
    /// kernel, and either result is valid.
    fn lock_file(&self, key: Key) -> Option<FileLock> {
        let path = self.folder.as_ref().ok()?.join(format!("{:02x}.lock", key.0.as_bytes()[0]));
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).ok()?);
        let lock = FileLock { _closed_in_child: ClosedInChild::new(file.as_fd()), file };
        flock(&lock.file, FlockOperation::LockExclusive).ok()?;
        Some(lock)
    }

    /// Removes the entries unused for longest until all fit, and what killed processes left unfinished.
    fn shrink(&self) {
        let mut entries = self.files();
        for (path, metadata) in &entries {
            let age = metadata.modified().ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
            if is_unfinished(path) && age > ABANDONED {
                let _ = fs::remove_file(path);
            }
        }
        entries.retain(|(path, _)| !is_unfinished(path));
        let mut total: u64 = entries.iter().map(|(_, metadata)| metadata.len()).sum();
        entries.sort_by_key(|(_, metadata)| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        for (path, metadata) in entries {
            if total <= self.limit {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= metadata.len();
            }
        }
    }

    /// Entries and unfinished files, with their metadata.
    fn files(&self) -> Vec<(PathBuf, fs::Metadata)> {
        let Ok(Ok(listing)) = self.folder.as_ref().map(fs::read_dir) else { return Vec::new() };
        let ours = |path: &Path| is_entry(path) || is_unfinished(path);
        let found = listing.flatten().filter(|e| ours(&e.path())).filter_map(|e| Some((e.path(), e.metadata().ok()?)));
        found.filter(|(_, metadata)| metadata.is_file()).collect()
    }

    /// How much is in it.
    pub fn info(&self) -> CacheInfo {
        let entries = self.files();
        let bytes = entries.iter().map(|(_, metadata)| metadata.len()).sum();
        CacheInfo { folder: self.folder.clone(), entries: entries.len(), bytes, limit: self.limit }
    }

    /// Removes every entry and returns how many there were.
    pub fn clear(&self) -> usize {
        lock(&self.in_memory).clear();
        self.files().into_iter().filter(|(path, _)| fs::remove_file(path).is_ok()).count()
    }
}

/// Held as long as it lives, by this process and not by its children.
struct FileLock {
    _closed_in_child: ClosedInChild,
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child that was forked before the file was registered has it open: closing it here would leave the lock to that child.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

const UNFINISHED: &str = "unfinished-";
const OURS: &str = ".parloop";
/// Random characters in the name of an unfinished entry.
const RANDOM: usize = 8;
const ABANDONED: Duration = Duration::from_secs(600);
const REFRESH: Duration = Duration::from_secs(24 * 3600);

/// Whether it has the name of an entry: a key in hexadecimal digits. Whatever else is in the folder belongs to the user.
fn is_entry(path: &Path) -> bool {
    let digits = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".bin"));
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))
}

fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix(UNFINISHED)).and_then(|name| name.strip_suffix(OURS));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// What another thread was changing when the process forked is forgotten in the child.
fn lock<T: Default>(lock: &Lock<T>) -> Guard<'_, T> {
    lock.lock_or(T::default)
}

fn user_folder() -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = variable("PARLOOP_CACHE_DIR");
    let of_desktop = || variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = named.or_else(of_desktop).or_else(|| variable("HOME").map(|home| home.join(".cache")));
    caches.map(|folder| folder.join("parloop")).ok_or_else(|| "none of PARLOOP_CACHE_DIR, XDG_CACHE_HOME and HOME is set".into())
}

/// Makes the folder if needed; refuses one through which someone else could give us code to run. The mode of an existing folder is not
/// changed.
fn prepare(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match fs::DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) => return Err(format!("{shown} could not be created: {error}")),
    }
    trust::check_folder(folder, Owner::Us).map_err(|reason| match reason.contains("chmod") {
        true => format!("{reason}, or set PARLOOP_CACHE_DIR to another folder"),
        false => reason,
    })
}

/// An entry is the binary, then this.
fn trailer(key: Key, bytes: &[u8]) -> Vec<u8> {
    let mut trailer = Vec::with_capacity(TRAILER_LEN);
    trailer.extend_from_slice(blake3::hash(bytes).as_bytes());
    trailer.extend_from_slice(key.0.as_bytes());
    trailer.extend_from_slice(MAGIC);
    trailer
}

const MAGIC: &[u8; 8] = b"parloop\x01";
const TRAILER_LEN: usize = 32 + 32 + MAGIC.len();

fn read_entry(path: &Path, key: Key) -> io::Result<Vec<u8>> {
    let distrusted = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let (mut file, metadata) = trust::open(path, Owner::Us)?;
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.read_to_end(&mut bytes)?;
    let Some(len) = bytes.len().checked_sub(TRAILER_LEN) else { return Err(distrusted("cut short")) };
    if bytes[len..] != trailer(key, &bytes[..len]) {
        return Err(distrusted("altered"));
    }
    bytes.truncate(len);
    if metadata.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > REFRESH)) {
        let _ = file.set_modified(SystemTime::now());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::atomic::AtomicUsize;

    type Made = Result<Vec<u8>, ()>;

    fn key(n: u8) -> Key {
        Key::of(&[&[n]])
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache"), 1 << 20);
        assert!(cache.folder.is_ok());
        (folder, cache)
    }

    fn only_entry(cache: &Cache) -> PathBuf {
        let files = cache.files();
        assert_eq!(files.len(), 1);
        files[0].0.clone()
    }

    #[test]
    fn what_was_made_once_is_found_again() {
        let (_folder, cache) = cache();
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![1, 2])).unwrap().1, Origin::Compiled);
        let (bytes, origin) = cache.get_or_make(key(1), || Made::Err(())).unwrap();
        assert_eq!((&**bytes, origin), (&[1u8, 2][..], Origin::Disk));
        assert_eq!(cache.info().entries, 1);
        assert_eq!(cache.clear(), 1);
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![3])).unwrap().1, Origin::Compiled);
    }

    #[test]
    fn parts_of_a_key_do_not_run_into_each_other() {
        assert_ne!(Key::of(&[b"ab", b"c"]), Key::of(&[b"a", b"bc"]));
        assert_ne!(Key::of(&[b"ab"]), Key::of(&[b"ab", b""]));
    }

    #[test]
    fn a_failure_is_not_kept() {
        let (_folder, cache) = cache();
        assert!(cache.get_or_make(key(1), || Made::Err(())).is_err());
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![1])).unwrap().1, Origin::Compiled);
    }

    #[test]
    fn altered_truncated_and_swapped_entries_are_made_again() {
        let (_folder, cache) = cache();
        cache.get_or_make(key(1), || Made::Ok(vec![7; 100])).unwrap();
        let path = only_entry(&cache);
        let whole = fs::read(&path).unwrap();
        let mut altered = whole.clone();
        altered[50] ^= 1;
        for damaged in [&whole[..whole.len() - 1], &whole[..10], &[], &altered] {
            fs::write(&path, damaged).unwrap();
            let (bytes, origin) = cache.get_or_make(key(1), || Made::Ok(vec![7; 100])).unwrap();
            assert_eq!((bytes.len(), origin), (100, Origin::Compiled));
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
        cache.get_or_make(key(2), || Made::Ok(vec![8; 100])).unwrap();
        fs::copy(&path, path.with_file_name(key(2).file_name())).unwrap();
        assert_eq!(*cache.get_or_make(key(2), || Made::Ok(vec![8; 100])).unwrap().0, [8; 100]);
    }

    #[test]
    fn a_link_in_place_of_an_entry_is_not_followed() {
        let (folder, cache) = cache();
        cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
        let path = only_entry(&cache);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap().1, Origin::Compiled);
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
    }

    #[test]
    fn an_entry_that_others_can_write_is_not_trusted() {
        let (_folder, cache) = cache();
        cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
        fs::set_permissions(only_entry(&cache), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap().1, Origin::Compiled);
    }

    #[test]
    fn a_folder_that_is_a_link_or_a_file_is_refused_and_memory_serves() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for place in [link, file] {
            let cache = Cache::at(&place, 1 << 20);
            assert!(cache.folder.is_err());
            cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
            assert_eq!(cache.get_or_make(key(1), || Made::Err(())).unwrap().1, Origin::Memory);
        }
        assert_eq!(fs::read_dir(real).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a folder away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        fs::create_dir(&place).unwrap();
        std::os::unix::fs::chown(&place, Some(12345), None).unwrap();
        let cache = Cache::at(&place, 1 << 20);
        assert_eq!(cache.folder.clone().unwrap_err(), format!("{} belongs to user 12345, not to this one", place.display()));
    }

    #[test]
    fn the_mode_of_a_folder_that_exists_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        fs::create_dir(&place).unwrap();
        for (mode, served) in [(0o755, true), (0o777, false), (0o770, false)] {
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            let cache = Cache::at(&place, 1 << 20);
            assert_eq!(cache.folder.is_ok(), served, "{mode:o}");
            cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
            assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, mode);
        }
        let refused = Cache::at(&place, 1 << 20).folder.unwrap_err();
        let expected = "is writable by other users; run `chmod go-w` on it, or set PARLOOP_CACHE_DIR to another folder";
        assert_eq!(refused, format!("{} {expected}", place.display()));
    }

    #[test]
    fn files_with_other_names_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        let cache = Cache::at(&place, 100);
        let hex = "a".repeat(63);
        let upper = "A".repeat(64);
        let foreign = ["model.bin", "unfinished-novel.txt", "unfinished-abcdefgh", "notes", &format!("{hex}.bin"), &format!("{upper}.bin")];
        for name in foreign {
            fs::write(place.join(name), vec![0; 1000]).unwrap();
            let old = SystemTime::now() - 2 * ABANDONED;
            File::options().write(true).open(place.join(name)).unwrap().set_modified(old).unwrap();
        }
        std::os::unix::fs::symlink(place.join("notes"), place.join(key(9).file_name())).unwrap();
        fs::create_dir(place.join(key(8).file_name())).unwrap();
        for n in 0..3 {
            cache.get_or_make(key(n), || Made::Ok(vec![n; 1000])).unwrap();
        }
        cache.clear();
        for name in foreign {
            assert_eq!(fs::metadata(place.join(name)).unwrap().len(), 1000, "{name}");
        }
        assert_eq!(cache.info().entries, 0);
        assert!(place.join(key(8).file_name()).is_dir());
    }

    #[test]
    fn a_pipe_in_place_of_an_entry_or_a_lock_is_not_waited_for() {
        let (_folder, cache) = cache();
        let place = cache.folder.clone().unwrap();
        let lock = format!("{:02x}.lock", key(1).0.as_bytes()[0]);
        for name in [key(1).file_name(), lock] {
            rustix::fs::mknodat(rustix::fs::CWD, place.join(name), rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap().1, Origin::Compiled);
        assert_eq!(cache.get_or_make(key(1), || Made::Err(())).unwrap().1, Origin::Disk);
    }

    #[test]
    fn a_folder_deleted_under_us_only_costs_the_cache() {
        let (_folder, cache) = cache();
        cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
        fs::remove_dir_all(cache.folder.as_ref().unwrap()).unwrap();
        assert_eq!(cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap().1, Origin::Compiled);
        assert_eq!(cache.get_or_make(key(1), || Made::Err(())).unwrap().1, Origin::Memory);
    }

    #[test]
    fn a_full_disk_only_costs_the_cache() {
        // A folder in which no file can be created simulates a full disk: the write fails at the same point.
        let cache = Cache::at("/proc/self/fdinfo", 1 << 20);
        cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
        assert_eq!(cache.get_or_make(key(1), || Made::Err(())).unwrap().1, Origin::Memory);
    }

    #[test]
    fn what_a_killed_process_left_is_never_read_and_is_removed_later() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache"), PARTS); // a byte is a part of it: the folder is listed each time
        let left = cache.folder.as_ref().unwrap().join("unfinished-abcdefgh.parloop");
        fs::write(&left, [1, 2, 3]).unwrap();
        cache.get_or_make(key(1), || Made::Ok(vec![7])).unwrap();
        assert!(left.exists(), "it may still be written to");
        let old = SystemTime::now() - 2 * ABANDONED;
        File::options().write(true).open(&left).unwrap().set_modified(old).unwrap();
        cache.get_or_make(key(2), || Made::Ok(vec![7])).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn the_folder_is_listed_after_a_part_of_the_limit_or_some_of_the_keys() {
        let (_folder, cache) = cache();
        let keys = || (0..4096_u32).map(|n| Key::of(&[&n.to_le_bytes()]));
        let often = keys().filter(|&key| cache.may_be_too_large(key, 0)).count();
        assert!((20..=130).contains(&often), "{often}"); // 64 on average
        let key = keys().find(|&key| !cache.may_be_too_large(key, 0)).unwrap();
        let part = cache.limit / PARTS;
        assert!(!cache.may_be_too_large(key, part / 2) && !cache.may_be_too_large(key, part / 2 - 1));
        assert!(cache.may_be_too_large(key, 1) && !cache.may_be_too_large(key, 1), "it counts from the start again");
        assert!(cache.may_be_too_large(key, u64::MAX));
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache"), 2500);
        for n in 0..4 {
            cache.get_or_make(key(n), || Made::Ok(vec![n; 1000])).unwrap();
            let path = cache.folder.as_ref().unwrap().join(key(n).file_name());
            if let Ok(file) = File::options().write(true).open(path) {
                file.set_modified(SystemTime::now() - Duration::from_secs(100 - u64::from(n))).unwrap();
            }
        }
        assert_eq!(cache.info().entries, 2);
        assert_eq!(cache.get_or_make(key(3), || Made::Err(())).unwrap().1, Origin::Disk);
        assert!(cache.get_or_make(key(0), || Made::Err(())).is_err());
    }

    #[test]
    fn sixteen_threads_make_one_binary() {
        let (_folder, cache) = cache();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let make = || {
                        made.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(20));
                        Made::Ok(vec![9; 10])
                    };
                    assert_eq!(*cache.get_or_make(key(1), make).unwrap().0, [9; 10]);
                });
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
