//! Which clients are connected.
//!
//! A session does not end when its editor is closed, and a client of 2026-07-28 has no session. So a
//! client counts as connected if it has a stream open or sent a request within the last minutes.
//! Evermoor's own programs are not counted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use evermoor_core::api::{ClientTransport, ConnectedClient};
use evermoor_core::protocol::mcp::Implementation;
use evermoor_platform::clock;

use crate::system::redaction;

/// The connected clients.
#[derive(Clone)]
pub struct Clients(Arc<ClientsState>);

struct ClientsState {
    clients: Mutex<HashMap<ClientKey, ClientEntry>>,
    /// Notified when the list has changed.
    changed: Arc<Notify>,
    /// Notified when the next client to expire may be another one.
    entry_added: Notify,
}

/// What identifies a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientKey {
    /// A client with a session, by the session's number.
    Session(u64),
    /// A client without a session, by the editor whose token it uses, its name and its version.
    Program { editor: String, client: String, version: String },
}

impl ClientKey {
    /// The name of a client without a session.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Session(_) => None,
            Self::Program { client, .. } => Some(client.as_str()).filter(|name| !name.is_empty()),
        }
    }
}

struct ClientEntry {
    attached: ConnectedClient,
    spoke: Instant,
    /// The number of open streams.
    streams: usize,
}

/// An open stream of a client, until dropped.
pub struct ClientStream {
    clients: Clients,
    who: ClientKey,
}

/// A client without a stream is gone after this time without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// More clients are not listed.
const MAX_CLIENTS: usize = 512;
/// More of what a client says about itself is not kept.
const LONGEST_NAME: usize = 100;
/// The client name of Evermoor's own programs.
const OWN_PROGRAM: &str = "evermoor";

impl Clients {
    pub fn new(changed: Arc<Notify>) -> Self {
        Self(Arc::new(ClientsState {
            clients: Mutex::default(),
            changed,
            entry_added: Notify::new(),
        }))
    }

    /// Records a request to one upstream (`view`) or to all. `introduction` is only called for a
    /// client that is not known yet.
    pub fn speaks(
        &self,
        who: &ClientKey,
        wire: ClientTransport,
        view: Option<&str>,
        introduction: impl FnOnce() -> (String, Implementation, String),
    ) {
        let now = Instant::now();
        let mut clients = self.0.clients.lock();
        if let Some(known) = clients.get_mut(who) {
            known.spoke = now;
            if known.attached.view.as_deref() == view && known.attached.transport == wire {
                return;
            }
            known.attached.view = view.map(str::to_owned);
            known.attached.transport = wire;
        } else {
            let (editor, client, revision) = introduction();
            if client.name == OWN_PROGRAM || clients.len() >= MAX_CLIENTS {
                return;
            }
            let attached = ConnectedClient {
                editor,
                client: shown(&client.name),
                client_version: shown(&client.version),
                revision: redaction::excerpt(revision.as_bytes(), LONGEST_NAME),
                transport: wire,
                view: view.map(str::to_owned),
                since: clock::unix_millis(),
            };
            clients.insert(who.clone(), ClientEntry { attached, spoke: now, streams: 0 });
        }
        drop(clients);
        self.0.entry_added.notify_one();
        self.0.changed.notify_one();
    }

    /// Records the name and version that a known client sent later.
    pub fn introduced(&self, who: &ClientKey, client: &Implementation, revision: &str) {
        let mut clients = self.0.clients.lock();
        let Some(known) = clients.get_mut(who) else { return };
        known.attached.client = shown(&client.name);
        known.attached.client_version = shown(&client.version);
        known.attached.revision = redaction::excerpt(revision.as_bytes(), LONGEST_NAME);
        drop(clients);
        self.0.changed.notify_one();
    }

    /// Records that a client has a stream open until the result is dropped.
    pub fn listens(&self, who: ClientKey) -> ClientStream {
        if let Some(known) = self.0.clients.lock().get_mut(&who) {
            known.streams += 1;
        }
        ClientStream { clients: self.clone(), who }
    }

    /// Removes a client that ended its session.
    pub fn leaves(&self, who: &ClientKey) {
        if self.0.clients.lock().remove(who).is_some() {
            self.0.changed.notify_one();
        }
    }

