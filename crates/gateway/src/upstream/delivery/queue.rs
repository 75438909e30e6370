//! The places of calls that wait for one upstream: bounded in number and in bytes.

use std::sync::atomic::Ordering;

use evermoor_core::protocol::envelope::Request;

use super::Handle;

/// How many calls may wait for one upstream, and how many bytes they may hold together.
pub(super) const MOST_HELD: usize = 1024;
const MOST_HELD_BYTES: usize = 64 << 20;

/// A place among the calls that wait; given back when dropped.
pub(super) struct Place<'a> {
    handle: &'a Handle,
    bytes: usize,
}

impl<'a> Place<'a> {
    pub(super) fn take(handle: &'a Handle, request: &Request) -> Option<Self> {
        let bytes = request.params.as_ref().map_or(0, |params| params.as_bytes().len());
        let fits = handle.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_HELD_BYTES;
        let free = fits
            && handle.held.send_if_modified(|held| {
                let free = *held < MOST_HELD;
                *held += usize::from(free);
                free
            });
        if !free {
            handle.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        free.then(|| Self { handle, bytes })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.handle.held_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.handle.held.send_modify(|held| *held -= 1);
    }
}
