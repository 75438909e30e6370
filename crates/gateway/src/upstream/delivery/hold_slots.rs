//! Limits the calls held for one upstream, by number and by bytes.

use std::sync::atomic::Ordering;

use evermoor_core::protocol::envelope::Request;

use super::UpstreamHandle;

/// How many calls may be held for one upstream, and how many bytes they may occupy together.
pub(super) const MAX_HELD: usize = 1024;
const MAX_HELD_BYTES: usize = 64 << 20;

/// A slot for one held call, released when dropped.
pub(super) struct HoldSlot<'a> {
    handle: &'a UpstreamHandle,
    bytes: usize,
}

impl<'a> HoldSlot<'a> {
    pub(super) fn acquire(handle: &'a UpstreamHandle, request: &Request) -> Option<Self> {
        let bytes = request.params.as_ref().map_or(0, |params| params.as_bytes().len());
        let fits = handle.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_HELD_BYTES;
        let free = fits
            && handle.held.send_if_modified(|held| {
                let free = *held < MAX_HELD;
                *held += usize::from(free);
                free
            });
        if !free {
            handle.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        free.then(|| Self { handle, bytes })
    }
}

impl Drop for HoldSlot<'_> {
    fn drop(&mut self) {
        self.handle.held_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.handle.held.send_modify(|held| *held -= 1);
    }
}
