//! What is told now, and when to look again.

use super::displayed::Entry;
use super::kind::Kind;
use super::outage::{Outage, Told, Watched};
use super::rate_limit::Room;
use super::{Alerts, GATEWAY, Id, Notice, Now, Order, text};
use crate::api::Notifications;

impl Alerts {
    /// In how many milliseconds it wants to be asked again, if nothing happens before.
    pub fn next_look(&self, now: Now) -> Option<u64> {
        if self.quitting {
            return None;
        }
        let dues = self.all().filter_map(|(name, watched)| self.due(name, watched));
        let worse = self.all().filter_map(|(name, watched)| self.worse(name, watched));
        let unsaid = self.board.has_unsaid().then_some(self.muted_until);
        let next =
            dues.chain(worse.map(|(at, ..)| at)).chain(unsaid).filter(|&at| at > now.awake).min();
        next.map(|at| at - now.awake)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Watched)> {
        let upstreams = self.upstreams.iter().map(|(name, watched)| (name.as_str(), watched));
        upstreams.chain([(GATEWAY, &self.gateway)])
    }

    /// When the trouble of an upstream is to be told, as far as that depends on time alone.
    fn due(&self, name: &str, watched: &Watched) -> Option<u64> {
        // While nobody knows anything of the upstreams, nothing is said of them.
        if name != GATEWAY && self.gateway.outage.is_some() {
            return None;
        }
        let (due, kind) = watched.due(&self.times)?;
        Some(due.max(self.muted_until).max(self.allowance.free_at(name, kind, &self.times)))
    }

    /// When what is told of an upstream is to become worse, and how.
    fn worse(&self, name: &str, watched: &Watched) -> Option<(u64, Kind, Id)> {
        let (at, kind, id) = watched.worse()?;
        Some((at.max(self.allowance.free_at(name, kind, &self.times)), kind, id))
    }

    /// Tells what is due, and brings the screen up to date.
    pub(super) fn settle(&mut self, now: Now) -> Vec<Order> {
        if self.quitting || self.level == Notifications::None {
            self.keep_silent(now);
            return self.board.clear();
        }
        let now = now.awake;
        for name in self.upstreams.keys().cloned().collect::<Vec<_>>() {
            self.worsen(&name, now);
        }
        for name in self.due_now(now) {
            self.tell(&name, now);
        }
        self.board.orders(now < self.muted_until)
    }

    /// The names of what is to be told now, in the order in which it happened.
    fn due_now(&self, now: u64) -> Vec<String> {
        let since = |watched: &Watched| watched.outage.as_ref().map(|outage| outage.since);
        let due = self
            .all()
            .filter(|(name, watched)| self.due(name, watched).is_some_and(|due| due <= now));
        let mut due: Vec<_> =
            due.map(|(name, watched)| (since(watched), name.to_owned())).collect();
        due.sort();
        due.into_iter().map(|(_, name)| name).collect()
    }

    fn worsen(&mut self, name: &str, now: u64) {
        let worse = self.upstreams.get(name).and_then(|watched| self.worse(name, watched));
        let Some((_, kind, id)) = worse.filter(|(at, ..)| *at <= now) else { return };
        let Some(watched) = self.upstreams.get_mut(name) else { return };
        let about = watched.about.clone();
        let Some(outage) = &mut watched.outage else { return };
        self.allowance.told(name, kind, now);
        self.board.worsen(id, Entry::of(about, outage, kind, &self.times));
        outage.told = Told::In(id, kind);
    }

    fn tell(&mut self, name: &str, now: u64) {
        let times = self.times;
        let Some(watched) = self.watched(name) else { return };
        let Some(outage) = &watched.outage else { return };
        let Some(kind) = outage.trouble() else { return };
        let entry = Entry::of(watched.about.clone(), outage, kind, &times);
        self.allowance.told(name, kind, now);
        let told = self.announce(entry, now).map_or(Told::Quietly, |id| Told::In(id, kind));
        if let Some(outage) = self.watched(name).and_then(|watched| watched.outage.as_mut()) {
            outage.told = told;
        }
    }

    /// Finds a place for this trouble; none if there is no room for it.
    fn announce(&mut self, entry: Entry, now: u64) -> Option<Id> {
        if entry.kind.is_shared()
            && let Some(id) = self.board.join(&entry, self.times.together)
        {
            return Some(id);
        }
        match self.allowance.room(now, &self.times) {
            Room::Free => {
                self.allowance.took(now);
                return Some(self.board.put_up(entry));
            }
            Room::Summary => {
                self.allowance.summed_up(now);
                self.board.say(text::summary(&entry.alone.title));
            }
            Room::None => {}
        }
        None
    }

    fn watched(&mut self, name: &str) -> Option<&mut Watched> {
        match name {
            GATEWAY => Some(&mut self.gateway),
            name => self.upstreams.get_mut(name),
        }
    }

    /// Something worth knowing, for those who want to know everything.
    pub(super) fn inform(&mut self, notice: Notice, now: Now) {
        let free = self.allowance.room(now.awake, &self.times) == Room::Free;
        let muted = now.awake < self.muted_until;
        if self.level == Notifications::All && free && !muted && !self.quitting {
            self.allowance.took(now.awake);
            self.board.say(notice);
        }
    }

    /// What is due meanwhile is not told later either.
    fn keep_silent(&mut self, now: Now) {
        for name in self.due_now(now.awake) {
            let outage = self.watched(&name).and_then(|watched| watched.outage.as_mut());
            outage.into_iter().for_each(|outage| outage.told = Told::Quietly);
        }
        let watched = self.upstreams.values_mut().chain([&mut self.gateway]);
        watched.filter_map(|watched| watched.outage.as_mut()).for_each(Outage::hush);
    }
}
