//! The alerts on the screen, and the changes that keep them up to date.

use super::alert::{Alert, AlertCommand, AlertId};
use super::kind::ProblemKind;
use super::outage::{Outage, Subject};
use super::text;
use super::timing::AlertTiming;

/// Every alert that may still be on the screen.
#[derive(Debug, Default)]
pub(super) struct DisplayedAlerts {
    next_id: u64,
    alerts: Vec<DisplayedAlert>,
}

/// One alert.
#[derive(Debug)]
struct DisplayedAlert {
    id: AlertId,
    content: DisplayedContent,
    /// What was last sent to the screen.
    shown: Option<Alert>,
    /// The next change may make a sound.
    audible: bool,
}

#[derive(Debug)]
enum DisplayedContent {
    /// A message that never changes.
    Message(Alert),
    /// Upstreams that are down, or were.
    Outages(Vec<OutageEntry>),
}

/// An upstream in an alert.
#[derive(Clone, Debug)]
pub(super) struct OutageEntry {
    pub(super) subject: Subject,
    pub(super) kind: ProblemKind,
    pub(super) since: u64,
    /// The alert to show if it is the only one down.
    pub(super) alone: Alert,
    /// It recovered, and this is the text that says so.
    pub(super) recovery: Option<String>,
}

/// How many alerts are remembered; the desktop has dropped older ones long ago.
const MAX_REMEMBERED: usize = 16;

impl DisplayedAlerts {
    /// Adds a new alert for this outage.
    pub(super) fn add_outage(&mut self, entry: OutageEntry) -> AlertId {
        self.add(DisplayedContent::Outages(vec![entry]))
    }

    pub(super) fn add_message(&mut self, alert: Alert) {
        self.add(DisplayedContent::Message(alert));
    }

    /// Adds this outage to an alert about others that began within `window`.
    pub(super) fn join(&mut self, entry: &OutageEntry, window: u64) -> Option<AlertId> {
        let near = |other: &OutageEntry| {
            other.recovery.is_none()
                && other.kind.is_groupable()
                && other.since.abs_diff(entry.since) <= window
        };
        let alert = self.alerts.iter_mut().find_map(|alert| match &mut alert.content {
            DisplayedContent::Outages(entries) if entries.iter().any(near) => {
                Some((alert.id, entries))
            }
            DisplayedContent::Outages(_) | DisplayedContent::Message(_) => None,
        });
        let (id, entries) = alert?;
        entries.retain(|other| other.subject.name != entry.subject.name);
        entries.push(entry.clone());
        Some(id)
    }

    /// The problem of this upstream became worse.
    pub(super) fn escalate(&mut self, id: AlertId, entry: OutageEntry) {
        if let Some(own) = self.entry(id, &entry.subject.name) {
            *own = entry;
        }
        self.alerts
            .iter_mut()
            .filter(|alert| alert.id == id)
            .for_each(|alert| alert.audible = true);
    }

    /// This upstream recovered.
    pub(super) fn recovered(&mut self, id: AlertId, name: &str, text: String) {
        if let Some(entry) = self.entry(id, name) {
            entry.recovery = Some(text);
        }
    }

    /// Removes this upstream from an alert.
    pub(super) fn drop_upstream(&mut self, id: AlertId, name: &str) {
        if let Some(entries) = self.entries(id) {
            entries.retain(|entry| entry.subject.name != name);
        }
    }

    /// This upstream is not connected, so no alert may say that it is back.
    pub(super) fn drop_recovery(&mut self, name: &str) {
        for alert in &mut self.alerts {
            let DisplayedContent::Outages(entries) = &mut alert.content else { continue };
            let is_it =
                |entry: &OutageEntry| entry.recovery.is_some() && entry.subject.name == name;
            match entries.iter().all(|entry| entry.recovery.is_some()) {
                true if entries.iter().any(is_it) => entries.clear(),
                true => {}
                false => entries.retain(|entry| !is_it(entry)),
            }
        }
    }

