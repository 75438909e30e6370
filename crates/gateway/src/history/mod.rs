//! What happened to the upstreams: their outages, and what their processes took of the machine.
//!
//! # Theory of operation
//! Whoever notices something tells it to a [`History`], which puts it into a bounded queue and goes
//! on. One task takes the queue and has a [`writer`] write to an SQLite file on a thread that may
//! block. Questions take the same way, so an answer has everything that was received before. When the
//! queue is full, or the disk is, or another program holds the file, what was received is lost and a
//! warning says so once: history is worth less than the next call. A damaged file is put aside and
//! begun anew. While an outage lasts, its counts and the moment it was last seen are written
//! regularly, so that a gateway that is killed leaves an honest record, which the next one goes on
//! with. So does a gateway that takes over, from the moment that it has the pen ([`keeping`]).

mod database;
mod message;
mod read;
pub(crate) mod recorder;
mod row;
mod tally;
mod task;
#[cfg(test)]
mod tests;
mod thinning;
pub mod timelines;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::{Cause, Incident};
use evermoor_core::history::samples::Sample;

use crate::system::environment::Chance;
use crate::system::write_lease::Pen;
pub use message::Asked;
use message::HistoryMessage;
pub(crate) use message::millis;
use recorder::Chronicle;
pub(crate) use tally::{CallEnd, Count, Tallies, Tally, Touched};
use writer::HistoryWriter;

/// Where everybody tells what happened.
#[derive(Clone)]
pub struct History {
    messages: mpsc::Sender<HistoryMessage>,
    /// That something was lost was said.
    loss_reported: Arc<AtomicBool>,
}

/// How much may wait to be written.
const QUEUE_CAPACITY: usize = 1024;
/// How long a question may take.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

impl History {
    /// A history in this file, and the task that keeps it until `stop`. It is written while `pen`
    /// is ours.
    pub fn start(
        path: PathBuf,
        pen: Pen,
        chance: Chance,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> (Self, impl Future<Output = ()>) {
        let (messages, received) = mpsc::channel(QUEUE_CAPACITY);
        let history = Self { messages, loss_reported: Arc::default() };
        let writer = match pen.is_held() {
            true => HistoryWriter::new(path),
            false => HistoryWriter::continuing(path),
        };
        (history, task::run(writer, received, pen, chance, tasks, stop))
    }

    /// A history that nobody writes down.
    pub(crate) fn nowhere() -> Self {
        let (messages, _) = mpsc::channel(1);
        Self { messages, loss_reported: Arc::new(AtomicBool::new(true)) }
    }

    /// A history that a test reads itself.
    #[cfg(test)]
    pub(crate) fn observed() -> (Self, mpsc::Receiver<HistoryMessage>) {
        let (messages, received) = mpsc::channel(QUEUE_CAPACITY);
        (Self { messages, loss_reported: Arc::default() }, received)
    }

    pub(crate) fn of(&self, upstream: &str) -> Chronicle {
        Chronicle::new(upstream, self.clone())
    }

    /// Something was seen or done during the outage of an upstream, or within minutes after it.
    pub fn add_event(&self, upstream: &str, at: SystemTime, what: impl Into<String>) {
        let (upstream, at, what) = (upstream.to_owned(), millis(at), what.into());
        self.send(HistoryMessage::Event { upstream, at, what });
    }

    /// Why an upstream went down was found out, during its outage or within minutes after it.
    pub fn explain(&self, upstream: &str, at: SystemTime, cause: Cause) {
        self.send(HistoryMessage::Explained {
            upstream: upstream.to_owned(),
            at: millis(at),
            cause,
        });
    }

    /// An upstream's process was looked at.
    pub fn sample(&self, app: &str, sample: Sample) {
        self.send(HistoryMessage::Sampled { app: app.to_owned(), sample });
    }

    /// These are the upstreams that there are; the outages of others are over.
    pub fn set_upstreams(&self, upstreams: Vec<String>, at: SystemTime) {
        self.send(HistoryMessage::UpstreamsChanged { upstreams, at: millis(at) });
    }

    /// The outages that are asked for, the newest first.
    pub async fn incidents(&self, asked: Asked) -> Result<Vec<Incident>, Failure> {
        self.ask(|answer| HistoryMessage::QueryIncidents(asked, answer)).await
    }

    /// The samples of one application from this moment on, in the order of time.
    pub async fn samples(&self, app: &str, since: u64) -> Result<Vec<Sample>, Failure> {
        let app = app.to_owned();
        self.ask(|answer| HistoryMessage::QuerySamples { app, since, answer }).await
    }

    async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<Result<T, Failure>>) -> HistoryMessage,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let asking = async {
            self.messages.send(question(answer)).await.ok()?;
            answered.await.ok()
        };
        timeout(QUERY_TIMEOUT, asking).await.ok().flatten().unwrap_or_else(|| {
            let what = "The history did not answer in time.";
            Err(Failure::new(Code::Timeout, what, "Try again in a moment."))
        })
    }

    /// Tells without waiting. What there is no room for is lost.
    pub(crate) fn send(&self, message: HistoryMessage) {
        match self.messages.try_send(message) {
            Ok(()) => self.loss_reported.store(false, Ordering::Relaxed),
            Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                if !self.loss_reported.swap(true, Ordering::Relaxed) {
                    tracing::warn!("the history cannot run up, and some of it is lost");
                }
            }
        }
    }
}
