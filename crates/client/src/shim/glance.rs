//! Reads what the shim needs of a large request without parsing all of it.
//!
//! The shim forwards a request as it is, and the gateway parses it. The shim itself needs the id, for
//! an answer of its own, and the method, which says whether the request may be sent again. In a message
//! of a megabyte both are a few bytes, and the rest is one long string, which is skipped at the speed
//! of memory. Anything unusual is left to the parser: escaped member names, a member twice, and requests
//! of 2026-07-28, whose headers repeat what is in the body.

use bytes::Bytes;
use memchr::memchr2;

use evermoor_core::protocol::envelope::Id;
use evermoor_core::protocol::json::Raw;

/// The id and the method of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Glance {
    pub(super) id: Id,
    pub(super) method: String,
}

/// Reads a request of a session. `None` if it is anything else, or invalid, or unusual.
pub(super) fn glance(line: &Bytes) -> Option<Glance> {
    let mut members = Members::of(line)?;
    let (mut version, mut id, mut method, mut params) = (None, None, None, None);
    while let Some((name, value)) = members.next()? {
        let member = match name {
            b"jsonrpc" => &mut version,
            b"id" => &mut id,
            b"method" => &mut method,
            b"params" => &mut params,
            _ => return None,
        };
        if member.replace(value).is_some() {
            return None;
        }
    }
    if version != Some(&b"\"2.0\""[..]) || !params.is_none_or(is_of_a_session) {
        return None;
    }
    let id = Id::from_raw(Raw::parse(Bytes::copy_from_slice(id?)).ok()?)?;
    Some(Glance { id, method: serde_json::from_slice(method?).ok()? })
}

/// Whether nothing in `params` makes the request a stateless one, or one that answers a question.
fn is_of_a_session(params: &[u8]) -> bool {
    let check = || {
        let mut members = Members::of(params)?;
        while let Some((name, value)) = members.next()? {
            // A long or escaped `_meta` is unusual too.
            let unusual = || value.len() >= 4096 || value.contains(&b'\\');
            let version = || value.windows(15).any(|part| part == b"protocolVersion");
            if name == b"inputResponses" || (name == b"_meta" && (unusual() || version())) {
                return None;
            }
        }
        Some(())
    };
    check().is_some()
}

/// The members of an object, each name without its quotes and each value as it is written.
struct Members<'a> {
    json: &'a [u8],
    at: usize,
    first: bool,
}

impl<'a> Members<'a> {
    fn of(json: &'a [u8]) -> Option<Self> {
        let mut members = Self { json, at: 0, first: true };
        members.expect(b'{')?;
        Some(members)
    }

    /// The next member, `Some(None)` at the end, or `None` if this is not JSON or is unusual.
    fn next(&mut self) -> Option<Option<(&'a [u8], &'a [u8])>> {
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
            self.skip_space();
            return (self.at == self.json.len()).then_some(None);
        }
        if !self.first {
            self.expect(b',')?;
        }
        self.first = false;
        self.skip_space();
        let start = self.at;
        self.skip_string()?;
        let name = &self.json[start + 1..self.at - 1];
        if name.contains(&b'\\') {
            return None;
        }
        self.expect(b':')?;
        self.skip_space();
        let start = self.at;
        self.skip_value()?;
        Some(Some((name, &self.json[start..self.at])))
    }

    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.skip_space();
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            self.at += memchr2(b'"', b'\\', &self.json[self.at..])?;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 2,
            }
            if self.at > self.json.len() {
                return None;
            }
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                byte if depth > 0 || !matches!(byte, b',' | b':') => {
                    self.at += 1;
                    // A number or a word ends where the next member or the end of the object is.
                    if depth == 0 && matches!(self.peek()?, b',' | b'}' | b']' | b' ' | b'\t') {
                        return Some(());
                    }
                    continue;
                }
                _ => return None,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::Message;

    fn of(text: &str) -> Option<Glance> {
        glance(&Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn it_agrees_with_the_parser_on_what_it_reads() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"text":"xxx"}}}"#,
            r#" { "params" : { "a" : [1, {"id": 9}, "}\"{"] } , "method" : "ping" , "id" : "s" , "jsonrpc" : "2.0" } "#,
            r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"progressToken":5}}}"#,
            r#"{"jsonrpc":"2.0","id":-3,"method":"a\u0062","params":null}"#,
            r#"{"jsonrpc":"2.0","id":"\"","method":"m","params":[]}"#,
        ] {
            let line = Bytes::copy_from_slice(text.as_bytes());
            if let (Some(seen), Ok(Message::Request(parsed))) =
                (glance(&line), Message::parse(&line))
            {
                assert_eq!((seen.id, seen.method), (parsed.id, parsed.method), "{text}");
            }
        }
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"text":"x"}}"#),
            Some(Glance { id: Id::number(1), method: "tools/call".into() })
        );
    }

    #[test]
    fn everything_unusual_is_left_to_the_parser() {
        for text in [
            "",
            "{",
            "[]",
            "{}",
            "nonsense",
            r#"{"jsonrpc":"2.0","method":"notification"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","id":2}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","Method":"n"}"#,
            r#"{"jsonrpc":"2.0","\u0069d":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"inputResponses":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
