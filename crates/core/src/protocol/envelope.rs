//! The JSON-RPC envelope: the only part of a message that the gateway parses.
//!
//! `params`, `result` and `error` stay [`Raw`] and reach the other side byte for byte. The envelope
//! is rebuilt from its known members on every hop, so nothing that another parser might read
//! differently (a second `method`, a `Method`) gets through.

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::value::RawValue;

use crate::protocol::json::members::{JsonMembers, is_lookalike};
use crate::protocol::json::{Raw, too_deep};
use crate::protocol::params::Params;

/// One JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Request(Request),
    Notification(Notification),
    Response(Response),
}

/// A message that expects a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub id: Id,
    pub method: String,
    pub params: Option<Params>,
}

/// A message that expects no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub method: String,
    pub params: Option<Raw>,
}

/// The response to a request. It has no id if the other side could not parse the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub id: Option<Id>,
    pub outcome: Outcome,
}

/// The result or the error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Result(Raw),
    Error(Raw),
}

impl Outcome {
    /// The result or the error.
    pub fn payload(&self) -> &Raw {
        match self {
            Self::Result(payload) | Self::Error(payload) => payload,
        }
    }

    /// The same outcome with its payload changed.
    pub fn map(self, change: impl FnOnce(Raw) -> Raw) -> Self {
        match self {
            Self::Result(payload) => Self::Result(change(payload)),
            Self::Error(payload) => Self::Error(change(payload)),
        }
    }
}

/// A request id exactly as the sender wrote it: `1` and `"1"` are different.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Raw);

/// The bytes of a message, in order. Some parts may be empty.
#[derive(Clone, Debug, Default)]
pub struct MessageParts(pub [Bytes; 3]);

/// Why a text is not a JSON-RPC message, with the JSON-RPC error code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct InvalidMessage {
    pub code: i32,
    pub why: Cow<'static, str>,
    /// The id for the error response, if it could be parsed.
    pub id: Option<Id>,
}

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;

/// Up to this size, copying a payload is cheaper than sending the message in parts.
const MAX_COPIED: usize = 16 << 10;

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

impl Message {
    /// Parses one message from the buffer that it arrived in.
    pub fn parse(buffer: &Bytes) -> Result<Self, InvalidMessage> {
        let buffer = match buffer.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => buffer.slice_ref(rest),
            None => buffer.clone(),
        };
        // Checked once for the whole message, which is faster than part by part.
        let text = std::str::from_utf8(&buffer).map_err(|_| InvalidMessage {
            code: PARSE_ERROR,
            why: "the message is not valid UTF-8".into(),
            id: None,
        })?;
        let members = JsonMembers::read(text).map_err(|error| unparsable(&error))?;
        let member = |name| members.get(name);
        let raw = |value: &RawValue| Raw::view(&buffer, value);

        let id = match member("id") {
            Some(value) => Id::parse(raw(value))?,
            None => None,
        };
        let reject = |why: &'static str| {
            Err(InvalidMessage { code: INVALID_REQUEST, why: why.into(), id: id.clone() })
        };
        if members.0.iter().any(|(key, _)| is_lookalike(key, &MEMBERS)) {
            return reject("a member name differs from a JSON-RPC member only in case");
        }
        if member("jsonrpc").map(RawValue::get) != Some("\"2.0\"") {
            return reject("`jsonrpc` must be \"2.0\"");
        }
        let params = member("params").map(raw);
        if params.as_ref().is_some_and(|raw| too_deep(raw.as_bytes())) {
            return Err(InvalidMessage {
                code: PARSE_ERROR,
                why: "nested too deeply".into(),
                id: None,
            });
        }
        let method = member("method").map(|method| serde_json::from_str::<String>(method.get()));
        match (method, member("result"), member("error")) {
            (Some(Err(_)), _, _) => reject("`method` must be a string"),
            (Some(Ok(method)), None, None) => match (&id, member("id")) {
                (Some(id), _) => {
                    let params = params.map(Params::from);
                    Ok(Self::Request(Request { id: id.clone(), method, params }))
                }
                (None, None) => Ok(Self::Notification(Notification { method, params })),
                (None, Some(_)) => reject("`id` must not be null"),
            },
            (None, Some(result), None) if id.is_some() => {
                Ok(Self::Response(Response { id, outcome: Outcome::Result(raw(result)) }))
            }
            (None, None, Some(error)) => {
                Ok(Self::Response(Response { id, outcome: Outcome::Error(raw(error)) }))
            }
            _ => reject("a message must have exactly one of `method`, `result` and `error`"),
        }
    }

    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Request(request) => request.to_bytes(),
            Self::Notification(notification) => notification.to_bytes(),
            Self::Response(response) => response.to_bytes(),
        }
    }

    /// The message in parts, so that a large payload is not copied.
    pub fn to_parts(&self) -> MessageParts {
        match self {
            Self::Request(request) => request.to_parts(),
            Self::Notification(notification) => notification.to_bytes().into(),
            Self::Response(response) => response.to_parts(),
        }
    }
}

