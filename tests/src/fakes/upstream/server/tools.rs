//! The normal answers of a fake upstream.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;

use super::{FOR_EVER, Fake, json, replies};
use crate::oracle::ledger::Ledger;

/// The nonce under which a request is recorded in the ledger.
pub(super) fn nonce(request: &Request) -> Option<String> {
    let params = request.params.as_ref()?;
    match request.method.as_str() {
        method::TOOLS_CALL => params.member("arguments")?.text_member("nonce"),
        method::RESOURCES_READ => params.text_member("uri"),
        _ => None,
    }
}

impl Fake {
    pub(super) async fn respond(&self, request: &Request) -> HttpResponse {
        let id = request.id.clone();
        if let Some(result) = self.stocked_result(request) {
            return json(StatusCode::OK, &Response::result(id, result));
        }
        let response = match request.method.as_str() {
            method::PING => Response::result(id, Raw::of(&serde_json::json!({}))),
            method::TOOLS_LIST => Response::result(id, self.tools()),
            method::TOOLS_CALL => return self.call(request).await,
            method::RESOURCES_READ => {
                self.execute_named(request);
                Response::result(id, contents(&nonce(request).unwrap_or_default()))
            }
            _ => Response::error(Some(id), METHOD_NOT_FOUND, "no such method"),
        };
        json(StatusCode::OK, &response)
    }

    async fn call(&self, request: &Request) -> HttpResponse {
        let params = request.params.clone().unwrap_or_default();
        let nonce = nonce(request).unwrap_or_default();
        let result = match params.text_member("name").unwrap_or_default().as_str() {
            "record" => {
                self.execute(&nonce);
                text(&nonce)
            }
            "hang" => {
                self.execute(&nonce);
                sleep(FOR_EVER).await;
                text(&nonce)
            }
            "wait" => {
                self.execute(&nonce);
                released(&self.ledger, &nonce).await;
                text(&nonce)
            }
            // Returns its parameters unchanged.
            "mirror" => Raw::of(&serde_json::json!({})).with("mirrored", params.raw()),
            "steps" => return steps(request, self.ledger.clone(), nonce),
            // Sends messages of 1 MiB until the client stops reading.
            "flood" => return self.flood(request, nonce),
            // Sends one notification for the call, and then nothing.
            "stuck" => {
                self.execute(&nonce);
                return stuck(request);
            }
            _ => {
                let error =
                    Response::error(Some(request.id.clone()), INVALID_PARAMS, "no such tool");
                return json(StatusCode::OK, &error);
            }
        };
        json(StatusCode::OK, &Response::result(request.id.clone(), result))
    }

    fn flood(&self, request: &Request, nonce: String) -> HttpResponse {
        let page = progress(request, &"x".repeat(1 << 20));
        let ledger = self.ledger.clone();
        let pages = futures_util::stream::repeat_with(move || {
            ledger.record(&nonce);
            Ok::<_, std::io::Error>(page.clone())
        });
        streamed(pages)
    }

    fn tools(&self) -> Raw {
        Raw::of(&serde_json::json!({ "tools": self.tool_list() }))
    }

    pub(super) fn tool_list(&self) -> Vec<serde_json::Value> {
        let tool =
            |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
        let usual = ["record", "hang", "mirror", "steps"];
        let extra = self.extra.iter().map(String::as_str);
        usual.into_iter().chain(extra).map(tool).collect()
    }
}

/// Three notifications for the call, then its answer, as a stream. With a nonce, the answer waits
/// until the ledger releases it.
fn steps(request: &Request, ledger: Ledger, nonce: String) -> HttpResponse {
    let token =
        request.params.as_ref().and_then(|params| params.member("_meta")?.member("progressToken"));
    let mut progressing = Vec::new();
    for step in 1..=3 {
        let params = serde_json::json!({ "progressToken": token, "progress": step });
        let progress = Notification::new("notifications/progress", Some(Raw::of(&params)));
        progressing.extend_from_slice(&sse::write(None, None, &progress.to_bytes()));
    }
    let answer = Response::result(request.id.clone(), text("done"));
    let answer = sse::write(None, None, &answer.to_bytes());
    if nonce.is_empty() {
        progressing.extend_from_slice(&answer);
        return replies::events(progressing);
    }
    let answer = async move {
        released(&ledger, &nonce).await;
        answer
    };
    let parts = stream::once(ready(progressing.into())).chain(stream::once(answer));
    replies::events(Body::from_stream(parts.map(Ok::<Bytes, Infallible>)))
}

async fn released(ledger: &Ledger, nonce: &str) {
    while !ledger.is_released(nonce) {
        sleep(Duration::from_millis(5)).await;
    }
}

fn stuck(request: &Request) -> HttpResponse {
    let first = Ok::<_, std::io::Error>(progress(request, ""));
    let first = futures_util::stream::once(std::future::ready(first));
    streamed(first.chain(futures_util::stream::pending()))
}

/// A progress notification for a call, as an event.
fn progress(request: &Request, message: &str) -> bytes::Bytes {
    let token =
        request.params.as_ref().and_then(|params| params.member("_meta")?.member("progressToken"));
    let params = serde_json::json!({ "progressToken": token, "progress": 1, "message": message });
    let progress = Notification::new("notifications/progress", Some(Raw::of(&params)));
    sse::write(None, None, &progress.to_bytes())
}

fn streamed(
    events: impl futures_util::Stream<Item = std::io::Result<bytes::Bytes>> + Send + 'static,
) -> HttpResponse {
    let kind = [(http::header::CONTENT_TYPE, "text/event-stream")];
    (kind, axum::body::Body::from_stream(events)).into_response()
}

/// The normal answer to an executed request.
pub(super) fn done(request: &Request) -> Response {
    let nonce = nonce(request).unwrap_or_default();
    let result = match request.method.as_str() {
        method::RESOURCES_READ => contents(&nonce),
        _ => text(&nonce),
    };
    Response::result(request.id.clone(), result)
}

fn contents(uri: &str) -> Raw {
    Raw::of(&serde_json::json!({ "contents": [{ "uri": uri, "text": uri }] }))
}

fn text(text: &str) -> Raw {
    Raw::of(&serde_json::json!({ "content": [{ "type": "text", "text": text }] }))
}
