//! The state of each upstream over the last day, kept across restarts.
//!
//! A task records every change of state. It writes a small file every few minutes and when the
//! gateway ends, so that the next one knows since when no gateway ran. If the gateway is killed, a
//! few minutes are lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api::TimelineSpan;
use evermoor_core::history::timeline::{StateLog, timeline_state};
use evermoor_platform::clock::unix_millis as now;
use evermoor_platform::fs::private;

use crate::monitoring::status::Overview;
use crate::system::write_lease::WriteLease;

/// The timelines of all upstreams.
#[derive(Clone)]
pub struct Timelines {
    logs: Arc<Mutex<BTreeMap<String, StateLog>>>,
    file: PathBuf,
    lease: WriteLease,
}

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
struct TimelineFile {
    /// When it was written, in Unix milliseconds.
    seen: u64,
    upstreams: BTreeMap<String, StateLog>,
}

/// How often the file is written.
const WRITE_INTERVAL: Duration = Duration::from_secs(5 * 60);

impl Timelines {
    /// Reads the file of the previous gateway. A file that cannot be read is ignored.
    pub fn read(file: PathBuf, lease: WriteLease) -> Self {
        let content = private::read_private(&file).ok().flatten().unwrap_or_default();
        let mut written: TimelineFile = serde_json::from_slice(&content).unwrap_or_default();
        // Without the lease another gateway still runs, so there is no gap to mark.
        if lease.is_held() {
            written.upstreams.values_mut().for_each(|log| log.resume(written.seen));
        }
        Self { logs: Arc::new(Mutex::new(written.upstreams)), file, lease }
    }

    /// The spans of an upstream since this time.
    pub fn spans(&self, upstream: &str, since: u64) -> Vec<TimelineSpan> {
        let logs = self.logs.lock();
        let nothing = StateLog::default();
        logs.get(upstream).unwrap_or(&nothing).spans(since, now())
    }

    /// Records every change until `stop`, and writes the file.
    pub async fn keep(
        self,
        mut overview: watch::Receiver<Overview>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        overview.mark_changed();
        let mut next = Instant::now() + WRITE_INTERVAL;
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                changed = overview.changed() => match changed {
                    Ok(()) => self.note(&overview.borrow_and_update()),
                    Err(_) => break,
                },
                () = sleep_until(next) => {
                    next = Instant::now() + WRITE_INTERVAL;
                    self.write(&tasks).await;
                }
            }
        }
        self.write(&tasks).await;
    }

    fn note(&self, overview: &Overview) {
        let (at, mut logs) = (now(), self.logs.lock());
        let upstreams = &overview.status.upstreams;
        logs.retain(|name, _| upstreams.iter().any(|one| one.name == *name));
        for upstream in upstreams {
            let state = timeline_state(&upstream.link);
            match logs.get_mut(&upstream.name) {
                Some(log) => log.note(at, state),
                None => logs.entry(upstream.name.clone()).or_default().note(at, state),
            };
        }
    }

    async fn write(&self, tasks: &TaskTracker) {
        if !self.lease.is_held() {
            return;
        }
        let written = TimelineFile { seen: now(), upstreams: self.logs.lock().clone() };
        let (file, Ok(content)) = (self.file.clone(), serde_json::to_vec(&written)) else { return };
        let writing = tasks.spawn_blocking(move || private::write_private(&file, &content)).await;
        if let Ok(Err(error)) = writing {
            tracing::warn!(%error, "the timelines are not kept across a restart");
        }
    }
}
