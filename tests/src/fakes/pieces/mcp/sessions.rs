//! The MCP sessions of the fake PiecesOS, for both transports.

use std::collections::HashMap;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use evermoor_core::protocol::envelope::Notification;
use evermoor_core::protocol::sse;

/// The sender for the events of one session.
pub(crate) type Stream = UnboundedSender<Bytes>;

#[derive(Default)]
pub(crate) struct AppSessions(Mutex<SessionMap>);

#[derive(Default)]
struct SessionMap {
    given: u64,
    known: HashMap<String, AppSession>,
    /// Open streams of forgotten sessions.
    orphans: Vec<Stream>,
}

#[derive(Default)]
struct AppSession {
    shook_hands: bool,
    stream: Option<Stream>,
}

impl AppSessions {
    pub(crate) fn open(&self, stream: Option<Stream>) -> String {
        let mut inner = self.0.lock();
        inner.given += 1;
        // The process id keeps ids of an earlier process invalid.
        let id = format!("{}-{}", std::process::id(), inner.given);
        inner.known.insert(id.clone(), AppSession { shook_hands: false, stream });
        id
    }

    pub(crate) fn knows(&self, id: &str) -> bool {
        self.0.lock().known.contains_key(id)
    }

    /// The open stream of a known session.
    pub(crate) fn stream(&self, id: &str) -> Option<Stream> {
        let stream = self.0.lock().known.get(id)?.stream.clone();
        stream.filter(|stream| !stream.is_closed())
    }

    pub(crate) fn listen(&self, id: &str, stream: Stream) {
        if let Some(session) = self.0.lock().known.get_mut(id) {
            session.stream = Some(stream);
        }
    }

    pub(crate) fn shake_hands(&self, id: &str) {
        if let Some(session) = self.0.lock().known.get_mut(id) {
            session.shook_hands = true;
        }
    }

    pub(crate) fn shook_hands(&self, id: &str) -> bool {
        self.0.lock().known.get(id).is_some_and(|session| session.shook_hands)
    }

    pub(crate) fn end(&self, id: &str) {
        self.0.lock().known.remove(id);
    }

    /// Forgets all sessions. Their streams stay open.
    pub(crate) fn forget(&self) {
        let mut inner = self.0.lock();
        let streams: Vec<_> = inner.known.drain().filter_map(|(_, one)| one.stream).collect();
        inner.orphans.extend(streams);
    }

    pub(crate) fn announce_tools(&self) {
        let notifications = Notification::new("notifications/tools/list_changed", None);
        self.write(&sse::write(Some("message"), None, &notifications.to_bytes()));
    }

    pub(crate) fn babble(&self) {
        self.write(&Bytes::from_static(b"event: message\ndata: {\"jsonrpc\": oops\n\n"));
    }

    fn write(&self, event: &Bytes) {
        for session in self.0.lock().known.values() {
            if let Some(stream) = &session.stream {
                let _ = stream.send(event.clone());
            }
        }
    }
}
