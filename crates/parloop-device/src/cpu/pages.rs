//! Pages of this process: mapped, reserved, moved, given back. Lengths and addresses are multiples of the page here.

use std::collections::TryReserveError;
use std::ffi::c_void;
use std::io;

use rustix::mm::{Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mprotect, mremap_fixed, munmap};

/// What the processor translates with one entry where the system gives it the chance.
pub(super) const HUGE_PAGE: usize = 2 << 20;

const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// The size of a page.
#[inline]
pub(super) fn page() -> usize {
    rustix::param::page_size()
}

/// `len` rounded up to whole pages.
pub(super) fn whole(len: usize) -> io::Result<usize> {
    len.checked_next_multiple_of(page()).filter(|&len| len <= isize::MAX as usize).ok_or_else(no_room)
}

/// More than any machine has.
pub(super) fn no_room() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

fn map(at: usize, len: usize, access: ProtFlags, flags: MapFlags) -> io::Result<usize> {
    // SAFETY: without `FIXED` the system chooses a range that nobody uses; who asks for `FIXED` promises that the range is theirs.
    Ok(unsafe { mmap_anonymous(at as *mut c_void, len, access, flags)? } as usize)
}

/// Memory of this process alone; a forked child gets a copy.
pub(super) fn map_private(len: usize) -> io::Result<usize> {
    map(0, len, READ_WRITE, MapFlags::PRIVATE)
}

/// As [`map_private`], from two megabytes on in huge pages, where the system has them.
pub(super) fn map_large(len: usize) -> io::Result<usize> {
    if len < HUGE_PAGE {
        return map_private(len);
    }
    let mut address = map_private(len)?;
    if !address.is_multiple_of(HUGE_PAGE) {
        // SAFETY: mapped above.
        unsafe { unmap(address, len) };
        address = map_private_aligned(len)?;
    }
    advise_huge(address, len);
    Ok(address)
}

/// Asks for huge pages where they fit into memory of this process.
pub(super) fn advise_huge(address: usize, len: usize) {
    let (start, end) = (address.next_multiple_of(page()), (address + len) / page() * page());
    if end.saturating_sub(start) >= HUGE_PAGE {
        // SAFETY: it is advice, which changes no content: where there are no huge pages, small ones do.
        let _ = unsafe { madvise(start as *mut c_void, end - start, Advice::LinuxHugepage) };
    }
}

/// A vector with room for `count` values, in huge pages where the system has them and it is long enough.
///
/// # Errors
/// There is no room.
pub fn vec_with_room<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut values: Vec<T> = Vec::new();
    values.try_reserve_exact(count)?;
    advise_huge(values.as_ptr().addr(), count * size_of::<T>());
    Ok(values)
}

fn map_private_aligned(len: usize) -> io::Result<usize> {
    let wide = len.checked_add(HUGE_PAGE).ok_or_else(no_room)?;
    let start = map_private(wide)?;
    let address = start.next_multiple_of(HUGE_PAGE);
    // SAFETY: what lies before and behind the aligned range was mapped just here.
    unsafe {
        unmap(start, address - start);
        unmap(address + len, start + wide - (address + len));
    }
    Ok(address)
}

/// Addresses without memory, from which [`commit`] makes memory; they begin at a huge page.
pub(super) fn reserve(len: usize) -> io::Result<usize> {
    let wide = len.checked_add(HUGE_PAGE).ok_or_else(no_room)?;
    let start = map(0, wide, ProtFlags::empty(), MapFlags::PRIVATE)?;
    let address = start.next_multiple_of(HUGE_PAGE);
    // SAFETY: what lies before and behind the aligned range was mapped just here.
    unsafe {
        unmap(start, address - start);
        unmap(address + len, start + wide - (address + len));
    }
    Ok(address)
}

/// Makes memory, all zero, of reserved addresses.
///
/// # Safety
/// The range was reserved here and belongs to the caller.
pub(super) unsafe fn commit(address: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller guarantees it; nobody has used the range, and more access than before harms nobody.
    unsafe { mprotect(address as *mut c_void, len, MprotectFlags::READ | MprotectFlags::WRITE)? };
    Ok(())
}

/// Moves private pages to a range that is at least as long and gets the rest of its length as zeros, without a copy. After a failure
/// the pages are where they were, and `to` may be gone.
///
/// # Safety
/// Both ranges belong to the caller; nobody wants the content of `to`, and nobody uses the address `from` afterwards.
pub(super) unsafe fn move_to(from: usize, len: usize, to: usize, longer: usize) -> io::Result<()> {
    // SAFETY: the caller guarantees it.
    unsafe { mremap_fixed(from as *mut c_void, len, longer, MremapFlags::MAYMOVE, to as *mut c_void)? };
    Ok(())
}

/// Gives pages back.
///
/// # Safety
/// The range was mapped here, and nobody uses it any more.
pub(super) unsafe fn unmap(address: usize, len: usize) {
    if len > 0 {
        // SAFETY: the caller guarantees it. It fails only when the range would fall apart into too many mappings: then it stays.
        let _ = unsafe { munmap(address as *mut c_void, len) };
    }
}

/// Copies `len` bytes.
///
/// # Safety
/// Both ranges are mapped and do not overlap; nobody writes to either meanwhile.
pub(super) unsafe fn copy(from: usize, to: usize, len: usize) {
    // SAFETY: the caller guarantees it.
    unsafe { (to as *mut u8).copy_from_nonoverlapping(from as *const u8, len) };
}
