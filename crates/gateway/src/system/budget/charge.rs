//! Bytes that are charged to a budget, until this is dropped.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Budget, NoRoom};

/// Bytes that are charged to a budget.
pub(crate) struct Charge {
    pub(super) budget: Arc<Budget>,
    pub(super) bytes: usize,
}

/// A charge whose bytes are passed on, and which can be moved to another budget meanwhile.
#[derive(Clone)]
pub(crate) struct SharedCharge(Arc<Mutex<Charge>>);

/// A buffer and what is charged for it.
struct ChargedBuffer {
    buffer: Bytes,
    _charge: SharedCharge,
}

impl Charge {
    /// The same bytes, charged until the last reference to them is gone.
    pub(crate) fn keep(self, buffer: Bytes) -> (Bytes, SharedCharge) {
        let charge = SharedCharge(Arc::new(Mutex::new(self)));
        let kept = ChargedBuffer { buffer, _charge: charge.clone() };
        (Bytes::from_owner(kept), charge)
    }

    /// Adds a charge of the same budget.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Takes a part of it.
    pub(super) fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { budget: Arc::clone(&self.budget), bytes }
    }

    /// Gives back what is more than `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        self.budget.give_back(surplus);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

impl SharedCharge {
    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().bytes
    }

    /// Moves the charge to another budget, if that has room.
    pub(crate) fn move_to(&self, budget: &Arc<Budget>) -> Result<(), NoRoom> {
        let moved = budget.try_charge(self.bytes())?;
        self.replace(moved);
        Ok(())
    }

    /// Charges another budget from now on.
    pub(crate) fn replace(&self, charge: Charge) {
        let before = std::mem::replace(&mut *self.0.lock(), charge);
        drop(before);
    }

    /// Charges nothing any more, because something else limits the bytes.
    pub(crate) fn release(&self) {
        self.0.lock().shrink_to(0);
    }

    /// The budget that is charged.
    pub(crate) fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.0.lock().budget)
    }
}

impl AsRef<[u8]> for ChargedBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}