    /// The connected clients, oldest first.
    pub fn list(&self) -> Vec<ConnectedClient> {
        let now = Instant::now();
        let clients = self.0.clients.lock();
        let here = clients.values().filter(|one| one.is_here(now));
        let mut here: Vec<ConnectedClient> = here.map(|one| one.attached.clone()).collect();
        here.sort_by(|one, other| (one.since, &one.client).cmp(&(other.since, &other.client)));
        here
    }

    /// Removes clients whose time is up. Never returns.
    pub async fn evict_expired(&self) {
        loop {
            let next = {
                let clients = self.0.clients.lock();
                clients.values().filter(|one| one.streams == 0).map(|one| one.spoke).min()
            };
            match next {
                Some(spoke) => {
                    tokio::select! {
                        () = sleep_until(spoke + IDLE_TIMEOUT) => {}
                        () = self.0.entry_added.notified() => continue,
                    }
                }
                None => self.0.entry_added.notified().await,
            }
            let now = Instant::now();
            let mut clients = self.0.clients.lock();
            let before = clients.len();
            clients.retain(|_, one| one.is_here(now));
            if clients.len() != before {
                self.0.changed.notify_one();
            }
        }
    }
}

impl ClientEntry {
    fn is_here(&self, now: Instant) -> bool {
        self.streams > 0 || now.duration_since(self.spoke) < IDLE_TIMEOUT
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        let mut clients = self.clients.0.clients.lock();
        if let Some(known) = clients.get_mut(&self.who) {
            known.streams = known.streams.saturating_sub(1);
            known.spoke = Instant::now();
        }
        drop(clients);
        self.clients.0.entry_added.notify_one();
    }
}

/// What a client says about itself, if anything.
fn shown(text: &str) -> Option<String> {
    Some(redaction::excerpt(text.as_bytes(), LONGEST_NAME)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_util::task::TaskTracker;

    fn clients() -> Clients {
        Clients::new(Arc::default())
    }

    fn speaks(clients: &Clients, number: u64, client: &str, view: Option<&str>) {
        clients.speaks(&ClientKey::Session(number), ClientTransport::Http, view, || {
            let client = Implementation { name: client.to_owned(), version: "1".into() };
            ("zed".into(), client, "2025-11-25".into())
        });
    }

    fn names(clients: &Clients) -> Vec<String> {
        clients.list().into_iter().filter_map(|one| one.client).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_is_connected_if_it_sent_a_request_lately_or_has_a_stream() {
        let clients = clients();
        speaks(&clients, 1, "Zed", None);
        speaks(&clients, 2, "Cursor", Some("notes"));
        speaks(&clients, 3, "evermoor", None);
        let stream = clients.listens(ClientKey::Session(2));
        let mut here = names(&clients);
        here.sort();
        assert_eq!(here, ["Cursor", "Zed"], "our own programs are not counted");
        tokio::time::advance(IDLE_TIMEOUT).await;
        assert_eq!(names(&clients), ["Cursor"]);
        drop(stream);
        assert_eq!(names(&clients), ["Cursor"], "its stream was open a moment ago");
        tokio::time::advance(IDLE_TIMEOUT).await;
        assert_eq!(names(&clients), [] as [&str; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_client_is_removed_and_that_is_notified() {
        let clients = clients();
        let tasks = TaskTracker::new();
        let tidying = clients.clone();
        tasks.spawn(async move { tidying.evict_expired().await });
        speaks(&clients, 1, "Zed", None);
        clients.0.changed.notified().await;
        clients.0.changed.notified().await;
        assert!(clients.0.clients.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_address_a_client_used_is_shown() {
        let clients = clients();
        speaks(&clients, 1, "Zed", None);
        speaks(&clients, 1, "Zed", Some("notes"));
        assert_eq!(clients.list()[0].view.as_deref(), Some("notes"));
        let client = Implementation { name: "Zed Preview".into(), version: "2".into() };
        clients.introduced(&ClientKey::Session(1), &client, "2025-06-18");
        assert_eq!(clients.list()[0].client.as_deref(), Some("Zed Preview"));
        clients.leaves(&ClientKey::Session(1));
        assert_eq!(clients.list(), []);
    }
}
