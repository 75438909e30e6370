//! Accepts stdio shims on their private socket.
//!
//! # Theory of operation
//! A shim connects, presents its editor's token, and then sends its editor's messages as frames
//! ([`shim_frames`](evermoor_core::protocol::shim_frames)). Each becomes an HTTP request to the routes
//! for editors, as if `auth` had just let it in, so everything after authentication is the same as
//! over HTTP. Each request is a task; one task per connection writes.
//!
//! A connection ends like one over HTTP: requests whose client is gone are dropped, and calls of a
//! session continue without it. When this gateway stops, another one takes over, or the token is
//! revoked, the connection takes no more requests, tells the shim which was the last one, and closes
//! when all of them are answered. The shim connects again, to the gateway that listens then.
//!
//! Until the token is checked, a connection can send only a short frame, and few connections wait for
//! that. Then a frame is charged to the editor before its payload is read. If there is no room, the payload is
//! dropped while it arrives, and its request is refused.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use evermoor_core::protocol::mcp::header as mcp_header;
use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;
use evermoor_core::protocol::shim_frames::{
    Frame, FrameDecoder, FrameKind, Hello, InvalidFrame, MessageHead, prefix,
};
use evermoor_core::security::request_access::AccessDenied;
use evermoor_platform::ipc::local_socket::{LocalListener, LocalReader, LocalWriter};

use crate::editors::Editor;
use crate::mcp::request_body::{self, AlreadyCharged};
use crate::server::auth::Authenticator;
use crate::system::budget::{Budget, Budgets, Charge, ConnectionCharge, NoRoom, ROOM_LIMIT, SMALL};

/// All connections of shims.
pub struct ShimConnections {
    /// The routes for editors, without authentication.
    routes: Router,
    authenticator: Arc<Authenticator>,
    budgets: Budgets,
    /// Cancelled when this gateway stops serving, because another one took over or it shuts down.
    moved: CancellationToken,
    connections: TaskTracker,
    /// The connections that may still have to present their token.
    unauthenticated: Arc<Semaphore>,
}

/// How long a shim may take to present its token.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How long it may take when this gateway no longer serves.
const LAST_HELLO_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a shim may read nothing of a frame.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait after an error of the socket.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The largest head of a request, and the largest first frame.
const MAX_HEAD: usize = 64 << 10;
/// How many connections may have to present their token; more wait to be accepted.
const MAX_UNAUTHENTICATED: usize = 64;
/// How many frames may wait to be written.
const WRITE_QUEUE: usize = 16;
/// How many requests of one shim may be open; more are refused.
const MAX_OPEN: usize = 2048;
/// The headers of a response that a shim needs.
const RESPONSE_HEADERS: [HeaderName; 2] =
    [header::CONTENT_TYPE, HeaderName::from_static(mcp_header::SESSION)];

