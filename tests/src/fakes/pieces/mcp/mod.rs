//! MCP of the fake PiecesOS, independent of the transport.
//!
//! - [`sse`], [`streamable`]: its transports
//! - [`sessions`]: its sessions

pub(crate) mod sessions;
pub(crate) mod sse;
pub(crate) mod streamable;

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, initialize_result, method};

use super::fault::Area;
use super::process::FakeApp;

/// The tools of the real one.
pub(super) const TOOLS: [&str; 2] = ["ask_pieces_ltm", "create_pieces_memory"];
const SERVER_ERROR: i32 = -32000;

/// The answer to a request; `None` if the reply is to be lost.
pub(super) async fn answer(
    app: &FakeApp,
    request: &Request,
    revision: SessionVersion,
    say: impl Fn(Notification) + Send,
) -> Option<Response> {
    let id = request.id.clone();
    Some(match request.method.as_str() {
        method::INITIALIZE => Response::result(id, introduction(app, revision)),
        method::PING => Response::result(id, Raw::of(&json!({}))),
        method::TOOLS_LIST => match app.behaviours.pass(Area::Lists).await {
            Ok(()) => Response::result(id, tools(app)),
            Err(status) => Response::error(Some(id), SERVER_ERROR, status.as_str()),
        },
        method::TOOLS_CALL => return call(app, request, say).await,
        _ => Response::error(Some(id), METHOD_NOT_FOUND, "PiecesOS does not know this method."),
    })
}

fn introduction(app: &FakeApp, revision: SessionVersion) -> Raw {
    initialize_result(
        revision,
        &Raw::of(&json!({ "tools": { "listChanged": true } })),
        &Raw::of(&json!({ "name": "pieces-mcp", "version": app.settings().version })),
        None,
    )
}

fn tools(app: &FakeApp) -> Raw {
    let text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let own = TOOLS.into_iter().zip(["question", "summary"]);
    let own = own.map(|(name, input)| json!({ "name": name, "inputSchema": text(input) }));
    let extra = app.settings().tools;
    let extra = extra.iter().map(|name| {
        let said = text("nonce");
        json!({ "name": name, "inputSchema": said, "outputSchema": said })
    });
    Raw::of(&json!({ "tools": own.chain(extra).collect::<Vec<Value>>() }))
}

async fn call(
    app: &FakeApp,
    request: &Request,
    say: impl Fn(Notification) + Send,
) -> Option<Response> {
    let id = request.id.clone();
    let params: Value = request.params.as_ref()?.read().ok()?;
    let name = params["name"].as_str().unwrap_or_default();
    let is_extra = app.settings().tools.iter().any(|tool| tool == name);
    if !TOOLS.contains(&name) && !is_extra {
        return Some(Response::error(Some(id), INVALID_PARAMS, "There is no such tool."));
    }
    let arguments = &params["arguments"];
    let words = ["nonce", "question", "summary"].iter().find_map(|key| arguments[key].as_str());
    let Some(words) = words else {
        let result = json!({ "isError": true, "content": content("Say what it is about.") });
        return Some(Response::result(id, Raw::of(&result)));
    };
    app.ledger.record(words);
    if let Some(token) = params["_meta"].get("progressToken") {
        let progress = json!({ "progressToken": token, "progress": 1, "total": 2 });
        say(Notification::new("notifications/progress", Some(Raw::of(&progress))));
    }
    if let Err(status) = app.behaviours.pass(Area::Calls).await {
        return Some(Response::error(Some(id), SERVER_ERROR, status.as_str()));
    }
    let lose = |left: u32| left.checked_sub(1);
    if app.lost_replies.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose).is_ok() {
        app.connections.cut();
        return None;
    }
    let mut result = json!({ "content": content(words) });
    if is_extra {
        result["structuredContent"] = json!({ "nonce": words });
    }
    Some(Response::result(id, Raw::of(&result)))
}

fn content(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}
