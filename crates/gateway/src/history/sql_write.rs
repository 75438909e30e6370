//! The SQL that writes: what is stored of an incident, an event and a sample. The tables are in `database`.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, Result, Transaction, params};

use evermoor_core::history::incident::text::format_time;
use evermoor_core::history::incident::{AffectedCalls, Evidence, IncidentCause, Resolution};
use evermoor_core::history::samples::ResourceSample;

use super::message::{HistoryMessage, IncidentOpened};
use super::sql_read::signed;
use super::writer::OpenIncident;

/// The last sample of each application.
pub(super) type Latest = HashMap<String, ResourceSample>;

/// Findings this long after an incident still belong to it, in milliseconds.
const LATE_FINDINGS: u64 = 120_000;
/// An older sample says nothing about a crash, in milliseconds.
const MAX_SAMPLE_AGE: u64 = 60_000;
/// More would fill the file without adding information.
const MAX_EVENTS: i64 = 50;
const MAX_EVENT_LENGTH: usize = 300;
const MAX_EXCERPT_LENGTH: usize = 4000;

/// Writes one message. Returns the incident to track, if one begins or continues with it.
pub(super) fn write(
    transaction: &Transaction<'_>,
    message: &HistoryMessage,
    latest: &mut Latest,
) -> Result<Option<OpenIncident>> {
    match message {
        HistoryMessage::IncidentOpened(opened) => {
            return open(transaction, opened, latest).map(Some);
        }
        HistoryMessage::UpstreamStarted { upstream, tally } => {
            let (upstream, tally) = (upstream.clone(), tally.clone());
            let Some((id, before)) = left_open(transaction, &upstream)? else { return Ok(None) };
            let written = before;
            return Ok(Some(OpenIncident { id, upstream, tally, before, written, is_over: false }));
        }
        HistoryMessage::Event { upstream, at, what } => {
            if let Some(id) = current(transaction, upstream, *at)? {
                add_event(transaction, id, *at, what)?;
            }
        }
        HistoryMessage::Explained { upstream, at, cause } => {
            if let Some(id) = current(transaction, upstream, *at)? {
                let cause = serde_json::to_string(&shortened(cause)).unwrap_or_default();
                transaction
                    .execute("UPDATE incidents SET cause = ?2 WHERE id = ?1", params![id, cause])?;
            }
        }
        HistoryMessage::IncidentEnded { upstream, how, at } => {
            end(transaction, upstream, *how, *at)?
        }
        HistoryMessage::UpstreamsChanged { upstreams, at } => {
            for gone in open_upstreams(transaction)?.iter().filter(|open| !upstreams.contains(open))
            {
                end(transaction, gone, Resolution::Removed, *at)?;
            }
        }
        HistoryMessage::Sampled { app, sample } => {
            latest.insert(app.clone(), *sample);
            add_sample(transaction, app, sample)?;
        }
        HistoryMessage::QueryIncidents(..) | HistoryMessage::QuerySamples { .. } => {}
    }
    Ok(None)
}

fn open(
    transaction: &Transaction<'_>,
    opened: &IncidentOpened,
    latest: &Latest,
) -> Result<OpenIncident> {
    // The end of the previous incident may have been lost with a full queue.
    transaction.execute(
        "UPDATE incidents SET ended = max(seen, began), how = ?2 WHERE upstream = ?1 AND ended IS NULL",
        params![opened.upstream, Resolution::Reconnected.code()],
    )?;
    let look =
        latest.get(&opened.upstream).filter(|look| opened.at.abs_diff(look.at) <= MAX_SAMPLE_AGE);
    let uptime = look.map(|look| signed(look.uptime + opened.at.saturating_sub(look.at)));
    let calls = opened.tally.calls();
    transaction.execute(
        "INSERT INTO incidents
         (upstream, title, began, sign, memory, uptime, held, answered, unknown, not_sent, seen)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?3)",
        params![
            opened.upstream,
            opened.title,
            signed(opened.at),
            serde_json::to_string(&opened.sign).unwrap_or_default(),
            look.map(|look| signed(look.memory)),
            uptime,
            signed(calls.held),
            signed(calls.answered),
            signed(calls.unknown),
            signed(calls.not_sent),
        ],
    )?;
    let id = transaction.last_insert_rowid();
    Ok(OpenIncident {
        id,
        upstream: opened.upstream.clone(),
        tally: opened.tally.clone(),
        before: AffectedCalls::default(),
        written: calls,
        is_over: false,
    })
}

