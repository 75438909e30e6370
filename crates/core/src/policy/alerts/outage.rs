//! One upstream: from what is seen of it to the moment at which its trouble is told.

use super::clock::Now;
use super::displayed::Board;
use super::kind::Kind;
use super::notification::Id;
use super::timing::Times;
use crate::api::{Link, Restart, Touched, Upstream};
use crate::failure::{Code, Failure};

/// What is remembered of an upstream.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) about: About,
    pub(super) outage: Option<Outage>,
    /// It was connected, and nobody paused it or turned it off since. Only who was there can be missed.
    seen_up: bool,
    hushed_until: u64,
    /// An outage that begins before this is due to a person who asked for a restart.
    asked_until: u64,
    /// No outage that begins before this is told.
    ignored_until: u64,
    /// The number of its last restart, and of the last before a person asked for one.
    restart: u64,
    restart_before: u64,
    /// What is told of it is that it works and a person is signed out of it.
    signed_out: bool,
    /// When a person last acted on it, as the gateway says.
    touched: u64,
}

/// Who it is.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) title: String,
    /// Evermoor can start it, and not just connect to it.
    pub(super) restartable: bool,
}

/// A time in which it cannot be used.
#[derive(Debug)]
pub(super) struct Outage {
    pub(super) since: u64,
    pub(super) failure: Failure,
    pub(super) told: Told,
    /// What is wrong; nothing that anybody needs to be told if there is none.
    kind: Option<Kind>,
    /// It was tried in vain to connect again.
    attempted: bool,
    /// It is being brought back at this moment.
    busy: bool,
    /// A person asked for it to be restarted.
    asked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Not,
    /// There was no room for it, or nobody wanted to hear it.
    Quietly,
    /// In this notice, as this kind of trouble.
    In(Id, Kind),
}

impl Watched {
    pub(super) fn new(upstream: &Upstream) -> Self {
        Self::of(About::of(upstream))
    }

    pub(super) fn gateway() -> Self {
        let (name, title) = (super::GATEWAY.to_owned(), "Evermoor".to_owned());
        Self::of(About { name, title, restartable: false })
    }

    fn of(about: About) -> Self {
        Self {
            about,
            outage: None,
            seen_up: false,
            hushed_until: 0,
            asked_until: 0,
            ignored_until: 0,
            restart: 0,
            restart_before: 0,
            signed_out: false,
            touched: 0,
        }
    }

    /// Takes in what is seen of it now.
    pub(super) fn see(&mut self, upstream: &Upstream, now: u64, board: &mut Board) {
        self.about = About::of(upstream);
        let restart = upstream.app.as_ref().and_then(|app| app.restart.as_ref());
        self.restart = restart.map_or(0, |restart| restart.number);
        match &upstream.link {
            Link::Off | Link::Paused { .. } => {
                self.end(board);
                (self.seen_up, self.signed_out) = (false, false);
            }
            Link::Connecting => {
                if let Some(outage) = &mut self.outage {
                    outage.busy = true;
                }
            }
            Link::Connected { .. } => {
                self.seen_up = true;
                let signed_out = upstream.app.as_ref().filter(|app| app.signed_out);
                if !(self.signed_out && signed_out.is_some())
                    && let Some(id) = self.recover()
                {
                    board.back(id, &self.about.name, super::text::tools_are_back(upstream.tools));
                }
                self.signed_out = signed_out.is_some();
                if let Some(app) = signed_out {
                    let failure = Failure::new(Code::AuthRequired, &*app.what, &*app.remedy);
                    self.is_down(&failure, Some(Kind::SignIn), now, board);
                }
            }
            Link::Down { failure, attempts, .. } => {
                // That it is gone is other news than that it asked for somebody.
                if std::mem::take(&mut self.signed_out) {
                    self.end(board);
                }
                let kind = Kind::of(upstream, failure);
                self.is_down(failure, kind, now, board);
                if let Some(outage) = &mut self.outage {
                    outage.attempted |= *attempts > 0;
                }
                self.follow(restart, now);
            }
        }
    }

    /// The gateway does not serve.
    pub(super) fn lose(&mut self, failure: &Failure, now: u64) {
        let kind = Some(Kind::Gateway);
        self.outage.get_or_insert_with(|| Outage::new(failure, kind, false, now));
    }

    /// It is well again; the notice that told otherwise, if one did.
    pub(super) fn recover(&mut self) -> Option<Id> {
        let outage = self.outage.take()?;
        (self.hushed_until, self.asked_until) = (0, 0);
        match outage.told {
            Told::In(id, _) => Some(id),
            Told::Not | Told::Quietly => None,
        }
    }

    /// Its trouble is nobody's concern any more.
    pub(super) fn end(&mut self, board: &mut Board) {
        if let Some(id) = self.recover() {
            board.forget(id, &self.about.name);
        }
        board.goes_down(&self.about.name);
    }

