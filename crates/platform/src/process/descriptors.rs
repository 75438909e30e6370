//! The limit of open files and connections of this process.

/// The actual maximum on macOS, even if the system reports a higher one.
#[cfg(any(target_os = "macos", test))]
const MACOS_MAXIMUM: u64 = 10_240;

/// Raises the limit to the maximum that needs no privileges. Some systems start with 256, which is
/// too low for a hundred editors.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    #[cfg(target_os = "macos")]
    let maximum = on_macos(limit.maximum);
    #[cfg(not(target_os = "macos"))]
    let maximum = limit.maximum;
    if limit.current != maximum {
        limit.current = maximum;
        // On failure, the old limit stays.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn raise_limit() {}

#[cfg(any(target_os = "macos", test))]
fn on_macos(maximum: Option<u64>) -> Option<u64> {
    Some(maximum.map_or(MACOS_MAXIMUM, |maximum| maximum.min(MACOS_MAXIMUM)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macos_gets_no_higher_limit_than_it_supports() {
        assert_eq!(on_macos(None), Some(MACOS_MAXIMUM));
        assert_eq!(on_macos(Some(u64::MAX)), Some(MACOS_MAXIMUM));
        assert_eq!(on_macos(Some(1024)), Some(1024));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn the_limit_is_raised_to_the_maximum() {
        use rustix::process::{Resource, getrlimit};
        raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
