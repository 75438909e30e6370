//! The editors that may connect, each with its own token; setup and import of their servers.
//!
//! # Theory of operation
//! The token file is authoritative; [`Editors`] is its copy in memory, with when each editor was
//! last seen. A change writes the file first and then the copy. The file is watched, so edits by
//! the user take effect too. When an editor's token is revoked or replaced, everything that was
//! admitted with the old one is cancelled.
//!
//! - [`last_seen`]: when each editor was last seen, on disk
//! - [`setup`]: runs editors' own commands to add Evermoor
//! - [`import`]: moves the servers that editors already have into Evermoor, and back
//!
//! Uses `config` (secrets) and `system` (the token file). `server`, `mcp`,
//! `monitoring`, `lifecycle` and the command line use it.

pub mod import;
pub mod last_seen;
pub mod setup;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api;
use evermoor_core::security::tokens::{LOCAL_EDITOR, TokenError, Tokens};
use evermoor_platform::paths::Paths;

use crate::system::clock::ClockAndRandom;
use crate::system::file_watch;
use crate::system::keys;
use crate::system::keys::{ChangeError, KeyError};
use crate::system::write_lease::WriteLease;

/// All editors with a token.
pub struct Editors {
    paths: Paths,
    table: RwLock<TokenTable>,
    /// Serialises changes, from reading the file to updating the copy.
    turn: Mutex<()>,
    /// Notified when the list of editors has changed.
    changed: Arc<Notify>,
    /// Notified when an editor was seen again after a while.
    seen_again: Notify,
    clock: ClockAndRandom,
    tasks: TaskTracker,
}

/// An editor, identified by its token.
#[derive(Clone, Debug)]
pub struct Editor {
    pub name: String,
    /// Cancelled when its token is revoked or replaced.
    pub revoked: CancellationToken,
}

struct TokenTable {
    tokens: Tokens,
    statuses: HashMap<String, EditorRecord>,
}

/// What is known about one editor besides its token.
#[derive(Default)]
struct EditorRecord {
    /// When it last sent a request, in Unix milliseconds; 0 means never.
    seen: AtomicU64,
    revoked: CancellationToken,
}

/// The precision of "last seen": smaller changes notify nobody.
const SEEN_PRECISION: Duration = Duration::from_secs(60);

impl Editors {
    pub fn new(
        tokens: Tokens,
        paths: Paths,
        changed: Arc<Notify>,
        clock: ClockAndRandom,
        tasks: TaskTracker,
    ) -> Self {
        let table = TokenTable::of(tokens);
        for (name, seen) in last_seen::read(&paths) {
            if let Some(status) = table.statuses.get(&name) {
                status.seen.store(seen, Ordering::Relaxed);
            }
        }
        let (table, turn, seen_again) = (RwLock::new(table), Mutex::default(), Notify::new());
        Self { paths, table, turn, changed, seen_again, clock, tasks }
    }

    /// The editor that presents this token.
    pub fn by_token(&self, presented: &str) -> Option<Editor> {
        let table = self.table.read();
        let name = table.tokens.editor(presented)?;
        Some(self.seen(&table, name))
    }

    /// The editor to use when no token is required.
    pub fn without_token(&self) -> Editor {
        self.seen(&self.table.read(), LOCAL_EDITOR)
    }

    /// The token that Evermoor's own programs use.
    pub fn local_token(&self) -> Option<String> {
        self.table.read().tokens.of(LOCAL_EDITOR).map(str::to_owned)
    }

    /// Whether this is an editor's token.
    pub fn knows(&self, presented: &str) -> bool {
        self.table.read().tokens.editor(presented).is_some()
    }

    /// The token of an editor, for the entry in its configuration file.
    pub(crate) fn token_of(&self, name: &str) -> Option<String> {
        self.table.read().tokens.of(name).map(str::to_owned)
    }

    /// The editors as users see them.
    pub fn list(&self) -> Vec<api::EditorStatus> {
        let table = self.table.read();
        let editor = |(name, made): (&str, Option<u64>)| api::EditorStatus {
            name: name.to_owned(),
            made,
            seen: table.statuses.get(name).and_then(EditorRecord::last_seen),
            own: name == LOCAL_EDITOR,
            shown: None,
            hint: None,
        };
        table.tokens.editors().map(editor).collect()
    }

