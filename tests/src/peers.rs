//! Programs of other people that speak MCP, installed from npm into `tests/peers`.

use std::path::PathBuf;

use crate::programs::Process;

/// The folder of the peers, with what we wrote for them.
pub(crate) fn peers() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers")
}

pub(crate) fn folder() -> PathBuf {
    peers().join("node_modules")
}

/// A Node that is new enough for all of them.
pub(crate) fn node() -> PathBuf {
    let node = folder().join("node/bin/node");
    assert!(node.exists(), "the peers are not installed: run `npm ci --prefix tests/peers`");
    node
}

/// How to start the reference server over its pipes: the program, and its script.
pub fn server_everything_command() -> (PathBuf, PathBuf) {
    (node(), folder().join("@modelcontextprotocol/server-everything/dist/index.js"))
}

/// The reference server that exercises all of MCP, over Streamable HTTP on `port`.
pub fn server_everything(port: u16) -> Process {
    Process::start(&node(), |command| {
        let script = folder().join("@modelcontextprotocol/server-everything/dist/index.js");
        command.arg(script).arg("streamableHttp").env("PORT", port.to_string());
    })
}

/// Runs the MCP inspector's command line and returns what it printed.
pub async fn inspector(arguments: &[&str]) -> String {
    let script = folder().join("@modelcontextprotocol/inspector/clients/cli/build/index.js");
    let mut command = evermoor_platform::process::command(node());
    command.arg(script).args(arguments).kill_on_drop(true);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let output = tokio::time::timeout(crate::PATIENCE, command.output()).await;
    let output = output.expect("the inspector ends in time").expect("the inspector runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the inspector failed: {said}{complained}");
    said
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it listens").port()
}
