//! Parameters of tools that 2026-07-28 repeats in headers.
//!
//! A tool's schema may mark parameters with `x-mcp-header`. Whoever calls it repeats their values
//! in headers `Mcp-Param-<name>`, so that what stands between can look at them without reading
//! the body; whoever receives the call refuses it if the two disagree.

use crate::catalog::tool_traits::Traits;
use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;
use crate::protocol::stateless::plain;

/// The headers that a call of a tool must have, by name in lower case, with the text that each
/// stands for. A marked parameter that is not given must have no header.
pub fn mirrored(request: &Request, traits: &Traits) -> Vec<(String, Option<String>)> {
    if traits.mirror_nothing() || request.method != method::TOOLS_CALL {
        return Vec::new();
    }
    let Some(params) = &request.params else { return Vec::new() };
    let tool = params.text_member("name").unwrap_or_default();
    let given = params.member("arguments");
    let header = |(parameter, name): &(String, String)| {
        let value = given.as_ref().and_then(|given| given.member(parameter));
        (format!("mcp-param-{}", name.to_ascii_lowercase()), value.and_then(|raw| text(&raw)))
    };
    traits.mirrored(&tool).iter().map(header).collect()
}

/// Whether the headers of a request are those that it must have. `header` gives a header's value,
/// or an error if nobody can read it.
pub fn agree(
    wanted: &[(String, Option<String>)],
    header: impl Fn(&str) -> Result<Option<String>, ()>,
) -> bool {
    wanted.iter().all(|(name, value)| match (header(name), value) {
        (Ok(Some(told)), Some(value)) => plain(&told).as_ref() == Some(value),
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
        let traits = Traits::of(&[Raw::of(&tool)]);
        let params = serde_json::json!({ "name": "weather", "arguments": arguments });
        mirrored(&Request::new(Id::number(1), "tools/call", Some(Raw::of(&params))), &traits)
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
    fn headers_that_say_something_else_than_the_body_do_not_agree() {
        let wanted = headers(serde_json::json!({ "region": "north" }));
        let told = |value: &'static str| {
            move |name: &str| Ok((name == "mcp-param-region").then(|| value.to_owned()))
        };
        assert!(agree(&wanted, told("north")));
        assert!(agree(&wanted, told("=?base64?bm9ydGg=?=")));
        assert!(!agree(&wanted, told("south")));
        assert!(!agree(&wanted, |_| Ok(None)));
        assert!(!agree(&wanted, |_| Err(())));
        assert!(!agree(&wanted, |_| Ok(Some("north".to_owned()))), "`days` was not given");
    }
}