    /// Takes in what a person did to it somewhere else, such as in the dashboard. What was long ago
    /// when it is first heard of excuses nothing.
    pub(super) fn heed(&mut self, touched: Option<Touched>, now: Now, acting: u64) {
        let Some(touched) = touched.filter(|touched| touched.at > self.touched) else { return };
        self.touched = touched.at;
        let left = acting.saturating_sub(now.wall.saturating_sub(touched.at));
        match touched.restarts {
            _ if left == 0 => {}
            true => self.restart(now.awake + left),
            false => self.hush(now.awake + left),
        }
    }

    /// A person restarts it.
    pub(super) fn restart(&mut self, until: u64) {
        self.hush(until);
        (self.asked_until, self.restart_before) = (until, self.restart);
        if let Some(outage) = &mut self.outage {
            outage.asked = true;
        }
    }

    /// A person is busy with it.
    pub(super) fn hush(&mut self, until: u64) {
        self.hushed_until = self.hushed_until.max(until);
    }

    /// Nothing more of it until then.
    pub(super) fn ignore(&mut self, until: u64, board: &mut Board) {
        self.ignored_until = self.ignored_until.max(until);
        let Some(outage) = &mut self.outage else { return };
        if let Told::In(id, _) = std::mem::replace(&mut outage.told, Told::Quietly) {
            board.forget(id, &self.about.name);
        }
    }

    pub(super) fn was_not_shown(&mut self, id: Id) {
        if let Some(outage) = self.outage.as_mut().filter(|outage| outage.is_in(id)) {
            outage.told = Told::Quietly;
        }
    }

    /// When its trouble is to be told, as which kind.
    pub(super) fn due(&self, times: &Times) -> Option<(u64, Kind)> {
        let outage = self.outage.as_ref().filter(|outage| outage.told == Told::Not)?;
        let kind = outage.trouble().filter(|_| !outage.busy)?;
        let missed = self.seen_up || !kind.is_shared();
        let proven = outage.attempted || kind != Kind::Gone;
        let ignored = outage.since < self.ignored_until;
        let due = outage.since.saturating_add(kind.grace(times)).max(self.hushed_until);
        (missed && proven && !ignored).then_some((due, kind))
    }

    /// The worse kind that it is to be told as, and from when on, if it was told as a lesser one.
    pub(super) fn worse(&self) -> Option<(u64, Kind, Id)> {
        let outage = self.outage.as_ref().filter(|outage| !outage.busy)?;
        let Told::In(id, told) = outage.told else { return None };
        let kind = outage.trouble().filter(|kind| *kind > told)?;
        Some((self.hushed_until, kind, id))
    }

    fn is_down(&mut self, failure: &Failure, kind: Option<Kind>, now: u64, board: &mut Board) {
        let asked = now < self.asked_until;
        if self.outage.is_none() {
            board.goes_down(&self.about.name);
        }
        let outage = self.outage.get_or_insert_with(|| Outage::new(failure, kind, asked, now));
        (outage.kind, outage.busy) = (kind, false);
        outage.failure = failure.clone();
        // Somebody quit it after all: that is no news to them.
        if outage.trouble().is_none()
            && let Told::In(id, _) = std::mem::replace(&mut outage.told, Told::Not)
        {
            board.forget(id, &self.about.name);
        }
    }

    /// What its restart means for its outage.
    fn follow(&mut self, restart: Option<&Restart>, now: u64) {
        let (Some(outage), Some(restart)) = (&mut self.outage, restart) else { return };
        match &restart.end {
            None => outage.busy = true,
            Some(end) if end.failure.is_some() => {
                outage.attempted = true;
                if outage.asked && restart.number > self.restart_before {
                    self.hushed_until = self.hushed_until.min(now);
                }
            }
            Some(_) => {}
        }
    }
}

impl About {
    fn of(upstream: &Upstream) -> Self {
        Self {
            name: upstream.name.clone(),
            title: upstream.title.clone(),
            restartable: upstream.app.is_some() || !upstream.target.contains("://"),
        }
    }
}

impl Outage {
    fn new(failure: &Failure, kind: Option<Kind>, asked: bool, now: u64) -> Self {
        let (failure, told) = (failure.clone(), Told::Not);
        Self { since: now, failure, told, kind, attempted: false, busy: false, asked }
    }

    /// What a person is to be told of it, if anything.
    pub(super) fn trouble(&self) -> Option<Kind> {
        match self.kind {
            None | Some(Kind::NotReady | Kind::Unreachable | Kind::Gone) if self.asked => {
                Some(Kind::NotBack)
            }
            kind => kind,
        }
    }

    /// What of it is on the screen is taken away.
    pub(super) fn hush(&mut self) {
        if let Told::In(..) = self.told {
            self.told = Told::Quietly;
        }
    }

    fn is_in(&self, id: Id) -> bool {
        matches!(self.told, Told::In(own, _) if own == id)
    }
}
