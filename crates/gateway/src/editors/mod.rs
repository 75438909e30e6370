//! The editors that may speak, each with a token of its own.
//!
//! # Theory of operation
//! The token file is the truth; this is its copy in memory, with what is known of each editor
//! since the gateway started. Whoever changes a token changes the file and then the copy, one after
//! the other; a change that a person makes in the file is seen and taken over too. When an editor's
//! token is gone or another one, everything that was admitted by the old one is told to end.

pub mod import;
pub mod setup;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api;
use evermoor_core::security::tokens::{Denied, LOCAL, Tokens};
use evermoor_platform::paths::Paths;

use crate::lifecycle::keys;
use crate::lifecycle::keys::{ChangeError, KeyError};
use crate::system::environment::Chance;
use crate::system::file_watch;

/// Everybody who has a token.
pub struct Editors {
    paths: Paths,
    book: RwLock<Book>,
    /// One change at a time, from reading the file to knowing what it says.
    turn: Mutex<()>,
    /// Told when the list looks different.
    changed: Arc<Notify>,
    chance: Chance,
    tasks: TaskTracker,
}

/// The editor that speaks, known by its token.
#[derive(Clone, Debug)]
pub struct Editor {
    pub name: String,
    /// Cancelled when the token that it came with is worth nothing any more.
    pub revoked: CancellationToken,
}

struct Book {
    tokens: Tokens,
    standings: HashMap<String, Standing>,
}

/// What is known of one editor besides its token.
#[derive(Default)]
struct Standing {
    /// When it last spoke, in milliseconds of the Unix epoch; 0 is never.
    seen: AtomicU64,
    revoked: CancellationToken,
}

/// How exactly the list says when an editor was last seen. Nobody is woken up for less.
const FINE_ENOUGH: Duration = Duration::from_secs(60);

impl Editors {
    pub fn new(
        tokens: Tokens,
        paths: Paths,
        changed: Arc<Notify>,
        chance: Chance,
        tasks: TaskTracker,
    ) -> Self {
        let book = RwLock::new(Book::of(tokens));
        Self { paths, book, turn: Mutex::default(), changed, chance, tasks }
    }

    /// The editor that presents this token.
    pub fn by_token(&self, presented: &str) -> Option<Editor> {
        let book = self.book.read();
        let name = book.tokens.editor(presented)?;
        Some(self.seen(&book, name))
    }

    /// Whoever speaks while no token is asked for.
    pub fn anybody(&self) -> Editor {
        self.seen(&self.book.read(), LOCAL)
    }

    /// The token that our own programs use.
    pub fn own_token(&self) -> Option<String> {
        self.book.read().tokens.of(LOCAL).map(str::to_owned)
    }

    /// Whether this is an editor's token.
    pub fn knows(&self, presented: &str) -> bool {
        self.book.read().tokens.editor(presented).is_some()
    }

    /// The token of an editor, for entries in its own file.
    pub(crate) fn token_of(&self, name: &str) -> Option<String> {
        self.book.read().tokens.of(name).map(str::to_owned)
    }

    /// The editors as a person sees them.
    pub fn list(&self) -> Vec<api::Editor> {
        let book = self.book.read();
        let editor = |(name, made): (&str, Option<u64>)| api::Editor {
            name: name.to_owned(),
            made,
            seen: book.standings.get(name).and_then(Standing::last_seen),
            own: name == LOCAL,
            shown: None,
            hint: None,
        };
        book.tokens.editors().map(editor).collect()
    }

    /// Makes a token for an editor that has none.
    pub async fn add(&self, name: String) -> Result<api::NewToken, ChangeError> {
        let editor = name.clone();
        let made = self.change(move |tokens, random, now| tokens.add(&editor, random, now));
        Ok(api::NewToken { token: made.await?, name })
    }

    /// Makes another token for an editor and turns away whoever has the old one.
    pub async fn rotate(&self, name: String) -> Result<api::NewToken, ChangeError> {
        let editor = name.clone();
        let made = self.change(move |tokens, random, now| tokens.rotate(&editor, random, now));
        Ok(api::NewToken { token: made.await?, name })
    }

    /// Takes an editor's token away and turns away whoever has it.
    pub async fn revoke(&self, name: String) -> Result<(), ChangeError> {
        self.change(move |tokens, _, _| tokens.revoke(&name)).await
    }

