//! Notifications of the power manager. They need no window.

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

use super::{PowerEvent, PowerEventsUnavailable};

pub(super) async fn notices(mut notify: impl FnMut(PowerEvent) + Send) -> PowerEventsUnavailable {
    let (events, mut received) = mpsc::unbounded_channel();
    let _subscription = match Subscription::new(events) {
        Ok(subscription) => subscription,
        Err(code) => return PowerEventsUnavailable(format!("error {code}")),
    };
    while let Some(notice) = received.recv().await {
        notify(notice);
    }
    PowerEventsUnavailable("the subscription ended".into())
}

/// A subscription that ends when it is dropped.
struct Subscription {
    handle: HPOWERNOTIFY,
    events: *mut mpsc::UnboundedSender<PowerEvent>,
}

#[expect(unsafe_code, reason = "a handle may be used on any thread, but raw pointers are not Send")]
// SAFETY: only the callback uses the pointer, and `drop`, when no callback can run any more.
unsafe impl Send for Subscription {}

impl Subscription {
    fn new(events: mpsc::UnboundedSender<PowerEvent>) -> Result<Self, u32> {
        let events = Box::into_raw(Box::new(events));
        let recipient =
            DEVICE_NOTIFY_SUBSCRIBE_PARAMETERS { Callback: Some(pass_on), Context: events.cast() };
        let mut handle: *mut c_void = null_mut();
        #[expect(unsafe_code, reason = "registers a callback")]
        // SAFETY: the recipient is read during the call, and the context lives until the subscription
        // ends.
        let code = unsafe {
            PowerRegisterSuspendResumeNotification(
                DEVICE_NOTIFY_CALLBACK,
                from_ref(&recipient).cast_mut().cast(),
                &raw mut handle,
            )
        };
        let subscription = Self { handle: handle as HPOWERNOTIFY, events };
        if code == 0 { Ok(subscription) } else { Err(code) }
    }
}

impl Drop for Subscription {
    #[expect(unsafe_code, reason = "unregisters the callback and frees its context")]
    fn drop(&mut self) {
        // SAFETY: no callback runs after unregistering, so the box has no other user.
        unsafe {
            if self.handle != 0 {
                PowerUnregisterSuspendResumeNotification(self.handle);
            }
            drop(Box::from_raw(self.events));
        }
    }
}

#[expect(unsafe_code, reason = "the system passes back the context pointer")]
unsafe extern "system" fn pass_on(events: *const c_void, kind: u32, _: *const c_void) -> u32 {
    let notice = match kind {
        PBT_APMSUSPEND => Some(PowerEvent::Suspending),
        PBT_APMRESUMEAUTOMATIC => Some(PowerEvent::Resumed),
        _ => None,
    };
    if let Some(notice) = notice {
        // SAFETY: the context is the one of the subscription and lives until that ends.
        let events = unsafe { &*events.cast::<mpsc::UnboundedSender<PowerEvent>>() };
        let _ = events.send(notice);
    }
    0
}
