//! The events of one reply stream. If the server sends event ids, a broken stream is resumed after the
//! last event. Resuming asks for the missing events and never repeats the call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use evermoor_core::protocol::sse;
use evermoor_core::protocol::sse::SseEvent;

use super::super::connection::{CallError, LARGEST_REPLY};
use super::client::HttpAnswer;
use super::status;
use super::target::{HttpTarget, SessionMode};

/// How often a stream is resumed without a new event.
const MAX_RESUMES: u32 = 5;
const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_millis(500);

pub(super) struct ReplyEvents {
    answer: HttpAnswer,
    parser: sse::SseParser,
    ready: VecDeque<SseEvent>,
    last_id: Option<String>,
    target: Option<Arc<HttpTarget>>,
    resumes: u32,
}

impl ReplyEvents {
    pub(super) fn new(answer: HttpAnswer, target: Option<Arc<HttpTarget>>) -> Self {
        Self {
            answer,
            parser: sse::SseParser::new(LARGEST_REPLY),
            ready: VecDeque::new(),
            last_id: None,
            target,
            resumes: 0,
        }
    }

    pub(super) fn target(&self) -> Option<&Arc<HttpTarget>> {
        self.target.as_ref()
    }

    /// The next event. The end of the stream is an error, because the answer comes before it.
    pub(super) async fn next(&mut self) -> Result<SseEvent, CallError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.last_id = event.id.clone().or(self.last_id.take());
                self.resumes = 0;
                return Ok(event);
            }
            match self.answer.chunk().await {
                Ok(Some(chunk)) => {
                    let events = self.parser.push(&chunk).map_err(|_| status::too_large())?;
                    self.ready.extend(events);
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
        if self.resumes >= MAX_RESUMES || matches!(target.era, SessionMode::Stateless(_)) {
            return Err(broke);
        }
        self.resumes += 1;
        let retry = self.parser.retry().map_or(DEFAULT_RETRY, Duration::from_millis);
        sleep(retry.clamp(SHORTEST_RETRY, LONGEST_RETRY)).await;
        match target.get(Some(&last)).await {
            Ok(answer) if answer.status().is_success() => {
                self.answer = answer;
                self.parser = sse::SseParser::new(LARGEST_REPLY);
                Ok(())
            }
            Ok(_) | Err(_) => Err(broke),
        }
    }
}
