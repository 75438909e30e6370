//! One upstream as the alerts see it: its outage, and when to announce it.

use super::alert::AlertId;
use super::clock::ClockReading;
use super::displayed::DisplayedAlerts;
use super::kind::ProblemKind;
use super::timing::AlertTiming;
use crate::api::{RestartProgress, UpstreamKind, UpstreamState, UpstreamStatus, UserAction};
use crate::failure::{Code, Failure};

/// An upstream, or the gateway itself.
#[derive(Debug)]
pub(super) struct Monitored {
    pub(super) subject: Subject,
    pub(super) outage: Option<Outage>,
    /// It was connected, and was not paused or turned off since. The user does not miss a server
    /// that was never connected.
    was_connected: bool,
    /// No alert about it before this.
    silent_until: u64,
    /// An outage that begins before this is due to a restart that the user asked for.
    restarting_until: u64,
    /// An outage that begins before this is ignored.
    ignored_until: u64,
    /// The number of its last restart.
    restart: u64,
    /// The number of the last restart before the user asked for one.
    restart_before: u64,
    /// Its outage is that it works but the user is signed out of it.
    signed_out: bool,
    /// When the user last acted on it, as the gateway reports.
    last_action: u64,
}

/// What an alert calls an upstream.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) title: String,
    /// Evermoor can start it, not only connect to it.
    pub(super) restartable: bool,
}

/// A time during which an upstream cannot be used.
#[derive(Debug)]
pub(super) struct Outage {
    pub(super) since: u64,
    pub(super) failure: Failure,
    pub(super) announcement: Announcement,
    /// The problem; `None` if it needs no alert.
    kind: Option<ProblemKind>,
    /// At least one attempt to reconnect failed.
    reconnect_failed: bool,
    /// A connection attempt or a restart is in progress.
    recovering: bool,
    /// The user asked for a restart.
    restart_requested: bool,
}

/// Whether an outage was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announcement {
    Pending,
    /// The rate limit or the user's settings forbade it.
    Suppressed,
    /// In this alert, as this kind of problem.
    Displayed(AlertId, ProblemKind),
}

impl Monitored {
    pub(super) fn new(upstream: &UpstreamStatus) -> Self {
        Self::of(Subject::of(upstream))
    }

    pub(super) fn gateway() -> Self {
        let (name, title) = (super::GATEWAY.to_owned(), "Evermoor".to_owned());
        Self::of(Subject { name, title, restartable: false })
    }

    fn of(subject: Subject) -> Self {
        Self {
            subject,
            outage: None,
            was_connected: false,
            silent_until: 0,
            restarting_until: 0,
            ignored_until: 0,
            restart: 0,
            restart_before: 0,
            signed_out: false,
            last_action: 0,
        }
    }

    /// Takes in its current status.
    pub(super) fn observe(
        &mut self,
        upstream: &UpstreamStatus,
        now: u64,
        displayed: &mut DisplayedAlerts,
    ) {
        self.subject = Subject::of(upstream);
        let restart = upstream.app.as_ref().and_then(|app| app.restart.as_ref());
        self.restart = restart.map_or(0, |restart| restart.number);
        match &upstream.link {
            UpstreamState::Off | UpstreamState::Paused { .. } => {
                self.end_outage(displayed);
                (self.was_connected, self.signed_out) = (false, false);
            }
            UpstreamState::Connecting => {
                if let Some(outage) = &mut self.outage {
                    outage.recovering = true;
                }
            }
            UpstreamState::Connected { .. } => {
                self.was_connected = true;
                let signed_out = upstream.app.as_ref().filter(|app| app.signed_out);
                if !(self.signed_out && signed_out.is_some())
                    && let Some(id) = self.recover()
                {
                    let text = super::text::tools_are_back(upstream.tools);
                    displayed.recovered(id, &self.subject.name, text);
                }
                self.signed_out = signed_out.is_some();
                if let Some(app) = signed_out {
                    let failure = Failure::new(Code::AuthRequired, &*app.what, &*app.remedy);
                    self.is_down(&failure, Some(ProblemKind::SignInRequired), now, displayed);
                }
            }
            UpstreamState::Down { failure, attempts, .. } => {
                // Going down is a new outage, not a worse form of being signed out.
                if std::mem::take(&mut self.signed_out) {
                    self.end_outage(displayed);
                }
                let kind = ProblemKind::of(upstream, failure);
                self.is_down(failure, kind, now, displayed);
                if let Some(outage) = &mut self.outage {
                    outage.reconnect_failed |= *attempts > 0;
                }
                self.follow_restart(restart, now);
            }
        }
    }

    /// The gateway is not running.
    pub(super) fn gateway_lost(&mut self, failure: &Failure, now: u64) {
        let kind = Some(ProblemKind::GatewayDown);
        self.outage.get_or_insert_with(|| Outage::new(failure, kind, false, now));
    }

    /// It recovered. Returns the alert that announced its outage, if there is one.
    pub(super) fn recover(&mut self) -> Option<AlertId> {
        let outage = self.outage.take()?;
        (self.silent_until, self.restarting_until) = (0, 0);
        match outage.announcement {
            Announcement::Displayed(id, _) => Some(id),
            Announcement::Pending | Announcement::Suppressed => None,
        }
    }

    /// Ends its outage without announcing a recovery.
    pub(super) fn end_outage(&mut self, displayed: &mut DisplayedAlerts) {
        if let Some(id) = self.recover() {
            displayed.drop_upstream(id, &self.subject.name);
        }
        displayed.drop_recovery(&self.subject.name);
    }

