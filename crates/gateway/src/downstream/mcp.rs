//! `/mcp` and `/mcp/<upstream>`: sessions and requests over Streamable HTTP.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio_util::task::TaskTracker;

use evermoor_core::envelope::{INVALID_PARAMS, INVALID_REQUEST, Message, Request, Response};
use evermoor_core::protocol::{InitializeParams, Revision, header as mcp_header, method};
use evermoor_core::session::{Session, SessionKey};

use super::reply;
use crate::editors::Editor;
use crate::keys;
use crate::router::{Router, View};

/// What the endpoint needs to answer.
pub struct Endpoint {
    pub router: Router,
    pub key: SessionKey,
    pub tasks: TaskTracker,
}

/// The largest message an editor may send.
pub const LARGEST_REQUEST: usize = 4 << 20;

/// All upstreams in one.
pub async fn all(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(editor): Extension<Editor>,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    endpoint.post(View::All, &editor, &headers, &body).await
}

/// One upstream, names untouched.
pub async fn one(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(editor): Extension<Editor>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    match endpoint.router.upstream(&name) {
        Some(upstream) => endpoint.post(View::One(upstream), &editor, &headers, &body).await,
        None => {
            let why = format!("There is no upstream `{name}`. `evermoor status` lists them.");
            refuse(StatusCode::NOT_FOUND, &why)
        }
    }
}

/// There is no stream to listen on and no session to end: both are answered plainly.
pub async fn not_offered() -> HttpResponse {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "Use POST.");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

impl Endpoint {
    async fn post(
        &self,
        view: View,
        editor: &Editor,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> HttpResponse {
        if let Err((status, why)) = check_types(headers) {
            return refuse(status, why);
        }
        let message = match Message::parse(body) {
            Ok(message) => message,
            Err(rejected) => return json(StatusCode::BAD_REQUEST, &rejected.into()),
        };
        if let Message::Request(request) = &message
            && request.method == method::INITIALIZE
        {
            return self.initialize(&view, editor, request).await;
        }
        if let Err((status, why)) = self.session(editor, headers) {
            return refuse(status, why);
        }
        match message {
            Message::Request(request) => {
                reply::send(self.router.clone(), view, request, &self.tasks).await
            }
            Message::Notification(_) | Message::Response(_) => StatusCode::ACCEPTED.into_response(),
        }
    }

    async fn initialize(&self, view: &View, editor: &Editor, request: &Request) -> HttpResponse {
        let params = request.params.as_ref().and_then(|raw| raw.read::<InitializeParams>().ok());
        let (Some(params), Ok(nonce)) = (params, keys::random()) else {
            let why = "`initialize` needs `protocolVersion` and `clientInfo`.";
            let refusal = Response::error(Some(request.id.clone()), INVALID_PARAMS, why);
            return json(StatusCode::OK, &refusal);
        };
        let revision = Revision::parse(&params.protocol_version).unwrap_or(Revision::LATEST);
        let session =
            Session { revision, editor: editor.name.clone(), client: params.client_info, nonce };
        let result = self.router.introduce(view, revision).await;
        let mut response = json(StatusCode::OK, &Response::result(request.id.clone(), result));
        if let Ok(id) = HeaderValue::from_str(&self.key.sign(&session)) {
            response.headers_mut().insert(mcp_header::SESSION, id);
        }
        response
    }

    /// The session that a message belongs to: one that this installation gave to this editor.
    fn session(&self, editor: &Editor, headers: &HeaderMap) -> Result<Session, Refused> {
        let Some(id) = headers.get(mcp_header::SESSION) else {
            let why = "There is no session yet. Send `initialize` first, then its Mcp-Session-Id.";
            return Err((StatusCode::BAD_REQUEST, why));
        };
        let session = id.to_str().ok().and_then(|id| self.key.verify(id));
        let unknown =
            (StatusCode::NOT_FOUND, "This session is not known. Send `initialize` again.");
        session.filter(|session| session.editor == editor.name).ok_or(unknown)
    }
}

/// Why a message is not read.
type Refused = (StatusCode, &'static str);

fn check_types(headers: &HeaderMap) -> Result<(), Refused> {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send `Content-Type: application/json`."));
    }
    let accept = value(header::ACCEPT).to_ascii_lowercase();
    let takes = |kind: &str| accept.contains(kind) || accept.contains("*/*");
    if !takes("application/json") || !takes("text/event-stream") {
        let why = "Send `Accept: application/json, text/event-stream`.";
        return Err((StatusCode::NOT_ACCEPTABLE, why));
    }
    Ok(())
}

/// A refusal that names no request, in JSON-RPC's words.
fn refuse(status: StatusCode, why: &str) -> HttpResponse {
    json(status, &Response::error(None, INVALID_REQUEST, why))
}

fn json(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
