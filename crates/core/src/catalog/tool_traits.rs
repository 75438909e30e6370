//! What the gateway must know about tools before a call, read once when the list arrives.
//!
//! Most tools have no such traits, so most catalogs need no memory here.

use std::collections::{HashMap, HashSet};

use crate::protocol::json::Raw;

/// The tools of one upstream that have traits, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolTraits {
    /// The upstream declares them read-only or idempotent.
    repeatable: HashSet<String>,
    /// Parameters that are also sent as headers: the parameter and the header name's suffix.
    mirrored: HashMap<String, Vec<(String, String)>>,
    /// The upstream declares that a call can create a task.
    tasks: HashSet<String>,
}

/// The schema keyword that marks a parameter to be sent as a header as well.
pub(super) const MARK: &str = "x-mcp-header";

impl ToolTraits {
    pub fn of(tools: &[Raw]) -> Self {
        let mut traits = Self::default();
        for tool in tools {
            // A substring search avoids parsing most tools.
            let hinted = tool.as_str().contains("Hint\"");
            let marked = tool.as_str().contains(MARK);
            let lasting = tool.as_str().contains("taskSupport");
            if !hinted && !marked && !lasting {
                continue;
            }
            let Some(name) = tool.text_member("name") else { continue };
            if hinted && is_repeatable(tool) {
                traits.repeatable.insert(name.clone());
            }
            if lasting && makes_tasks(tool) {
                traits.tasks.insert(name.clone());
            }
            let parameters = if marked { marked_parameters(tool) } else { Vec::new() };
            if !parameters.is_empty() {
                traits.mirrored.insert(name, parameters);
            }
        }
        traits
    }

    /// Whether the upstream declares the tool read-only or idempotent.
    pub fn is_repeatable(&self, tool: &str) -> bool {
        self.repeatable.contains(tool)
    }

    /// Whether a call of the tool can create a task.
    pub fn makes_tasks(&self, tool: &str) -> bool {
        self.tasks.contains(tool)
    }

    /// The parameters of a tool that are also sent as headers.
    pub fn mirrored(&self, tool: &str) -> &[(String, String)] {
        self.mirrored.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether no tool has such parameters.
    pub fn has_no_header_parameters(&self) -> bool {
        self.mirrored.is_empty()
    }
}

fn is_repeatable(tool: &Raw) -> bool {
    let hints = tool.member("annotations");
    let hint = |key| hints.as_ref()?.member(key);
    ["readOnlyHint", "idempotentHint"]
        .iter()
        .any(|key| hint(key).is_some_and(|flag| flag.as_str() == "true"))
}

fn makes_tasks(tool: &Raw) -> bool {
    let support =
        tool.member("execution").and_then(|execution| execution.text_member("taskSupport"));
    matches!(support.as_deref(), Some("optional" | "required"))
}

fn marked_parameters(tool: &Raw) -> Vec<(String, String)> {
    let properties = || tool.member("inputSchema")?.member("properties")?.entries();
    let marked = |(parameter, schema): (String, Raw)| Some((parameter, schema.text_member(MARK)?));
    properties().unwrap_or_default().into_iter().filter_map(marked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_come_only_from_the_members_that_declare_them() {
        let tools = [
            serde_json::json!({ "name": "plain" }),
            serde_json::json!({ "name": "read", "annotations": { "readOnlyHint": true } }),
            serde_json::json!({ "name": "write", "annotations": { "readOnlyHint": false } }),
            serde_json::json!({ "name": "far", "inputSchema": { "properties": {
                "region": { "x-mcp-header": "Region" }, "unit": {},
            } } }),
            serde_json::json!({ "name": "slow", "execution": { "taskSupport": "required" } }),
            serde_json::json!({ "name": "quick", "execution": { "taskSupport": "forbidden" } }),
            serde_json::json!({ "name": "liar", "description": "x-mcp-header \"readOnlyHint\"" }),
        ];
        let traits = ToolTraits::of(&tools.map(|tool| Raw::of(&tool)));
        assert!(traits.is_repeatable("read"));
        for other in ["plain", "write", "far", "liar", "unknown"] {
            assert!(!traits.is_repeatable(other), "{other}");
        }
        assert_eq!(traits.mirrored("far"), [("region".to_owned(), "Region".to_owned())]);
        for other in ["plain", "read", "write", "liar", "unknown"] {
            assert_eq!(traits.mirrored(other), [], "{other}");
        }
        assert!(traits.makes_tasks("slow"));
        for other in ["plain", "quick", "liar", "unknown"] {
            assert!(!traits.makes_tasks(other), "{other}");
        }
        assert!(!traits.has_no_header_parameters());
        assert!(ToolTraits::default().has_no_header_parameters());
    }
}
