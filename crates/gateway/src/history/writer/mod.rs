//! The one who writes the history, on a thread that may block.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, Transaction};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::Calls;

use super::database::{self, Unusable};
use super::message::Note;
use super::{Tally, read, row, thinning};

/// The writer, with its file once that is open.
pub(super) struct Writer {
    path: PathBuf,
    connection: Option<Connection>,
    /// That something was lost was said.
    complained: bool,
    /// Whether what an earlier gateway left open was looked at.
    looked_back: bool,
    counting: Vec<Counting>,
    latest: row::Latest,
    thinned: u64,
    seen: u64,
}

/// An outage whose counts may still change.
pub(super) struct Counting {
    pub(super) id: i64,
    pub(super) upstream: String,
    pub(super) tally: Arc<Tally>,
    /// What was counted by an earlier gateway.
    pub(super) before: Calls,
    pub(super) written: Calls,
    pub(super) is_over: bool,
}

/// How often it is written that an outage still lasts, in milliseconds.
const SEEN_EVERY: u64 = 15_000;

impl Writer {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            connection: None,
            complained: false,
            looked_back: false,
            counting: Vec::new(),
            latest: row::Latest::default(),
            thinned: 0,
            seen: 0,
        }
    }

    /// A writer that goes on where another gateway stops: nothing is left alone in between.
    pub(super) fn going_on(path: PathBuf) -> Self {
        Self { looked_back: true, ..Self::new(path) }
    }

    /// Whether something may have to be written although nothing is told.
    pub(super) fn has_open(&self) -> bool {
        !self.counting.is_empty()
    }

    /// Whether something has to be written now although nothing is told.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let see = now.saturating_sub(self.seen) >= SEEN_EVERY;
        self.counting.iter().any(|one| see || one.has_news() || !one.goes_on())
    }

    /// Writes what was told, and what else is due at `now`, and answers what was asked.
    pub(super) fn write(&mut self, notes: Vec<Note>, now: u64) {
        match self.try_to_write(&notes, now) {
            Ok(()) => self.complained = false,
            Err(unusable) => self.complain(&unusable),
        }
        self.answer(notes);
    }

    /// Answers what was asked, from what is written.
    pub(super) fn answer(&self, notes: Vec<Note>) {
        for note in notes {
            match note {
                Note::Asked(asked, answer) => {
                    let found = self.look_up(|file| read::incidents(file, &asked));
                    let _ = answer.send(found);
                }
                Note::AskedSamples { app, since, answer } => {
                    let found = self.look_up(|file| read::samples(file, &app, since));
                    let _ = answer.send(found);
                }
                Note::Opened(_)
                | Note::Began { .. }
                | Note::Event { .. }
                | Note::Explained { .. }
                | Note::Ended { .. }
                | Note::Present { .. }
                | Note::Sampled { .. } => {}
            }
        }
    }

    fn try_to_write(&mut self, notes: &[Note], now: u64) -> Result<(), Unusable> {
        match self.write_once(notes, now) {
            Err(Unusable::Damaged(error)) => {
                // Closed first: a file that is open cannot be renamed on every system.
                self.connection = None;
                self.counting.clear();
                let aside = database::put_aside(&self.path)?;
                tracing::warn!(%error, aside = %aside.display(), "the history was damaged and is begun anew");
                self.write_once(notes, now)
            }
            Err(Unusable::Full(error)) => match &self.connection {
                Some(file) if thinning::make_room(file)? => self.write_once(notes, now),
                Some(_) | None => Err(Unusable::Full(error)),
            },
            done => done,
        }
    }

    fn write_once(&mut self, notes: &[Note], now: u64) -> Result<(), Unusable> {
        if self.connection.is_none() {
            self.connection = Some(database::open(&self.path)?);
        }
        let Some(file) = &mut self.connection else { return Ok(()) };
        let thin = notes.iter().any(|note| matches!(note, Note::Sampled { .. }))
            && now.saturating_sub(self.thinned) >= thinning::EVERY;
        let see = !self.counting.is_empty() && now.saturating_sub(self.seen) >= SEEN_EVERY;
        // Counts go on while this is written; what was written is known by these.
        let counts: Vec<Calls> = self.counting.iter().map(Counting::now).collect();
        let due = self.counting.iter().any(Counting::has_news);
        if !notes.iter().any(Note::is_written) && self.looked_back && !thin && !see && !due {
            self.counting.retain(Counting::goes_on);
            return Ok(());
        }
        let whole = file.transaction().map_err(database::of)?;
        let mut began = Vec::new();
        let done = (|| {
            if !self.looked_back {
                row::look_back(&whole, now)?;
            }
            for note in notes {
                began.push(row::write(&whole, note, &mut self.latest)?);
            }
            if began.iter().any(Option::is_some) {
                thinning::forget_old(&whole, now)?;
            }
            for (counting, calls) in self.counting.iter().zip(&counts) {
                if *calls != counting.written {
                    row::count(&whole, counting.id, calls)?;
                }
            }
            if see {
                row::see(&whole, now)?;
            }
            if thin { thinning::thin(&whole, now) } else { Ok(()) }
        })();
        done.and_then(|()| whole.commit()).map_err(database::of)?;
        self.looked_back = true;
        for (counting, calls) in self.counting.iter_mut().zip(counts) {
            counting.written = calls;
        }
        self.settle(notes, began);
        if thin {
            self.thinned = now;
        }
        if see {
            self.seen = now;
        }
        Ok(())
    }

    /// Follows the outages that began, until they are over.
    fn settle(&mut self, notes: &[Note], began: Vec<Option<Counting>>) {
        // In the order in which it was told: an end is the end of what began before it.
        for (note, began) in notes.iter().zip(began) {
            self.counting.extend(began);
            if let Note::Ended { upstream, .. } = note {
                let over = self.counting.iter_mut().filter(|one| one.upstream == *upstream);
                over.for_each(|one| one.is_over = true);
            }
        }
        self.counting.retain(Counting::goes_on);
    }

    fn look_up<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        let cannot = |why: &dyn std::fmt::Display| {
            let what = format!("The history cannot be read: {why}.");
            Failure::new(Code::Internal, what, "Look at the gateway's log.")
        };
        let Some(file) = &self.connection else { return Err(cannot(&"there is no file")) };
        query(file).map_err(|error| cannot(&error))
    }

    fn complain(&mut self, unusable: &Unusable) {
        if !std::mem::replace(&mut self.complained, true) {
            let file = self.path.display();
            tracing::warn!(%file, error = %unusable, "some of the history is lost");
        }
    }
}

impl Counting {
    pub(super) fn now(&self) -> Calls {
        let (before, calls) = (self.before, self.tally.calls());
        Calls {
            held: before.held + calls.held,
            answered: before.answered + calls.answered,
            unknown: before.unknown + calls.unknown,
            not_sent: before.not_sent + calls.not_sent,
        }
    }

    fn has_news(&self) -> bool {
        self.now() != self.written
    }

    /// Whether its counts may still change, or have changed.
    fn goes_on(&self) -> bool {
        !self.is_over || self.tally.is_open() || self.has_news()
    }
}

/// What the parts of a writer write to.
pub(super) type Whole<'a> = Transaction<'a>;

#[cfg(test)]
mod tests;
