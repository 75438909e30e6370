//! The alert rules: they take events and decide what is on the screen.

use std::collections::BTreeMap;

use super::alert::{Alert, AlertCommand, AlertId};
use super::clock::{Clock, ClockReading};
use super::displayed::{DisplayedAlerts, OutageEntry};
use super::kind::ProblemKind;
use super::outage::{Announcement, Monitored, Outage};
use super::rate_limit::{Permit, RateLimit};
use super::timing::AlertTiming;
use super::{GATEWAY, TrayAction, text};
use crate::api::{NotificationLevel, Status};
use crate::failure::Failure;

/// The rules and their state.
#[derive(Debug)]
pub struct AlertRules {
    timing: AlertTiming,
    clock: Clock,
    level: NotificationLevel,
    upstreams: BTreeMap<String, Monitored>,
    /// The gateway itself. While it is down, the state of its upstreams is unknown.
    gateway: Monitored,
    endpoint: Option<String>,
    /// The version of the last update that was announced.
    update: Option<String>,
    rate_limit: RateLimit,
    displayed: DisplayedAlerts,
    muted_until: u64,
    quitting: bool,
}

impl AlertRules {
    /// Right after login everything else is starting too, so `at_login` mutes alerts for a while.
    pub fn new(timing: AlertTiming, at_login: bool, now: ClockReading) -> Self {
        Self {
            timing,
            clock: Clock::new(now),
            level: NotificationLevel::default(),
            upstreams: BTreeMap::new(),
            gateway: Monitored::gateway(),
            endpoint: None,
            update: None,
            rate_limit: RateLimit::default(),
            displayed: DisplayedAlerts::default(),
            muted_until: if at_login { now.awake + timing.mute } else { 0 },
            quitting: false,
        }
    }

    /// The gateway is running and reported this status.
    pub fn observe(&mut self, status: &Status, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        self.level = status.tray.notifications;
        if let Some(left) = status.muted_until.and_then(|until| until.checked_sub(now.wall)) {
            self.mute(now.awake + left.min(self.timing.mute));
        }
        if let Some(id) = self.gateway.recover() {
            self.displayed.recovered(id, GATEWAY, text::gateway_is_back());
        }
        self.drop_removed(status);
        for upstream in &status.upstreams {
            let monitored = self.upstreams.entry(upstream.name.clone());
            let monitored = monitored.or_insert_with(|| Monitored::new(upstream));
            monitored.user_acted(upstream.touched, now, self.timing.user_action_grace);
            monitored.observe(upstream, now.awake, &mut self.displayed);
        }
        let before = self.endpoint.replace(status.endpoint.clone());
        if before.is_some_and(|before| before != status.endpoint) {
            self.inform(text::moved(&status.endpoint), now);
        }
        self.update_screen(now)
    }

    /// The gateway is not running.
    pub fn gateway_lost(&mut self, failure: &Failure, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        self.gateway.gateway_lost(failure, now.awake);
        self.update_screen(now)
    }

    /// The user did something in the tray.
    pub fn act(&mut self, act: &TrayAction, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        let grace_end = now.awake + self.timing.user_action_grace;
        match act {
            TrayAction::Restart(name) => {
                if let Some(monitored) = self.upstreams.get_mut(name) {
                    monitored.restart(grace_end);
                }
            }
            TrayAction::Manage(name) => {
                let all = self.upstreams.iter_mut();
                all.filter(|(own, _)| name.as_ref().is_none_or(|name| name == *own))
                    .for_each(|(_, monitored)| monitored.silence(grace_end));
            }
            TrayAction::Ignore { upstream, until } => {
                let until = now.awake + until.saturating_sub(now.wall);
                if let Some(monitored) = self.upstreams.get_mut(upstream) {
                    monitored.ignore(until, &mut self.displayed);
                }
            }
            TrayAction::Quit => self.quitting = true,
        }
        self.update_screen(now)
    }

    /// An update is ready to install.
    pub fn update_ready(&mut self, version: &str, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        if self.update.as_deref() != Some(version) {
            self.update = Some(version.to_owned());
            self.inform(text::update_ready(version), now);
        }
        self.update_screen(now)
    }

    /// The machine joined another network. Connections that break because of it cause no alert.
    pub fn network_changed(&mut self, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        self.mute(now.awake + self.timing.mute);
        self.update_screen(now)
    }

    /// Applies the rules to the current time.
    pub fn evaluate(&mut self, now: ClockReading) -> Vec<AlertCommand> {
        self.advance_clock(now);
        self.update_screen(now)
    }

    /// An alert could not be shown, so its recovery is not announced either.
    pub fn not_shown(&mut self, id: AlertId) {
        self.displayed.remove(id);
        let all = self.upstreams.values_mut().chain([&mut self.gateway]);
        all.for_each(|monitored| monitored.not_shown(id));
    }

    /// In how many milliseconds to call [`Self::evaluate`] if nothing else happens before.
    pub fn next_evaluation(&self, now: ClockReading) -> Option<u64> {
        if self.quitting {
            return None;
        }
        let due = self.all().filter_map(|(name, monitored)| self.due(name, monitored));
        let escalations =
            self.all().filter_map(|(name, monitored)| self.escalation(name, monitored));
        let outdated = self.displayed.is_outdated().then_some(self.muted_until);
        let next = due
            .chain(escalations.map(|(at, ..)| at))
            .chain(outdated)
            .filter(|&at| at > now.awake)
            .min();
        next.map(|at| at - now.awake)
    }

    fn advance_clock(&mut self, now: ClockReading) {
        if self.clock.slept(now, self.timing.sleep_threshold) {
            self.mute(now.awake + self.timing.mute);
        }
    }

    fn mute(&mut self, until: u64) {
        self.muted_until = self.muted_until.max(until);
    }

