//! The HTTP headers that a stateless request (MCP 2026-07-28) repeats from its body.

use http::{HeaderName, HeaderValue};

use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::mcp::{header, meta};
use evermoor_core::protocol::stateless;

/// The headers of a stateless request; none for any other request.
pub(super) fn stateless_headers(request: &Request) -> Vec<(HeaderName, HeaderValue)> {
    if !stateless::is_stateless(request.params.as_ref()) {
        return Vec::new();
    }
    let meta = request.params.as_ref().and_then(|params| params.member("_meta"));
    let revision =
        meta.and_then(|meta| meta.text_member(meta::PROTOCOL_VERSION)).unwrap_or_default();
    let named = stateless::mcp_name(request);
    [
        (header::PROTOCOL_VERSION, Some(revision)),
        ("mcp-method", Some(request.method.clone())),
        ("mcp-name", named),
        (stateless::STDIO_CLIENT_HEADER, Some("1".to_owned())),
    ]
    .into_iter()
    .filter_map(|(name, value)| {
        let value = HeaderValue::from_str(&stateless::encode_header(&value?)).ok()?;
        Some((HeaderName::from_static(name), value))
    })
    .collect()
}