    /// Creates a token for an editor that has none.
    pub async fn add(&self, name: String) -> Result<api::NewToken, ChangeError> {
        let editor = name.clone();
        let made = self.change(move |tokens, random, now| tokens.add(&editor, random, now));
        Ok(api::NewToken { token: made.await?, name })
    }

    /// Replaces an editor's token and disconnects clients that use the old one.
    pub async fn rotate(&self, name: String) -> Result<api::NewToken, ChangeError> {
        let editor = name.clone();
        let made = self.change(move |tokens, random, now| tokens.rotate(&editor, random, now));
        Ok(api::NewToken { token: made.await?, name })
    }

    /// Revokes an editor's token and disconnects clients that use it.
    pub async fn revoke(&self, name: String) -> Result<(), ChangeError> {
        self.change(move |tokens, _, _| tokens.revoke(&name)).await
    }

    /// Applies changes that others make to the token file. A file that cannot be used changes
    /// nothing: the last valid one stays in force.
    pub async fn follow(self: Arc<Self>) {
        let path = self.paths.token_file();
        loop {
            let turn = self.turn.lock().await;
            let paths = self.paths.clone();
            let reading =
                file_watch::read_watched(&path, move |_| keys::known_tokens(&paths), &self.tasks);
            let Some((watch, found)) = reading.await else {
                return;
            };
            match found {
                Ok(Some(tokens)) => self.apply(tokens),
                Ok(None) => tracing::warn!(path = %path.display(), "the token file is missing"),
                Err(error) => tracing::warn!(%error, "the token file cannot be used"),
            }
            drop(turn);
            watch.changed().await;
        }
    }

    /// Writes when each editor was last seen, whenever that changes, for the next gateway.
    pub async fn keep_last_seen(self: Arc<Self>, lease: WriteLease) {
        loop {
            self.seen_again.notified().await;
            let writing = loop {
                match lease.take().await {
                    Some(writing) => break writing,
                    None => lease.until_held().await,
                }
            };
            let (paths, seen) = (self.paths.clone(), self.last_seen());
            let written = self.tasks.spawn_blocking(move || last_seen::write(&paths, &seen)).await;
            if let Ok(Err(error)) = written {
                tracing::warn!(%error, "cannot write when editors were seen");
            }
            drop(writing);
        }
    }

    fn last_seen(&self) -> BTreeMap<String, u64> {
        let table = self.table.read();
        let seen = table.statuses.iter();
        seen.filter_map(|(name, status)| Some((name.clone(), status.last_seen()?))).collect()
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tokens, [u8; 32], u64) -> Result<T, TokenError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        let _turn = self.turn.lock().await;
        let paths = self.paths.clone();
        let changed = self.tasks.spawn_blocking(move || keys::change_tokens(&paths, change));
        let (tokens, made) = changed.await.map_err(|_| KeyError::Interrupted)??;
        self.apply(tokens);
        Ok(made)
    }

    fn apply(&self, tokens: Tokens) {
        let mut table = self.table.write();
        if table.tokens != tokens {
            table.replace(tokens);
            self.changed.notify_one();
        }
    }

    fn seen(&self, table: &TokenTable, name: &str) -> Editor {
        let Some(status) = table.statuses.get(name) else {
            return Editor { name: name.to_owned(), revoked: CancellationToken::new() };
        };
        let now = millis(self.clock.now());
        let before = status.seen.load(Ordering::Relaxed);
        if Duration::from_millis(now.abs_diff(before)) >= SEEN_PRECISION {
            status.seen.store(now, Ordering::Relaxed);
            self.changed.notify_one();
            self.seen_again.notify_one();
        }
        Editor { name: name.to_owned(), revoked: status.revoked.clone() }
    }
}

impl TokenTable {
    fn of(tokens: Tokens) -> Self {
        let statuses =
            tokens.editors().map(|(name, _)| (name.to_owned(), EditorRecord::default())).collect();
        Self { tokens, statuses }
    }

