//! The history of upstreams: incidents, and samples of applications' memory and load.
//!
//! # Theory of operation
//! A [`History`] handle puts messages into a bounded queue without waiting. One [`task`] takes them
//! and has a [`writer`] write them to an SQLite file on a blocking thread. Queries use the same
//! queue, so an answer includes everything sent before it. If the queue or the disk is full, or
//! another program locks the file, messages are lost and one warning is logged: a call must never
//! wait for the history. A damaged file is moved aside and a new one is started. During an incident
//! its counts and the time it was last seen are written regularly, so a gateway that is killed
//! leaves an accurate record, which the next one continues. A gateway that takes over continues it
//! as soon as it holds the write lease.
//!
//! # Layout
//! - [`recorder`], [`call_counts`]: what a supervisor records: outages, and the outcomes of calls
//! - [`message`], [`task`]: the messages in the queue, and the task that takes them
//! - [`writer`], [`sql_write`], [`retention`]: writes rows, and deletes old ones
//! - [`sql_read`]: the queries; [`database`]: opens and migrates the file
//!
//! Uses only `system`. `apps`, `config`, `upstream`, `server` and `lifecycle` use it.

mod call_counts;
mod database;
mod message;
pub(crate) mod recorder;
mod retention;
mod sql_read;
mod sql_write;
mod task;
#[cfg(test)]
mod tests;
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
use evermoor_core::history::incident::{Incident, IncidentCause};
use evermoor_core::history::samples::ResourceSample;

use crate::system::clock::ClockAndRandom;
use crate::system::write_lease::WriteLease;
pub(crate) use call_counts::{AffectedCall, CallEnd, CurrentTally, ReplyTally, Tally};
use message::HistoryMessage;
pub use message::IncidentQuery;
pub(crate) use message::millis;
use recorder::IncidentRecorder;
use writer::HistoryWriter;

/// The handle through which the gateway records and queries the history.
#[derive(Clone)]
pub struct History {
    messages: mpsc::Sender<HistoryMessage>,
    /// The current loss of messages was already logged.
    loss_reported: Arc<AtomicBool>,
}

/// How many messages may wait to be written.
const QUEUE_CAPACITY: usize = 1024;
/// How long a query may take.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

impl History {
    /// Opens the history in this file. The returned task writes it until `stop`, while this gateway
    /// holds the lease.
    pub fn start(
        path: PathBuf,
        lease: WriteLease,
        clock: ClockAndRandom,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> (Self, impl Future<Output = ()>) {
        let (messages, received) = mpsc::channel(QUEUE_CAPACITY);
        let history = Self { messages, loss_reported: Arc::default() };
        let writer = match lease.is_held() {
            true => HistoryWriter::new(path),
            false => HistoryWriter::continuing(path),
        };
        (history, task::run(writer, received, lease, clock, tasks, stop))
    }

    /// A history that drops everything.
    #[cfg(test)]
    pub(crate) fn disabled() -> Self {
        let (messages, _) = mpsc::channel(1);
        Self { messages, loss_reported: Arc::new(AtomicBool::new(true)) }
    }

    /// A history whose messages the test receives.
    #[cfg(test)]
    pub(crate) fn observed() -> (Self, mpsc::Receiver<HistoryMessage>) {
        let (messages, received) = mpsc::channel(QUEUE_CAPACITY);
        (Self { messages, loss_reported: Arc::default() }, received)
    }

    pub(crate) fn of(&self, upstream: &str) -> IncidentRecorder {
        IncidentRecorder::new(upstream, self.clone())
    }

    /// Adds an event to the upstream's incident, during it or within minutes after it.
    pub fn add_event(&self, upstream: &str, at: SystemTime, what: impl Into<String>) {
        let (upstream, at, what) = (upstream.to_owned(), millis(at), what.into());
        self.send(HistoryMessage::Event { upstream, at, what });
    }

    /// Records the cause of the upstream's incident, during it or within minutes after it.
    pub fn explain(&self, upstream: &str, at: SystemTime, cause: IncidentCause) {
        self.send(HistoryMessage::Explained {
            upstream: upstream.to_owned(),
            at: millis(at),
            cause,
        });
    }

    /// Records a sample of an application's process.
    pub fn sample(&self, app: &str, sample: ResourceSample) {
        self.send(HistoryMessage::Sampled { app: app.to_owned(), sample });
    }

    /// Sets the list of upstreams; the incidents of all others end.
    pub fn set_upstreams(&self, upstreams: Vec<String>, at: SystemTime) {
        self.send(HistoryMessage::UpstreamsChanged { upstreams, at: millis(at) });
    }

    /// The incidents that match, newest first.
    pub async fn incidents(&self, asked: IncidentQuery) -> Result<Vec<Incident>, Failure> {
        self.ask(|answer| HistoryMessage::QueryIncidents(asked, answer)).await
    }

    /// The samples of one application since this time, oldest first.
    pub async fn samples(&self, app: &str, since: u64) -> Result<Vec<ResourceSample>, Failure> {
        let app = app.to_owned();
        self.ask(|answer| HistoryMessage::QuerySamples { app, since, answer }).await
    }

    async fn ask<T>(
        &self,
        query: impl FnOnce(oneshot::Sender<Result<T, Failure>>) -> HistoryMessage,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let asking = async {
            self.messages.send(query(answer)).await.ok()?;
            answered.await.ok()
        };
        timeout(QUERY_TIMEOUT, asking).await.ok().flatten().unwrap_or_else(|| {
            let what = "The history did not answer in time.";
            Err(Failure::new(Code::Timeout, what, "Try again in a moment."))
        })
    }

    /// Queues a message without waiting. It is lost if the queue is full.
    pub(crate) fn send(&self, message: HistoryMessage) {
        match self.messages.try_send(message) {
            Ok(()) => self.loss_reported.store(false, Ordering::Relaxed),
            Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                if !self.loss_reported.swap(true, Ordering::Relaxed) {
                    tracing::warn!("the history cannot keep up; some of it is lost");
                }
            }
        }
    }
}
