//! The private stream between the shim and a gateway, over a socket of the same user.
//!
//! # Theory of operation
//! One task writes frames, one reads them ([`shim_frames`](evermoor_core::protocol::shim_frames)).
//! A request is in the table of open requests until its response is complete. When the connection
//! breaks, a request of which no whole frame was written was not sent, because the gateway handles
//! only whole frames; any other one may have run. Only the writer knows which of the two holds for the
//! frame that it is writing, so it decides that. After a GoAway, the gateway answers what it has taken
//! and the rest was not sent.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{INVALID_REQUEST, Response};
use evermoor_core::protocol::shim_frames::{
    Frame, FrameDecoder, FrameKind, HeadTooLong, Hello, MessageHead, prefix,
};
use evermoor_platform::ipc::local_socket;
use evermoor_platform::ipc::local_socket::{LocalReader, LocalWriter};

use crate::http::{HttpError, HttpResponse, ResponseBody};

/// A connection to the gateway that carries many requests.
#[derive(Clone)]
pub(crate) struct GatewayStream {
    requests: Arc<OpenRequests>,
    outgoing: mpsc::Sender<RequestFrame>,
}

/// The requests that are not answered yet.
struct OpenRequests(Mutex<OpenRequestTable>);

struct OpenRequestTable {
    /// Whether the gateway takes more requests on this connection.
    is_open: bool,
    /// Why the connection is gone, if it is.
    closed: Option<String>,
    /// The number of the last request.
    last: u32,
    requests: HashMap<u32, OpenRequest>,
}

struct OpenRequest {
    progress: SendProgress,
    events: mpsc::Sender<RequestEvent>,
}

/// How much of a request was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SendProgress {
    /// Nothing, or not the whole frame.
    NotSent,
    Writing,
    Sent,
}

/// What happens to a request.
enum RequestEvent {
    Frame(Frame),
    Failed(HttpError),
}

/// How long the gateway may take to check the token.
const HELLO_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest response or event.
const MAX_FRAME: usize = 256 << 20;
const QUEUE: usize = 64;
/// How many frames of one response may wait until they are used.
const RESPONSE_QUEUE: usize = 16;

impl GatewayStream {
    /// Connects to the socket at `path` and presents the token.
    pub(crate) async fn connect(
        path: &Path,
        hello: &Hello,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let (reader, mut writer) = local_socket::connect(path).await?;
        let hello = serde_json::to_vec(hello).map_err(io::Error::other)?;
        let first = [&prefix(FrameKind::Hello, 0, hello.len())[..], &hello].concat();
        let mut frames = ReplyFrameReader { reader, decoder: FrameDecoder::new(MAX_FRAME) };
        let welcome = async {
            writer.write_all(&first).await?;
            frames.next().await
        };
        match timeout(HELLO_TIMEOUT, welcome).await.map_err(io::Error::other)?? {
            Some(frame) if frame.kind == FrameKind::Welcome => {}
            Some(_) => return Err(io::ErrorKind::PermissionDenied.into()),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        let table =
            OpenRequestTable { is_open: true, closed: None, last: 0, requests: HashMap::new() };
        let requests = Arc::new(OpenRequests(Mutex::new(table)));
        let (outgoing, queued) = mpsc::channel(QUEUE);
        let closed = CancellationToken::new();
        tasks.spawn(write_frames(Arc::clone(&requests), queued, writer, closed.clone()));
        tasks.spawn(read_frames(Arc::clone(&requests), frames, closed));
        Ok(Self { requests, outgoing })
    }

    /// Whether it still takes requests.
    pub(crate) fn is_open(&self) -> bool {
        self.requests.0.lock().is_open
    }

    /// Sends a request and waits for the start of its response.
    pub(crate) async fn send(
        &self,
        method: &Method,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<HttpResponse, HttpError> {
        let text = |value: &HeaderValue| value.to_str().map(str::to_owned).ok();
        let headers = headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)));
        let head = match (MessageHead { status: 0, headers: headers.collect() }).to_bytes() {
            Ok(head) => head,
            Err(too_long) => return Ok(not_sent(too_long)),
        };
        let kind = if method == Method::GET { FrameKind::Get } else { FrameKind::Post };
        let Some((number, mut response)) = self.requests.begin() else {
            return Err(HttpError::NotSent("the gateway stops".into()));
        };
        // Cancels the request when the caller no longer waits for it.
        let guard = RequestGuard { stream: self.clone(), number };
        // If the connection has just closed, the request fails.
        let _ = self.outgoing.send(RequestFrame::new(kind, number, &head, body)).await;
        match response.recv().await {
            Some(RequestEvent::Frame(frame)) => {
                let kind = frame.kind;
                let (head, body) = MessageHead::split(frame.payload)
                    .map_err(|error| HttpError::Broken(error.to_string()))?;
                let body = match kind == FrameKind::Whole {
                    true => ResponseBody::Whole(body),
                    false => ResponseBody::Frames(FrameBody { events: response, _guard: guard }),
                };
                http_response(&head, body)
            }
            Some(RequestEvent::Failed(error)) => Err(error),
            None => Err(HttpError::Broken("the connection closed".into())),
        }
    }
}

