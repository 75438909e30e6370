//! The memory of this process.

/// Releases the code pages that only startup needed.
///
/// Most startup code never runs again, but stays mapped and counts as memory of the process. The kernel
/// loads pages that are needed again from the file. Other systems reclaim such pages themselves.
pub fn release_startup_code() {
    #[cfg(target_os = "linux")]
    linux::release();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ops::Range;

    use rustix::mm::{Advice, madvise};

    pub(crate) fn release() {
        let (Ok(program), Ok(maps)) =
            (std::env::current_exe(), std::fs::read_to_string("/proc/self/maps"))
        else {
            return;
        };
        let Some(program) = program.to_str() else { return };
        for range in code(&maps, program) {
            let start = range.start as *mut core::ffi::c_void;
            #[expect(unsafe_code, reason = "madvise takes addresses")]
            // SAFETY: the code is read-only, so the kernel reloads every page from the file.
            let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
        }
    }

    /// The address ranges of a program's code: executable and not writable.
    pub(crate) fn code(maps: &str, program: &str) -> Vec<Range<usize>> {
        let of = |line: &str| {
            let mut fields = line.splitn(6, ' ');
            let (range, rights) = (fields.next()?, fields.next()?);
            let path = fields.nth(3)?.trim_start();
            let (start, end) = range.split_once('-')?;
            let at = |text| usize::from_str_radix(text, 16).ok();
            (rights == "r-xp" && path == program).then_some(at(start)?..at(end)?)
        };
        maps.lines().filter_map(of).collect()
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_the_program_itself_is_released() {
        let maps = "\
55d0a000-55d0f000 r--p 00000000 fe:00 77 /opt/my apps/evermoor
55d0f000-55d2f000 r-xp 00005000 fe:00 77 /opt/my apps/evermoor
55d2f000-55d30000 rw-p 00025000 fe:00 77 /opt/my apps/evermoor
7f00a000-7f00c000 r-xp 00000000 fe:00 99                 /usr/lib/libc.so.6
7fff0000-7fff1000 r-xp 00000000 00:00 0                  [vdso]
";
        let code = linux::code(maps, "/opt/my apps/evermoor");
        assert_eq!((code.len(), code.first()), (1, Some(&(0x55d0f000..0x55d2f000))));
        assert_eq!(linux::code("", "/opt/evermoor"), []);
        assert_eq!(linux::code("nonsense\n\n-", "/opt/evermoor"), []);
    }

    #[test]
    fn released_code_no_longer_counts_as_memory() {
        load_all_code();
        let before = resident();
        release_startup_code();
        let after = resident();
        assert!(after < before, "{after} kB of code after, {before} kB before");
    }

    /// Loads every code page into memory.
    fn load_all_code() {
        let program = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        for page in linux::code(&maps, program.to_str().unwrap())
            .into_iter()
            .flat_map(|code| code.step_by(4096))
        {
            #[expect(unsafe_code, reason = "reads code as bytes")]
            // SAFETY: the kernel lists this range as readable.
            let _ = unsafe { std::ptr::read_volatile(page as *const u8) };
        }
    }

    /// The resident size of the program's code in kB.
    fn resident() -> u64 {
        let program = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines();
        lines.find(|line| line.contains("r-xp") && line.ends_with(program.to_str().unwrap()));
        let size = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        size.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
