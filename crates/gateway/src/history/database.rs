//! The database file: its tables, opening, migration, and what happens to a damaged one.
//!
//! A new column is an entry in [`VERSIONS`], and goes into `sql_write`, `sql_read` and the type in `core::history`.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use evermoor_platform::fs::private;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseError {
    #[error("the file is damaged: {0}")]
    Damaged(rusqlite::Error),
    /// A newer Evermoor wrote it. It is not changed.
    #[error("a newer Evermoor wrote the file")]
    Newer,
    /// The disk is full, or the file has reached its maximum size.
    #[error("no space left: {0}")]
    Full(rusqlite::Error),
    #[error("{0}")]
    Refused(rusqlite::Error),
    #[error("{0}")]
    Folder(#[from] std::io::Error),
}

/// Each migrates from one version to the next. Released migrations never change.
const VERSIONS: [&str; 1] = ["
    CREATE TABLE incidents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        upstream TEXT NOT NULL,
        title TEXT NOT NULL,
        began INTEGER NOT NULL,
        sign TEXT NOT NULL,
        cause TEXT,
        memory INTEGER,
        uptime INTEGER,
        held INTEGER NOT NULL DEFAULT 0,
        answered INTEGER NOT NULL DEFAULT 0,
        unknown INTEGER NOT NULL DEFAULT 0,
        not_sent INTEGER NOT NULL DEFAULT 0,
        seen INTEGER NOT NULL,
        unwatched INTEGER NOT NULL DEFAULT 0,
        ended INTEGER,
        how TEXT
    );
    CREATE INDEX incidents_of_upstream ON incidents (upstream, began);
    CREATE INDEX incidents_open ON incidents (upstream) WHERE ended IS NULL;
    CREATE TABLE events (
        incident INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        what TEXT NOT NULL
    );
    CREATE INDEX events_of_incident ON events (incident);
    CREATE TABLE samples (
        app TEXT NOT NULL,
        at INTEGER NOT NULL,
        span INTEGER NOT NULL,
        memory INTEGER NOT NULL,
        load INTEGER NOT NULL,
        uptime INTEGER NOT NULL,
        PRIMARY KEY (app, at)
    ) WITHOUT ROWID;
    CREATE INDEX samples_to_thin ON samples (app, at) WHERE span < 3600000;
"];

/// The maximum size of the file, without the write-ahead log.
pub(super) const MAX_FILE_SIZE: u32 = 40 << 20;
pub(super) const PAGE_SIZE: u32 = 4096;

/// Opens or creates the file, readable only by its owner.
pub(super) fn open(path: &Path) -> Result<Connection, DatabaseError> {
    private::create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(classify)?;
    prepare(&mut connection).map_err(classify)?;
    let sound: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(classify)?;
    if sound != "ok" {
        return Err(DatabaseError::Damaged(rusqlite::Error::InvalidQuery));
    }
    migrate(&mut connection, &VERSIONS)?;
    Ok(connection)
}

fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_millis(500))?;
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "max_page_count", MAX_FILE_SIZE / PAGE_SIZE)?;
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    // In KiB. The gateway must stay small, and the file is rarely read.
    connection.pragma_update(None, "cache_size", -256)
}

/// Migrates to the newest version, each step in a transaction.
fn migrate(connection: &mut Connection, versions: &[&str]) -> Result<(), DatabaseError> {
    let found: u32 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(classify)?;
    let steps = (1_u32..).zip(versions);
    if steps.clone().count() < found as usize {
        return Err(DatabaseError::Newer);
    }
    for (number, step) in steps.skip_while(|(number, _)| *number <= found) {
        let transaction = connection.transaction().map_err(classify)?;
        transaction.execute_batch(step).map_err(classify)?;
        transaction.pragma_update(None, "user_version", number).map_err(classify)?;
        transaction.commit().map_err(classify)?;
    }
    Ok(())
}

/// Moves a damaged file aside, replacing one that was moved before.
pub(super) fn move_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = beside(path, ".damaged");
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(path, ending));
    }
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Classifies an SQLite error.
pub(super) fn classify(error: rusqlite::Error) -> DatabaseError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Damaged(error),
        Some(ErrorCode::DiskFull) => DatabaseError::Full(error),
        Some(_) | None => DatabaseError::Refused(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> u32 {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_file_is_migrated_step_by_step() {
        let mut connection = Connection::open_in_memory().unwrap();
        let (first, second) = ("CREATE TABLE a (x);", "ALTER TABLE a ADD COLUMN y;");
        migrate(&mut connection, &[first]).unwrap();
        connection.execute("INSERT INTO a VALUES (1)", []).unwrap();
        migrate(&mut connection, &[first, second]).unwrap();
        assert_eq!(version(&connection), 2);
        let kept: (i64, Option<i64>) = connection
            .query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(kept, (1, None));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection, &["CREATE TABLE a (x); CREATE TABLE a (y);"]).is_err());
        assert_eq!(version(&connection), 0);
        assert!(connection.execute("INSERT INTO a VALUES (1)", []).is_err());
    }

    #[test]
    fn a_file_of_a_newer_evermoor_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.sqlite");
        let connection = open(&path).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        drop(connection);
        assert!(matches!(open(&path), Err(DatabaseError::Newer)));
        assert!(path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn others_can_read_neither_the_file_nor_the_write_ahead_log() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let connection = open(&folder.path().join("deep/history.sqlite")).unwrap();
        connection.execute("INSERT INTO samples VALUES ('a', 1, 1, 1, 1, 1)", []).unwrap();
        let files: Vec<_> =
            std::fs::read_dir(folder.path().join("deep")).unwrap().flatten().collect();
        assert_eq!(files.len(), 3, "{files:?}");
        for file in files {
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{file:?}");
        }
    }
}