/// The response to a request that cannot be sent, whatever the gateway.
fn not_sent(why: HeadTooLong) -> HttpResponse {
    let what = format!("Nothing was sent: {why}. Use a shorter name or URI.");
    let body = Response::error(None, INVALID_REQUEST, &what).to_bytes();
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    HttpResponse::new(status, HeaderMap::new(), ResponseBody::Whole(body))
}

fn http_response(head: &MessageHead, body: ResponseBody) -> Result<HttpResponse, HttpError> {
    let invalid = |_| HttpError::Broken("the gateway sent an invalid status".into());
    let status = StatusCode::from_u16(head.status).map_err(invalid)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &head.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            headers.insert(name, value);
        }
    }
    Ok(HttpResponse::new(status, headers, body))
}

/// The rest of a response that arrives in several frames.
pub(crate) struct FrameBody {
    events: mpsc::Receiver<RequestEvent>,
    _guard: RequestGuard,
}

impl FrameBody {
    /// The next part; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, HttpError>> {
        match self.events.recv().await {
            Some(RequestEvent::Frame(frame)) if frame.kind == FrameKind::Data => {
                Some(Ok(frame.payload))
            }
            Some(RequestEvent::Frame(frame)) if frame.kind == FrameKind::End => None,
            Some(RequestEvent::Frame(_)) => {
                Some(Err(HttpError::Broken("the response broke off".into())))
            }
            Some(RequestEvent::Failed(error)) => Some(Err(error)),
            None => Some(Err(HttpError::Broken("the connection closed".into()))),
        }
    }
}

/// Cancels a request on drop, unless it has ended.
struct RequestGuard {
    stream: GatewayStream,
    number: u32,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let request = self.stream.requests.remove(self.number);
        if request.is_some_and(|request| request.progress != SendProgress::NotSent) {
            let cancel = RequestFrame::new(FrameKind::Cancel, self.number, &[], Bytes::new());
            // If the queue is full, the gateway answers a request that nobody waits for.
            let _ = self.stream.outgoing.try_send(cancel);
        }
    }
}

impl OpenRequests {
    /// Adds a request, unless the gateway takes no more.
    fn begin(&self) -> Option<(u32, mpsc::Receiver<RequestEvent>)> {
        let mut table = self.0.lock();
        if !table.is_open {
            return None;
        }
        table.last += 1;
        let (number, (events, response)) = (table.last, mpsc::channel(RESPONSE_QUEUE));
        let progress = SendProgress::NotSent;
        table.requests.insert(number, OpenRequest { progress, events });
        Some((number, response))
    }

    /// The writer begins with a request. Returns whether a caller still waits for it.
    fn start_writing(&self, number: u32) -> bool {
        let mut table = self.0.lock();
        let request = table.requests.get_mut(&number);
        request.map(|request| request.progress = SendProgress::Writing).is_some()
    }

    /// The writer has written the whole frame of a request, or will not.
    fn finish_writing(&self, number: u32, whole: bool) {
        let mut table = self.0.lock();
        let Some(request) = table.requests.get_mut(&number) else { return };
        request.progress = if whole { SendProgress::Sent } else { SendProgress::NotSent };
        if let Some(why) = table.closed.clone()
            && let Some(request) = table.requests.remove(&number)
        {
            request.fail(&why);
        }
    }

