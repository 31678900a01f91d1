//! Files whose content is run: which of them only we, or root, can have written. The compile cache and saved programs ask here.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Whose file is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Ours.
    Us,
    /// Ours or root's, who installs files for all.
    UsOrRoot,
}

impl Owner {
    fn is(self, uid: u32) -> bool {
        uid == rustix::process::geteuid().as_raw() || (self == Owner::UsOrRoot && uid == 0)
    }
}

/// Why someone else could have written what has this metadata.
fn distrusted(metadata: &Metadata, owner: Owner) -> Option<String> {
    if !owner.is(metadata.uid()) {
        return Some(format!("belongs to user {}, not to this one", metadata.uid()));
    }
    (metadata.mode() & 0o022 != 0).then(|| "is writable by other users; run `chmod go-w` on it".to_owned())
}

/// Refuses a folder in which someone else could put a file, or that someone else could put in the place of ours.
///
/// # Errors
/// What is wrong, with the path.
pub(crate) fn check_folder(folder: &Path, owner: Owner) -> Result<(), String> {
    let metadata = std::fs::symlink_metadata(folder).map_err(|error| format!("{} could not be inspected: {error}", folder.display()))?;
    if !metadata.is_dir() {
        return Err(format!("{} is a link or a file, not a folder", folder.display()));
    }
    if let Some(why) = distrusted(&metadata, owner) {
        return Err(format!("{} {why}", folder.display()));
    }
    let real = folder.canonicalize().map_err(|error| format!("{} could not be inspected: {error}", folder.display()))?;
    real.ancestors().skip(1).try_for_each(check_ancestor)
}

/// Refuses a folder whose entries others can rename. They can where they can write, unless it is sticky, as `/tmp` is. A group whose only
/// member is a user has the user's number, by convention, and is not taken for others.
fn check_ancestor(folder: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(folder).map_err(|error| format!("{} could not be inspected: {error}", folder.display()))?;
    if !Owner::UsOrRoot.is(metadata.uid()) {
        return Err(format!("{} belongs to user {}, not to this one", folder.display(), metadata.uid()));
    }
    let is_private = metadata.gid() == metadata.uid();
    let writable = metadata.mode() & if is_private { 0o002 } else { 0o022 } != 0;
    let sticky = metadata.mode() & 0o1000 != 0;
    match writable && !sticky {
        true => Err(format!("{} is writable by other users; run `chmod go-w` on it", folder.display())),
        false => Ok(()),
    }
}

/// Opens a file that nobody else can have written. Its folder is not looked at; a link is not followed, and a pipe not waited for.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] says why it is not trusted.
pub(crate) fn open(path: &Path, owner: Owner) -> io::Result<(File, Metadata)> {
    let refused = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let descriptor = rustix::fs::open(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())
        .map_err(|error| if error == rustix::io::Errno::LOOP { refused("it is a link".into()) } else { error.into() })?;
    let file = File::from(descriptor);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused("it is not a file".into()));
    }
    match distrusted(&metadata, owner) {
        Some(why) => Err(refused(format!("it {why}"))),
        None => Ok((file, metadata)),
    }
}
