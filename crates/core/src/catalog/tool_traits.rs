//! What calls need to know of tools, read once when the list comes and not at every call.
//!
//! Most tools have nothing to note, so most catalogs cost nothing here.

use std::collections::{HashMap, HashSet};

use crate::protocol::json::Raw;

/// The tools of one upstream of which there is something to note, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Calling them twice is like calling them once, their upstream says.
    repeatable: HashSet<String>,
    /// Their parameters that are repeated in headers: the parameter, and the header's own part.
    mirrored: HashMap<String, Vec<(String, String)>>,
    /// Calling them can make a task, their upstream says.
    tasks: HashSet<String>,
}

/// The word that marks a parameter as one that is repeated in a header.
const MARK: &str = "x-mcp-header";

impl Traits {
    pub fn of(tools: &[Raw]) -> Self {
        let mut traits = Self::default();
        for tool in tools {
            // A glance tells which tools are worth reading.
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

    /// Whether the upstream says that calling the tool twice is like calling it once.
    pub fn is_repeatable(&self, tool: &str) -> bool {
        self.repeatable.contains(tool)
    }

    /// Whether calling the tool can make a task.
    pub fn makes_tasks(&self, tool: &str) -> bool {
        self.tasks.contains(tool)
    }

    /// The parameters of a tool that are repeated in headers.
    pub fn mirrored(&self, tool: &str) -> &[(String, String)] {
        self.mirrored.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether no tool has parameters that are repeated in headers.
    pub fn mirror_nothing(&self) -> bool {
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
    fn only_what_is_said_of_a_tool_is_noted_of_it() {
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
        let traits = Traits::of(&tools.map(|tool| Raw::of(&tool)));
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
        assert!(!traits.mirror_nothing());
        assert!(Traits::default().mirror_nothing());
    }
}
