//! The suite as a server, and an editor that speaks to it: alone, and with a gateway in between, which is
//! the client that the suite sees then.

use super::findings::Findings;
use super::suite;
use crate::peers::{folder, node};
use crate::scene::Scene;
use crate::scene::programs::built;

/// What a client is tried with: the scenarios that do not ask it to sign in.
pub const SCENARIOS: [&str; 8] = [
    "initialize",
    "tools_call",
    "sse-retry",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "sep-2322-client-request-state",
    "json-schema-2020-12-preservation",
];

/// Who speaks to the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// The editor itself, which is of the first generation of the TypeScript SDK and knows sessions alone.
    Editor,
    /// Evermoor, on behalf of that editor.
    Evermoor,
}

/// What the suite finds in one scenario.
pub async fn try_client(client: Client, scenario: &str) -> Findings {
    let scene = Scene::new();
    let (results, home, program) = (scene.path("results"), scene.home(), built("evermoor"));
    let (node, script) = (node(), folder().join("conforming.mjs"));
    // The suite gives the command to a shell.
    let command = format!("'{}' '{}'", node.display(), script.display());
    let variables: &[_] = match client {
        Client::Editor => &[],
        Client::Evermoor => &[("EVERMOOR", program.as_path()), ("EVERMOOR_HOME", home.as_path())],
    };
    let arguments = ["client", "--command", &command, "--scenario", scenario];
    let said = suite::run(&results, &arguments, variables).await;
    assert!(said.contains("Test Results:"), "the suite broke off: {said}");
    Findings::read(&results)
}
