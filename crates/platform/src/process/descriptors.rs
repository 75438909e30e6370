//! How many files and connections this process may have open.

/// macOS gives no process more than this, whatever it says it would.
#[cfg(any(target_os = "macos", test))]
const MOST_ON_MACOS: u64 = 10_240;

/// Raises the limit as far as the system lets us without asking anybody. Some systems start with
/// 256, which a hundred editors use up.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    #[cfg(target_os = "macos")]
    let most = on_macos(limit.maximum);
    #[cfg(not(target_os = "macos"))]
    let most = limit.maximum;
    if limit.current != most {
        limit.current = most;
        // What is refused leaves the limit that there was.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn raise_limit() {}

#[cfg(any(target_os = "macos", test))]
fn on_macos(maximum: Option<u64>) -> Option<u64> {
    Some(maximum.map_or(MOST_ON_MACOS, |maximum| maximum.min(MOST_ON_MACOS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macos_is_asked_for_no_more_than_it_gives() {
        assert_eq!(on_macos(None), Some(MOST_ON_MACOS));
        assert_eq!(on_macos(Some(u64::MAX)), Some(MOST_ON_MACOS));
        assert_eq!(on_macos(Some(1024)), Some(1024));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn all_that_may_be_opened_may_be_opened() {
        use rustix::process::{Resource, getrlimit};
        raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
