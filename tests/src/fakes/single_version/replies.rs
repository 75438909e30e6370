//! Results and errors in the words of either era.

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

/// What an upstream offers in every revision.
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

/// A result with the marks of 2026-07-28.
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

/// What a client of 2026-07-28 says that it can do.
pub fn abilities(params: &Value) -> Value {
    params["_meta"][meta::CAPABILITIES].clone()
}
