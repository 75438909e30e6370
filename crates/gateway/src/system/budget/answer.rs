//! What the answer to one call is charged to, from its arrival until its editor has it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Budget, NoRoom, ROOM_LIMIT, SharedCharge};

/// The answer to one call of an editor.
#[derive(Clone, Default)]
pub struct AnswerCharge {
    editor: Arc<Budget>,
    /// What the upstream is charged for the answer, once that has arrived.
    arrived: Arc<Mutex<Option<SharedCharge>>>,
}

impl AnswerCharge {
    pub(crate) fn of(editor: Arc<Budget>) -> Self {
        Self { editor, arrived: Arc::default() }
    }

    /// The editor that made the call.
    pub(crate) fn editor(&self) -> &Arc<Budget> {
        &self.editor
    }

    /// The answer has arrived, and its upstream is charged for it.
    pub(crate) fn arrived(&self, charge: Option<SharedCharge>) {
        *self.arrived.lock() = charge;
    }

    /// Charges the editor in place of the upstream. Waits for room; if there is none, the answer must
    /// be dropped. Cancel safe.
    pub(crate) async fn hand_over(&self) -> Result<(), NoRoom> {
        let Some(charge) = self.arrived.lock().clone() else { return Ok(()) };
        let handed_over = match charge.move_to(&self.editor) {
            Ok(()) => Ok(()),
            Err(no_room) => match charge.budget().wait_for_editor(charge.bytes()) {
                Some(_waiting) => {
                    let charged = self.editor.charge(charge.bytes(), ROOM_LIMIT).await;
                    charged.map(|moved| charge.replace(moved))
                }
                None => Err(no_room),
            },
        };
        *self.arrived.lock() = None;
        handed_over
    }
}
