//! The suite as a server: an editor connects to it directly, or through a gateway, which is then
//! the client under test.

use super::findings::Findings;
use super::suite;
use crate::peers::{folder, node};
use crate::scene::Scene;
use crate::scene::programs::built;

/// The client scenarios that need no sign-in.
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

/// The client under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// The editor itself, built with version 1 of the TypeScript SDK, which only supports sessions.
    Editor,
    /// Evermoor, on behalf of that editor.
    Evermoor,
}

/// The suite's findings for one scenario.
pub async fn try_client(client: Client, scenario: &str) -> Findings {
    let scene = Scene::new();
    let (results, home, program) = (scene.path("results"), scene.home(), built("evermoor"));
    let (node, script) = (node(), folder().join("conforming.mjs"));
    // The suite runs the command in a shell.
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