    /// Where the frames of a response go.
    fn events(&self, number: u32) -> Option<mpsc::Sender<RequestEvent>> {
        self.0.lock().requests.get(&number).map(|request| request.events.clone())
    }

    fn remove(&self, number: u32) -> Option<OpenRequest> {
        self.0.lock().requests.remove(&number)
    }

    /// The gateway takes no requests after `last`.
    fn go_away(&self, last: u32) {
        let mut table = self.0.lock();
        table.is_open = false;
        for (_, mut request) in table.requests.extract_if(|number, _| *number > last) {
            request.progress = SendProgress::NotSent;
            request.fail("the gateway stops");
        }
    }

    /// The connection is gone. The request that is being written fails when the writer has finished.
    fn close(&self, why: &str) {
        let mut table = self.0.lock();
        table.is_open = false;
        table.closed = Some(why.to_owned());
        let decided =
            |_: &u32, request: &mut OpenRequest| request.progress != SendProgress::Writing;
        table.requests.extract_if(decided).for_each(|(_, request)| request.fail(why));
    }
}

impl OpenRequest {
    fn fail(self, why: &str) {
        let error = match self.progress {
            SendProgress::NotSent => HttpError::NotSent(why.to_owned()),
            SendProgress::Writing | SendProgress::Sent => HttpError::Broken(why.to_owned()),
        };
        // If the queue is full, the end of the channel says the same.
        let _ = self.events.try_send(RequestEvent::Failed(error));
    }
}

/// A frame to write. The body is not copied.
struct RequestFrame {
    kind: FrameKind,
    number: u32,
    start: Bytes,
    body: Bytes,
}

impl RequestFrame {
    fn new(kind: FrameKind, number: u32, head: &[u8], body: Bytes) -> Self {
        let prefix = prefix(kind, number, head.len() + body.len());
        Self { kind, number, start: [&prefix[..], head].concat().into(), body }
    }
}

async fn write_frames(
    requests: Arc<OpenRequests>,
    mut queued: mpsc::Receiver<RequestFrame>,
    mut writer: LocalWriter,
    closed: CancellationToken,
) {
    while let Some(RequestFrame { kind, number, start, body }) = queued.recv().await {
        if kind != FrameKind::Cancel && !requests.start_writing(number) {
            continue;
        }
        let mut frame = start.chain(body);
        let written = tokio::select! {
            biased;
            written = writer.write_all_buf(&mut frame) => written,
            () = closed.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
        };
        requests.finish_writing(number, written.is_ok());
        if let Err(error) = written {
            return requests.close(&error.to_string());
        }
    }
}

async fn read_frames(
    requests: Arc<OpenRequests>,
    mut frames: ReplyFrameReader,
    closed: CancellationToken,
) {
    let why = loop {
        let frame = match frames.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => break "the gateway closed the connection".to_owned(),
            Err(error) => break error.to_string(),
        };
        let number = frame.number;
        let events = match frame.kind {
            FrameKind::GoAway => {
                requests.go_away(number);
                continue;
            }
            FrameKind::Head | FrameKind::Data => requests.events(number),
            FrameKind::Whole | FrameKind::End | FrameKind::Broken => {
                requests.remove(number).map(|request| request.events)
            }
            FrameKind::Hello
            | FrameKind::Welcome
            | FrameKind::Refused
            | FrameKind::Post
            | FrameKind::Get
            | FrameKind::Cancel
            | FrameKind::Unknown => None,
        };
        if let Some(events) = events {
            // This fails only if nobody waits for the response any more.
            let _ = events.send(RequestEvent::Frame(frame)).await;
        }
    };
    requests.close(&why);
    closed.cancel();
}

struct ReplyFrameReader {
    reader: LocalReader,
    decoder: FrameDecoder,
}

impl ReplyFrameReader {
    /// The next frame; `None` at the end.
    async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.decoder.decode().map_err(io::Error::other)? {
                return Ok(Some(frame));
            }
            if self.reader.read_buf(self.decoder.space()).await? == 0 {
                return Ok(None);
            }
        }
    }
}
