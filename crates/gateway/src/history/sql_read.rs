//! The queries of the history.

use rusqlite::{Connection, Row, params};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::{
    AffectedCalls, Incident, IncidentEnd, Resolution, TimedEvent,
};
use evermoor_core::history::samples::ResourceSample;

use super::message::IncidentQuery;

/// The maximum number of incidents in an answer.
const MAX_INCIDENTS: u32 = 1000;

/// The incidents that match, newest first.
pub(super) fn incidents(
    connection: &Connection,
    asked: &IncidentQuery,
) -> rusqlite::Result<Vec<Incident>> {
    let mut select = connection.prepare_cached(
        "SELECT * FROM incidents
         WHERE (?1 IS NULL OR upstream = ?1) AND (ended IS NULL OR ended >= ?2)
         ORDER BY began DESC, id DESC LIMIT ?3",
    )?;
    let since = asked.since.map_or(0, signed);
    let found = select.query_map(params![asked.upstream, since, MAX_INCIDENTS], incident)?;
    let mut found = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut events = connection
        .prepare_cached("SELECT at, what FROM events WHERE incident = ?1 ORDER BY at, rowid")?;
    for incident in &mut found {
        let found_events = events.query_map([signed(incident.id)], |row| {
            Ok(TimedEvent { at: unsigned(row, "at")?, what: row.get("what")? })
        })?;
        incident.events = found_events.collect::<rusqlite::Result<_>>()?;
    }
    Ok(found)
}

/// The samples of one application since this time, oldest first.
pub(super) fn samples(
    connection: &Connection,
    app: &str,
    since: u64,
) -> rusqlite::Result<Vec<ResourceSample>> {
    let mut select = connection
        .prepare_cached("SELECT * FROM samples WHERE app = ?1 AND at >= ?2 ORDER BY at")?;
    let found = select.query_map(params![app, signed(since)], sample)?;
    found.collect()
}

pub(super) fn sample(row: &Row<'_>) -> rusqlite::Result<ResourceSample> {
    Ok(ResourceSample {
        at: unsigned(row, "at")?,
        span: unsigned(row, "span")?,
        memory: unsigned(row, "memory")?,
        load: row.get("load")?,
        uptime: unsigned(row, "uptime")?,
    })
}

fn incident(row: &Row<'_>) -> rusqlite::Result<Incident> {
    let (sign, cause): (String, Option<String>) = (row.get("sign")?, row.get("cause")?);
    let ended: Option<i64> = row.get("ended")?;
    let how: Option<String> = row.get("how")?;
    let how = how.and_then(|code| Resolution::parse(&code)).unwrap_or(Resolution::Reconnected);
    Ok(Incident {
        id: unsigned(row, "id")?,
        upstream: row.get("upstream")?,
        title: row.get("title")?,
        began: unsigned(row, "began")?,
        // An unreadable failure must not hide the incident.
        sign: serde_json::from_str(&sign).unwrap_or_else(|_| {
            Failure::new(
                Code::Internal,
                "The first failure of this incident cannot be read.",
                "Ignore it.",
            )
        }),
        cause: cause.and_then(|cause| serde_json::from_str(&cause).ok()),
        memory: row.get::<_, Option<i64>>("memory")?.and_then(|bytes| u64::try_from(bytes).ok()),
        uptime: row.get::<_, Option<i64>>("uptime")?.and_then(|time| u64::try_from(time).ok()),
        calls: AffectedCalls {
            held: unsigned(row, "held")?,
            answered: unsigned(row, "answered")?,
            unknown: unsigned(row, "unknown")?,
            not_sent: unsigned(row, "not_sent")?,
        },
        events: Vec::new(),
        end: ended.map(|at| IncidentEnd { at: u64::try_from(at).unwrap_or_default(), how }),
        unwatched: unsigned(row, "unwatched")?,
    })
}

fn unsigned(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or_default())
}

/// SQLite's integers are signed; our numbers are far below their maximum.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