impl Request {
    pub fn new(id: Id, method: &str, params: Option<Raw>) -> Self {
        Self { id, method: method.to_owned(), params: params.map(Params::from) }
    }

    pub fn to_bytes(&self) -> Bytes {
        write(&[
            ("id", self.id.0.as_bytes()),
            ("method", Raw::of(&self.method).as_bytes()),
            ("params", self.params.as_ref().map_or(&[][..], |params| params.as_bytes())),
        ])
    }

    pub fn to_parts(&self) -> MessageParts {
        match &self.params {
            Some(params) if params.as_bytes().len() > MAX_COPIED => {
                let method = Raw::of(&self.method);
                let head: [(&str, &[u8]); 2] =
                    [("id", self.id.0.as_bytes()), ("method", method.as_bytes())];
                write_around(&head, "params", params.as_bytes())
            }
            Some(_) | None => self.to_bytes().into(),
        }
    }
}

impl Notification {
    pub fn new(method: &str, params: Option<Raw>) -> Self {
        Self { method: method.to_owned(), params }
    }

    pub fn to_bytes(&self) -> Bytes {
        write(&[
            ("method", Raw::of(&self.method).as_bytes()),
            ("params", self.params.as_ref().map_or(&[][..], |params| params.as_bytes())),
        ])
    }
}

impl Response {
    pub fn result(id: Id, result: Raw) -> Self {
        Self { id: Some(id), outcome: Outcome::Result(result) }
    }

    pub fn error(id: Option<Id>, code: i32, message: &str) -> Self {
        let error = Raw::of(&serde_json::json!({ "code": code, "message": message }));
        Self { id, outcome: Outcome::Error(error) }
    }

    pub fn to_bytes(&self) -> Bytes {
        let id = self.id.as_ref().map_or(&b"null"[..], |id| id.0.as_bytes());
        match &self.outcome {
            Outcome::Result(result) => write(&[("id", id), ("result", result.as_bytes())]),
            Outcome::Error(error) => write(&[("id", id), ("error", error.as_bytes())]),
        }
    }

    pub fn to_parts(&self) -> MessageParts {
        match (&self.outcome, &self.id) {
            (Outcome::Result(result), Some(id)) if result.as_bytes().len() > MAX_COPIED => {
                write_around(&[("id", id.0.as_bytes())], "result", result.as_bytes())
            }
            (Outcome::Result(_) | Outcome::Error(_), _) => self.to_bytes().into(),
        }
    }
}

impl From<Request> for Message {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

impl From<Notification> for Message {
    fn from(notification: Notification) -> Self {
        Self::Notification(notification)
    }
}

impl From<Bytes> for MessageParts {
    fn from(bytes: Bytes) -> Self {
        Self([bytes, Bytes::new(), Bytes::new()])
    }
}

impl From<InvalidMessage> for Response {
    fn from(invalid: InvalidMessage) -> Self {
        Self::error(invalid.id, invalid.code, &invalid.why)
    }
}

impl Id {
    pub fn number(number: u64) -> Self {
        Self(Raw::of(&number))
    }

    /// A string id made by the gateway.
    pub fn text(text: &str) -> Self {
        Self(Raw::of(text))
    }

