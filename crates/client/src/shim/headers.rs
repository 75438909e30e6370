//! The headers of a request of 2026-07-28, which say what its body says.

use http::{HeaderName, HeaderValue};

use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::mcp::{header, meta};
use evermoor_core::protocol::stateless;

/// The headers of a request that speaks for itself.
pub(super) fn own_words(request: &Request) -> Vec<(HeaderName, HeaderValue)> {
    if !stateless::is_stateless(request.params.as_ref()) {
        return Vec::new();
    }
    let claimed = request.params.as_ref().and_then(|params| params.member("_meta"));
    let revision =
        claimed.and_then(|said| said.text_member(meta::PROTOCOL_VERSION)).unwrap_or_default();
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