    /// Removes an alert that was never shown.
    pub(super) fn remove(&mut self, id: AlertId) {
        self.alerts.retain(|alert| alert.id != id);
    }

    /// Withdraws everything.
    pub(super) fn clear(&mut self) -> Vec<AlertCommand> {
        let shown = self.alerts.drain(..).filter(|alert| alert.shown.is_some());
        shown.map(|alert| AlertCommand::Withdraw(alert.id)).collect()
    }

    /// Whether an alert on the screen must change, which may have to wait until the mute ends.
    pub(super) fn is_outdated(&self) -> bool {
        self.alerts.iter().any(|alert| alert.current() != alert.shown)
    }

    /// The changes that bring the screen up to date. While `muted`, alerts are only withdrawn.
    pub(super) fn orders(&mut self, muted: bool) -> Vec<AlertCommand> {
        let mut orders = Vec::new();
        self.alerts.retain_mut(|alert| {
            let current = alert.current().filter(|_| !(muted && alert.is_over()));
            let Some(current) = current else {
                orders.extend(alert.shown.take().map(|_| AlertCommand::Withdraw(alert.id)));
                return false;
            };
            let is_shown = alert.shown.as_ref().is_some_and(|shown| muted || *shown == current);
            if is_shown {
                return true;
            }
            let quiet = current.quiet || !std::mem::take(&mut alert.audible);
            let sent = Alert { quiet, ..current.clone() };
            orders.push(match alert.shown.replace(current) {
                Some(_) => AlertCommand::Replace(alert.id, sent),
                None => AlertCommand::Show(alert.id, sent),
            });
            true
        });
        orders
    }

    fn add(&mut self, content: DisplayedContent) -> AlertId {
        let id = AlertId(self.next_id);
        self.next_id += 1;
        if self.alerts.len() >= MAX_REMEMBERED
            && let Some(old) = self.alerts.iter().position(DisplayedAlert::is_over)
        {
            self.alerts.remove(old);
        }
        self.alerts.push(DisplayedAlert { id, content, shown: None, audible: true });
        id
    }

    fn entry(&mut self, id: AlertId, name: &str) -> Option<&mut OutageEntry> {
        self.entries(id)?.iter_mut().find(|entry| entry.subject.name == name)
    }

    fn entries(&mut self, id: AlertId) -> Option<&mut Vec<OutageEntry>> {
        let alert = self.alerts.iter_mut().find(|alert| alert.id == id)?;
        match &mut alert.content {
            DisplayedContent::Outages(entries) => Some(entries),
            DisplayedContent::Message(_) => None,
        }
    }
}

impl DisplayedAlert {
    /// What it must show now; `None` if it must be withdrawn.
    fn current(&self) -> Option<Alert> {
        let entries = match &self.content {
            DisplayedContent::Message(alert) => return Some(alert.clone()),
            DisplayedContent::Outages(entries) => entries,
        };
        let down: Vec<&OutageEntry> =
            entries.iter().filter(|entry| entry.recovery.is_none()).collect();
        match (down.as_slice(), entries.as_slice()) {
            ([], []) => None,
            ([], recovered) => Some(text::are_back(recovered)),
            ([one], _) => Some(one.alone.clone()),
            (several, _) => Some(text::several(several)),
        }
    }

    /// Whether it is about no problem any more.
    fn is_over(&self) -> bool {
        match &self.content {
            DisplayedContent::Message(_) => self.shown.is_some(),
            DisplayedContent::Outages(entries) => {
                entries.iter().all(|entry| entry.recovery.is_some())
            }
        }
    }
}

impl OutageEntry {
    pub(super) fn new(
        subject: Subject,
        outage: &Outage,
        kind: ProblemKind,
        timing: &AlertTiming,
    ) -> Self {
        let alone = text::alone(&subject, kind, &outage.failure, timing);
        Self { subject, kind, since: outage.since, alone, recovery: None }
    }
}