    /// An id that a message refers to; `None` if it is not a valid id.
    pub fn from_raw(raw: Raw) -> Option<Self> {
        Self::parse(raw).ok().flatten()
    }

    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// A string or an integer. `null` is the id of a response to an unparsable request.
    fn parse(raw: Raw) -> Result<Option<Self>, InvalidMessage> {
        let text = raw.as_str();
        let is_integer =
            text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        match text.as_bytes().first() {
            Some(b'"') => Ok(Some(Self(raw))),
            Some(b'-' | b'0'..=b'9') if is_integer => Ok(Some(Self(raw))),
            _ if text == "null" => Ok(None),
            _ => Err(InvalidMessage {
                code: INVALID_REQUEST,
                why: "`id` must be a string or an integer".into(),
                id: None,
            }),
        }
    }
}

fn unparsable(error: &serde_json::Error) -> InvalidMessage {
    let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
    InvalidMessage { code, why: error.to_string().into(), id: None }
}

fn write(members: &[(&str, &[u8])]) -> Bytes {
    let mut text = begin(members, 1);
    text.put_u8(b'}');
    text.freeze()
}

/// A message whose last member is `payload`.
fn write_around(members: &[(&str, &[u8])], key: &str, payload: &Bytes) -> MessageParts {
    let mut head = begin(members, key.len() + 4);
    put_key(&mut head, key);
    MessageParts([head.freeze(), payload.clone(), Bytes::from_static(b"}")])
}

/// The beginning of a message, with space for `more` bytes.
fn begin(members: &[(&str, &[u8])], more: usize) -> BytesMut {
    const START: &[u8] = b"{\"jsonrpc\":\"2.0\"";
    let length: usize = members.iter().map(|(key, value)| key.len() + value.len() + 4).sum();
    let mut text = BytesMut::with_capacity(START.len() + length + more);
    text.put_slice(START);
    for (key, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
        put_key(&mut text, key);
        text.put_slice(value);
    }
    text
}

fn put_key(text: &mut BytesMut, key: &str) {
    text.put_slice(b",\"");
    text.put_slice(key.as_bytes());
    text.put_slice(b"\":");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Message, InvalidMessage> {
        Message::parse(&Bytes::copy_from_slice(text.as_bytes()))
    }

    fn code(text: &str) -> i32 {
        parse(text).unwrap_err().code
    }

    #[test]
    fn params_and_results_pass_through_byte_for_byte() {
        for payload in [
            r#"{"zeta":1,"alpha":2,"unknown":{"x":null}}"#,
            r#"{"big":123456789012345678901234567890,"exact":1.10,"exp":1E+2}"#,
            r#"{"escaped":"\u00e9\/\ud83d\ude00","plain":"é😀"}"#,
            "{ \"spaced\" :\t[ 1 ,\n2 ] }",
            r#"[1,"positional"]"#,
        ] {
            let request =
                format!(r#"{{"id":7,"params":{payload},"jsonrpc":"2.0","method":"tools/call"}}"#);
            let sent = parse(&request).unwrap().to_bytes();
            let Message::Request(read) = Message::parse(&sent).unwrap() else {
                panic!("a request")
            };
            assert_eq!(read.params.unwrap().as_str(), payload);

            let response = format!(r#"{{"jsonrpc":"2.0","result":{payload},"id":"a"}}"#);
            let sent = parse(&response).unwrap().to_bytes();
            assert_eq!(
                &sent[..],
                format!(r#"{{"jsonrpc":"2.0","id":"a","result":{payload}}}"#).as_bytes()
            );
        }
    }

    #[test]
    fn nothing_is_copied_when_a_message_is_parsed() {
        let buffer =
            Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#);
        let Message::Request(request) = Message::parse(&buffer).unwrap() else {
            panic!("a request")
        };
        let params = request.params.unwrap();
        assert!(buffer.as_ptr_range().contains(&params.as_bytes().as_ptr()));
    }

    #[test]
    fn a_message_in_parts_has_the_same_bytes() {
        for size in [0, MAX_COPIED, MAX_COPIED + 1] {
            let payload = Raw::of(&"x".repeat(size));
            let request = Request::new(Id::number(1), "m", Some(payload.clone()));
            let error = Response { id: None, outcome: Outcome::Error(payload.clone()) };
            for message in [
                Message::Request(request),
                Message::Response(Response::result(Id::text("a"), payload)),
                Message::Response(error),
                Message::Notification(Notification::new("n", None)),
            ] {
                assert_eq!(message.to_parts().0.concat(), &message.to_bytes()[..]);
            }
        }
    }

    #[test]
    fn an_id_keeps_its_type() {
        let ids = |text: &str| match parse(text).unwrap() {
            Message::Request(request) => request.id.raw().as_str().to_owned(),
            Message::Notification(_) | Message::Response(_) => panic!("a request"),
        };
        assert_eq!(ids(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#), "1");
        assert_eq!(ids(r#"{"jsonrpc":"2.0","id":"1","method":"m"}"#), "\"1\"");
    }

    #[test]
    fn invalid_json_is_a_parse_error() {
        assert_eq!(code("{"), PARSE_ERROR);
        assert_eq!(Message::parse(&Bytes::from_static(b"\"\xff\"")).unwrap_err().code, PARSE_ERROR);
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}}}"#,
            "[".repeat(10_000) + &"]".repeat(10_000)
        );
        assert_eq!(code(&deep), PARSE_ERROR);
    }

    #[test]
    fn json_that_is_no_message_is_an_invalid_request() {
        for text in [
            "[]",
            "1",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","Method":"n"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","paramſ":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        ] {
            assert_eq!(code(text), INVALID_REQUEST, "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert!(parse("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}").is_ok());
    }

    proptest! {
        #[test]
        fn no_input_makes_the_parser_panic(bytes: Vec<u8>) {
            let _ = Message::parse(&Bytes::from(bytes));
        }

        #[test]
        fn a_request_read_back_is_the_request_written(number: u64, method: String, text: String) {
            let request = Request::new(Id::number(number), &method, Some(Raw::of(&[text])));
            prop_assert_eq!(Message::parse(&request.to_bytes()), Ok(Message::Request(request)));
        }
    }
}
