//! The task that watches one application.
//!
//! # Theory of operation
//! While the supervisor is connected, the watcher observes the application at intervals: it knows
//! the process, notices its exit at once and samples its memory and load. While the supervisor is
//! not connected, the watcher probes the ports about once a second and tells the supervisor when
//! the application answers again, on whichever port. When the process exits, the watcher tells the
//! supervisor, finds out why, and responds as the policy says. It does nothing while the upstream
//! is paused.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use evermoor_core::config::memory_size;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::samples;
use evermoor_core::history::samples::ResourceSample;
use evermoor_core::policy::app::auto_restart::{
    AppPolicy, AutoRestart, ExitResponse, MemoryAction, MemoryPressure,
};
use evermoor_core::policy::app::state::{AppHealth, AppHealthState, AppObservation, HUNG_AFTER};
use evermoor_core::preset::Preset;

use super::WatcherContext;
use super::exit_cause;
use super::exit_cause::ExitVerdict;
use super::observe::{Observation, Observer};
use super::process::AppProcess;
use super::restart::{RestartDriver, RestartReason};
use super::state::{AppState, Observed, Usage};
use crate::history::millis;
use crate::system::exit;
use crate::upstream::{LinkState, LiveConnection, UpstreamHandle};

pub(super) struct AppWatcher {
    pub(super) upstream: UpstreamHandle,
    pub(super) preset: Arc<Preset>,
    pub(super) app: Arc<AppState>,
    pub(super) context: WatcherContext,
    pub(super) process: Option<AppProcess>,
    /// The generation of the connection whose process is known.
    known_generation: Option<u64>,
    auto_restart: AutoRestart,
    /// This run was already reported as hung.
    hung: bool,
    /// The offer to restart this run because of its memory. It outlives the connection.
    memory_offer: Option<String>,
    /// When the last sample was recorded.
    sampled: Option<Instant>,
    verdict_sender: mpsc::Sender<ExitVerdict>,
    verdicts: mpsc::Receiver<ExitVerdict>,
}

enum WatcherEvent {
    Exited,
    Explained(ExitVerdict),
    RestartRequested,
    LinkChanged,
    /// The machine woke up, or the number of viewers changed.
    ObserveNow,
    Observed(Observation),
}

/// The differences between links that matter to the watcher.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkKind {
    Serving { generation: u64 },
    Away,
    Paused,
}

/// How often ports are probed while the application is away, so that the supervisor reconnects
/// within a second of its return.
const AWAY_INTERVAL: Duration = Duration::from_millis(800);
/// How often all processes are listed while the application is away. This is more expensive.
const PROCESS_SCAN_INTERVAL: Duration = Duration::from_secs(4);
const NOT_INSTALLED_INTERVAL: Duration = Duration::from_secs(5);
const SERVING_INTERVAL: Duration = Duration::from_millis(samples::SAMPLE_INTERVAL);
/// The interval while the application's page is open.
const VIEWED_INTERVAL: Duration = Duration::from_secs(2);
/// An application that exited cleanly may restart by itself, for example after an update.
const SELF_RESTART: Duration = Duration::from_secs(2);
/// How long the supervisor may take to notice an exit that it is told about.
const SUPERVISOR_NOTICE: Duration = Duration::from_secs(1);
/// How long the application may take to accept a request to free memory.
const RELIEF_TIMEOUT: Duration = Duration::from_secs(20);
/// The application counts as idle after this time, unless its preset says otherwise.
const DEFAULT_IDLE: Duration = Duration::from_secs(120);

impl AppWatcher {
    pub(super) fn new(
        upstream: UpstreamHandle,
        preset: Arc<Preset>,
        context: WatcherContext,
    ) -> Self {
        let app = context.apps.app_state(upstream.name());
        let (verdict_sender, verdicts) = mpsc::channel(4);
        let record = context.restart_records.of(upstream.name());
        let (now, wall) = (Instant::now().into_std(), millis(context.clock.now()));
        let auto_restart = AutoRestart::from_record(&record, now, wall);
        Self {
            upstream,
            preset,
            app,
            context,
            process: None,
            known_generation: None,
            auto_restart,
            hung: false,
            memory_offer: None,
            sampled: None,
            verdict_sender,
            verdicts,
        }
    }

