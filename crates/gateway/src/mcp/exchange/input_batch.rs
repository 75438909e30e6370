//! Questions that an upstream asks in one breath, for an editor that is told of all it needs at once.
//!
//! An older upstream does not know what the editor at hand offers, and may ask for more than that. What
//! it asks for in vain is turned away when the editor has come back with the rest, or at once if there
//! is no rest.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use evermoor_core::protocol::envelope::{Message, Request};

use super::{Exchange, NOT_OFFERED, Part};
use crate::upstream::Question;

/// Questions that come within this time of the first are asked with it.
const BREATH: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(super) struct Together {
    gathers: bool,
    questions: Vec<Question>,
    /// What the editor does not offer.
    lacking: Vec<Question>,
    lacked: Option<Request>,
    /// What else came meanwhile.
    early: VecDeque<Part>,
}

impl Together {
    pub(super) fn early(&mut self) -> Option<Part> {
        self.early.pop_front()
    }
}

impl Exchange {
    /// The same, whose questions are all given out to be held, whether the editor can answer them or not.
    pub fn gathering(mut self, gathers: bool) -> Self {
        self.together.gathers = gathers;
        self
    }

    pub(super) fn gathers(&self) -> bool {
        self.together.gathers
    }

    /// Keeps a question, to ask it with those that follow.
    pub fn hold(&mut self, question: Question) {
        self.together.questions.push(question);
    }

    /// What is held and asked in the same breath, as far as the editor can answer it; nothing if nothing
    /// is. Nothing is lost if the future is dropped.
    pub async fn asked_together(&mut self) -> Vec<Question> {
        if self.together.questions.is_empty() {
            return Vec::new();
        }
        let until = Instant::now() + BREATH;
        while let Ok(Some(part)) = timeout_at(until, self.arriving()).await {
            match part {
                Part::Question(question) => self.together.questions.push(question),
                Part::Message(Message::Response(_)) => {
                    // It did not wait for the answers.
                    self.together.questions.clear();
                    self.together.early.push_back(part);
                    break;
                }
                Part::Message(_) => self.together.early.push_back(part),
            }
        }
        let held = std::mem::take(&mut self.together.questions).into_iter();
        let able = self.bridge.abilities;
        let (asked, lacking) = held.partition::<Vec<_>, _>(|one| able.can_answer(&one.request));
        self.together.lacked = lacking.first().map(|question| question.request.clone());
        self.together.lacking = lacking;
        if asked.is_empty() {
            self.go_on();
        }
        asked
    }

    /// Goes on without what the editor does not offer.
    pub fn go_on(&mut self) {
        for question in self.together.lacking.drain(..) {
            question.turn_away(NOT_OFFERED);
        }
    }

    /// What the upstream asked for last and the editor does not offer.
    pub fn lacked(&self) -> Option<&Request> {
        self.together.lacked.as_ref()
    }
}
