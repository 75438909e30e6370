//! The client's `_meta` in each request of 2026-07-28, which has no handshake.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{Program, STATELESS, gateway_info, meta};

use super::client_capabilities::Abilities;
use super::task;

/// The entries of `_meta` that identify the client of a request.
#[derive(Clone, Debug)]
pub struct WhoAsks(Vec<(&'static str, Raw)>);

impl WhoAsks {
    /// The gateway as the client.
    pub fn gateway(version: &str) -> Self {
        Self::new(&gateway_info(version), &Raw::of(&serde_json::json!({})))
    }

    /// An editor with a session as the client.
    pub fn editor(program: &Program, abilities: Abilities) -> Self {
        Self::new(&Raw::of(program), &abilities.capabilities())
    }

    fn new(program: &Raw, capabilities: &Raw) -> Self {
        Self(vec![
            (meta::REVISION, Raw::of(STATELESS)),
            (meta::CLIENT, program.clone()),
            (meta::CAPABILITIES, capabilities.clone()),
        ])
    }

    /// Adds the minimum level of log messages.
    pub fn hearing(mut self, level: &str) -> Self {
        self.0.push((meta::LOG_LEVEL, Raw::of(level)));
        self
    }

    /// Adds support for tasks.
    pub fn following_tasks(mut self) -> Self {
        for (_, capabilities) in self.0.iter_mut().filter(|(key, _)| *key == meta::CAPABILITIES) {
            *capabilities = task::declared(capabilities);
        }
        self
    }

    /// Adds the entries to the `_meta` of the parameters.
    pub fn sign(&self, params: Option<Raw>) -> Raw {
        let params = params.unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let meta = params.member("_meta").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let meta = self.0.iter().fold(meta, |meta, (key, value)| meta.with(key, value));
        params.with("_meta", &meta)
    }

    /// Removes everything that a server with sessions does not know: these entries, and the input of
    /// a repeated call.
    pub fn strip(params: Option<Raw>) -> Option<Raw> {
        let params = params?.without(&["inputResponses", "requestState"]);
        let Some(meta) = params.member("_meta") else { return Some(params) };
        let keys = [meta::REVISION, meta::CLIENT, meta::CAPABILITIES, meta::LOG_LEVEL];
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
        let params = Raw::of(&serde_json::json!({ "name": "x", "_meta": { "traceparent": "t" } }));
        let meta = WhoAsks::gateway("1").sign(Some(params)).member("_meta").unwrap();
        assert_eq!(meta.text_member("traceparent").as_deref(), Some("t"));
        let revision = meta.text_member(crate::protocol::mcp::meta::REVISION);
        assert_eq!(revision.as_deref(), Some(STATELESS));
    }

    #[test]
    fn a_request_for_an_older_server_does_not_name_the_client() {
        let params = Raw::of(&serde_json::json!({ "name": "x" }));
        let with_client = WhoAsks::gateway("1").sign(Some(params.clone()));
        assert_eq!(WhoAsks::strip(Some(with_client)), Some(params));
        let traced = Raw::of(&serde_json::json!({ "_meta": { "traceparent": "t" } }));
        let with_client = WhoAsks::gateway("1").sign(Some(traced.clone()));
        assert_eq!(WhoAsks::strip(Some(with_client)), Some(traced));
    }
}
