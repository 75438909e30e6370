//! The client's `_meta` in each request of 2026-07-28, which has no handshake.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{Implementation, STATELESS, gateway_info, meta};

use super::client_capabilities::ClientCapabilities;
use super::task;
use crate::protocol::params::Params;

/// The entries of `_meta` that identify the client of a request.
#[derive(Clone, Debug)]
pub struct ClientMeta(Vec<(&'static str, Raw)>);

impl ClientMeta {
    /// The gateway as the client.
    pub fn gateway(version: &str) -> Self {
        Self::new(&gateway_info(version), &Raw::of(&serde_json::json!({})))
    }

    /// An editor with a session as the client.
    pub fn editor(program: &Implementation, client_capabilities: ClientCapabilities) -> Self {
        Self::new(&Raw::of(program), &client_capabilities.capabilities())
    }

    fn new(program: &Raw, capabilities: &Raw) -> Self {
        Self(vec![
            (meta::PROTOCOL_VERSION, Raw::of(STATELESS)),
            (meta::CLIENT, program.clone()),
            (meta::CAPABILITIES, capabilities.clone()),
        ])
    }

    /// Adds the minimum level of log messages.
    pub fn with_log_level(mut self, level: &str) -> Self {
        self.0.push((meta::LOG_LEVEL, Raw::of(level)));
        self
    }

    /// Adds support for tasks.
    pub fn with_tasks(mut self) -> Self {
        for (_, capabilities) in self.0.iter_mut().filter(|(key, _)| *key == meta::CAPABILITIES) {
            *capabilities = task::declared(capabilities);
        }
        self
    }

    /// Adds the entries to the `_meta` of the parameters.
    pub fn attach(&self, params: Option<Params>) -> Params {
        let params = params.unwrap_or_default();
        let meta = params.member("_meta").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let meta = self.0.iter().fold(meta, |meta, (key, value)| meta.with(key, value));
        params.with("_meta", &meta)
    }

    /// Removes everything that a server with sessions does not know: these entries, and the input of
    /// a repeated call.
    pub fn strip(params: Option<Params>) -> Option<Params> {
        let params = params?.without(&["inputResponses", "requestState"]);
        let Some(meta) = params.member("_meta") else { return Some(params) };
        let keys = [meta::PROTOCOL_VERSION, meta::CLIENT, meta::CAPABILITIES, meta::LOG_LEVEL];
        let rest = meta.without(&keys);
        Some(match rest.as_str() {
            "{}" => params.without(&["_meta"]),
            _ => params.with("_meta", &rest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_added_and_other_meta_entries_are_kept() {
        let params =
            Raw::of(&serde_json::json!({ "name": "x", "_meta": { "traceparent": "t" } })).into();
        let meta = ClientMeta::gateway("1").attach(Some(params)).member("_meta").unwrap();
        assert_eq!(meta.text_member("traceparent").as_deref(), Some("t"));
        let revision = meta.text_member(crate::protocol::mcp::meta::PROTOCOL_VERSION);
        assert_eq!(revision.as_deref(), Some(STATELESS));
    }

    #[test]
    fn a_request_for_an_older_server_does_not_name_the_client() {
        let params = Params::from(Raw::of(&serde_json::json!({ "name": "x" })));
        let with_client = ClientMeta::gateway("1").attach(Some(params.clone()));
        assert_eq!(ClientMeta::strip(Some(with_client)), Some(params));
        let traced = Params::from(Raw::of(&serde_json::json!({ "_meta": { "traceparent": "t" } })));
        let with_client = ClientMeta::gateway("1").attach(Some(traced.clone()));
        assert_eq!(ClientMeta::strip(Some(with_client)), Some(traced));
    }
}
