//! The events of one reply stream. If the server sends event ids, a broken stream is resumed after the
//! last event. Resuming asks for the missing events and never repeats the call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use evermoor_core::protocol::sse;

use super::super::connection::{CallError, LARGEST_REPLY};
use super::client::HttpAnswer;
use super::status;
use super::target::{HttpTarget, SessionMode};
use crate::system::budget::{Budget, Intake, SharedCharge};

/// How often a stream is resumed without a new event.
const MAX_RESUMES: u32 = 5;
const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_millis(500);

/// An event of a reply, and what is charged for it.
pub(super) struct ReplyEvent {
    pub(super) data: Bytes,
    pub(super) charge: Option<SharedCharge>,
    id: Option<Arc<str>>,
}

pub(super) struct ReplyEvents {
    answer: HttpAnswer,
    parser: sse::SseParser,
    ready: VecDeque<ReplyEvent>,
    intake: Intake,
    last_id: Option<Arc<str>>,
    target: Option<Arc<HttpTarget>>,
    resumes: u32,
}

impl ReplyEvents {
    pub(super) fn new(
        answer: HttpAnswer,
        target: Option<Arc<HttpTarget>>,
        buffers: &Arc<Budget>,
    ) -> Self {
        Self {
            answer,
            parser: sse::SseParser::new(LARGEST_REPLY),
            ready: VecDeque::new(),
            intake: Intake::new(buffers),
            last_id: None,
            target,
            resumes: 0,
        }
    }

    pub(super) fn target(&self) -> Option<&Arc<HttpTarget>> {
        self.target.as_ref()
    }

    /// The next event. The end of the stream is an error, because the answer comes before it.
    pub(super) async fn next(&mut self) -> Result<ReplyEvent, CallError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.last_id = event.id.clone().or(self.last_id.take());
                self.resumes = 0;
                return Ok(event);
            }
            match self.answer.chunk().await {
                Ok(Some(chunk)) => {
                    self.intake.admit(chunk.len()).await.map_err(|full| status::no_room(&full))?;
                    for event in self.parser.push(&chunk).map_err(|_| status::too_large())? {
                        let (data, charge) = self.intake.take(event.data);
                        self.ready.push_back(ReplyEvent { data, charge, id: event.id });
                    }
                    self.intake.keep_only(self.parser.buffered());
                }
                Err(error) => self.resume(status::lost(&error)).await?,
                Ok(None) => self.resume(status::cut_short()).await?,
            }
        }
    }

    /// Resumes the stream after its last event, or returns `broke`.
    async fn resume(&mut self, broke: CallError) -> Result<(), CallError> {
        let (Some(target), Some(last)) = (self.target.clone(), self.last_id.clone()) else {
            return Err(broke);
        };
        if self.resumes >= MAX_RESUMES || matches!(target.mode, SessionMode::Stateless(_)) {
            return Err(broke);
        }
        self.resumes += 1;
        let retry = self.parser.retry().map_or(DEFAULT_RETRY, Duration::from_millis);
        sleep(retry.clamp(SHORTEST_RETRY, LONGEST_RETRY)).await;
        match target.get(Some(&last)).await {
            Ok(answer) if answer.status().is_success() => {
                self.answer = answer;
                self.parser = sse::SseParser::new(LARGEST_REPLY);
                self.intake.keep_only(0);
                Ok(())
            }
            Ok(_) | Err(_) => Err(broke),
        }
    }
}