    pub(super) async fn run(mut self) {
        let mut state = self.upstream.watch();
        let (mut wakes, mut viewers) = (self.context.wakes.clone(), self.app.viewers());
        let Some(observer) = Observer::of(&self) else { return };
        let (mut next, mut scanned) = (Instant::now(), None::<Instant>);
        let mut link = link_kind(&state.borrow_and_update().link);
        loop {
            if link == LinkKind::Paused {
                self.on_paused();
                if state.wait_for(|state| link_kind(&state.link) != LinkKind::Paused).await.is_err()
                {
                    return;
                }
                // Verdicts that arrived during the pause are outdated.
                while self.verdicts.try_recv().is_ok() {}
            }
            let observe = async {
                sleep_until(next).await;
                let scan = scanned.is_none_or(|last| last.elapsed() >= PROCESS_SCAN_INTERVAL);
                (observer.observe(self.known_generation, scan).await, scan)
            };
            let event = tokio::select! {
                biased;
                () = exit_of(self.process.as_ref()) => WatcherEvent::Exited,
                Some(verdict) = self.verdicts.recv() => WatcherEvent::Explained(verdict),
                () = self.upstream.until_app_restart_after(self.app.last_restart()) => WatcherEvent::RestartRequested,
                changed = state.changed() => match changed {
                    Ok(()) => WatcherEvent::LinkChanged,
                    Err(_) => return,
                },
                Ok(()) = wakes.changed() => WatcherEvent::ObserveNow,
                Ok(()) = viewers.changed() => WatcherEvent::ObserveNow,
                (observation, scan) = observe => {
                    if scan {
                        scanned = Some(Instant::now());
                    }
                    WatcherEvent::Observed(observation)
                }
            };
            let before = std::mem::replace(&mut link, link_kind(&state.borrow_and_update().link));
            match event {
                WatcherEvent::Observed(observation) => {
                    next = Instant::now() + self.on_observation(observation).await;
                }
                // The supervisor only made another attempt.
                WatcherEvent::LinkChanged if link == before => {}
                WatcherEvent::LinkChanged | WatcherEvent::ObserveNow => {
                    (next, scanned) = (Instant::now(), None);
                }
                WatcherEvent::Exited => self.on_exit().await,
                WatcherEvent::Explained(verdict) => {
                    self.on_verdict(verdict).await;
                    scanned = None;
                }
                WatcherEvent::RestartRequested => self.on_restart_requested().await,
            }
        }
    }

    fn on_paused(&mut self) {
        (self.process, self.known_generation, self.hung) = (None, None, false);
        self.update(Observed::forget);
    }

    /// Returns how long to wait before the next observation.
    async fn on_observation(&mut self, observation: Observation) -> Duration {
        match observation {
            Observation::Serving { health, version, ready, process } => {
                if let Some(process) = process {
                    self.track(process.map(|process| *process), &ready);
                }
                self.on_serving(health, version, &ready).await;
                match *self.app.viewers().borrow() {
                    0 => SERVING_INTERVAL,
                    _ => VIEWED_INTERVAL,
                }
            }
            Observation::Away { found, health } => self.on_away(found, health).await,
            Observation::Unknown => AWAY_INTERVAL,
        }
    }

    /// Tracks the process behind a new connection, which may be the process that was known before.
    fn track(&mut self, process: Option<AppProcess>, ready: &LiveConnection) {
        self.known_generation = Some(ready.generation());
        let run = |process: &Option<AppProcess>| process.as_ref().map(AppProcess::run);
        if self.process.is_none() || run(&self.process) != run(&process) {
            self.process = process;
            (self.hung, self.memory_offer) = (false, None);
            self.auto_restart.run_started();
            self.update(|seen| seen.offer = None);
        }
    }

    async fn on_serving(
        &mut self,
        health: AppHealth,
        version: Option<String>,
        ready: &LiveConnection,
    ) {
        let alarm = self.alarm();
        let usage = self.process.as_mut().and_then(|process| process.sample(alarm));
        let pid = self.process.as_ref().map(|process| process.run().pid);
        let answers_again = std::mem::take(&mut self.hung);
        self.update(|seen| {
            if answers_again {
                seen.offer = None;
            }
            (seen.health, seen.version, seen.alarm) = (Some(health), version, alarm);
            (seen.usage, seen.pid) = (usage.clone(), pid);
            (seen.ended, seen.launching) = (None, false);
        });
        if let Some(usage) = usage {
            self.record_sample(&usage);
            self.check_memory(usage.memory, ready).await;
        }
    }