/// The incident that an upstream is in, or was in a moment ago.
fn current(transaction: &Transaction<'_>, upstream: &str, at: u64) -> Result<Option<i64>> {
    transaction
        .query_row(
            "SELECT id FROM incidents WHERE upstream = ?1 AND (ended IS NULL OR ended >= ?2)
             ORDER BY began DESC, id DESC LIMIT 1",
            params![upstream, signed(at.saturating_sub(LATE_FINDINGS))],
            |row| row.get(0),
        )
        .optional()
}

fn left_open(
    transaction: &Transaction<'_>,
    upstream: &str,
) -> Result<Option<(i64, AffectedCalls)>> {
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    transaction
        .query_row(
            "SELECT id, held, answered, unknown, not_sent FROM incidents
             WHERE upstream = ?1 AND ended IS NULL",
            [upstream],
            |row| {
                let calls = AffectedCalls {
                    held: count(row.get(1)?),
                    answered: count(row.get(2)?),
                    unknown: count(row.get(3)?),
                    not_sent: count(row.get(4)?),
                };
                Ok((row.get(0)?, calls))
            },
        )
        .optional()
}

fn open_upstreams(transaction: &Transaction<'_>) -> Result<Vec<String>> {
    let mut open =
        transaction.prepare_cached("SELECT upstream FROM incidents WHERE ended IS NULL")?;
    open.query_map([], |row| row.get(0))?.collect()
}

fn end(transaction: &Transaction<'_>, upstream: &str, how: Resolution, at: u64) -> Result<()> {
    transaction.execute(
        "UPDATE incidents SET ended = max(began, ?3), how = ?2, seen = ?3
         WHERE upstream = ?1 AND ended IS NULL",
        params![upstream, how.code(), signed(at)],
    )?;
    Ok(())
}

fn add_event(transaction: &Transaction<'_>, id: i64, at: u64, what: &str) -> Result<()> {
    let what: String = what.chars().take(MAX_EVENT_LENGTH).collect();
    transaction.execute(
        "INSERT INTO events SELECT ?1, ?2, ?3
         WHERE (SELECT count(*) FROM events WHERE incident = ?1) < ?4",
        params![id, signed(at), what, MAX_EVENTS],
    )?;
    Ok(())
}

pub(super) fn add_sample(
    transaction: &Transaction<'_>,
    app: &str,
    sample: &ResourceSample,
) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO samples (app, at, span, memory, load, uptime)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (app, at) DO UPDATE SET
             span = max(span, excluded.span), memory = max(memory, excluded.memory)",
        )?
        .execute(params![
            app,
            signed(sample.at),
            signed(sample.span),
            signed(sample.memory),
            sample.load,
            signed(sample.uptime),
        ])?;
    Ok(())
}

/// Updates the counts of an incident.
pub(super) fn count(transaction: &Transaction<'_>, id: i64, calls: &AffectedCalls) -> Result<()> {
    transaction.execute(
        "UPDATE incidents SET held = ?2, answered = ?3, unknown = ?4, not_sent = ?5 WHERE id = ?1",
        params![
            id,
            signed(calls.held),
            signed(calls.answered),
            signed(calls.unknown),
            signed(calls.not_sent),
        ],
    )?;
    Ok(())
}

/// Records that the open incidents still last.
pub(super) fn see(transaction: &Transaction<'_>, now: u64) -> Result<()> {
    transaction.execute("UPDATE incidents SET seen = ?1 WHERE ended IS NULL", [signed(now)])?;
    Ok(())
}

/// Marks incidents that an earlier gateway left open with the time when no gateway ran.
pub(super) fn mark_unwatched(transaction: &Transaction<'_>, now: u64) -> Result<()> {
    let mut open = transaction.prepare("SELECT id, seen FROM incidents WHERE ended IS NULL")?;
    let open: Vec<(i64, i64)> =
        open.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
    for (id, seen) in open {
        let seen = u64::try_from(seen).unwrap_or_default();
        let what = format!("No gateway ran since about {}.", format_time(seen));
        add_event(transaction, id, now, &what)?;
        transaction.execute(
            "UPDATE incidents SET unwatched = unwatched + ?2, seen = ?3 WHERE id = ?1",
            params![id, signed(now.saturating_sub(seen)), signed(now)],
        )?;
    }
    Ok(())
}

fn shortened(cause: &IncidentCause) -> IncidentCause {
    let evidence = cause.evidence.as_ref().map(|evidence| Evidence {
        source: evidence.source.chars().take(MAX_EVENT_LENGTH).collect(),
        excerpt: evidence.excerpt.chars().take(MAX_EXCERPT_LENGTH).collect(),
    });
    IncidentCause { what: cause.what.chars().take(MAX_EVENT_LENGTH).collect(), evidence }
}
