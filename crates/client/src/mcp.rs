//! A minimal MCP client, for commands that make real calls through the public endpoint.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};

use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{SessionVersion, header, method};
use evermoor_platform::paths::Paths;

use crate::gateway_files::token;
use crate::http::{HttpClient, HttpError, HttpResponse};

/// An MCP session with the gateway, like an editor's.
pub struct Session {
    http: HttpClient,
    path: String,
    id: Option<HeaderValue>,
    next: u64,
}

/// Why a call through the endpoint failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{0}")]
    Refused(String),
}

const SESSION: HeaderName = HeaderName::from_static(header::SESSION);

impl Session {
    /// Opens a session at `path`, with the token stored in `paths`.
    pub async fn open(origin: &str, path: &str, paths: &Paths) -> Result<Self, SessionError> {
        let token = token::local(paths);
        let mut session = Self {
            http: HttpClient::new(origin, &token),
            path: path.to_owned(),
            id: None,
            next: 1,
        };
        let params = mcp::initialize_params(SessionVersion::LATEST, env!("CARGO_PKG_VERSION"));
        let request = session.request(method::INITIALIZE, Some(params));
        let answer = session.post(request.to_bytes()).await?;
        session.id = answer.headers.get(SESSION).cloned();
        read(answer).await?;
        let initialized = Notification::new(method::INITIALIZED, None);
        session.post(initialized.to_bytes()).await?;
        Ok(session)
    }

    /// Sends a request and returns its result.
    pub async fn ask(&mut self, called: &str, params: Option<Raw>) -> Result<Raw, SessionError> {
        let request = self.request(called, params);
        let answer = self.post(request.to_bytes()).await?;
        match read(answer).await?.outcome {
            Outcome::Result(result) => Ok(result),
            Outcome::Error(error) => Err(SessionError::Refused(
                error.text_member("message").unwrap_or_else(|| error.as_str().to_owned()),
            )),
        }
    }

    /// Calls a tool and returns its result.
    pub async fn call_tool(&mut self, name: &str, arguments: &Raw) -> Result<Raw, SessionError> {
        let params = Raw::of(&serde_json::json!({ "name": name })).with("arguments", arguments);
        self.ask(method::TOOLS_CALL, Some(params)).await
    }

    fn request(&mut self, called: &str, params: Option<Raw>) -> Request {
        self.next += 1;
        Request::new(Id::number(self.next), called, params)
    }

    async fn post(&self, body: Bytes) -> Result<HttpResponse, HttpError> {
        let mut headers = vec![
            (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (http::header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
        ];
        headers.extend(self.id.clone().map(|id| (SESSION, id)));
        self.http.send(Method::POST, &self.path, &headers, body).await
    }
}

/// The text parts of a tool's result, joined.
pub fn text_of(result: &Raw) -> String {
    let content =
        result.member("content").and_then(|content| content.elements()).unwrap_or_default();
    let texts: Vec<String> = content.iter().filter_map(|part| part.text_member("text")).collect();
    texts.join("\n")
}

async fn read(answer: HttpResponse) -> Result<Response, SessionError> {
    let status = answer.status;
    if answer.is_event_stream() {
        let mut events = answer.events();
        while let Some(event) = events.next().await {
            if let Ok(Message::Response(response)) = Message::parse(&event.data) {
                return Ok(response);
            }
        }
        return Err(HttpError::Broken("the reply stream ended".into()).into());
    }
    match Message::parse(&answer.bytes().await?) {
        Ok(Message::Response(response)) => Ok(response),
        Ok(_) | Err(_) => Err(SessionError::Refused(format!("The gateway answered {status}."))),
    }
}