    async fn on_away(&mut self, found: Option<u16>, health: Option<AppHealth>) -> Duration {
        if found.is_some() {
            self.upstream.app_is_reachable();
        }
        let Some(health) = health else { return AWAY_INTERVAL };
        let (state, served) = (health.state.clone(), self.app.has_served());
        self.update(|seen| {
            seen.usage = None;
            // An application that served earlier in this run is not starting: its link says what
            // is wrong.
            if !(served && found.is_some()) {
                seen.health = Some(health);
            }
        });
        if let AppHealthState::Hung { silent } = state
            && silent >= HUNG_AFTER
        {
            self.on_hang().await;
        }
        if state == AppHealthState::NotInstalled { NOT_INSTALLED_INTERVAL } else { AWAY_INTERVAL }
    }

    async fn on_exit(&mut self) {
        let Some(process) = self.process.take() else { return };
        let (at, title) = (self.context.clock.now(), &self.preset.title);
        let hung = self.hung;
        let what = format!("{title} exited.");
        let failure = Failure::new(Code::ConnectionLost, what, "Evermoor is finding out why.");
        self.upstream.report_app_exit(failure, SUPERVISOR_NOTICE).await;
        let exit = process.how().await;
        self.record_event(format!("Its process {}.", exit::sentence(exit)));
        let away = AppHealth::of(&self.preset, &AppObservation::default());
        self.update(|seen| {
            (seen.pid, seen.usage, seen.served, seen.answered) = (None, None, false, None);
            seen.health = Some(away);
        });
        let (run, lived) = (process.run(), process.age());
        let end = exit_cause::ObservedExit { run, exit, at, asked: false, hung, lived };
        let finding =
            exit_cause::find_out(Arc::clone(&self.preset), end, self.verdict_sender.clone());
        self.context.tasks.spawn(finding);
    }

    /// The cause of an exit is known, or known in more detail.
    async fn on_verdict(&mut self, exit: ExitVerdict) {
        let (title, cause) = (self.preset.title.clone(), exit.verdict.cause.clone());
        let record = exit_cause::incident_cause(&title, &exit.verdict);
        self.context.history.explain(self.upstream.name().as_str(), exit.at, record);
        if self.is_back() || self.upstream.is_paused() {
            return;
        }
        self.update(|seen| seen.ended = Some(cause.clone()));
        if !exit.first {
            return;
        }
        tracing::warn!(upstream = %self.upstream.name(), run = exit.run.pid, "{}", cause.sentence(&title));
        let (policy, now) = (self.policy(), Instant::now().into_std());
        let response = self.auto_restart.ended(policy, &cause, exit.lived, now);
        self.record_restarts().await;
        if response == ExitResponse::Restart && !cause.is_crash() && self.restarts_itself().await {
            return;
        }
        self.respond(response, RestartReason::Exited).await;
    }

    /// The process runs but has not answered for a long time.
    async fn on_hang(&mut self) {
        if std::mem::replace(&mut self.hung, true) {
            return;
        }
        let (at, verdict) = (self.context.clock.now(), exit_cause::hung());
        let record = exit_cause::incident_cause(&self.preset.title, &verdict);
        self.context.history.explain(self.upstream.name().as_str(), at, record);
        let lived = self.process.as_ref().map(AppProcess::age).unwrap_or_default();
        let response = self.auto_restart.hung(self.policy(), lived, Instant::now().into_std());
        self.record_restarts().await;
        self.respond(response, RestartReason::Hung).await;
    }

    async fn on_restart_requested(&mut self) {
        self.auto_restart.reset();
        self.record_restarts().await;
        self.restart(RestartReason::Requested).await;
    }

    /// Keeps the count of automatic restarts for the next gateway.
    async fn record_restarts(&self) {
        let (now, wall) = (Instant::now().into_std(), millis(self.context.clock.now()));
        let record = self.auto_restart.record(now, wall);
        self.context.restart_records.set(self.upstream.name(), record).await;
    }

    async fn respond(&mut self, response: ExitResponse, reason: RestartReason) {
        if response == ExitResponse::Restart {
            return self.restart(reason).await;
        }
        if let Some(sentence) = response.sentence(&self.preset.title) {
            self.record_event(sentence.clone());
            let gave_up = self.auto_restart.has_given_up();
            self.update(|seen| (seen.offer, seen.gave_up) = (Some(sentence), gave_up));
        }
    }

