//! The prompts and resources of a stocked fake upstream, and its lists in pages.
//!
//! Half of the items are public and half are secret. Every request for one is recorded in the
//! ledger.

use serde_json::{Value, json};

use evermoor_core::catalog::ListKind;
use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::Fake;

const NAMES: [&str; 4] = ["public_one", "public_two", "secret_one", "secret_two"];

pub(super) fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {} })
}

impl Fake {
    /// The result of a request for a prompt or resource, if it exists.
    pub(super) fn stocked_result(&self, request: &Request) -> Option<Raw> {
        let page = self.orders.stock()?;
        if let Some(list) = ListKind::from_method(&request.method) {
            return Some(self.page(list, page, request));
        }
        let params = request.params.as_ref()?;
        let wanted = |key: &str| params.text_member(key).unwrap_or_default();
        let result = match request.method.as_str() {
            method::PROMPTS_GET => {
                self.execute(&format!("prompt {}", wanted("name")));
                json!({ "messages": [] })
            }
            method::SUBSCRIBE | method::UNSUBSCRIBE => {
                self.execute(&format!("{} {}", request.method, wanted("uri")));
                json!({})
            }
            method::COMPLETE => {
                self.execute(&format!("complete {}", params.member("ref")?.as_str()));
                json!({ "completion": { "values": ["done"] } })
            }
            _ => return None,
        };
        Some(Raw::of(&result))
    }

    fn page(&self, list: ListKind, page: usize, request: &Request) -> Raw {
        let named = |form: fn(&str) -> String| -> Vec<Value> {
            NAMES.map(|name| json!({ list.key(): form(name), "name": name })).to_vec()
        };
        let items = match list {
            ListKind::Tools => self.tool_list(),
            ListKind::Prompts => named(|name| name.to_owned()),
            ListKind::Resources => named(|name| format!("shelf://{name}")),
            ListKind::Templates => named(|name| format!("shelf://{name}/{{page}}")),
        };
        let cursor = request.params.as_ref().and_then(|params| params.text_member("cursor"));
        let from: usize = cursor.map_or(0, |cursor| cursor.parse().expect("a cursor of ours"));
        let some: Vec<&Value> = items.iter().skip(from).take(page).collect();
        let mut result = json!({ list.member(): some, "_meta": { "from": from } });
        if from + page < items.len() {
            result["nextCursor"] = (from + page).to_string().into();
        }
        Raw::of(&result)
    }
}
