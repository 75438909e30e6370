//! How the gateway introduces itself to an editor, in the words of either era.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{Handshake, Revision, STATELESS, gateway_info, initialize_result, meta};

use super::task;
use crate::protocol::version::Spoken;

/// Who the editor speaks to, and what it may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introduction {
    /// Whose words the capabilities are in.
    spoken: Spoken,
    capabilities: Raw,
    server_info: Raw,
    instructions: Option<String>,
}

/// How long an editor of the newer revision may believe what it is told of upstreams that can
/// change at any time: not at all.
const TTL: u64 = 0;

impl Introduction {
    /// One upstream, as it introduced itself in the words of its revision. The gateway sees itself
    /// whether lists change.
    pub fn of_upstream(handshake: &Handshake, spoken: Spoken) -> Self {
        let mut capabilities = handshake.capabilities.clone();
        for list in ["tools", "prompts", "resources"] {
            if let Some(offered) = capabilities.member(list) {
                capabilities =
                    capabilities.with(list, &offered.with("listChanged", &Raw::of(&true)));
            }
        }
        Self {
            spoken,
            capabilities,
            server_info: handshake.server_info.clone(),
            instructions: handshake.instructions.clone(),
        }
    }

    /// All upstreams in one, each with the title under which a person knows it.
    pub fn of_gateway(version: &str, upstreams: &[(&str, &Handshake)]) -> Self {
        let offered = |name: &str| upstreams.iter().any(|(_, handshake)| handshake.offers(name));
        let subscribable = upstreams.iter().any(|(_, handshake)| handshake.tells_of_resources());
        let mut capabilities = serde_json::json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": subscribable },
        });
        for extra in ["completions", "logging"] {
            if offered(extra) {
                capabilities[extra] = serde_json::json!({});
            }
        }
        let instructions: Vec<String> = upstreams
            .iter()
            .filter_map(|(title, handshake)| {
                let said = handshake.instructions.as_deref()?.trim();
                (!said.is_empty()).then(|| format!("# {title}\n\n{said}"))
            })
            .collect();
        Self {
            spoken: Spoken::Session(Revision::LATEST),
            capabilities: Raw::of(&capabilities),
            server_info: gateway_info(version),
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
        }
    }

    pub fn server_info(&self) -> &Raw {
        &self.server_info
    }

    /// The result of `initialize`.
    pub fn handshake(&self, revision: Revision) -> Raw {
        let instructions = self.instructions.as_deref();
        let capabilities =
            task::introduced(&self.capabilities, self.spoken, Spoken::Session(revision));
        initialize_result(revision, &capabilities, &self.server_info, instructions)
    }

    /// The result of `server/discover`.
    pub fn discovery(&self) -> Raw {
        let mut result = serde_json::json!({
            "resultType": "complete",
            "supportedVersions": supported(),
            "ttlMs": TTL,
            "cacheScope": "private",
        });
        if let Some(instructions) = &self.instructions {
            result["instructions"] = instructions.clone().into();
        }
        let said = Raw::of(&serde_json::json!({})).with(meta::SERVER, &self.server_info);
        let capabilities = task::introduced(&self.capabilities, self.spoken, Spoken::Stateless);
        Raw::of(&result).with("capabilities", &capabilities).with("_meta", &said)
    }
}

/// Every revision that the gateway speaks, the newest first.
pub fn supported() -> Vec<&'static str> {
    let sessions = Revision::ALL.into_iter().rev().map(Revision::as_str);
    std::iter::once(STATELESS).chain(sessions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Spoken = Spoken::Session(Revision::V2025_06_18);

    fn handshake(capabilities: serde_json::Value, instructions: Option<&str>) -> Handshake {
        let result = serde_json::json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "serverInfo": { "name": "s", "version": "1" },
        });
        let mut handshake = Handshake::read(&Raw::of(&result)).unwrap();
        handshake.instructions = instructions.map(str::to_owned);
        handshake
    }

    #[test]
    fn one_upstream_is_shown_as_it_is_and_its_changes_are_told() {
        let one = handshake(serde_json::json!({ "tools": {}, "x": { "y": 1 } }), Some("Use it."));
        let shown = Introduction::of_upstream(&one, OLD).handshake(Revision::V2025_03_26);
        assert_eq!(
            shown.as_str(),
            r#"{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true},"x":{"y":1}},"serverInfo":{"name":"s","version":"1"},"instructions":"Use it."}"#
        );
    }

    #[test]
    fn instructions_of_all_are_told_apart_by_their_titles() {
        let (a, b) = (
            handshake(serde_json::json!({}), Some("A.\n")),
            handshake(serde_json::json!({ "logging": {} }), None),
        );
        let shown = Introduction::of_gateway("1", &[("Notes", &a), ("Files", &b)]);
        let result: serde_json::Value = shown.handshake(Revision::LATEST).read().unwrap();
        assert_eq!(result["instructions"], "# Notes\n\nA.");
        assert_eq!(result["capabilities"]["logging"], serde_json::json!({}));
        assert_eq!(result["capabilities"]["completions"], serde_json::Value::Null);
    }

    #[test]
    fn a_discovery_names_every_revision_and_who_answers() {
        let one = handshake(serde_json::json!({ "tools": {}, "tasks": {} }), None);
        let result: serde_json::Value =
            Introduction::of_upstream(&one, OLD).discovery().read().unwrap();
        assert_eq!(result["supportedVersions"][0], "2026-07-28");
        assert_eq!(result["capabilities"]["tasks"], serde_json::Value::Null);
        assert_eq!(result["_meta"][meta::SERVER]["name"], "s");
    }
}