    /// Restarts the application, or starts it if it does not run.
    async fn restart(&mut self, reason: RestartReason) {
        RestartDriver::new(self).run(reason).await;
    }

    /// Waits briefly for the application to come back without help.
    async fn restarts_itself(&self) -> bool {
        let mut state = self.upstream.watch();
        let back = state.wait_for(|state| matches!(state.link, LinkState::Ready(_)));
        timeout(SELF_RESTART, back).await.is_ok()
    }

    fn is_back(&self) -> bool {
        self.process.is_some() || matches!(self.upstream.state().link, LinkState::Ready(_))
    }

    async fn check_memory(&mut self, used: u64, ready: &LiveConnection) {
        let Some(alarm) = self.alarm() else { return };
        let relief = self.preset.relief.clone();
        let pressure = MemoryPressure {
            used,
            alarm,
            relief: relief.as_ref().map(|request| request.within),
            idle: ready.calls().none_for(),
            idle_after: self.preset.memory.map_or(DEFAULT_IDLE, |memory| memory.idle),
        };
        match self.auto_restart.memory(self.policy(), pressure, Instant::now().into_std()) {
            MemoryAction::Nothing => {
                self.memory_offer = None;
                self.update(|seen| seen.offer = None);
            }
            MemoryAction::Wait => {
                if let Some(offer) = self.memory_offer.clone() {
                    self.update(|seen| seen.offer = seen.offer.take().or(Some(offer)));
                }
            }
            MemoryAction::Relieve => {
                let Some((probe, port)) = self.context.apps.probe().zip(self.app.seen().port)
                else {
                    return;
                };
                tracing::info!(upstream = %self.upstream.name(), used, "asked to use less memory");
                if let Some(relief) = relief {
                    let probe = probe.clone();
                    let asking = async move { probe.send(port, &relief.ask, RELIEF_TIMEOUT).await };
                    self.context.tasks.spawn(asking);
                }
            }
            MemoryAction::Recycle => self.restart(RestartReason::Memory).await,
            MemoryAction::Offer => {
                let used = memory_size::format_bytes(used);
                let offer = format!(
                    "{} uses {used} of memory. Restart it before it fails; no calls are lost.",
                    self.preset.title
                );
                self.memory_offer = Some(offer.clone());
                self.update(|seen| seen.offer = Some(offer));
            }
        }
    }

    /// Records memory and load, at most once per sampling interval.
    fn record_sample(&mut self, usage: &Usage) {
        let Some(process) = &self.process else { return };
        // Observations are never exactly one interval apart.
        if self.sampled.is_some_and(|then| then.elapsed() + VIEWED_INTERVAL < SERVING_INTERVAL) {
            return;
        }
        self.sampled = Some(Instant::now());
        let sample = ResourceSample {
            at: millis(self.context.clock.now()),
            span: samples::SAMPLE_INTERVAL,
            memory: usage.memory,
            load: usage.load,
            uptime: u64::try_from(process.age().as_millis()).unwrap_or(u64::MAX),
        };
        self.context.history.sample(self.upstream.name().as_str(), sample);
    }

    fn policy(&self) -> AppPolicy {
        self.upstream.config.policy
    }

    fn alarm(&self) -> Option<u64> {
        let preset = self.preset.memory.map(|memory| memory.alarm);
        self.policy().memory_alarm.or(preset)
    }

    /// Adds an event to the incident in the history.
    pub(super) fn record_event(&self, what: String) {
        let name = self.upstream.name().as_str();
        self.context.history.add_event(name, self.context.clock.now(), what);
    }

    /// Changes the observed state, and publishes it if users would see a difference.
    fn update(&self, change: impl FnOnce(&mut Observed)) {
        let before = self.app.view();
        self.app.change(change);
        if self.app.view() != before {
            self.context.changed.notify_one();
        }
    }
}

fn link_kind(link: &LinkState) -> LinkKind {
    match link {
        LinkState::Ready(ready) => LinkKind::Serving { generation: ready.generation() },
        LinkState::Connecting | LinkState::Down { .. } => LinkKind::Away,
        LinkState::Paused { .. } => LinkKind::Paused,
    }
}

/// Waits for a process to exit; forever if there is none.
pub(super) async fn exit_of(process: Option<&AppProcess>) {
    match process {
        Some(process) => process.ended().await,
        None => std::future::pending().await,
    }
}
