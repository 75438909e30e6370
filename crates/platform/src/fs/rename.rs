//! Renames a file over another one.
//!
//! On Windows this fails while another program has the old file open without allowing that, such as a
//! virus scanner or a program that reads it at that moment. Such programs close it soon, so this tries
//! again for a moment.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::system::System;

/// Together a twentieth of a second, because the caller may serve calls.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// Renames `new` to `path`, and replaces what is there.
pub(super) fn rename_over(new: &Path, path: &Path) -> io::Result<()> {
    attempt(|| fs::rename(new, path), || std::thread::sleep(PAUSE))
}

fn attempt(mut rename: impl FnMut() -> io::Result<()>, mut pause: impl FnMut()) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match rename() {
            Err(error) if is_in_use(System::HERE, &error) => pause(),
            done => return done,
        }
    }
    rename()
}

/// Whether the error can mean that another program has the file open.
fn is_in_use(system: System, error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    match system {
        System::Windows => {
            matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION))
        }
        System::MacOs | System::Linux => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_windows_refuses_because_a_file_is_open() {
        for code in [5, 32] {
            let error = io::Error::from_raw_os_error(code);
            assert!(is_in_use(System::Windows, &error));
            assert!(!is_in_use(System::Linux, &error) && !is_in_use(System::MacOs, &error));
        }
        assert!(!is_in_use(System::Windows, &io::Error::from_raw_os_error(2)));
    }

    #[test]
    fn a_file_that_is_being_read_is_replaced_when_its_reader_has_closed_it() {
        let folder = tempfile::tempdir().unwrap();
        let (new, path) = (folder.path().join("new"), folder.path().join("file"));
        fs::write(&new, "new").unwrap();
        fs::write(&path, "old").unwrap();
        let mut options = fs::File::options();
        options.read(true);
        // Others may read it meanwhile, and nothing else.
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1);
        let mut reader = Some(options.open(&path).unwrap());
        attempt(|| fs::rename(&new, &path), || drop(reader.take())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(reader.is_none(), cfg!(windows), "elsewhere nothing has to wait");
    }

    #[test]
    fn a_file_that_stays_open_is_given_up() {
        let mut attempts = 0;
        let refused = attempt(
            || {
                attempts += 1;
                Err(io::Error::from_raw_os_error(5))
            },
            || {},
        );
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(5));
        assert_eq!(attempts, if cfg!(windows) { ATTEMPTS } else { 1 });
    }
}
