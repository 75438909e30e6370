//! Questions that an upstream asks in one breath, for an editor that is told of all it needs at once.
//!
//! An older upstream does not know what the editor at hand offers, and may ask for more than that. What
//! it asks for in vain is turned away when the editor has come back with the rest, or at once if there
//! is no rest.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use evermoor_core::protocol::envelope::{Message, Request};

use super::{Exchange, ExchangeEvent, NOT_SUPPORTED};
use crate::upstream::Question;

/// Questions that come within this time of the first are asked with it.
const BATCH_WINDOW: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(super) struct InputBatch {
    batches_input: bool,
    questions: Vec<Question>,
    /// What the editor does not offer.
    unsupported: Vec<Question>,
    unsupported_request: Option<Request>,
    /// What else came meanwhile.
    early: VecDeque<ExchangeEvent>,
}

impl InputBatch {
    pub(super) fn early(&mut self) -> Option<ExchangeEvent> {
        self.early.pop_front()
    }
}

impl Exchange {
    /// The same, whose questions are all given out to be held, whether the editor can answer them or not.
    pub fn batching_input(mut self, batches_input: bool) -> Self {
        self.batch.batches_input = batches_input;
        self
    }

    pub(super) fn batches_input(&self) -> bool {
        self.batch.batches_input
    }

    /// Keeps a question, to ask it with those that follow.
    pub fn hold(&mut self, question: Question) {
        self.batch.questions.push(question);
    }

    /// What is held and asked in the same breath, as far as the editor can answer it; nothing if nothing
    /// is. Nothing is lost if the future is dropped.
    pub async fn collect_batch(&mut self) -> Vec<Question> {
        if self.batch.questions.is_empty() {
            return Vec::new();
        }
        let until = Instant::now() + BATCH_WINDOW;
        while let Ok(Some(part)) = timeout_at(until, self.next_unbatched()).await {
            match part {
                ExchangeEvent::Question(question) => self.batch.questions.push(question),
                ExchangeEvent::Message(Message::Response(_)) => {
                    // It did not wait for the answers.
                    self.batch.questions.clear();
                    self.batch.early.push_back(part);
                    break;
                }
                ExchangeEvent::Message(_) => self.batch.early.push_back(part),
            }
        }
        let held = std::mem::take(&mut self.batch.questions).into_iter();
        let able = self.translation.abilities;
        let (asked, unsupported) = held.partition::<Vec<_>, _>(|one| able.can_answer(&one.request));
        self.batch.unsupported_request =
            unsupported.first().map(|question| question.request.clone());
        self.batch.unsupported = unsupported;
        if asked.is_empty() {
            self.decline_unsupported();
        }
        asked
    }

    /// Goes on without what the editor does not offer.
    pub fn decline_unsupported(&mut self) {
        for question in self.batch.unsupported.drain(..) {
            question.turn_away(NOT_SUPPORTED);
        }
    }

    /// What the upstream asked for last and the editor does not offer.
    pub fn unsupported_request(&self) -> Option<&Request> {
        self.batch.unsupported_request.as_ref()
    }
}
