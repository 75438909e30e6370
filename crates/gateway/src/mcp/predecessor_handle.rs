//! A handle to the gateway that this one took over from, while that finishes its calls.

use parking_lot::Mutex;
use tokio::sync::mpsc;

use evermoor_core::lifecycle::handover_messages::SuccessorMessage;
use evermoor_core::protocol::envelope::Message;

const CAPACITY: usize = 64;

/// The predecessor, if there is one and it still has calls.
#[derive(Default)]
pub struct Predecessor(Mutex<Option<mpsc::Sender<SuccessorMessage>>>);

impl Predecessor {
    /// Forwards an editor's message about one of its calls. Returns `false` if there is no predecessor.
    pub fn tell(&self, session: &str, message: &Message) -> bool {
        let line = self.0.lock();
        let Some(line) = line.as_ref() else { return false };
        let message = String::from_utf8_lossy(&message.to_bytes()).into_owned();
        line.try_send(SuccessorMessage::Forward { session: session.to_owned(), message }).is_ok()
    }

    /// The two ends of the queue of messages to it.
    pub(crate) fn connected_to(
        &self,
    ) -> (mpsc::Sender<SuccessorMessage>, mpsc::Receiver<SuccessorMessage>) {
        let (line, messages) = mpsc::channel(CAPACITY);
        *self.0.lock() = Some(line.clone());
        (line, messages)
    }

    pub(crate) fn disconnected(&self) {
        self.0.lock().take();
    }
}
