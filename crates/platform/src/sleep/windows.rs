//! What the power manager says. No window is needed to hear it.

use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

use tokio::sync::mpsc;
use windows_sys::Win32::System::Power::{
    DEVICE_NOTIFY_SUBSCRIBE_PARAMETERS, HPOWERNOTIFY, PowerRegisterSuspendResumeNotification,
    PowerUnregisterSuspendResumeNotification,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    DEVICE_NOTIFY_CALLBACK, PBT_APMRESUMEAUTOMATIC, PBT_APMSUSPEND,
};

use super::{NoNotices, Notice};

pub(super) async fn notices(mut tell: impl FnMut(Notice) + Send) -> NoNotices {
    let (said, mut hearing) = mpsc::unbounded_channel();
    let _subscription = match Subscription::new(said) {
        Ok(subscription) => subscription,
        Err(code) => return NoNotices(format!("error {code}")),
    };
    while let Some(notice) = hearing.recv().await {
        tell(notice);
    }
    NoNotices("the subscription ended".into())
}

/// Ends when it is dropped.
struct Subscription {
    handle: HPOWERNOTIFY,
    said: *mut mpsc::UnboundedSender<Notice>,
}

#[expect(unsafe_code, reason = "a handle may be used on any thread; raw pointers do not say so")]
// SAFETY: the pointer is touched by the callback, and once more when none can run any more.
unsafe impl Send for Subscription {}

impl Subscription {
    fn new(said: mpsc::UnboundedSender<Notice>) -> Result<Self, u32> {
        let said = Box::into_raw(Box::new(said));
        let recipient =
            DEVICE_NOTIFY_SUBSCRIBE_PARAMETERS { Callback: Some(pass_on), Context: said.cast() };
        let mut handle: *mut c_void = null_mut();
        #[expect(unsafe_code, reason = "the system is asked to call back")]
        // SAFETY: the recipient is read during the call, and what the callback gets lives until the
        // subscription is over.
        let code = unsafe {
            PowerRegisterSuspendResumeNotification(
                DEVICE_NOTIFY_CALLBACK,
                from_ref(&recipient).cast_mut().cast(),
                &raw mut handle,
            )
        };
        let subscription = Self { handle: handle as HPOWERNOTIFY, said };
        if code == 0 { Ok(subscription) } else { Err(code) }
    }
}

impl Drop for Subscription {
    #[expect(unsafe_code, reason = "what was given to the system is taken back")]
    fn drop(&mut self) {
        // SAFETY: once it is unregistered no callback runs; then the box is nobody else's.
        unsafe {
            if self.handle != 0 {
                PowerUnregisterSuspendResumeNotification(self.handle);
            }
            drop(Box::from_raw(self.said));
        }
    }
}

#[expect(unsafe_code, reason = "the system gives back the pointer that it got")]
unsafe extern "system" fn pass_on(said: *const c_void, kind: u32, _: *const c_void) -> u32 {
    let notice = match kind {
        PBT_APMSUSPEND => Some(Notice::Sleeps),
        PBT_APMRESUMEAUTOMATIC => Some(Notice::Woke),
        _ => None,
    };
    if let Some(notice) = notice {
        // SAFETY: the pointer is the one that was given at the subscription, and what it leads to
        // lives until that is over.
        let said = unsafe { &*said.cast::<mpsc::UnboundedSender<Notice>>() };
        let _ = said.send(notice);
    }
    0
}
