//! Tool parameters that 2026-07-28 repeats in headers.
//!
//! A tool's schema may mark parameters with `x-mcp-header`. The client repeats their values in
//! `Mcp-Param-<name>` headers for intermediaries that do not parse the body. The server rejects the
//! call if they do not match.

use crate::catalog::tool_traits::ToolTraits;
use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;
use crate::protocol::stateless::decode_header;

/// The headers that a tool call must have, by lower-case name, with their decoded values. A marked
/// parameter without an argument must have no header.
pub fn required_headers(request: &Request, traits: &ToolTraits) -> Vec<(String, Option<String>)> {
    if traits.has_no_header_parameters() || request.method != method::TOOLS_CALL {
        return Vec::new();
    }
    let Some(params) = &request.params else { return Vec::new() };
    let tool = params.text_member("name").unwrap_or_default();
    let arguments = params.member("arguments");
    let header = |(parameter, name): &(String, String)| {
        let value = arguments.as_ref().and_then(|arguments| arguments.member(parameter));
        (format!("mcp-param-{}", name.to_ascii_lowercase()), value.and_then(|raw| text(&raw)))
    };
    traits.mirrored(&tool).iter().map(header).collect()
}

/// Whether a request has the required headers. `header` returns the value of a header, or an error
/// if it is not a valid string.
pub fn headers_match(
    required: &[(String, Option<String>)],
    header: impl Fn(&str) -> Result<Option<String>, ()>,
) -> bool {
    required.iter().all(|(name, value)| match (header(name), value) {
        (Ok(Some(sent)), Some(value)) => decode_header(&sent).as_ref() == Some(value),
        (Ok(None), None) => true,
        (Ok(Some(_)), None) | (Ok(None), Some(_)) | (Err(()), _) => false,
    })
}

fn text(raw: &Raw) -> Option<String> {
    match raw.as_str().as_bytes().first() {
        Some(b'"') => raw.read().ok(),
        Some(b'n' | b'{' | b'[') | None => None,
        Some(_) => Some(raw.as_str().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;

    fn headers(arguments: serde_json::Value) -> Vec<(String, Option<String>)> {
        let tool = serde_json::json!({ "name": "weather", "inputSchema": { "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "days": { "type": "integer", "x-mcp-header": "Days" },
            "unit": { "type": "string" },
        } } });
        let traits = ToolTraits::of(&[Raw::of(&tool)]);
        let params = serde_json::json!({ "name": "weather", "arguments": arguments });
        required_headers(
            &Request::new(Id::number(1), "tools/call", Some(Raw::of(&params))),
            &traits,
        )
    }

    #[test]
    fn marked_parameters_are_repeated_and_others_are_not() {
        let found = headers(serde_json::json!({ "region": "é", "days": 3, "unit": "C" }));
        assert_eq!(
            found,
            [
                ("mcp-param-days".into(), Some("3".into())),
                ("mcp-param-region".into(), Some("é".into())),
            ]
        );
        assert!(
            headers(serde_json::json!({ "unit": "C" })).iter().all(|(_, value)| value.is_none())
        );
    }

    #[test]
    fn headers_that_differ_from_the_body_do_not_match() {
        let required = headers(serde_json::json!({ "region": "north" }));
        let sent = |value: &'static str| {
            move |name: &str| Ok((name == "mcp-param-region").then(|| value.to_owned()))
        };
        assert!(headers_match(&required, sent("north")));
        assert!(headers_match(&required, sent("=?base64?bm9ydGg=?=")));
        assert!(!headers_match(&required, sent("south")));
        assert!(!headers_match(&required, |_| Ok(None)));
        assert!(!headers_match(&required, |_| Err(())));
        assert!(
            !headers_match(&required, |_| Ok(Some("north".to_owned()))),
            "`days` has no argument"
        );
    }
}
