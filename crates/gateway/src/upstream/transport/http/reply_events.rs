//! The events of one reply stream. A stream that broke is taken up again after its last event, if
//! the server numbers them: taking up is asking for what was said, never for the call again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::time::sleep;

use evermoor_core::protocol::sse;
use evermoor_core::protocol::sse::Event;

use super::super::connection::{CallError, LARGEST_REPLY};
use super::errors;
use super::target::{Era, Line};

/// How often a stream is taken up again without a single new event.
const MOST_RESUMES: u32 = 5;
const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_millis(500);

pub(super) struct Events {
    chunks: BoxStream<'static, Result<Bytes, reqwest::Error>>,
    parser: sse::Parser,
    ready: VecDeque<Event>,
    last_id: Option<String>,
    line: Option<Arc<Line>>,
    resumes: u32,
}

impl Events {
    pub(super) fn new(answer: reqwest::Response, line: Option<Arc<Line>>) -> Self {
        Self {
            chunks: answer.bytes_stream().boxed(),
            parser: sse::Parser::new(LARGEST_REPLY),
            ready: VecDeque::new(),
            last_id: None,
            line,
            resumes: 0,
        }
    }

    pub(super) fn line(&self) -> Option<&Arc<Line>> {
        self.line.as_ref()
    }

    /// The next event. A stream never ends well: the answer is read before its end.
    pub(super) async fn next(&mut self) -> Result<Event, CallError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.last_id = event.id.clone().or(self.last_id.take());
                self.resumes = 0;
                return Ok(event);
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => {
                    let events = self.parser.push(&chunk).map_err(|_| errors::too_large())?;
                    self.ready.extend(events);
                }
                Some(Err(error)) => self.resume(errors::lost(&error)).await?,
                None => self.resume(errors::cut_short()).await?,
            }
        }
    }

    /// Takes the stream up after its last event, or fails as it broke.
    async fn resume(&mut self, broke: CallError) -> Result<(), CallError> {
        let (Some(line), Some(last)) = (self.line.clone(), self.last_id.clone()) else {
            return Err(broke);
        };
        if self.resumes >= MOST_RESUMES || matches!(line.era, Era::Stateless(_)) {
            return Err(broke);
        }
        self.resumes += 1;
        let retry = self.parser.retry().map_or(DEFAULT_RETRY, Duration::from_millis);
        sleep(retry.clamp(SHORTEST_RETRY, LONGEST_RETRY)).await;
        match line.get(Some(&last)).await {
            Ok(answer) if answer.status().is_success() => {
                self.chunks = answer.bytes_stream().boxed();
                self.parser = sse::Parser::new(LARGEST_REPLY);
                Ok(())
            }
            Ok(_) | Err(_) => Err(broke),
        }
    }
}
