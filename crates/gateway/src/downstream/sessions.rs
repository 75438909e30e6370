//! The table of sessions that have spoken, and what of it is kept on the disk.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio_util::task::TaskTracker;

use evermoor_core::level::Level;
use evermoor_core::name::UpstreamName;
use evermoor_core::session::{Session, SessionKey};
use evermoor_platform::files;

use super::session::Live;
use super::wishes::Wishes;
use crate::interests::Interests;
use crate::keys::{self, KeyError};
use crate::router::Router;

type Nonce = [u8; 16];

pub struct Sessions {
    key: SessionKey,
    table: Mutex<HashMap<Nonce, Arc<Live>>>,
    /// Sessions that their editors ended.
    ended: Mutex<VecDeque<Nonce>>,
    numbers: AtomicU64,
    /// What is on the disk.
    remembered: Mutex<BTreeMap<String, Remembered>>,
    file: PathBuf,
    router: Router,
    interests: Interests,
    tasks: TaskTracker,
}

/// What a session wants to hear of, as it lies on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    resources: Vec<(String, String)>,
    level: Option<String>,
}

/// More than this many idle sessions are not kept in memory; their ids are as good as before.
const MOST_IDLE: usize = 4096;
const MOST_ENDED: usize = 4096;
const MOST_REMEMBERED: usize = 4096;

impl Sessions {
    pub fn new(
        key: SessionKey,
        file: PathBuf,
        router: Router,
        interests: Interests,
        tasks: TaskTracker,
    ) -> Self {
        let read = files::read_private(&file).ok().flatten();
        // A file that cannot be read costs subscriptions, which editors can make again.
        let remembered = read.and_then(|content| serde_json::from_slice(&content).ok());
        Self {
            key,
            table: Mutex::default(),
            ended: Mutex::default(),
            numbers: AtomicU64::new(1),
            remembered: Mutex::new(remembered.unwrap_or_default()),
            file,
            router,
            interests,
            tasks,
        }
    }

    /// A number that no other session or request has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A new session and its id.
    pub fn create(&self, session: Session) -> (Arc<Live>, String) {
        let id = self.key.sign(&session);
        (self.put(session), id)
    }

    /// The session with this id, if it is one of ours and of this editor.
    pub fn find(&self, id: &str, editor: &str) -> Option<Arc<Live>> {
        let session = self.key.verify(id).filter(|session| session.editor == editor)?;
        if let Some(live) = self.table.lock().get(&session.nonce) {
            return Some(Arc::clone(live));
        }
        let ended = self.ended.lock().contains(&session.nonce);
        (!ended).then(|| self.put(session))
    }

    /// The editor is done with it.
    pub fn end(&self, live: &Live) {
        let nonce = live.session().nonce;
        live.end();
        self.interests.forget(live.number);
        self.table.lock().remove(&nonce);
        let mut ended = self.ended.lock();
        ended.push_back(nonce);
        if ended.len() > MOST_ENDED {
            ended.pop_front();
        }
        drop(ended);
        self.remember(&nonce, &Wishes::default());
    }

    /// Keeps what the session wants to hear of.
    pub fn keep(&self, live: &Live) {
        let wishes = live.wishes.lock().clone();
        self.remember(&live.session().nonce, &wishes);
    }

    /// Bytes that nobody can guess, to tell sessions apart.
    pub fn nonce() -> Result<Nonce, KeyError> {
        keys::random()
    }

    fn put(&self, session: Session) -> Arc<Live> {
        let nonce = session.nonce;
        let remembered = self.remembered.lock().get(&BASE64.encode(nonce)).cloned();
        let wishes = remembered.map(Wishes::from).unwrap_or_default();
        let editor = session.editor.clone();
        let live = Arc::new(Live::new(self.number(), session, wishes.clone()));
        wishes.register(live.number, &editor, &self.router, &self.interests);
        let mut table = self.table.lock();
        if table.len() >= MOST_IDLE {
            table.retain(|_, live| {
                let wanted = Arc::strong_count(live) > 1 || !live.is_idle();
                wanted || !live.wishes.lock().is_empty()
            });
        }
        // Two requests may both have found no session; the first one's counts.
        Arc::clone(table.entry(nonce).or_insert(live))
    }

    fn remember(&self, nonce: &Nonce, wishes: &Wishes) {
        let mut remembered = self.remembered.lock();
        let key = BASE64.encode(nonce);
        let changed = match wishes.is_empty() {
            true => remembered.remove(&key).is_some(),
            false => {
                let new = Remembered::from(wishes);
                remembered.insert(key, new.clone()) != Some(new)
            }
        };
        while remembered.len() > MOST_REMEMBERED {
            remembered.pop_first();
        }
        if !changed {
            return;
        }
        let content = serde_json::to_vec(&*remembered).expect("strings serialise");
        let file = self.file.clone();
        // Written under the lock of nobody; the last one to be started has the newest content, and
        // an older one that overtakes it costs a subscription after a crash at the worst.
        self.tasks.spawn_blocking(move || {
            if let Err(error) = files::write_private(&file, &content) {
                tracing::warn!(%error, "subscriptions are not kept");
            }
        });
    }
}

impl From<&Wishes> for Remembered {
    fn from(wishes: &Wishes) -> Self {
        let resources = wishes.resources.iter();
        Self {
            resources: resources.map(|(up, uri)| (up.to_string(), uri.clone())).collect(),
            level: wishes.level.map(|level| level.as_str().to_owned()),
        }
    }
}

impl From<Remembered> for Wishes {
    fn from(kept: Remembered) -> Self {
        let named = |(name, uri): (String, String)| Some((UpstreamName::parse(&name).ok()?, uri));
        Self {
            resources: kept.resources.into_iter().filter_map(named).collect(),
            level: kept.level.as_deref().and_then(Level::parse),
        }
    }
}
