//! The suite as a server: an editor connects to it directly, or through a gateway, which is then
//! the client under test.

use super::findings::Findings;
use super::suite;
use crate::peers::{folder, node};
use crate::scene::Scene;
use crate::scene::programs::built;

/// A scenario for a client, in one of the versions of MCP that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientScenario {
    pub name: String,
    /// The version, or that it is about an extension of all of them.
    pub version: String,
}

/// What the suite calls the version of an extension.
const EXTENSION: &str = "extension";

/// Scenarios of extensions that Evermoor does not support, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    (
        "auth/enterprise-managed-authorization",
        "rmcp only exchanges an identity token; the sign-in to the company that issues it is missing",
    ),
    ("auth/dpop", "rmcp has no tokens that are bound to a key"),
    ("auth/dpop-nonce", "rmcp has no tokens that are bound to a key"),
    ("auth/wif-jwt-bearer", "rmcp has no grant for the identity of a workload"),
    ("sep-2640-client-no-prefetch", "only an editor fetches skills"),
    ("sep-2640-client-verify-digest", "only an editor fetches skills"),
    ("sep-2640-client-verify-size", "only an editor fetches skills"),
    ("sep-2640-client-verify-frontmatter", "only an editor fetches skills"),
];

/// All scenarios of the suite for clients, in each version that they apply to.
pub async fn client_scenarios() -> Vec<ClientScenario> {
    let listed = suite::list().await;
    let scenario = |line: &str| {
        let (name, versions) = line.trim().strip_prefix("- ")?.split_once(" [")?;
        let of =
            |version: &str| ClientScenario { name: name.to_owned(), version: version.to_owned() };
        Some(versions.trim_end_matches(']').split(',').map(of).collect::<Vec<_>>())
    };
    listed.lines().filter_map(scenario).flatten().collect()
}

impl ClientScenario {
    /// Whether Evermoor supports what it is about.
    pub fn is_supported(&self) -> bool {
        LEFT_OUT.iter().all(|(name, _)| *name != self.name)
    }

    /// Whether a user signs in.
    pub fn has_sign_in(&self) -> bool {
        self.name.starts_with("auth/")
    }
}

/// The client under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConformanceClient {
    /// The editor itself, built with version 1 of the TypeScript SDK, which only supports sessions.
    Editor,
    /// Evermoor, on behalf of that editor.
    Evermoor,
}

/// The suite's findings for one scenario.
pub async fn try_client(client: ConformanceClient, scenario: &ClientScenario) -> Findings {
    let scene = Scene::new();
    let (results, home, program) = (scene.path("results"), scene.home(), built("evermoor"));
    let (node, script) = (node(), folder().join("conforming.mjs"));
    // The suite runs the command in a shell.
    let command = format!("'{}' '{}'", node.display(), script.display());
    let variables: &[_] = match client {
        ConformanceClient::Editor => &[],
        ConformanceClient::Evermoor => {
            &[("EVERMOOR", program.as_path()), ("EVERMOOR_HOME", home.as_path())]
        }
    };
    let ClientScenario { name, version } = scenario;
    let mut arguments = vec!["client", "--command", &command, "--scenario", name];
    if version != EXTENSION {
        arguments.extend(["--spec-version", version]);
    }
    let said = suite::run(&results, &arguments, variables).await;
    assert!(said.contains("Test Results:"), "the suite broke off: {said}");
    Findings::read(&results)
}
