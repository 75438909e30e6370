//! How much of a disk is free.

use std::path::Path;

/// The bytes that this user may still write to the disk of a folder, where the system tells.
#[cfg(unix)]
pub fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The bytes that this user may still write to the disk of a folder, where the system tells.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the system is asked through its own interface")]
pub fn free(folder: &Path) -> Option<u64> {
    use std::os::windows::ffi::OsStrExt as _;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let wide: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let (mut free, none) = (0_u64, std::ptr::null_mut());
    // SAFETY: the path ends with a zero, and `free` outlives the call.
    let good = unsafe { GetDiskFreeSpaceExW(wide.as_ptr(), &raw mut free, none, none) };
    (good != 0).then_some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_folder_has_some_room_and_one_that_is_not_there_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free(folder.path()).unwrap() > 0);
        assert_eq!(free(&folder.path().join("none")), None);
    }
}
