//! Asks an application to quit as its user would, so that it can ask about unsaved work.
//!
//! Only macOS has such a request by process id. It needs no permission, unlike an Apple event.

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitRequest {
    /// The system passed it on.
    Sent,
    /// The process is not an application with a user interface, or it has exited.
    NotAnApplication,
    /// The system did not pass it on.
    Refused,
}

/// Sends the request to the application with this process id. A process that serves MCP can be a helper
/// of its application, which is then found by its bundle identifier.
#[cfg(target_os = "macos")]
pub fn request(pid: u32, bundle: &str) -> QuitRequest {
    use objc2::msg_send;
    use objc2::rc::{Retained, autoreleasepool};
    use objc2::runtime::{AnyClass, AnyObject};
    use objc2_foundation::{NSArray, NSString};

    let Ok(pid) = libc::pid_t::try_from(pid) else { return QuitRequest::NotAnApplication };
    #[expect(unsafe_code, reason = "loads a framework of the system")]
    // SAFETY: the path is a C string, and the framework has no requirements for its user.
    // Loaded only here: the gateway has no user interface and would need more memory with it.
    let loaded = unsafe {
        libc::dlopen(
            c"/System/Library/Frameworks/AppKit.framework/AppKit".as_ptr(),
            libc::RTLD_LAZY,
        )
    };
    if loaded.is_null() {
        return QuitRequest::Refused;
    }
    autoreleasepool(|_| {
        let Some(class) = AnyClass::get(c"NSRunningApplication") else {
            return QuitRequest::Refused;
        };
        #[expect(unsafe_code, reason = "calls Objective-C")]
        // SAFETY: the method takes a `pid_t` and returns an object or nil.
        let application: Option<Retained<AnyObject>> =
            unsafe { msg_send![class, runningApplicationWithProcessIdentifier: pid] };
        #[expect(unsafe_code, reason = "calls Objective-C")]
        // SAFETY: the method takes a string and returns an array of objects.
        let of_bundle: Retained<NSArray<AnyObject>> = unsafe {
            msg_send![class, runningApplicationsWithBundleIdentifier: &*NSString::from_str(bundle)]
        };
        let Some(application) = application.or_else(|| of_bundle.firstObject()) else {
            return QuitRequest::NotAnApplication;
        };
        #[expect(unsafe_code, reason = "calls Objective-C")]
        // SAFETY: the method takes nothing and returns a `BOOL`. The class may be used on any thread.
        let sent: bool = unsafe { msg_send![&*application, terminate] };
        if sent { QuitRequest::Sent } else { QuitRequest::Refused }
    })
}

/// Other systems have no such request.
#[cfg(not(target_os = "macos"))]
pub fn request(_: u32, _: &str) -> QuitRequest {
    QuitRequest::NotAnApplication
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_user_interface_is_not_an_application() {
        assert_eq!(request(std::process::id(), "dev.evermoor.none"), QuitRequest::NotAnApplication);
        assert_eq!(request(u32::MAX - 7, "dev.evermoor.none"), QuitRequest::NotAnApplication);
    }
}
