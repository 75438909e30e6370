//! The memory of this process.
//!
//! Only glibc keeps one heap for each thread, and memory that was freed after a burst. Elsewhere these
//! functions do nothing.

/// Makes all threads use one heap. Must be called before another thread starts.
pub fn use_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::use_one_heap();
}

/// Returns free memory to the system. Takes time, so it is for when there is nothing else to do.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::return_free_memory();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    #[expect(unsafe_code, reason = "this is a function of C")]
    pub(super) fn use_one_heap() {
        // SAFETY: mallopt takes numbers, and no other thread runs yet.
        let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }

    #[expect(unsafe_code, reason = "this is a function of C")]
    pub(super) fn return_free_memory() {
        // SAFETY: malloc_trim locks what it changes.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// The anonymous memory of this process in kB.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        size.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn memory_that_was_freed_below_memory_in_use_is_returned() {
        let small = || vec![1_u8; 4000];
        let mut kept: Vec<_> = (0..10_000).map(|_| small()).collect();
        // Each hundredth piece stays, so the heap cannot just become shorter.
        let mut number = 0;
        kept.retain(|_| {
            number += 1;
            number % 100 == 0
        });
        let before = resident();
        return_free_memory();
        let after = resident();
        assert!(after + 20_000 < before, "{after} kB after, {before} kB before");
        assert_eq!(kept.len(), 100);
    }
}
