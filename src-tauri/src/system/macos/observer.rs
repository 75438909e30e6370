//! Subscribes to notifications of AppKit.

use std::ptr::NonNull;

use objc2_foundation::{NSNotification, NSNotificationCenter, NSNotificationName};

/// Calls `notify` for each notification with this name, on the thread that posts it. The subscription
/// lasts until the program exits.
pub(super) fn observe(
    center: &NSNotificationCenter,
    name: &NSNotificationName,
    notify: impl Fn() + Send + Sync + 'static,
) {
    let block = block2::RcBlock::new(move |_: NonNull<NSNotification>| notify());
    #[allow(unsafe_code, reason = "the compiler cannot check that a block may be sent")]
    // SAFETY: no object is passed, the queue is not used, and the block is `Send` and `Sync`.
    let observer = unsafe {
        center.addObserverForName_object_queue_usingBlock(Some(name), None, None, &block)
    };
    // Dropping it would not end the subscription, because the center holds it too. It is never ended.
    std::mem::forget(observer);
}
