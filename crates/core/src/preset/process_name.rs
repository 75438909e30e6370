//! Which processes belong to an app.

use super::{Os, Preset};

/// The length at which Linux cuts process names.
const LINUX_NAME: usize = 15;

impl Preset {
    /// Whether a process with this name belongs to the app on this OS.
    pub fn owns_process(&self, os: Os, name: &str) -> bool {
        let is_known = |known: &String| os.same_process(known, name);
        self.on(os).is_some_and(|on| on.processes.iter().any(is_known))
    }
}

impl Os {
    /// Whether two process names are the same. Linux cuts names after 15 bytes, and Windows ignores
    /// case.
    pub fn same_process(self, known: &str, seen: &str) -> bool {
        match self {
            Self::Windows => known.eq_ignore_ascii_case(seen),
            Self::MacOs => known == seen,
            Self::Linux => known == seen || seen.len() == LINUX_NAME && known.starts_with(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::PresetSet;

    #[test]
    fn a_process_is_recognised_by_its_name_on_each_os() {
        let presets = PresetSet::bundled();
        let figma = presets.get("figma").unwrap();
        assert!(figma.owns_process(Os::MacOs, "Figma"));
        assert!(figma.owns_process(Os::Windows, "figma.EXE"));
        assert!(!figma.owns_process(Os::MacOs, "Figma Helper"));
        assert!(!figma.owns_process(Os::Linux, "Figma"));
        let pieces = presets.get("pieces-os").unwrap();
        assert!(pieces.owns_process(Os::Linux, "os_server"));
    }

    #[test]
    fn a_name_that_linux_cut_is_still_recognised() {
        assert!(Os::Linux.same_process("a-very-long-program", "a-very-long-pro"));
        assert!(!Os::Linux.same_process("a-very-long-program", "a-very"));
        assert!(!Os::MacOs.same_process("a-very-long-program", "a-very-long-pro"));
    }
}
