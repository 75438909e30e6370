//! Who asks, as each request of 2026-07-28 says it, because there is no handshake.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{Program, STATELESS, gateway_info, meta};

use super::client_capabilities::Abilities;
use super::task;

/// Who asks, as each request of 2026-07-28 says it.
#[derive(Clone, Debug)]
pub struct WhoAsks(Vec<(&'static str, Raw)>);

impl WhoAsks {
    /// The gateway itself.
    pub fn gateway(version: &str) -> Self {
        Self::new(&gateway_info(version), &Raw::of(&serde_json::json!({})))
    }

    /// An editor that shook hands and can do this much.
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

    /// The same, wanting to hear log messages from `level` on.
    pub fn hearing(mut self, level: &str) -> Self {
        self.0.push((meta::LOG_LEVEL, Raw::of(level)));
        self
    }

    /// The same, able to follow tasks.
    pub fn following_tasks(mut self) -> Self {
        for (_, said) in self.0.iter_mut().filter(|(key, _)| *key == meta::CAPABILITIES) {
            *said = task::declared(said);
        }
        self
    }

    /// The same parameters with who asks in their `_meta`. What was there stays.
    pub fn sign(&self, params: Option<Raw>) -> Raw {
        let params = params.unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let meta = params.member("_meta").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let meta = self.0.iter().fold(meta, |meta, (key, value)| meta.with(key, value));
        params.with("_meta", &meta)
    }

    /// The parameters as a server of the older revisions knows them, without who asks and what it
    /// brings with a second call.
    pub fn strip(params: Option<Raw>) -> Option<Raw> {
        let params = params?.without(&["inputResponses", "requestState"]);
        let Some(said) = params.member("_meta") else { return Some(params) };
        let keys = [meta::REVISION, meta::CLIENT, meta::CAPABILITIES, meta::LOG_LEVEL];
        let rest = said.without(&keys);
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
    fn a_signed_request_says_who_asks_and_keeps_what_it_carried() {
        let params = Raw::of(&serde_json::json!({ "name": "x", "_meta": { "traceparent": "t" } }));
        let meta = WhoAsks::gateway("1").sign(Some(params)).member("_meta").unwrap();
        assert_eq!(meta.text_member("traceparent").as_deref(), Some("t"));
        let revision = meta.text_member(crate::protocol::mcp::meta::REVISION);
        assert_eq!(revision.as_deref(), Some(STATELESS));
    }

    #[test]
    fn a_request_for_an_older_server_says_nothing_of_who_asks() {
        let params = Raw::of(&serde_json::json!({ "name": "x" }));
        let signed = WhoAsks::gateway("1").sign(Some(params.clone()));
        assert_eq!(WhoAsks::strip(Some(signed)), Some(params));
        let traced = Raw::of(&serde_json::json!({ "_meta": { "traceparent": "t" } }));
        let signed = WhoAsks::gateway("1").sign(Some(traced.clone()));
        assert_eq!(WhoAsks::strip(Some(signed)), Some(traced));
    }
}
