//! Writes the history to the database, on a blocking thread.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::AffectedCalls;

use super::database::{self, DatabaseError};
use super::message::HistoryMessage;
use super::{Tally, retention, sql_read, sql_write};

/// The writer. It opens the file with the first write.
pub(super) struct HistoryWriter {
    path: PathBuf,
    connection: Option<Connection>,
    /// The current loss of messages was already logged.
    loss_reported: bool,
    /// Incidents that an earlier gateway left open were marked.
    recovered: bool,
    open_incidents: Vec<OpenIncident>,
    latest: sql_write::Latest,
    thinned: u64,
    seen: u64,
}

/// An incident whose counts may still change.
pub(super) struct OpenIncident {
    pub(super) id: i64,
    pub(super) upstream: String,
    pub(super) tally: Arc<Tally>,
    /// The counts of an earlier gateway.
    pub(super) before: AffectedCalls,
    pub(super) written: AffectedCalls,
    pub(super) is_over: bool,
}

/// How often open incidents are marked as still lasting, in milliseconds.
const SEEN_EVERY: u64 = 15_000;

impl HistoryWriter {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            connection: None,
            loss_reported: false,
            recovered: false,
            open_incidents: Vec::new(),
            latest: sql_write::Latest::default(),
            thinned: 0,
            seen: 0,
        }
    }

    /// A writer that continues directly after another gateway: there is no gap to mark.
    pub(super) fn continuing(path: PathBuf) -> Self {
        Self { recovered: true, ..Self::new(path) }
    }

    /// Whether there may be something to write without a message.
    pub(super) fn has_open(&self) -> bool {
        !self.open_incidents.is_empty()
    }

    /// Whether there is something to write now without a message.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let see = now.saturating_sub(self.seen) >= SEEN_EVERY;
        self.open_incidents.iter().any(|one| see || one.is_dirty() || !one.may_change())
    }

    /// Writes the messages and what else is due at `now`, then answers the queries.
    pub(super) fn write(&mut self, messages: Vec<HistoryMessage>, now: u64) {
        match self.try_to_write(&messages, now) {
            Ok(()) => self.loss_reported = false,
            Err(error) => self.report_loss(&error),
        }
        self.answer(messages);
    }

    /// Answers the queries from the file.
    pub(super) fn answer(&self, messages: Vec<HistoryMessage>) {
        for message in messages {
            match message {
                HistoryMessage::QueryIncidents(asked, answer) => {
                    let found = self.look_up(|file| sql_read::incidents(file, &asked));
                    let _ = answer.send(found);
                }
                HistoryMessage::QuerySamples { app, since, answer } => {
                    let found = self.look_up(|file| sql_read::samples(file, &app, since));
                    let _ = answer.send(found);
                }
                HistoryMessage::IncidentOpened(_)
                | HistoryMessage::UpstreamStarted { .. }
                | HistoryMessage::Event { .. }
                | HistoryMessage::Explained { .. }
                | HistoryMessage::IncidentEnded { .. }
                | HistoryMessage::UpstreamsChanged { .. }
                | HistoryMessage::Sampled { .. } => {}
            }
        }
    }

    fn try_to_write(&mut self, messages: &[HistoryMessage], now: u64) -> Result<(), DatabaseError> {
        match self.write_once(messages, now) {
            Err(DatabaseError::Damaged(error)) => {
                // Close it first: not every system can rename an open file.
                self.connection = None;
                self.open_incidents.clear();
                let aside = database::move_aside(&self.path)?;
                tracing::warn!(%error, aside = %aside.display(), "the history was damaged; a new file is started");
                self.write_once(messages, now)
            }
            Err(DatabaseError::Full(error)) => match &self.connection {
                Some(file) if retention::make_room(file)? => self.write_once(messages, now),
                Some(_) | None => Err(DatabaseError::Full(error)),
            },
            done => done,
        }
    }

    fn write_once(&mut self, messages: &[HistoryMessage], now: u64) -> Result<(), DatabaseError> {
        if self.connection.is_none() {
            self.connection = Some(database::open(&self.path)?);
        }
        let Some(file) = &mut self.connection else { return Ok(()) };
        let thin = messages.iter().any(|message| matches!(message, HistoryMessage::Sampled { .. }))
            && now.saturating_sub(self.thinned) >= retention::INTERVAL;
        let see = !self.open_incidents.is_empty() && now.saturating_sub(self.seen) >= SEEN_EVERY;
        // Counts may change during the write, so remember what is written.
        let counts: Vec<AffectedCalls> =
            self.open_incidents.iter().map(OpenIncident::now).collect();
        let due = self.open_incidents.iter().any(OpenIncident::is_dirty);
        if !messages.iter().any(HistoryMessage::is_written)
            && self.recovered
            && !thin
            && !see
            && !due
        {
            self.open_incidents.retain(OpenIncident::may_change);
            return Ok(());
        }
        let transaction = file.transaction().map_err(database::classify)?;
        let mut began = Vec::new();
        let done = (|| {
            if !self.recovered {
                sql_write::mark_unwatched(&transaction, now)?;
            }
            for message in messages {
                began.push(sql_write::write(&transaction, message, &mut self.latest)?);
            }
            if began.iter().any(Option::is_some) {
                retention::forget_old(&transaction, now)?;
            }
            for (incident, calls) in self.open_incidents.iter().zip(&counts) {
                if *calls != incident.written {
                    sql_write::count(&transaction, incident.id, calls)?;
                }
            }
            if see {
                sql_write::see(&transaction, now)?;
            }
            if thin { retention::thin(&transaction, now) } else { Ok(()) }
        })();
        done.and_then(|()| transaction.commit()).map_err(database::classify)?;
        self.recovered = true;
        for (incident, calls) in self.open_incidents.iter_mut().zip(counts) {
            incident.written = calls;
        }
        self.track_open(messages, began);
        if thin {
            self.thinned = now;
        }
        if see {
            self.seen = now;
        }
        Ok(())
    }

    /// Tracks the incidents that began, until they end.
    fn track_open(&mut self, messages: &[HistoryMessage], began: Vec<Option<OpenIncident>>) {
        // In order: an end belongs to the incident that began before it.
        for (message, began) in messages.iter().zip(began) {
            self.open_incidents.extend(began);
            if let HistoryMessage::IncidentEnded { upstream, .. } = message {
                let over = self.open_incidents.iter_mut().filter(|one| one.upstream == *upstream);
                over.for_each(|one| one.is_over = true);
            }
        }
        self.open_incidents.retain(OpenIncident::may_change);
    }

    fn look_up<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        let cannot = |why: &dyn std::fmt::Display| {
            let what = format!("The history cannot be read: {why}.");
            Failure::new(Code::Internal, what, "See the gateway's log: `evermoor logs`.")
        };
        let Some(file) = &self.connection else { return Err(cannot(&"there is no file")) };
        query(file).map_err(|error| cannot(&error))
    }

    fn report_loss(&mut self, error: &DatabaseError) {
        if !std::mem::replace(&mut self.loss_reported, true) {
            let file = self.path.display();
            tracing::warn!(%file, error = %error, "some of the history is lost");
        }
    }
}

impl OpenIncident {
    pub(super) fn now(&self) -> AffectedCalls {
        let (before, calls) = (self.before, self.tally.calls());
        AffectedCalls {
            held: before.held + calls.held,
            answered: before.answered + calls.answered,
            unknown: before.unknown + calls.unknown,
            not_sent: before.not_sent + calls.not_sent,
        }
    }

    fn is_dirty(&self) -> bool {
        self.now() != self.written
    }

    /// Whether its counts may still change or are not yet written.
    fn may_change(&self) -> bool {
        !self.is_over || self.tally.is_open() || self.is_dirty()
    }
}

#[cfg(test)]
mod tests;
