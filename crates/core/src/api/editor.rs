//! The status of an editor: when it was last active, and how many tools it sees.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::catalog::visibility::editor_heading;

/// An editor that has a token. The token itself is shown only once, when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct EditorStatus {
    pub name: String,
    /// When its token was created (Unix time in milliseconds); `None` if it was written by hand.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub made: Option<u64>,
    /// When it last sent a request, to the minute; `None` if not since the gateway started.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub seen: Option<u64>,
    /// Evermoor's own programs use this token, so it cannot be revoked.
    pub own: bool,
    /// How much it can see; `None` while no gateway is running.
    #[serde(default)]
    pub shown: Option<VisibleCounts>,
    /// A remark about these counts, if there is one.
    #[serde(default)]
    pub hint: Option<String>,
}

/// How many items of all upstreams an editor can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct VisibleCounts {
    pub tools: u32,
    pub prompts: u32,
    pub resources: u32,
}

impl EditorStatus {
    /// Sets the counts, and the hint that follows from them.
    pub fn with_shown(self, shown: VisibleCounts) -> Self {
        let hint = tool_budget(&self.name).filter(|budget| shown.tools > budget.most);
        let hint = hint.map(|budget| {
            format!(
                "{} uses at most {} tools. To show fewer, add lists under {} in config.toml.",
                budget.product,
                budget.most,
                editor_heading(&self.name)
            )
        });
        Self { shown: Some(shown), hint, ..self }
    }

    /// The counts as text: "sees 34 tools, 1 resource".
    pub fn sees(&self) -> Option<String> {
        let shown = self.shown?;
        let count = |amount: u32, noun: &str| match amount {
            1 => format!("1 {noun}"),
            amount => format!("{amount} {noun}s"),
        };
        let more = [(shown.prompts, "prompt"), (shown.resources, "resource")];
        let more = more.into_iter().filter(|(amount, _)| *amount > 0);
        let all = std::iter::once((shown.tools, "tool")).chain(more);
        let all: Vec<String> = all.map(|(amount, noun)| count(amount, noun)).collect();
        Some(format!("sees {}", all.join(", ")))
    }
}

/// The maximum number of tools that a product uses, where known.
struct ToolBudget {
    product: &'static str,
    most: u32,
}

/// The budget of an editor, if its name contains the name of a known product.
fn tool_budget(editor: &str) -> Option<ToolBudget> {
    const KNOWN: [(&[&str], &str, u32); 3] = [
        (&["cursor"], "Cursor", 40),
        (&["windsurf"], "Windsurf", 100),
        (&["vscode", "vs-code", "vs_code"], "VS Code", 128),
    ];
    let name = editor.to_ascii_lowercase();
    let called = |names: &[&str]| names.iter().any(|part| name.contains(part));
    let found = KNOWN.into_iter().find(|(names, _, _)| called(names));
    found.map(|(_, product, most)| ToolBudget { product, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(name: &str, tools: u32) -> EditorStatus {
        let (name, shown) = (name.to_owned(), VisibleCounts { tools, prompts: 0, resources: 1 });
        let editor =
            EditorStatus { name, made: None, seen: None, own: false, shown: None, hint: None };
        editor.with_shown(shown)
    }

    #[test]
    fn an_editor_says_how_much_it_sees() {
        assert_eq!(editor("zed", 34).sees().unwrap(), "sees 34 tools, 1 resource");
    }

    #[test]
    fn an_editor_that_sees_more_tools_than_it_can_use_has_a_hint() {
        let hint = |name, tools| editor(name, tools).hint;
        assert_eq!(hint("cursor", 40), None);
        assert_eq!(
            hint("my-Cursor", 41).unwrap(),
            "Cursor uses at most 40 tools. To show fewer, add lists under [editors.my-Cursor] in config.toml."
        );
        assert_eq!((hint("vscode", 128), hint("zed", 500)), (None, None));
        assert!(hint("vscode", 129).is_some() && hint("windsurf", 101).is_some());
    }
}
