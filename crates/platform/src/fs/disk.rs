//! Free disk space.

use std::path::Path;

/// The bytes that this user can still write to the disk of a folder.
#[cfg(unix)]
pub fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The bytes that this user can still write to the disk of a folder.
#[cfg(windows)]
#[expect(unsafe_code, reason = "calls the Win32 API")]
pub fn free(folder: &Path) -> Option<u64> {
    use std::os::windows::ffi::OsStrExt as _;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let wide: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let (mut free, none) = (0_u64, std::ptr::null_mut());
    // SAFETY: the path is zero-terminated and `free` outlives the call.
    let ok = unsafe { GetDiskFreeSpaceExW(wide.as_ptr(), &raw mut free, none, none) };
    (ok != 0).then_some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_known_for_a_folder_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free(folder.path()).unwrap() > 0);
        assert_eq!(free(&folder.path().join("none")), None);
    }
}
