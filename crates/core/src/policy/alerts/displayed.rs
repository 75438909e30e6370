//! What is on the screen, and how it must be changed to be true.

use super::kind::Kind;
use super::notification::{Id, Notice, Order};
use super::outage::{About, Outage};
use super::text;
use super::timing::Times;

/// Every notice that may still be on the screen.
#[derive(Debug, Default)]
pub(super) struct Board {
    next: u64,
    sheets: Vec<Sheet>,
}

/// One notice.
#[derive(Debug)]
struct Sheet {
    id: Id,
    says: Says,
    shown: Option<Notice>,
    /// There is news in it that a person is to hear.
    loud: bool,
}

#[derive(Debug)]
enum Says {
    /// It has been said, and stays as it is.
    Once(Notice),
    /// These are in trouble, or were.
    Trouble(Vec<Entry>),
}

/// An upstream in a notice.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) about: About,
    pub(super) kind: Kind,
    pub(super) since: u64,
    /// What is said if it is the only one.
    pub(super) alone: Notice,
    /// It is well again, and this is said of it.
    pub(super) back: Option<String>,
}

/// Notices that are remembered; the desktop has long forgotten older ones.
const KEPT: usize = 16;

impl Board {
    /// Puts up a notice of its own for this trouble.
    pub(super) fn put_up(&mut self, entry: Entry) -> Id {
        self.add(Says::Trouble(vec![entry]))
    }

    /// Says something once.
    pub(super) fn say(&mut self, notice: Notice) {
        self.add(Says::Once(notice));
    }

    /// Adds this trouble to a notice about others that went down at about the same time.
    pub(super) fn join(&mut self, entry: &Entry, together: u64) -> Option<Id> {
        let near = |other: &Entry| {
            other.back.is_none()
                && other.kind.is_shared()
                && other.since.abs_diff(entry.since) <= together
        };
        let sheet = self.sheets.iter_mut().find_map(|sheet| match &mut sheet.says {
            Says::Trouble(entries) if entries.iter().any(near) => Some((sheet.id, entries)),
            Says::Trouble(_) | Says::Once(_) => None,
        });
        let (id, entries) = sheet?;
        entries.retain(|other| other.about.name != entry.about.name);
        entries.push(entry.clone());
        Some(id)
    }

    /// What is told of this one becomes worse.
    pub(super) fn worsen(&mut self, id: Id, entry: Entry) {
        if let Some(own) = self.entries(id).and_then(|entries| named(entries, &entry.about.name)) {
            *own = entry;
        }
        self.sheets.iter_mut().filter(|sheet| sheet.id == id).for_each(|sheet| sheet.loud = true);
    }

    /// This one is well again.
    pub(super) fn back(&mut self, id: Id, name: &str, words: String) {
        if let Some(entry) = self.entries(id).and_then(|entries| named(entries, name)) {
            entry.back = Some(words);
        }
    }

    /// Nothing is to be said of this one any more.
    pub(super) fn forget(&mut self, id: Id, name: &str) {
        if let Some(entries) = self.entries(id) {
            entries.retain(|entry| entry.about.name != name);
        }
    }

    /// This one is not well, so nothing may say that it is.
    pub(super) fn goes_down(&mut self, name: &str) {
        for sheet in &mut self.sheets {
            let Says::Trouble(entries) = &mut sheet.says else { continue };
            let is_it = |entry: &Entry| entry.back.is_some() && entry.about.name == name;
            match entries.iter().all(|entry| entry.back.is_some()) {
                true if entries.iter().any(is_it) => entries.clear(),
                true => {}
                false => entries.retain(|entry| !is_it(entry)),
            }
        }
    }

    /// It was never shown.
    pub(super) fn remove(&mut self, id: Id) {
        self.sheets.retain(|sheet| sheet.id != id);
    }

    /// Takes everything away.
    pub(super) fn clear(&mut self) -> Vec<Order> {
        let shown = self.sheets.drain(..).filter(|sheet| sheet.shown.is_some());
        shown.map(|sheet| Order::Withdraw(sheet.id)).collect()
    }

    /// Whether something is to be written anew as soon as that disturbs nobody.
    pub(super) fn has_unsaid(&self) -> bool {
        self.sheets.iter().any(|sheet| sheet.wanted() != sheet.shown)
    }

    /// What must be done for the screen to be true. While `muted`, only what is untrue goes.
    pub(super) fn orders(&mut self, muted: bool) -> Vec<Order> {
        let mut orders = Vec::new();
        self.sheets.retain_mut(|sheet| {
            let wanted = sheet.wanted().filter(|_| !(muted && sheet.is_over()));
            let Some(wanted) = wanted else {
                orders.extend(sheet.shown.take().map(|_| Order::Withdraw(sheet.id)));
                return false;
            };
            let is_shown = sheet.shown.as_ref().is_some_and(|shown| muted || *shown == wanted);
            if is_shown {
                return true;
            }
            let quiet = wanted.quiet || !std::mem::take(&mut sheet.loud);
            let notice = Notice { quiet, ..wanted.clone() };
            orders.push(match sheet.shown.replace(wanted) {
                Some(_) => Order::Replace(sheet.id, notice),
                None => Order::Show(sheet.id, notice),
            });
            true
        });
        orders
    }

    fn add(&mut self, says: Says) -> Id {
        let id = Id(self.next);
        self.next += 1;
        if self.sheets.len() >= KEPT
            && let Some(old) = self.sheets.iter().position(|sheet| sheet.is_over())
        {
            self.sheets.remove(old);
        }
        self.sheets.push(Sheet { id, says, shown: None, loud: true });
        id
    }

    fn entries(&mut self, id: Id) -> Option<&mut Vec<Entry>> {
        let sheet = self.sheets.iter_mut().find(|sheet| sheet.id == id)?;
        match &mut sheet.says {
            Says::Trouble(entries) => Some(entries),
            Says::Once(_) => None,
        }
    }
}

impl Sheet {
    /// What it must say now; nothing if it is to go.
    fn wanted(&self) -> Option<Notice> {
        let entries = match &self.says {
            Says::Once(notice) => return Some(notice.clone()),
            Says::Trouble(entries) => entries,
        };
        let down: Vec<&Entry> = entries.iter().filter(|entry| entry.back.is_none()).collect();
        match (down.as_slice(), entries.as_slice()) {
            ([], []) => None,
            ([], back) => Some(text::are_back(back)),
            ([one], _) => Some(one.alone.clone()),
            (several, _) => Some(text::several(several)),
        }
    }

    /// Whether nothing is wrong any more with what it speaks of.
    fn is_over(&self) -> bool {
        match &self.says {
            Says::Once(_) => self.shown.is_some(),
            Says::Trouble(entries) => entries.iter().all(|entry| entry.back.is_some()),
        }
    }
}

impl Entry {
    pub(super) fn of(about: About, outage: &Outage, kind: Kind, times: &Times) -> Self {
        let alone = text::alone(&about, kind, &outage.failure, times);
        Self { about, kind, since: outage.since, alone, back: None }
    }
}

fn named<'e>(entries: &'e mut [Entry], name: &str) -> Option<&'e mut Entry> {
    entries.iter_mut().find(|entry| entry.about.name == name)
}