impl ShimConnections {
    pub fn new(
        routes: Router,
        authenticator: Arc<Authenticator>,
        budgets: Budgets,
        moved: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            routes,
            authenticator,
            budgets,
            moved,
            connections: TaskTracker::new(),
            unauthenticated: Arc::new(Semaphore::new(MAX_UNAUTHENTICATED)),
        })
    }

    /// Accepts shims forever, or waits forever if there is no socket. Cancel safe.
    pub async fn accept_from(self: &Arc<Self>, listener: Option<&LocalListener>) -> Infallible {
        let Some(listener) = listener else { return std::future::pending().await };
        loop {
            // The semaphore is never closed.
            let place = Arc::clone(&self.unauthenticated).acquire_owned().await.ok();
            match listener.accept().await {
                Ok((reader, writer)) => {
                    self.connections.spawn(Arc::clone(self).serve(reader, writer, place));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a shim");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    /// Waits until every connection has closed.
    pub async fn all_closed(&self) {
        self.connections.close();
        self.connections.wait().await;
    }

    /// Serves a connection, which gives up its place among the unauthenticated once it is not one.
    async fn serve(
        self: Arc<Self>,
        reader: LocalReader,
        writer: LocalWriter,
        place: Option<OwnedSemaphorePermit>,
    ) {
        let frames = FrameReader::new(reader);
        let (outgoing, queued) = mpsc::channel(WRITE_QUEUE);
        let writing = write_frames(queued, writer);
        let serving = async {
            if let Err(error) = self.converse(frames, outgoing, place).await {
                tracing::debug!(%error, "a connection of a shim failed");
            }
        };
        tokio::join!(serving, writing);
    }

    async fn converse(
        &self,
        mut frames: FrameReader,
        outgoing: mpsc::Sender<OutgoingFrame>,
        place: Option<OwnedSemaphorePermit>,
    ) -> io::Result<()> {
        // A shim that connected just before another gateway took over is told to connect again.
        let moved = async {
            self.moved.cancelled().await;
            sleep(LAST_HELLO_TIMEOUT).await;
        };
        let hello = tokio::select! {
            biased;
            hello = timeout(HELLO_TIMEOUT, frames.next()) => hello,
            () = moved => return Ok(()),
        };
        let Ok(hello) = hello else { return Ok(()) };
        let hello = hello?.map(|arrived| arrived.frame);
        let Some(requests) = self.admit(hello, &outgoing).await else { return Ok(()) };
        drop(place);
        frames.charge_to(self.budgets.editor(&requests.editor.name));
        let mut connection = ShimConnection {
            requests,
            outgoing,
            calls: TaskTracker::new(),
            open: HashMap::new(),
            closed: CancellationToken::new(),
            last: 0,
        };
        // Drops the open requests when the shim goes away.
        let _closed = connection.closed.clone().drop_guard();
        let revoked = connection.requests.editor.revoked.clone();
        loop {
            tokio::select! {
                biased;
                () = self.moved.cancelled() => break,
                () = revoked.cancelled() => break,
                frame = frames.next() => match frame? {
                    Some(arrived) => connection.receive(arrived),
                    None => return Ok(()),
                },
            }
        }
        connection.go_away(frames).await
    }

    /// Checks the token. Returns how to make requests for the editor.
    async fn admit(
        &self,
        hello: Option<Frame>,
        outgoing: &mpsc::Sender<OutgoingFrame>,
    ) -> Option<ShimRequests> {
        let hello = hello.filter(|frame| frame.kind == FrameKind::Hello)?;
        let hello: Hello = serde_json::from_slice(&hello.payload).ok()?;
        let path: Uri = hello.path.parse().ok()?;
        let agent = HeaderValue::from_str(&hello.agent).ok()?;
        let admitted = self.authenticator.editor(Some(&hello.token)).and_then(|editor| {
            let place = self.budgets.connection(&editor.name);
            Ok((editor, place.ok_or(AccessDenied::TooManyConnections)?))
        });
        let (kind, payload, editor) = match admitted {
            Ok(editor) => (FrameKind::Welcome, Vec::new(), Some(editor)),
            Err(refusal) => {
                let status = Authenticator::refusal(refusal).status().as_u16();
                (FrameKind::Refused, status.to_le_bytes().to_vec(), None)
            }
        };
        // This fails only if the shim is gone.
        let _ = outgoing.send(OutgoingFrame::new(kind, 0, payload, Vec::new())).await;
        let headers = HeaderMap::from_iter([
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (header::USER_AGENT, agent),
        ]);
        let (routes, authenticator) = (self.routes.clone(), Arc::clone(&self.authenticator));
        editor.map(|(editor, place)| {
            let place = Arc::new(place);
            ShimRequests { routes, authenticator, editor, path, headers, _place: place }
        })
    }
}

/// One authenticated connection.
struct ShimConnection {
    requests: ShimRequests,
    outgoing: mpsc::Sender<OutgoingFrame>,
    calls: TaskTracker,
    /// The requests that may be open, and how to drop each.
    open: HashMap<u32, CancellationToken>,
    closed: CancellationToken,
    /// The last request that was taken.
    last: u32,
}

impl ShimConnection {
    /// Answers a request in a task of its own.
    fn receive(&mut self, ArrivedFrame { frame, refused }: ArrivedFrame) {
        let method = match frame.kind {
            FrameKind::Post => Method::POST,
            FrameKind::Get => Method::GET,
            FrameKind::Cancel => return self.cancel(frame.number),
            FrameKind::Hello
            | FrameKind::Welcome
            | FrameKind::Refused
            | FrameKind::Head
            | FrameKind::Data
            | FrameKind::End
            | FrameKind::Broken
            | FrameKind::Whole
            | FrameKind::GoAway
            | FrameKind::Unknown => return,
        };
        self.last = self.last.max(frame.number);
        self.open.retain(|_, call| !call.is_cancelled());
        let call = self.closed.child_token();
        let (requests, outgoing) = (self.requests.clone(), self.outgoing.clone());
        let number = frame.number;
        let refusal = match &refused {
            Some(full) => Some(request_body::no_room(full)),
            None => (self.open.len() >= MAX_OPEN).then(request_body::too_many),
        };
        self.open.insert(number, call.clone());
        self.calls.spawn(async move {
            let answering = async {
                match refusal {
                    None => requests.answer(method, frame, outgoing).await,
                    Some(refusal) => {
                        // A failed send means that the shim is gone.
                        let _ = respond(number, refusal, &outgoing).await;
                    }
                }
            };
            call.run_until_cancelled(answering).await;
            call.cancel();
        });
    }

    fn cancel(&mut self, number: u32) {
        if let Some(call) = self.open.remove(&number) {
            call.cancel();
        }
    }

    /// Takes no more requests, and waits until those taken are answered.
    async fn go_away(mut self, mut frames: FrameReader) -> io::Result<()> {
        let frame = OutgoingFrame::bare(FrameKind::GoAway, self.last);
        let _ = self.outgoing.send(frame).await;
        self.calls.close();
        loop {
            tokio::select! {
                () = self.calls.wait() => return Ok(()),
                arrived = frames.next() => match arrived? {
                    Some(ArrivedFrame { frame, .. }) if frame.kind == FrameKind::Cancel => {
                        self.cancel(frame.number);
                    }
                    Some(_) => {}
                    None => return Ok(()),
                },
            }
        }
    }
}

/// What every request of a connection has in common.
#[derive(Clone)]
struct ShimRequests {
    routes: Router,
    authenticator: Arc<Authenticator>,
    editor: Editor,
    path: Uri,
    headers: HeaderMap,
    /// What the connection takes of its editor's budget.
    _place: Arc<ConnectionCharge>,
}

impl ShimRequests {
    /// Answers one request. Returns early if the shim is gone.
    async fn answer(self, method: Method, frame: Frame, outgoing: mpsc::Sender<OutgoingFrame>) {
        let number = frame.number;
        let Ok((head, body)) = MessageHead::split(frame.payload) else {
            let broken = OutgoingFrame::bare(FrameKind::Broken, number);
            // This fails only if the shim is gone.
            let _ = outgoing.send(broken).await;
            return;
        };
        let mut request = Request::new(Body::from(body));
        (*request.method_mut(), *request.uri_mut()) = (method, self.path);
        *request.headers_mut() = self.headers;
        request.extensions_mut().insert(AlreadyCharged);
        for (name, value) in &head.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                request.headers_mut().insert(name, value);
            }
        }
        let mut routes = self.routes;
        let in_session = request.headers().contains_key(mcp_header::SESSION);
        request.extensions_mut().insert(self.editor.clone());
        let answering = async {
            let Ok(response) = routes.call(request).await;
            response
        };
        let response = self.authenticator.answer_as(self.editor, in_session, answering).await;
        // A failed send means that the shim is gone.
        let _ = respond(number, response, &outgoing).await;
    }
}

type Sent = Result<(), mpsc::error::SendError<OutgoingFrame>>;

/// Sends a response with the headers that a shim needs.
async fn respond(number: u32, response: Response, outgoing: &mpsc::Sender<OutgoingFrame>) -> Sent {
    let (head, body) = response.into_parts();
    let shown = |name: &HeaderName| {
        let value = head.headers.get(name)?.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    };
    let headers = RESPONSE_HEADERS.iter().filter_map(shown).collect();
    match (MessageHead { status: head.status.as_u16(), headers }).to_bytes() {
        Ok(head) => send_response(number, head, body, outgoing).await,
        Err(_) => outgoing.send(OutgoingFrame::bare(FrameKind::Broken, number)).await,
    }
}

async fn send_response(
    number: u32,
    head: Vec<u8>,
    mut body: Body,
    outgoing: &mpsc::Sender<OutgoingFrame>,
) -> Sent {
    let bare = |kind| OutgoingFrame::bare(kind, number);
    if body.size_hint().exact().is_some() {
        // Its parts are not copied into one: others may use them as well.
        let mut parts = Vec::new();
        while let Some(part) = body.frame().await {
            let Ok(part) = part else { return outgoing.send(bare(FrameKind::Broken)).await };
            parts.extend(part.into_data().ok());
        }
        return outgoing.send(OutgoingFrame::new(FrameKind::Whole, number, head, parts)).await;
    }
    outgoing.send(OutgoingFrame::new(FrameKind::Head, number, head, Vec::new())).await?;
    while let Some(part) = body.frame().await {
        let Ok(part) = part else { return outgoing.send(bare(FrameKind::Broken)).await };
        if let Ok(data) = part.into_data() {
            let frame = OutgoingFrame::new(FrameKind::Data, number, Vec::new(), vec![data]);
            outgoing.send(frame).await?;
        }
    }
    outgoing.send(bare(FrameKind::End)).await
}

/// A frame to write: the prefix and the start of the payload, and the rest of it, which is not copied.
struct OutgoingFrame {
    start: Vec<u8>,
    rest: Vec<Bytes>,
}

impl OutgoingFrame {
    fn new(kind: FrameKind, number: u32, start: Vec<u8>, rest: Vec<Bytes>) -> Self {
        let prefix = prefix(kind, number, start.len() + rest.iter().map(Bytes::len).sum::<usize>());
        Self { start: [&prefix[..], &start].concat(), rest }
    }

    /// A frame without payload.
    fn bare(kind: FrameKind, number: u32) -> Self {
        Self::new(kind, number, Vec::new(), Vec::new())
    }
}

/// Writes frames until the queue closes or the shim is gone.
async fn write_frames(mut queued: mpsc::Receiver<OutgoingFrame>, mut writer: LocalWriter) {
    while let Some(OutgoingFrame { start, rest }) = queued.recv().await {
        let mut rest = rest.into_iter();
        // Start and first part in one write: most frames have no other part.
        let mut bytes = Bytes::from(start).chain(rest.next().unwrap_or_default());
        if !matches!(timeout(STALL_TIMEOUT, writer.write_all_buf(&mut bytes)).await, Ok(Ok(()))) {
            return;
        }
        for mut part in rest {
            let writing = timeout(STALL_TIMEOUT, writer.write_all_buf(&mut part));
            if !matches!(writing.await, Ok(Ok(()))) {
                return;
            }
        }
    }
}

/// A frame, whose payload is charged to the editor.
struct ArrivedFrame {
    frame: Frame,
    /// Why its payload was dropped, if there was no room for it.
    refused: Option<NoRoom>,
}

struct FrameReader {
    reader: LocalReader,
    decoder: FrameDecoder,
    /// Who is charged for frames, once that is known.
    editor: Option<Arc<Budget>>,
    /// What is charged for the frame that is arriving.
    charge: Option<Charge>,
    /// Why the payload of the frame that is arriving is dropped.
    refused: Option<NoRoom>,
}

impl FrameReader {
    fn new(reader: LocalReader) -> Self {
        let decoder = FrameDecoder::new(MAX_HEAD);
        Self { reader, decoder, editor: None, charge: None, refused: None }
    }

    /// Accepts whole requests, and charges this editor for them.
    fn charge_to(&mut self, editor: Arc<Budget>) {
        self.decoder.set_max_payload(MAX_REQUEST_BYTES + MAX_HEAD);
        self.editor = Some(editor);
    }

    /// The next frame; `None` at the end. Waits while the editor has no room for it, and reads nothing
    /// meanwhile. Cancel safe.
    async fn next(&mut self) -> io::Result<Option<ArrivedFrame>> {
        let invalid = |error: InvalidFrame| io::Error::other(error.to_string());
        loop {
            self.make_room().await.map_err(invalid)?;
            if let Some(frame) = self.decoder.decode().map_err(invalid)? {
                let payload = match self.charge.take() {
                    Some(charge) => charge.keep(frame.payload).0,
                    None => frame.payload,
                };
                let frame = Frame { payload, ..frame };
                return Ok(Some(ArrivedFrame { frame, refused: self.refused.take() }));
            }
            if self.reader.read_buf(self.decoder.space()).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Charges the editor for the next frame, once its length is known. If there is no room, its payload is
    /// dropped while it arrives.
    async fn make_room(&mut self) -> Result<(), InvalidFrame> {
        let (Some(editor), None) = (&self.editor, &self.charge) else { return Ok(()) };
        let Some(length) = self.decoder.next_payload()?.filter(|length| *length > SMALL) else {
            return Ok(());
        };
        match editor.charge(length, ROOM_LIMIT).await {
            Ok(charge) => self.charge = Some(charge),
            Err(no_room) => {
                self.refused = Some(no_room);
                self.decoder.skip_payload()?;
            }
        }
        Ok(())
    }
}
