//! The self-test: a real client session over the public endpoint.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::time::{Instant, timeout};

use evermoor_core::api::SelfTest;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{SessionVersion, header, method};
use evermoor_core::protocol::sse;

use crate::server::control::{ControlApi, refuse};

const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_RESPONSE_BYTES: usize = 32 << 20;
const SESSION: HeaderName = HeaderName::from_static(header::SESSION);

pub(crate) async fn run(State(control): State<Arc<ControlApi>>) -> Response {
    let began = Instant::now();
    let asked = timeout(TIMEOUT, list_tools(&control)).await;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let outcome = asked.unwrap_or_else(|_| Err("it did not answer within 30 seconds".into()));
    let test = match outcome {
        Ok(tools) => SelfTest { ok: true, ms, tools, failure: None },
        Err(why) => {
            let what = format!("Evermoor's own endpoint does not work: {why}.");
            let remedy = "Run `evermoor doctor`, or restart the gateway.";
            let failure = Some(Failure::new(Code::Internal, what, remedy));
            SelfTest { ok: false, ms, tools: 0, failure }
        }
    };
    Json(test).into_response()
}

/// Ends the first run.
pub(crate) async fn welcomed(State(control): State<Arc<ControlApi>>) -> Response {
    match control.welcome.over().await {
        Ok(()) => Json(serde_json::json!({})).into_response(),
        Err(failure) => refuse(StatusCode::INTERNAL_SERVER_ERROR, failure),
    }
}

/// Initializes a session, lists and counts the tools, and ends the session.
async fn list_tools(control: &ControlApi) -> Result<u32, String> {
    let mut editor = TestEditor {
        client: reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?,
        url: format!("{}/mcp", control.here.origin),
        token: control.editors.local_token().ok_or("there is no token for it")?,
        session: None,
    };
    let params = mcp::initialize_params(SessionVersion::LATEST, crate::VERSION);
    editor.ask(1, method::INITIALIZE, Some(params)).await?;
    editor.send(Notification::new(method::INITIALIZED, None).to_bytes()).await?;
    let listed = editor.ask(2, method::TOOLS_LIST, None).await;
    let ended = editor.request(http::Method::DELETE).send().await;
    let tools = listed?.member("tools").and_then(|tools| tools.elements());
    ended.map_err(|error| plain(&error))?;
    let tools = tools.ok_or("its list of tools is invalid")?;
    Ok(u32::try_from(tools.len()).unwrap_or(u32::MAX))
}

/// A client like any editor.
struct TestEditor {
    client: reqwest::Client,
    url: String,
    token: String,
    session: Option<HeaderValue>,
}

impl TestEditor {
    async fn ask(&mut self, id: u64, called: &str, params: Option<Raw>) -> Result<Raw, String> {
        let request = Request::new(Id::number(id), called, params);
        let answer = self.send(request.to_bytes()).await?;
        if let Some(session) = answer.headers().get(SESSION) {
            self.session = Some(session.clone());
        }
        let kind = answer.headers().get(http::header::CONTENT_TYPE).cloned();
        let is_stream = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        let body = answer.bytes().await.map_err(|error| plain(&error))?;
        let texts = match is_stream {
            true => {
                let events = sse::SseParser::new(MAX_RESPONSE_BYTES)
                    .push(&body)
                    .map_err(|_| "its response is too large")?;
                events.into_iter().map(|event| event.data).collect()
            }
            false => vec![body],
        };
        let mut messages = texts.iter().filter_map(|text| Message::parse(text).ok());
        let answer = messages.find_map(|message| match message {
            Message::Response(response) => Some(response.outcome),
            Message::Request(_) | Message::Notification(_) => None,
        });
        match answer {
            Some(Outcome::Result(result)) => Ok(result),
            Some(Outcome::Error(error)) => Err(error.text_member("message").unwrap_or_default()),
            None => Err("its response is invalid".into()),
        }
    }

    async fn send(&self, body: bytes::Bytes) -> Result<reqwest::Response, String> {
        let request = self.request(http::Method::POST).body(body);
        let answer = request.send().await.map_err(|error| plain(&error))?;
        match answer.status() {
            status if status.is_success() => Ok(answer),
            status => Err(format!("it answered {status}")),
        }
    }

    fn request(&self, how: http::Method) -> reqwest::RequestBuilder {
        let request = self.client.request(how, &self.url).bearer_auth(&self.token);
        let request = request
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(http::header::ACCEPT, "application/json, text/event-stream");
        match &self.session {
            Some(session) => request.header(SESSION, session.clone()),
            None => request,
        }
    }
}

/// What went wrong, without the URL.
fn plain(error: &reqwest::Error) -> String {
    match error.is_connect() {
        true => "it cannot be reached".into(),
        false => "the connection broke".into(),
    }
}