    /// The user acted on it elsewhere, such as in the dashboard. An action that was long ago when
    /// it is first reported has no effect.
    pub(super) fn user_acted(&mut self, action: Option<UserAction>, now: ClockReading, grace: u64) {
        let Some(action) = action.filter(|action| action.at > self.last_action) else { return };
        self.last_action = action.at;
        let left = grace.saturating_sub(now.wall.saturating_sub(action.at));
        match action.restarts {
            _ if left == 0 => {}
            true => self.restart(now.awake + left),
            false => self.silence(now.awake + left),
        }
    }

    /// The user restarts it.
    pub(super) fn restart(&mut self, until: u64) {
        self.silence(until);
        (self.restarting_until, self.restart_before) = (until, self.restart);
        if let Some(outage) = &mut self.outage {
            outage.restart_requested = true;
        }
    }

    /// The user is working on it, so there are no alerts about it until then.
    pub(super) fn silence(&mut self, until: u64) {
        self.silent_until = self.silent_until.max(until);
    }

    /// The user wants no alerts about outages that begin before this.
    pub(super) fn ignore(&mut self, until: u64, displayed: &mut DisplayedAlerts) {
        self.ignored_until = self.ignored_until.max(until);
        let Some(outage) = &mut self.outage else { return };
        let before = std::mem::replace(&mut outage.announcement, Announcement::Suppressed);
        if let Announcement::Displayed(id, _) = before {
            displayed.drop_upstream(id, &self.subject.name);
        }
    }

    pub(super) fn not_shown(&mut self, id: AlertId) {
        if let Some(outage) = self.outage.as_mut().filter(|outage| outage.is_in(id)) {
            outage.announcement = Announcement::Suppressed;
        }
    }

    /// When to announce its outage, and as which kind of problem.
    pub(super) fn due(&self, timing: &AlertTiming) -> Option<(u64, ProblemKind)> {
        let pending = |outage: &&Outage| outage.announcement == Announcement::Pending;
        let outage = self.outage.as_ref().filter(pending)?;
        let kind = outage.problem().filter(|_| !outage.recovering)?;
        let missed = self.was_connected || !kind.is_groupable();
        let confirmed = outage.reconnect_failed || kind != ProblemKind::Exited;
        let ignored = outage.since < self.ignored_until;
        let due = outage.since.saturating_add(kind.grace(timing)).max(self.silent_until);
        (missed && confirmed && !ignored).then_some((due, kind))
    }

    /// If its problem is worse than what its alert says: when to update the alert, to which kind of
    /// problem, and which alert.
    pub(super) fn escalation(&self) -> Option<(u64, ProblemKind, AlertId)> {
        let outage = self.outage.as_ref().filter(|outage| !outage.recovering)?;
        let Announcement::Displayed(id, displayed) = outage.announcement else { return None };
        let kind = outage.problem().filter(|kind| *kind > displayed)?;
        Some((self.silent_until, kind, id))
    }

    fn is_down(
        &mut self,
        failure: &Failure,
        kind: Option<ProblemKind>,
        now: u64,
        displayed: &mut DisplayedAlerts,
    ) {
        let requested = now < self.restarting_until;
        if self.outage.is_none() {
            displayed.drop_recovery(&self.subject.name);
        }
        let outage = self.outage.get_or_insert_with(|| Outage::new(failure, kind, requested, now));
        (outage.kind, outage.recovering) = (kind, false);
        outage.failure = failure.clone();
        // It turns out that the user quit it, so the alert was wrong.
        if outage.problem().is_none()
            && let Announcement::Displayed(id, _) =
                std::mem::replace(&mut outage.announcement, Announcement::Pending)
        {
            displayed.drop_upstream(id, &self.subject.name);
        }
    }

    /// Applies the state of its restart to its outage.
    fn follow_restart(&mut self, restart: Option<&RestartProgress>, now: u64) {
        let (Some(outage), Some(restart)) = (&mut self.outage, restart) else { return };
        match &restart.end {
            None => outage.recovering = true,
            Some(end) if end.failure.is_some() => {
                outage.reconnect_failed = true;
                if outage.restart_requested && restart.number > self.restart_before {
                    self.silent_until = self.silent_until.min(now);
                }
            }
            Some(_) => {}
        }
    }
}

impl Subject {
    fn of(upstream: &UpstreamStatus) -> Self {
        Self {
            name: upstream.name.clone(),
            title: upstream.title.clone(),
            restartable: upstream.app.is_some()
                || upstream.kind.is_some_and(|kind| kind != UpstreamKind::Address),
        }
    }
}

impl Outage {
    fn new(
        failure: &Failure,
        kind: Option<ProblemKind>,
        restart_requested: bool,
        now: u64,
    ) -> Self {
        Self {
            since: now,
            failure: failure.clone(),
            announcement: Announcement::Pending,
            kind,
            reconnect_failed: false,
            recovering: false,
            restart_requested,
        }
    }

    /// The problem to announce, if any.
    pub(super) fn problem(&self) -> Option<ProblemKind> {
        match self.kind {
            None | Some(ProblemKind::NotReady | ProblemKind::Unreachable | ProblemKind::Exited)
                if self.restart_requested =>
            {
                Some(ProblemKind::RestartFailed)
            }
            kind => kind,
        }
    }

    /// Its alert is withdrawn and does not come back.
    pub(super) fn withdraw(&mut self) {
        if let Announcement::Displayed(..) = self.announcement {
            self.announcement = Announcement::Suppressed;
        }
    }

    fn is_in(&self, id: AlertId) -> bool {
        matches!(self.announcement, Announcement::Displayed(own, _) if own == id)
    }
}
