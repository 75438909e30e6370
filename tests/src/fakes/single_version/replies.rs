//! Results and errors in the format of each version.

use serde_json::{Value, json};

use evermoor_core::protocol::envelope::{Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{meta, method};
use evermoor_core::protocol::translate::task::EXTENSION;

pub fn params(request: &Request) -> Value {
    request.params.as_ref().map_or(json!({}), |params| params.read().expect("JSON"))
}

pub fn error(code: i32, why: &str) -> Outcome {
    Outcome::Error(Raw::of(&json!({ "code": code, "message": why })))
}

pub fn text(words: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": words }] })
}

/// The capabilities in every version.
pub fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": {},
        "resources": { "subscribe": true },
        "logging": {},
        "completions": {},
    })
}

pub fn discovery() -> Value {
    let mut capabilities = capabilities();
    capabilities["extensions"] = json!({ EXTENSION: {} });
    json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities })
}

/// A result with the fields that 2026-07-28 adds.
pub fn marked(called: &str, mut result: Value) -> Value {
    if result.get("resultType").is_none() {
        result["resultType"] = "complete".into();
    }
    let cached =
        called.ends_with("/list") || called == method::DISCOVER || called == method::RESOURCES_READ;
    if cached {
        result["ttlMs"] = 1000.into();
        result["cacheScope"] = "public".into();
    }
    result["_meta"][meta::SERVER] = json!({ "name": "era", "version": "2026-07-28" });
    result
}

/// The capabilities that a 2026-07-28 client declares.
pub fn client_capabilities(params: &Value) -> Value {
    params["_meta"][meta::CAPABILITIES].clone()
}