    /// Replaces the tokens and cancels everything admitted with a token that is no longer valid.
    fn replace(&mut self, tokens: Tokens) {
        let before = std::mem::replace(self, Self::of(tokens));
        for (name, status) in before.statuses {
            let same = self.tokens.of(&name) == before.tokens.of(&name);
            if !same {
                status.revoked.cancel();
            }
            if let Some(now) = self.statuses.get_mut(&name) {
                let revoked = if same { status.revoked } else { CancellationToken::new() };
                *now = EditorRecord { seen: status.seen, revoked };
            }
        }
    }
}

impl EditorRecord {
    fn last_seen(&self) -> Option<u64> {
        Some(self.seen.load(Ordering::Relaxed)).filter(|seen| *seen > 0)
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editors(folder: &tempfile::TempDir) -> Arc<Editors> {
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        let tokens = keys::tokens(&paths).unwrap();
        let clock = ClockAndRandom::new(|| 0, || UNIX_EPOCH + 1_000 * SEEN_PRECISION);
        Arc::new(Editors::new(tokens, paths, Arc::default(), clock, TaskTracker::new()))
    }

    #[tokio::test]
    async fn rotating_or_revoking_a_token_disconnects_that_editor_only() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let cursor = editors.add("cursor".into()).await.unwrap();
        let zed = editors.add("zed".into()).await.unwrap();
        let (at_cursor, at_zed) =
            (editors.by_token(&cursor.token).unwrap(), editors.by_token(&zed.token).unwrap());
        assert!(!at_cursor.revoked.is_cancelled(), "adding an editor affects no other");

        let next = editors.rotate("cursor".into()).await.unwrap();
        assert!(at_cursor.revoked.is_cancelled() && !at_zed.revoked.is_cancelled());
        assert!(editors.by_token(&cursor.token).is_none());
        let again = editors.by_token(&next.token).unwrap();

        editors.revoke("cursor".into()).await.unwrap();
        assert!(again.revoked.is_cancelled() && !at_zed.revoked.is_cancelled());
        assert!(editors.by_token(&next.token).is_none());
        let names: Vec<String> = editors.list().into_iter().map(|editor| editor.name).collect();
        assert_eq!(names, ["local", "zed"]);
    }

    #[tokio::test]
    async fn a_change_is_in_the_file_before_it_takes_effect() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let made = editors.add("cursor".into()).await.unwrap();
        let written = keys::tokens(&editors.paths).unwrap();
        assert_eq!(written.editor(&made.token), Some("cursor"));
    }

    #[tokio::test]
    async fn an_edited_token_file_takes_effect_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let made = editors.add("cursor".into()).await.unwrap();
        let (local, cursor) = (editors.without_token(), editors.by_token(&made.token).unwrap());
        editors.tasks.spawn(Arc::clone(&editors).follow());
        let file = editors.paths.token_file();
        let without = {
            let mut tokens = keys::tokens(&editors.paths).unwrap();
            tokens.revoke("cursor").unwrap();
            tokens.to_bytes()
        };
        evermoor_platform::fs::private::write_private(&file, b"{").unwrap();
        evermoor_platform::fs::private::write_private(&file, &without).unwrap();
        tokio::time::timeout(Duration::from_secs(20), cursor.revoked.cancelled()).await.unwrap();
        assert!(!local.revoked.is_cancelled());
        assert!(editors.by_token(&made.token).is_none());
    }

    #[tokio::test]
    async fn an_editor_that_sent_a_request_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        assert_eq!(editors.list()[0].seen, None);
        editors.without_token();
        let seen = editors.list()[0].seen;
        assert_eq!(seen, Some(60_000_000));
        editors.rotate(LOCAL_EDITOR.into()).await.unwrap();
        assert_eq!(editors.list()[0].seen, seen, "a new token keeps when it was seen");
    }

    #[tokio::test]
    async fn the_next_gateway_knows_when_an_editor_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let before = editors(&folder);
        before.without_token();
        let keeping = Arc::clone(&before).keep_last_seen(WriteLease::new(true));
        let written = async {
            while last_seen::read(&before.paths).is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = keeping => {}
            () = written => {}
        }
        assert_eq!(editors(&folder).list()[0].seen, Some(60_000_000));
    }
}