    /// Takes over what others change in the token file. A file that cannot be used changes nothing:
    /// the last good one still protects.
    pub async fn follow(self: Arc<Self>) {
        let path = self.paths.token_file();
        loop {
            let turn = self.turn.lock().await;
            let paths = self.paths.clone();
            let looked = file_watch::look(&path, move |_| keys::known_tokens(&paths), &self.tasks);
            let Some((watch, found)) = looked.await else {
                return;
            };
            match found {
                Ok(Some(tokens)) => self.take_over(tokens),
                Ok(None) => tracing::warn!(path = %path.display(), "the token file is gone"),
                Err(error) => tracing::warn!(%error, "the token file was not taken over"),
            }
            drop(turn);
            watch.stirred().await;
        }
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tokens, [u8; 32], u64) -> Result<T, Denied> + Send + 'static,
    ) -> Result<T, ChangeError> {
        let _turn = self.turn.lock().await;
        let paths = self.paths.clone();
        let changed = self.tasks.spawn_blocking(move || keys::change_tokens(&paths, change));
        let (tokens, made) = changed.await.map_err(|_| KeyError::Interrupted)??;
        self.take_over(tokens);
        Ok(made)
    }

    fn take_over(&self, tokens: Tokens) {
        let mut book = self.book.write();
        if book.tokens != tokens {
            book.replace(tokens);
            self.changed.notify_one();
        }
    }

    fn seen(&self, book: &Book, name: &str) -> Editor {
        let Some(standing) = book.standings.get(name) else {
            return Editor { name: name.to_owned(), revoked: CancellationToken::new() };
        };
        let now = millis(self.chance.now());
        let before = standing.seen.load(Ordering::Relaxed);
        if Duration::from_millis(now.abs_diff(before)) >= FINE_ENOUGH {
            standing.seen.store(now, Ordering::Relaxed);
            self.changed.notify_one();
        }
        Editor { name: name.to_owned(), revoked: standing.revoked.clone() }
    }
}

impl Book {
    fn of(tokens: Tokens) -> Self {
        let standings =
            tokens.editors().map(|(name, _)| (name.to_owned(), Standing::default())).collect();
        Self { tokens, standings }
    }

    /// Turns away whoever came with a token that is no longer the editor's.
    fn replace(&mut self, tokens: Tokens) {
        let before = std::mem::replace(self, Self::of(tokens));
        for (name, standing) in before.standings {
            let same = self.tokens.of(&name) == before.tokens.of(&name);
            if !same {
                standing.revoked.cancel();
            }
            if let Some(now) = self.standings.get_mut(&name) {
                let revoked = if same { standing.revoked } else { CancellationToken::new() };
                *now = Standing { seen: standing.seen, revoked };
            }
        }
    }
}

impl Standing {
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
        let chance = Chance::new(|| 0, || UNIX_EPOCH + 1_000 * FINE_ENOUGH);
        Arc::new(Editors::new(tokens, paths, Arc::default(), chance, TaskTracker::new()))
    }

    #[tokio::test]
    async fn an_editor_that_is_rotated_or_revoked_is_turned_away_and_the_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let cursor = editors.add("cursor".into()).await.unwrap();
        let zed = editors.add("zed".into()).await.unwrap();
        let (at_cursor, at_zed) =
            (editors.by_token(&cursor.token).unwrap(), editors.by_token(&zed.token).unwrap());
        assert!(!at_cursor.revoked.is_cancelled(), "a new neighbour disturbs nobody");

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
    async fn what_is_changed_is_in_the_file_before_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let made = editors.add("cursor".into()).await.unwrap();
        let written = keys::tokens(&editors.paths).unwrap();
        assert_eq!(written.editor(&made.token), Some("cursor"));
    }

    #[tokio::test]
    async fn a_file_that_a_person_edits_is_taken_over_and_a_bad_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        let made = editors.add("cursor".into()).await.unwrap();
        let (local, cursor) = (editors.anybody(), editors.by_token(&made.token).unwrap());
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
    async fn an_editor_that_spoke_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let editors = editors(&folder);
        assert_eq!(editors.list()[0].seen, None);
        editors.anybody();
        let seen = editors.list()[0].seen;
        assert_eq!(seen, Some(60_000_000));
        editors.rotate(LOCAL.into()).await.unwrap();
        assert_eq!(editors.list()[0].seen, seen, "a new token does not hide when it was seen");
    }
}
