//! Keeps the file small: thins old samples and deletes old incidents.

use rusqlite::{Connection, Result, Transaction, params};

use evermoor_core::history::samples;
use evermoor_core::history::samples::{ResourceSample, SAMPLE_RETENTION};

use super::database::{self, DatabaseError, MAX_FILE_SIZE, PAGE_SIZE};
use super::sql_read::{sample, signed};
use super::sql_write::add_sample;

/// How often samples are thinned, in milliseconds.
pub(super) const INTERVAL: u64 = 3_600_000;
/// How many of the newest incidents are kept.
const MAX_INCIDENTS: u32 = 5000;

/// Merges old samples.
pub(super) fn thin(transaction: &Transaction<'_>, now: u64) -> Result<()> {
    let young = samples::thinning_cutoff(now);
    let dead = now.saturating_sub(SAMPLE_RETENTION + samples::MAX_SPAN);
    for app in apps(transaction)? {
        let forgotten = params![app, signed(dead)];
        transaction.execute("DELETE FROM samples WHERE app = ?1 AND at < ?2", forgotten)?;
        let found = fine(transaction, &app, young)?;
        let kept = samples::thin(found.iter().copied(), now);
        let mut delete =
            transaction.prepare_cached("DELETE FROM samples WHERE app = ?1 AND at = ?2")?;
        for sample in found.iter().filter(|sample| !kept.contains_sorted(sample)) {
            delete.execute(params![app, signed(sample.at)])?;
        }
        for sample in kept.iter().filter(|sample| !found.contains_sorted(sample)) {
            add_sample(transaction, &app, sample)?;
        }
    }
    Ok(())
}

/// Every application, without reading every sample.
fn apps(transaction: &Transaction<'_>) -> Result<Vec<String>> {
    let mut apps = transaction.prepare_cached(
        "WITH RECURSIVE apps (app) AS (
             SELECT min(app) FROM samples UNION ALL
             SELECT (SELECT min(app) FROM samples WHERE app > apps.app) FROM apps WHERE app IS NOT NULL
         ) SELECT app FROM apps WHERE app IS NOT NULL",
    )?;
    apps.query_map([], |row| row.get(0))?.collect()
}

/// The samples of an application before this time that can still be thinned.
fn fine(transaction: &Transaction<'_>, app: &str, before: u64) -> Result<Vec<ResourceSample>> {
    // A literal for the longest span, so that SQLite uses the partial index.
    let mut fine = transaction.prepare_cached(
        "SELECT * FROM samples WHERE app = ?1 AND at < ?2 AND span < 3600000 ORDER BY at",
    )?;
    fine.query_map(params![app, signed(before)], sample)?.collect()
}

/// Deletes incidents that are too old or too many.
pub(super) fn forget_old(transaction: &Transaction<'_>, now: u64) -> Result<()> {
    transaction.execute(
        "DELETE FROM incidents WHERE ended IS NOT NULL AND (ended < ?1 OR id <=
         (SELECT id FROM incidents ORDER BY id DESC LIMIT 1 OFFSET ?2))",
        params![signed(now.saturating_sub(SAMPLE_RETENTION)), MAX_INCIDENTS],
    )?;
    Ok(())
}

/// Deletes old incidents if the file is near its maximum size. Returns `false` if nothing was
/// deleted: a full disk cannot be helped here.
pub(super) fn make_room(file: &Connection) -> std::result::Result<bool, DatabaseError> {
    let pages: u32 =
        file.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(database::classify)?;
    if pages < MAX_FILE_SIZE / PAGE_SIZE / 100 * 80 {
        return Ok(false);
    }
    let deleted = file.execute(
        "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE ended IS NOT NULL
         ORDER BY id LIMIT max(1, (SELECT count(*) FROM incidents) / 4))",
        [],
    );
    Ok(deleted.map_err(database::classify)? > 0)
}

/// Binary search in samples sorted by time.
trait Sorted {
    fn contains_sorted(&self, sample: &ResourceSample) -> bool;
}

impl Sorted for [ResourceSample] {
    fn contains_sorted(&self, sample: &ResourceSample) -> bool {
        let found = self.binary_search_by_key(&sample.at, |other| other.at);
        found.is_ok_and(|at| self[at] == *sample)
    }
}
