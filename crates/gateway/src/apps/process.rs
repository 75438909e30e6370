//! The process behind an application's port: its exit is awaited, its memory and load are sampled.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use evermoor_core::policy::app::AppRun;
use evermoor_core::policy::app::memory_trend;
use evermoor_core::policy::app::memory_trend::MemoryTrend;
use evermoor_platform::process::child::ProcessExit;
use evermoor_platform::process::exit_watch::ExitWatch;
use evermoor_platform::process::info;
use evermoor_platform::process::info::ProcessInfo;

use super::state::Usage;

/// One run of an application whose process is visible to us.
pub(super) struct AppProcess {
    facts: ProcessInfo,
    watch: ExitWatch,
    /// When `facts` was read.
    first_seen: Instant,
    last: Option<(Instant, info::ProcessUsage)>,
    /// Its memory over the last hour.
    line: VecDeque<memory_trend::MemorySample>,
}

/// The interval between the points of the memory trend, and how many are kept.
const POINTS: Duration = Duration::from_secs(15);
const MOST_POINTS: usize = 240;

impl AppProcess {
    /// The process that listens on this port, if it is visible.
    pub(super) async fn behind(port: u16) -> Option<Self> {
        Self::watch(info::listening_on(port).await?)
    }

    pub(super) fn watch(facts: ProcessInfo) -> Option<Self> {
        let watch = ExitWatch::open(facts.pid).ok()?;
        // The pid may have been reused since.
        let same = info::of(facts.pid)?.started == facts.started;
        let (first_seen, line) = (Instant::now(), VecDeque::new());
        same.then_some(Self { facts, watch, first_seen, last: None, line })
    }

    pub(super) fn run(&self) -> AppRun {
        run(&self.facts)
    }

    pub(super) fn executable(&self) -> Option<&Path> {
        self.facts.executable.as_deref()
    }

    pub(super) fn age(&self) -> Duration {
        self.facts.age + self.first_seen.elapsed()
    }

    pub(super) async fn ended(&self) {
        self.watch.ended().await;
    }

    /// How it exited, where the system reports that.
    pub(super) async fn how(&self) -> ProcessExit {
        self.watch.how().await
    }

    pub(super) fn end(&self, by_force: bool) -> std::io::Result<()> {
        self.watch.end(by_force)
    }

    /// Its current usage and trend; `None` if the process is gone.
    pub(super) fn sample(&mut self, alarm: Option<u64>) -> Option<Usage> {
        let (now, usage) = (Instant::now(), info::usage(self.facts.pid)?);
        let load = match self.last.replace((now, usage)) {
            Some((then, before)) => info::cpu_load(before, usage, now - then),
            None => 0.0,
        };
        let at = self.first_seen.elapsed();
        if self.line.back().is_none_or(|last| at.saturating_sub(last.at) >= POINTS) {
            self.line.push_back(memory_trend::MemorySample { at, bytes: usage.memory });
            if self.line.len() > MOST_POINTS {
                self.line.pop_front();
            }
        }
        let line: &[memory_trend::MemorySample] = self.line.make_contiguous();
        let trend = MemoryTrend { now: usage.memory, ..MemoryTrend::of(line, alarm)? };
        let load = (load * 1000.0).round().clamp(0.0, f64::from(u32::MAX)) as u32;
        Some(Usage { memory: usage.memory, load, trend: trend.sentence(alarm) })
    }
}

/// The run that listens on a port, if it is visible.
pub(super) async fn at(port: u16) -> Option<AppRun> {
    info::listening_on(port).await.as_ref().map(run)
}

pub(super) fn run(facts: &ProcessInfo) -> AppRun {
    AppRun { pid: facts.pid, started: facts.started }
}
