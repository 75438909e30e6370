//! How an editor's own program is asked whether it can use an entry, and what its answer means.

use crate::format::tree::Tree;

/// The command that asks an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfCheck {
    /// The arguments of its program. `$NAME` stands for the name of the entry.
    run: Vec<String>,
    /// What it needs in its environment.
    pub variables: Vec<(String, String)>,
    /// What it prints if it can use the entry. `$NAME` stands for the name of the entry.
    good: String,
    /// What it prints if it cannot.
    bad: Option<String>,
    /// It prints one line for each server.
    list: bool,
    /// It connects, rather than only reading the entry.
    connects: bool,
}

/// What an editor says about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfCheckResult {
    /// It connected with the entry.
    Connects,
    /// It read the entry. It did not try to connect.
    Reads,
    /// It cannot use the entry.
    Fails,
    /// It did not answer in time, or its answer is not understood.
    Unclear,
}

impl SelfCheck {
    pub(super) fn read(row: &Tree) -> Self {
        let text = |name: &str| row.get(name).and_then(Tree::as_text).map(str::to_owned);
        let words = row.get("run").and_then(Tree::as_list).unwrap_or_default();
        let variables = row.get("variables").and_then(Tree::as_map).unwrap_or_default();
        let pair = |(name, value): &(String, Tree)| Some((name.clone(), value.to_plain()?));
        let (good, reads) = (text("good"), text("reads"));
        Self {
            run: words.iter().filter_map(Tree::as_text).map(str::to_owned).collect(),
            variables: variables.iter().filter_map(pair).collect(),
            connects: good.is_some(),
            good: good.or(reads).expect("a check knows what the editor prints"),
            bad: text("bad"),
            list: row.get("list") == Some(&Tree::Bool(true)),
        }
    }

    /// The arguments for an entry.
    pub fn arguments(&self, name: &str) -> Vec<String> {
        self.run.iter().map(|word| word.replace("$NAME", name)).collect()
    }

    /// What the output for an entry means. In a list, only the lines with its name count.
    pub fn judge(&self, name: &str, output: &str) -> SelfCheckResult {
        let counts = |line: &&str| !self.list || line.contains(name);
        let says = |text: &str| output.lines().filter(counts).any(|line| line.contains(text));
        let good = says(&self.good.replace("$NAME", name));
        match (self.bad.as_deref().is_some_and(says), good, self.connects) {
            (true, _, _) => SelfCheckResult::Fails,
            (false, true, true) => SelfCheckResult::Connects,
            (false, true, false) => SelfCheckResult::Reads,
            (false, false, _) => SelfCheckResult::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{client, clients};

    fn judge(id: &str, output: &str) -> SelfCheckResult {
        client(id).unwrap().check.as_ref().unwrap().judge("evermoor", output)
    }

    #[test]
    fn what_editors_print_is_understood() {
        for (id, output, means) in [
            ("claude-code", "evermoor:\n  Status: ✔ Connected\n", SelfCheckResult::Connects),
            ("claude-code", "evermoor:\n  Status: ✘ Failed to connect\n", SelfCheckResult::Fails),
            ("codex", "evermoor\n  enabled: true\n  transport: stdio\n", SelfCheckResult::Reads),
            ("gemini-cli", "✓ evermoor: x (stdio) - Connected\n", SelfCheckResult::Connects),
            ("gemini-cli", "✗ evermoor: x (stdio) - Disconnected\n", SelfCheckResult::Fails),
            ("gemini-cli", "○ evermoor: x (stdio) - Disabled\n", SelfCheckResult::Unclear),
            ("opencode", "●  ✓ evermoor \u{1b}[90mconnected\n", SelfCheckResult::Connects),
            ("opencode", "●  ✗ evermoor \u{1b}[90mfailed\n", SelfCheckResult::Fails),
            ("copilot-cli", "evermoor\n  Status: Enabled\n", SelfCheckResult::Reads),
            ("grok", "      \"healthy\": true\n", SelfCheckResult::Connects),
            ("grok", "      \"healthy\": false\n", SelfCheckResult::Fails),
            ("mcporter", "  \"status\": \"ok\",\n", SelfCheckResult::Connects),
            ("mcporter", "  \"status\": \"offline\",\n", SelfCheckResult::Fails),
            ("droid", "  evermoor (stdio)\n", SelfCheckResult::Reads),
            ("droid", "  other (stdio)\n", SelfCheckResult::Unclear),
            (
                "hermes",
                "  ✓ Connected (42ms)\n  ✓ Tools discovered: 3\n",
                SelfCheckResult::Connects,
            ),
            ("hermes", "  ✗ Connection failed (42ms): refused\n", SelfCheckResult::Fails),
            ("claude-code", "", SelfCheckResult::Unclear),
        ] {
            assert_eq!(judge(id, output), means, "{id}: {output}");
        }
    }

    #[test]
    fn the_servers_of_others_in_a_list_do_not_count() {
        let output = "✗ other: x - Disconnected\n✓ evermoor: y - Connected\n";
        assert_eq!(judge("gemini-cli", output), SelfCheckResult::Connects);
        assert_eq!(judge("gemini-cli", "✓ other: x - Connected\n"), SelfCheckResult::Unclear);
    }

    #[test]
    fn a_check_names_the_entry_and_runs_a_program_of_the_editor() {
        let checks = clients().iter().filter_map(|client| Some((client, client.check.as_ref()?)));
        for (client, check) in checks {
            assert!(!client.programs.is_empty(), "{}", client.id);
            let named = check.arguments("notes").iter().any(|word| word == "notes");
            assert!(named || check.list, "{}", client.id);
        }
    }
}
