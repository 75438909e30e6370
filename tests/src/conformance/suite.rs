//! The process of the conformance suite.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::peers::{folder, node};
use crate::scene::programs::command;

/// Time limit for a whole run on a busy machine.
const LONGEST: Duration = Duration::from_secs(100);

/// Runs the suite to completion and returns its output. Its results are then in the folder
/// `results`.
pub(super) async fn run(results: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let mut command = suite();
    command.args(arguments).arg("-o").arg(results).envs(variables.iter().copied());
    finish(command).await
}

/// The suite's list of its scenarios for clients.
pub(super) async fn list() -> String {
    let mut command = suite();
    command.args(["list", "--client"]);
    finish(command).await
}

fn suite() -> Command {
    let mut command = command(node());
    command.arg("--import").arg(folder().join("longer_timeouts.mjs"));
    command.arg(folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command
}

async fn finish(mut command: Command) -> String {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST, command.output()).await;
    let output = output.expect("the suite ends in time").expect("the suite runs");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
