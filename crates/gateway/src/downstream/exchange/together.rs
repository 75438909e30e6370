//! Questions that an upstream asks in one breath, for an editor that is told of all it needs at once.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use evermoor_core::envelope::Message;

use super::{Exchange, Part};
use crate::upstream::Question;

/// Questions that come within this time of the first are asked with it.
const BREATH: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(super) struct Together {
    questions: Vec<Question>,
    /// What else came meanwhile.
    early: VecDeque<Part>,
}

impl Together {
    pub(super) fn early(&mut self) -> Option<Part> {
        self.early.pop_front()
    }
}

impl Exchange {
    /// Keeps a question, to ask it with those that follow.
    pub fn hold(&mut self, question: Question) {
        self.together.questions.push(question);
    }

    /// The question that is held, with what else is asked in the same breath; none if none is. Nothing
    /// is lost if the future is dropped.
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
        std::mem::take(&mut self.together.questions)
    }
}
