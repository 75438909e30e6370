//! Test calls from the dashboard, which take the same path as editors' calls.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use evermoor_core::api::TrialCallResult;
use evermoor_core::protocol::envelope::{Id, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Implementation, SessionVersion, method};
use evermoor_core::protocol::translate::client_capabilities::ClientCapabilities;
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;

use crate::mcp::exchange::{Exchange, ExchangeEvent, Requester};
use crate::server::control::{ControlApi, read_body, unknown};
use crate::upstream::ScopeOwner;

/// The dashboard's name as an editor.
const DASHBOARD: &str = "dashboard";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestCall {
    tool: String,
    #[serde(default)]
    arguments: Option<Value>,
}

pub(crate) async fn call(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let TestCall { tool, arguments } = match read_body(&body) {
        Ok(call) => call,
        Err(refusal) => return *refusal,
    };
    let Some(upstream) = control.router.upstream(&name) else {
        return unknown(&control, &name);
    };
    let endpoint = &control.endpoint;
    let arguments = arguments.unwrap_or_else(|| serde_json::json!({}));
    let params = Raw::of(&serde_json::json!({ "name": tool, "arguments": arguments }));
    let request = Request::new(Id::number(1), method::TOOLS_CALL, Some(params));
    let client = Implementation { name: "Evermoor".into(), version: crate::VERSION.into() };
    let (owner, client_capabilities) =
        (ScopeOwner::Editor(DASHBOARD.into()), ClientCapabilities::default());
    let requester = Requester {
        session: endpoint.sessions.number(),
        editor: DASHBOARD.into(),
        protocol_version: ProtocolVersion::Session(SessionVersion::LATEST),
        owner: owner.clone(),
        client_capabilities,
        tasks: false,
        logs: false,
        client_meta: Some(Arc::new(ClientMeta::editor(&client, client_capabilities))),
        client: Some(client.name),
        since: Instant::now(),
    };
    let view = control.router.all(DASHBOARD).of_one(upstream.clone());
    let began = Instant::now();
    let outcome = answer(Exchange::start(endpoint, view, request, requester)).await;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    upstream.release(&owner);
    let value = |raw: Raw| raw.read::<Value>().unwrap_or_default();
    let (result, error) = match outcome {
        Some(Outcome::Result(result)) => (Some(value(result)), None),
        Some(Outcome::Error(error)) => (None, Some(value(error))),
        None => (None, Some(serde_json::json!({ "message": "The server did not answer." }))),
    };
    Json(TrialCallResult { ms, result, error }).into_response()
}

/// The outcome, without notifications. Server requests are declined.
async fn answer(mut exchange: Exchange) -> Option<Outcome> {
    loop {
        match exchange.next().await? {
            ExchangeEvent::Answer(answer) => return Some(answer.response.outcome),
            ExchangeEvent::Notification(_) => {}
            ExchangeEvent::ServerRequest(question) => {
                question.reject("The dashboard cannot answer requests.")
            }
        }
    }
}
