//! Notifications of the power manager (IOKit). They arrive on a thread with its own run loop, because
//! a program without a window has none.

use std::ffi::{c_int, c_long, c_void};
use std::ptr::null_mut;

use tokio::sync::{mpsc, oneshot};

use super::{PowerEvent, PowerEventsUnavailable};

pub(super) async fn notices(mut notify: impl FnMut(PowerEvent) + Send) -> PowerEventsUnavailable {
    let (events, mut received) = mpsc::unbounded_channel();
    let (ready, started) = oneshot::channel();
    let thread = std::thread::Builder::new().name("sleep".into()).stack_size(128 << 10);
    if let Err(error) = thread.spawn(move || listen(events, ready)) {
        return PowerEventsUnavailable(error.to_string());
    }
    // Dropped with this future, which stops the run loop of the thread.
    let Ok(_stop) = started.await else {
        return PowerEventsUnavailable("the power manager refused the registration".into());
    };
    while let Some(notice) = received.recv().await {
        notify(notice);
    }
    PowerEventsUnavailable("the run loop ended".into())
}

type RunLoop = *mut c_void;

/// Stops a run loop when it is dropped.
struct Stop(RunLoop);

#[expect(
    unsafe_code,
    reason = "a run loop may be stopped from any thread, but raw pointers are not Send"
)]
// SAFETY: `CFRunLoopStop` and `CFRelease` may be called on any thread, and the loop is retained.
unsafe impl Send for Stop {}

impl Drop for Stop {
    #[expect(unsafe_code, reason = "calls Core Foundation")]
    fn drop(&mut self) {
        // SAFETY: the loop was retained for this value and is released once.
        unsafe {
            CFRunLoopStop(self.0);
            CFRelease(self.0);
        }
    }
}

/// The context of the callback.
struct PowerListener {
    events: mpsc::UnboundedSender<PowerEvent>,
    root: u32,
}

#[expect(unsafe_code, reason = "calls IOKit, a C library")]
fn listen(events: mpsc::UnboundedSender<PowerEvent>, ready: oneshot::Sender<Stop>) {
    let mut listener = PowerListener { events, root: 0 };
    let (mut port, mut notifier) = (null_mut(), 0_u32);
    // SAFETY: the listener outlives the loop below, and no callback runs after the loop; every
    // object is released once.
    unsafe {
        let context = (&raw mut listener).cast();
        let root =
            IORegisterForSystemPower(context, &raw mut port, on_power_message, &raw mut notifier);
        if root == 0 {
            return;
        }
        (*context.cast::<PowerListener>()).root = root;
        let here = CFRunLoopGetCurrent();
        let source = IONotificationPortGetRunLoopSource(port);
        CFRunLoopAddSource(here, source, kCFRunLoopDefaultMode);
        if ready.send(Stop(CFRetain(here))).is_ok() {
            CFRunLoopRun();
        }
        CFRunLoopRemoveSource(here, source, kCFRunLoopDefaultMode);
        IODeregisterForSystemPower(&raw mut notifier);
        IOServiceClose(root);
        IONotificationPortDestroy(port);
    }
}

/// The messages of `IOMessage.h`.
const CAN_SLEEP: u32 = 0xE000_0270;
const WILL_SLEEP: u32 = 0xE000_0280;
const HAS_POWERED_ON: u32 = 0xE000_0300;

#[expect(unsafe_code, reason = "the system passes back the context pointer")]
unsafe extern "C" fn on_power_message(
    context: *mut c_void,
    _: u32,
    message: u32,
    argument: *mut c_void,
) {
    // SAFETY: the context is the listener, which lives for as long as callbacks run.
    let listener = unsafe { &*context.cast::<PowerListener>() };
    let notice = match message {
        WILL_SLEEP => Some(PowerEvent::Suspending),
        HAS_POWERED_ON => Some(PowerEvent::Resumed),
        _ => None,
    };
    if let Some(notice) = notice {
        let _ = listener.events.send(notice);
    }
    if matches!(message, CAN_SLEEP | WILL_SLEEP) {
        // Without a reply the machine suspends only after a timeout.
        // SAFETY: the argument is the id of this change.
        unsafe { IOAllowPowerChange(listener.root, argument as c_long) };
    }
}

#[expect(unsafe_code, reason = "two C frameworks of the system")]
#[link(name = "IOKit", kind = "framework")]
unsafe extern "C" {
    fn IORegisterForSystemPower(
        context: *mut c_void,
        port: *mut *mut c_void,
        callback: unsafe extern "C" fn(*mut c_void, u32, u32, *mut c_void),
        notifier: *mut u32,
    ) -> u32;
    fn IODeregisterForSystemPower(notifier: *mut u32) -> c_int;
    fn IOAllowPowerChange(root: u32, change: c_long) -> c_int;
    fn IOServiceClose(root: u32) -> c_int;
    fn IONotificationPortGetRunLoopSource(port: *mut c_void) -> *mut c_void;
    fn IONotificationPortDestroy(port: *mut c_void);
}

#[expect(unsafe_code, reason = "two C frameworks of the system")]
#[link(name = "CoreFoundation", kind = "framework")]
unsafe extern "C" {
    static kCFRunLoopDefaultMode: *const c_void;
    fn CFRunLoopGetCurrent() -> RunLoop;
    fn CFRunLoopAddSource(here: RunLoop, source: *mut c_void, mode: *const c_void);
    fn CFRunLoopRemoveSource(here: RunLoop, source: *mut c_void, mode: *const c_void);
    fn CFRunLoopRun();
    fn CFRunLoopStop(there: RunLoop);
    fn CFRetain(object: *mut c_void) -> *mut c_void;
    fn CFRelease(object: *mut c_void);
}
