//! How each upstream fared over the last day, kept over restarts.
//!
//! A task notes every change of state. It writes a small file now and then, and when the gateway
//! ends, so that the next one knows since when nobody watched. What is lost with a gateway that was
//! killed are a few minutes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api::Span;
use evermoor_core::history::timeline::{Log, state_of};
use evermoor_platform::fs::private;

use crate::monitoring::status::Overview;
use crate::system::write_lease::Pen;

/// Everybody's timeline.
#[derive(Clone)]
pub struct Timelines {
    logs: Arc<Mutex<BTreeMap<String, Log>>>,
    file: PathBuf,
    pen: Pen,
}

/// What lies on the disk.
#[derive(Default, Serialize, Deserialize)]
struct Written {
    /// When it was written, in milliseconds of the Unix epoch.
    seen: u64,
    upstreams: BTreeMap<String, Log>,
}

/// So often it is written that somebody watches.
const EVERY: Duration = Duration::from_secs(5 * 60);

impl Timelines {
    /// What the gateway before this one saw. A file that cannot be read says nothing.
    pub fn read(file: PathBuf, pen: Pen) -> Self {
        let content = private::read_private(&file).ok().flatten().unwrap_or_default();
        let mut written: Written = serde_json::from_slice(&content).unwrap_or_default();
        // One that takes over from another one that runs goes on where that is.
        if pen.is_held() {
            written.upstreams.values_mut().for_each(|log| log.resume(written.seen));
        }
        Self { logs: Arc::new(Mutex::new(written.upstreams)), file, pen }
    }

    /// The spans of an upstream from this moment on.
    pub fn spans(&self, upstream: &str, since: u64) -> Vec<Span> {
        let logs = self.logs.lock();
        let nothing = Log::default();
        logs.get(upstream).unwrap_or(&nothing).spans(since, now())
    }

    /// Notes every change until `stop`, and writes it down.
    pub async fn keep(
        self,
        mut overview: watch::Receiver<Overview>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        overview.mark_changed();
        let mut next = Instant::now() + EVERY;
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                changed = overview.changed() => match changed {
                    Ok(()) => self.note(&overview.borrow_and_update()),
                    Err(_) => break,
                },
                () = sleep_until(next) => {
                    next = Instant::now() + EVERY;
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
            let state = state_of(&upstream.link);
            match logs.get_mut(&upstream.name) {
                Some(log) => log.note(at, state),
                None => logs.entry(upstream.name.clone()).or_default().note(at, state),
            };
        }
    }

    async fn write(&self, tasks: &TaskTracker) {
        if !self.pen.is_held() {
            return;
        }
        let written = Written { seen: now(), upstreams: self.logs.lock().clone() };
        let (file, Ok(content)) = (self.file.clone(), serde_json::to_vec(&written)) else { return };
        let writing = tasks.spawn_blocking(move || private::write_private(&file, &content)).await;
        if let Ok(Err(error)) = writing {
            tracing::warn!(%error, "how upstreams fared is not kept over a restart");
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
