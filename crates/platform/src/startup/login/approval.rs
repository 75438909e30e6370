//! Whether the user allows the login item in macOS's System Settings, which do not change its file.

use std::path::Path;

/// What the system says about a login item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    Allowed,
    /// The user turned it off under Login Items.
    TurnedOff,
    /// The system does not know it yet, or is too old to say.
    Unknown,
}

impl Approval {
    /// The meaning of a status of `SMAppService`.
    #[cfg_attr(
        not(any(target_os = "macos", test)),
        expect(dead_code, reason = "only macOS has it")
    )]
    fn of_status(status: isize) -> Self {
        match status {
            // SMAppServiceStatusEnabled
            1 => Self::Allowed,
            // SMAppServiceStatusRequiresApproval
            2 => Self::TurnedOff,
            // Not registered, or not found: a file that was written a moment ago.
            _ => Self::Unknown,
        }
    }

    /// Whether the item starts the program, if its file says `enabled`.
    pub fn permits(self, enabled: bool) -> bool {
        enabled && self != Self::TurnedOff
    }
}

/// What the system says about the login item in this file.
#[cfg(target_os = "macos")]
pub fn approval(file: &Path) -> Approval {
    use objc2::runtime::AnyClass;
    use objc2_foundation::{NSString, NSURL};
    use objc2_service_management::SMAppService;

    // macOS 12 does not have the class, and using it there would end the program.
    if AnyClass::get(c"SMAppService").is_none() {
        return Approval::Unknown;
    }
    let url = NSURL::fileURLWithPath(&NSString::from_str(&file.to_string_lossy()));
    #[expect(unsafe_code, reason = "calls Objective-C")]
    // SAFETY: the class exists, and the method takes a URL and returns a number.
    let status = unsafe { SMAppService::statusForLegacyURL(&url) };
    Approval::of_status(status.0)
}

/// Other systems have no such setting.
#[cfg(not(target_os = "macos"))]
pub fn approval(_: &Path) -> Approval {
    Approval::Unknown
}

/// Opens the settings where the user allows login items.
#[cfg(target_os = "macos")]
pub fn open_settings() {
    use objc2::runtime::AnyClass;
    use objc2_service_management::SMAppService;

    if AnyClass::get(c"SMAppService").is_some() {
        #[expect(unsafe_code, reason = "calls Objective-C")]
        // SAFETY: the class exists, and the method takes and returns nothing.
        unsafe {
            SMAppService::openSystemSettingsLoginItems();
        }
    }
}

/// Other systems have no such settings.
#[cfg(not(target_os = "macos"))]
pub fn open_settings() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_the_user_turned_off_starts_nothing() {
        assert!(!Approval::of_status(2).permits(true));
        assert!(Approval::of_status(1).permits(true));
        assert!(!Approval::of_status(1).permits(false), "its file says no");
    }

    #[test]
    fn an_item_that_the_system_does_not_know_yet_is_judged_by_its_file() {
        for status in [0, 3, 9] {
            assert_eq!(Approval::of_status(status), Approval::Unknown);
        }
        assert!(Approval::Unknown.permits(true) && !Approval::Unknown.permits(false));
    }
}
