//! Malformed and unusual replies, as seen from real servers and intermediaries.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use bytes::Bytes;
use futures_util::stream;
use http::{StatusCode, header};

use evermoor_core::protocol::envelope::{Id, Request, Response};
use evermoor_core::protocol::sse;

use super::orders::SharedOrders;
use super::{json, tools};
use crate::fakes::upstream::script::ScriptedReply;

const MEBIBYTE: usize = 1 << 20;

pub(super) fn unusual(
    reply: ScriptedReply,
    request: &Request,
    orders: &SharedOrders,
) -> HttpResponse {
    let right = tools::done(request);
    let text = right.to_bytes();
    let event = |response: &Response| sse::write(None, None, &response.to_bytes());
    let wrong = Response { id: Some(Id::number(987_654)), ..right.clone() };
    match reply {
        ScriptedReply::Malformed => body(text.slice(..text.len() / 2)),
        ScriptedReply::Both => {
            let error = br#","error":{"code":-1,"message":"both"}}"#;
            body([&text[..text.len() - 1], error].concat())
        }
        ScriptedReply::WrongId => json(StatusCode::OK, &wrong),
        ScriptedReply::WrongIdFirst => events([event(&wrong), event(&right)].concat()),
        ScriptedReply::Twice => events([event(&right), event(&right)].concat()),
        ScriptedReply::Huge(mebibytes) => {
            let start = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#,
                id(request)
            );
            chunked("application/json", long(start, mebibytes, "\"}]}}"))
        }
        ScriptedReply::HugeEvent(mebibytes) => {
            chunked("text/event-stream", long("data: ".into(), mebibytes, "\n\n"))
        }
        ScriptedReply::InvalidUtf8 => body(replaced(&text, 0xff)),
        ScriptedReply::Nul => body(replaced(&text, 0)),
        ScriptedReply::Pretty => {
            let value: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
            let pretty = serde_json::to_string_pretty(&value).expect("values serialise");
            events(format!("data: {}\r\n\r\n", pretty.replace('\n', "\r\ndata: ")))
        }
        ScriptedReply::Bom => body([b"\xef\xbb\xbf", &text[..]].concat()),
        ScriptedReply::CutStream => chunked("text/event-stream", vec![sse::KEEPALIVE]),
        ScriptedReply::CutEvent => {
            let event = event(&right);
            chunked("text/event-stream", vec![event.slice(..event.len() - 1)])
        }
        ScriptedReply::Resumable => {
            let last = orders.keep_rest(event(&right));
            let first = format!("id: {last}\nretry: 100\ndata:\n\n");
            chunked("text/event-stream", vec![first.into()])
        }
        ScriptedReply::Chunked => chunked("text/event-stream", vec![event(&right)]),
        ScriptedReply::Comments(mebibytes) => {
            let comments = Bytes::from(": nothing to say\n".repeat(MEBIBYTE / 17));
            let mut parts = vec![comments; mebibytes as usize];
            parts.push(event(&right));
            chunked("text/event-stream", parts)
        }
        ScriptedReply::LongComment(mebibytes) => {
            chunked("text/event-stream", long(": ".into(), mebibytes, ""))
        }
        ScriptedReply::CarriageReturns => {
            let event = String::from_utf8_lossy(&event(&right)).replace('\n', "\r");
            chunked("text/event-stream", vec![event.into()])
        }
        ScriptedReply::Retry => {
            let retry = Bytes::from_static(b"retry: 0\n\nretry: 1000000000\n\n");
            chunked("text/event-stream", vec![retry, event(&right)])
        }
    }
}

/// An event stream with a content length.
pub(super) fn events(events: impl Into<Body>) -> HttpResponse {
    ([(header::CONTENT_TYPE, "text/event-stream")], events.into()).into_response()
}

fn body(body: impl Into<Body>) -> HttpResponse {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}

/// A chunked body without a content length.
fn chunked(kind: &'static str, parts: Vec<Bytes>) -> HttpResponse {
    let parts = stream::iter(parts.into_iter().map(Ok::<_, std::convert::Infallible>));
    ([(header::CONTENT_TYPE, kind)], Body::from_stream(parts)).into_response()
}

fn long(start: String, mebibytes: u32, end: &'static str) -> Vec<Bytes> {
    let mut parts = vec![Bytes::from(start)];
    parts.extend(vec![Bytes::from(vec![b'x'; MEBIBYTE]); mebibytes as usize]);
    parts.push(Bytes::from_static(end.as_bytes()));
    parts
}

/// The text with the first letter inside the result replaced by a byte.
fn replaced(text: &Bytes, byte: u8) -> Vec<u8> {
    let mut bytes = text.to_vec();
    let place = text.windows(8).position(|eight| eight == b"\"text\":\"");
    bytes[place.expect("there is a text") + 8] = byte;
    bytes
}

fn id(request: &Request) -> String {
    let text = String::from_utf8_lossy(&request.to_bytes()).into_owned();
    let value: serde_json::Value = serde_json::from_str(&text).expect("a request is JSON");
    value["id"].to_string()
}
