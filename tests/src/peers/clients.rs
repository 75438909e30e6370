//! Third-party MCP clients, as editors of the gateway.

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use super::{folder, node, python};
use crate::Scene;
use crate::scene::programs::command;

/// Runs the MCP inspector's command line and returns its output. It keeps files in its home.
pub async fn inspector(scene: &Scene, arguments: &[&str]) -> String {
    let script =
        folder().join("node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js");
    let mut node = command(node());
    node.env("HOME", scene.path("inspector"));
    said_by(node, &script, arguments).await
}

/// The tools that the Python client was offered, and the result of its call.
pub async fn python_client(arguments: &[&str]) -> Value {
    report(&said_by(command(python()), &folder().join("client.py"), arguments).await)
}

fn report(said: &str) -> Value {
    serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

async fn said_by(mut command: Command, script: &Path, arguments: &[&str]) -> String {
    command.arg(script).args(arguments).kill_on_drop(true);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let output = tokio::time::timeout(crate::PATIENCE, command.output()).await;
    let output = output.expect("the client ends in time").expect("the client runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed: {said}{complained}", script.display());
    said
}