    /// Forgets upstreams that were removed from the configuration.
    fn drop_removed(&mut self, status: &Status) {
        let displayed = &mut self.displayed;
        self.upstreams.retain(|name, monitored| {
            let stays = status.upstreams.iter().any(|upstream| upstream.name == *name);
            if !stays {
                monitored.end_outage(displayed);
            }
            stays
        });
    }

    /// Announces what is due and brings the screen up to date.
    fn update_screen(&mut self, now: ClockReading) -> Vec<AlertCommand> {
        if self.quitting || self.level == NotificationLevel::None {
            self.suppress_all(now);
            return self.displayed.clear();
        }
        let now = now.awake;
        for name in self.upstreams.keys().cloned().collect::<Vec<_>>() {
            self.escalate(&name, now);
        }
        for name in self.due_now(now) {
            self.announce(&name, now);
        }
        self.displayed.orders(now < self.muted_until)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Monitored)> {
        let upstreams = self.upstreams.iter().map(|(name, monitored)| (name.as_str(), monitored));
        upstreams.chain([(GATEWAY, &self.gateway)])
    }

    fn monitored(&mut self, name: &str) -> Option<&mut Monitored> {
        match name {
            GATEWAY => Some(&mut self.gateway),
            name => self.upstreams.get_mut(name),
        }
    }

    /// When to announce the outage of an upstream, judged by time alone.
    fn due(&self, name: &str, monitored: &Monitored) -> Option<u64> {
        // While the gateway is down, the state of its upstreams is unknown.
        if name != GATEWAY && self.gateway.outage.is_some() {
            return None;
        }
        let (due, kind) = monitored.due(&self.timing)?;
        let allowed = self.rate_limit.next_allowed(name, kind, &self.timing);
        Some(due.max(self.muted_until).max(allowed))
    }

    /// The upstreams to announce now, the oldest outage first.
    fn due_now(&self, now: u64) -> Vec<String> {
        let since = |monitored: &Monitored| monitored.outage.as_ref().map(|outage| outage.since);
        let mut due: Vec<_> = self
            .all()
            .filter(|(name, monitored)| self.due(name, monitored).is_some_and(|due| due <= now))
            .map(|(name, monitored)| (since(monitored), name.to_owned()))
            .collect();
        due.sort();
        due.into_iter().map(|(_, name)| name).collect()
    }

    /// When the displayed alert of an upstream must change to a worse problem, and to which.
    fn escalation(&self, name: &str, monitored: &Monitored) -> Option<(u64, ProblemKind, AlertId)> {
        let (at, kind, id) = monitored.escalation()?;
        Some((at.max(self.rate_limit.next_allowed(name, kind, &self.timing)), kind, id))
    }

    fn escalate(&mut self, name: &str, now: u64) {
        let escalation =
            self.upstreams.get(name).and_then(|monitored| self.escalation(name, monitored));
        let Some((_, kind, id)) = escalation.filter(|(at, ..)| *at <= now) else { return };
        let Some(monitored) = self.upstreams.get_mut(name) else { return };
        let subject = monitored.subject.clone();
        let Some(outage) = &mut monitored.outage else { return };
        self.rate_limit.record(name, kind, now);
        self.displayed.escalate(id, OutageEntry::new(subject, outage, kind, &self.timing));
        outage.announcement = Announcement::Displayed(id, kind);
    }

    fn announce(&mut self, name: &str, now: u64) {
        let timing = self.timing;
        let Some(monitored) = self.monitored(name) else { return };
        let Some(outage) = &monitored.outage else { return };
        let Some(kind) = outage.problem() else { return };
        let entry = OutageEntry::new(monitored.subject.clone(), outage, kind, &timing);
        self.rate_limit.record(name, kind, now);
        let announcement = match self.display(entry, now) {
            Some(id) => Announcement::Displayed(id, kind),
            None => Announcement::Suppressed,
        };
        if let Some(outage) = self.monitored(name).and_then(|monitored| monitored.outage.as_mut()) {
            outage.announcement = announcement;
        }
    }

    /// Adds an outage to an alert that it shares, or to a new one; `None` if the rate limit
    /// forbids it.
    fn display(&mut self, entry: OutageEntry, now: u64) -> Option<AlertId> {
        if entry.kind.is_groupable()
            && let Some(id) = self.displayed.join(&entry, self.timing.group_window)
        {
            return Some(id);
        }
        match self.rate_limit.permit(now, &self.timing) {
            Permit::Allowed => {
                self.rate_limit.record_shown(now);
                return Some(self.displayed.add_outage(entry));
            }
            Permit::SummaryOnly => {
                self.rate_limit.record_summary(now);
                self.displayed.add_message(text::summary(&entry.alone.title));
            }
            Permit::Denied => {}
        }
        None
    }

    /// Shows an alert that is not about a problem, if the user wants those.
    fn inform(&mut self, alert: Alert, now: ClockReading) {
        let allowed = self.rate_limit.permit(now.awake, &self.timing) == Permit::Allowed;
        let muted = now.awake < self.muted_until;
        if self.level == NotificationLevel::All && allowed && !muted && !self.quitting {
            self.rate_limit.record_shown(now.awake);
            self.displayed.add_message(alert);
        }
    }

    /// Drops what is due now, so that it is not announced later either.
    fn suppress_all(&mut self, now: ClockReading) {
        for name in self.due_now(now.awake) {
            let outage = self.monitored(&name).and_then(|monitored| monitored.outage.as_mut());
            outage.into_iter().for_each(|outage| outage.announcement = Announcement::Suppressed);
        }
        let all = self.upstreams.values_mut().chain([&mut self.gateway]);
        all.filter_map(|monitored| monitored.outage.as_mut()).for_each(Outage::withdraw);
    }
}
