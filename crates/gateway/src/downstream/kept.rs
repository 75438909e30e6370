//! What sessions want to hear of, as it lies on the disk.
//!
//! An editor that was subscribed before the gateway was started again does not subscribe again: it
//! saw nothing happen. Writes take turns, and each writes what is known when its turn comes, so that
//! the file never goes back in time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio_util::task::TaskTracker;

use evermoor_core::level::Level;
use evermoor_core::name::UpstreamName;
use evermoor_platform::files;

use super::wishes::Wishes;

#[derive(Clone)]
pub struct Kept {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

struct Shared {
    file: PathBuf,
    wishes: Mutex<BTreeMap<String, Written>>,
    /// Held by whoever writes.
    turn: Mutex<()>,
    /// Somebody will write what is known then.
    is_due: AtomicBool,
}

/// What one session wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    resources: Vec<(String, String)>,
    level: Option<String>,
}

/// More sessions than anybody has.
const MOST: usize = 4096;

impl Kept {
    /// Reads the file. One that cannot be read costs subscriptions, which editors can make again.
    pub fn read(file: PathBuf, tasks: TaskTracker) -> Self {
        let content = files::read_private(&file).ok().flatten();
        let wishes = content.and_then(|content| serde_json::from_slice(&content).ok());
        let shared = Shared {
            file,
            wishes: Mutex::new(wishes.unwrap_or_default()),
            turn: Mutex::default(),
            is_due: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared), tasks }
    }

    /// What the session with this nonce wanted to hear of.
    pub fn of(&self, nonce: &[u8]) -> Wishes {
        let written = self.shared.wishes.lock().get(&BASE64.encode(nonce)).cloned();
        written.map(Wishes::from).unwrap_or_default()
    }

    pub fn keep(&self, nonce: &[u8], wishes: &Wishes) {
        if self.shared.note(BASE64.encode(nonce), wishes)
            && !self.shared.is_due.swap(true, Ordering::AcqRel)
        {
            let shared = Arc::clone(&self.shared);
            self.tasks.spawn_blocking(move || shared.write());
        }
    }
}

impl Shared {
    /// Says whether that is news.
    fn note(&self, session: String, wishes: &Wishes) -> bool {
        let mut all = self.wishes.lock();
        let news = match wishes.is_empty() {
            true => all.remove(&session).is_some(),
            false => {
                let written = Written::from(wishes);
                all.insert(session, written.clone()) != Some(written)
            }
        };
        while all.len() > MOST {
            all.pop_first();
        }
        news
    }

    fn write(&self) {
        let _turn = self.turn.lock();
        // What is noted from here on is due again.
        self.is_due.store(false, Ordering::Release);
        let content = serde_json::to_vec(&*self.wishes.lock()).expect("strings serialise");
        if let Err(error) = files::write_private(&self.file, &content) {
            tracing::warn!(%error, "subscriptions are not kept");
        }
    }
}

impl From<&Wishes> for Written {
    fn from(wishes: &Wishes) -> Self {
        let resources = wishes.resources.iter();
        Self {
            resources: resources.map(|(up, uri)| (up.to_string(), uri.clone())).collect(),
            level: wishes.level.map(|level| level.as_str().to_owned()),
        }
    }
}

impl From<Written> for Wishes {
    fn from(kept: Written) -> Self {
        let named = |(name, uri): (String, String)| Some((UpstreamName::parse(&name).ok()?, uri));
        Self {
            resources: kept.resources.into_iter().filter_map(named).collect(),
            level: kept.level.as_deref().and_then(Level::parse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_word_is_on_the_disk_however_many_came_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, tasks) = (folder.path().join("sessions.json"), TaskTracker::new());
        let kept = Kept::read(file.clone(), tasks.clone());
        let name = UpstreamName::parse("a").unwrap();
        let mut wishes = Wishes::default();
        for number in 0..200 {
            wishes.resources.insert((name.clone(), format!("x://{number}")));
            kept.keep(b"one", &wishes);
        }
        wishes.level = Some(Level::Error);
        kept.keep(b"one", &wishes);
        kept.keep(b"two", &wishes);
        kept.keep(b"two", &Wishes::default());
        tasks.close();
        tasks.wait().await;
        let read = Kept::read(file, tasks);
        assert_eq!(read.of(b"one"), wishes);
        assert_eq!(read.of(b"two"), Wishes::default());
    }
}
