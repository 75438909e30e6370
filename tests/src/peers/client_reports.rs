//! Third-party clients, and what each saw of a gateway with the upstream `notes`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::PATIENCE;
use crate::gateway::Gateway;
use crate::peers::{folder, node};
use crate::scene::programs::{built, command};

/// What a client saw: the tools, the answers of `notes__record` and `notes__steps`, and the
/// progress of the latter.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct ClientReport {
    pub tools: Vec<String>,
    pub said: Vec<String>,
    pub progress: Vec<u32>,
}

impl ClientReport {
    /// What every client must see.
    pub fn wanted() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            tools: names(&["notes__record", "notes__hang", "notes__mirror", "notes__steps"]),
            said: names(&["third party", "done"]),
            progress: vec![1, 2, 3],
        }
    }
}

/// A major version of the TypeScript SDK.
#[derive(Clone, Copy, Debug)]
pub enum TypeScript {
    First,
    Second,
    /// Version 2, asking first whether the server supports the newest protocol version.
    SecondNegotiating,
}

/// The TypeScript SDK over Streamable HTTP, with the editor's token.
pub async fn typescript_over_http(sdk: TypeScript, gateway: &Gateway) -> ClientReport {
    typescript(sdk, &["http", &format!("{}/mcp", gateway.origin), &gateway.token()]).await
}

/// The TypeScript SDK over `evermoor connect`.
pub async fn typescript_over_stdio(sdk: TypeScript, gateway: &Gateway) -> ClientReport {
    let program = built("evermoor");
    let home = gateway.home.to_str().expect("a scene's folder has a plain name");
    let program = program.to_str().expect("the build folder has a plain name");
    typescript(sdk, &["stdio", program, "connect", "--home", home]).await
}

async fn typescript(sdk: TypeScript, arguments: &[&str]) -> ClientReport {
    let generation = match sdk {
        TypeScript::First => "1",
        TypeScript::Second => "2",
        TypeScript::SecondNegotiating => "2-auto",
    };
    let said = said(&node(), |command| {
        command.arg(folder().join("client.mjs")).arg(generation).args(arguments);
    })
    .await;
    serde_json::from_str(&said).expect("the client prints what it saw")
}

/// Claude Code with an empty home, run with `arguments`.
pub async fn claude(home: &Path, arguments: &[&str]) -> String {
    said(&claude_program(), |command| {
        command.env("HOME", home).env("TMPDIR", home).env("PATH", "/usr/bin:/bin");
        command.current_dir(home);
        // There is no network; without this it waits for one.
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").args(arguments);
    })
    .await
}

fn claude_program() -> PathBuf {
    folder().join("node_modules/@anthropic-ai/claude-code/bin/claude.exe")
}

/// The output of a program, which must succeed.
pub(crate) async fn said(
    program: &Path,
    prepare: impl FnOnce(&mut tokio::process::Command),
) -> String {
    let mut command = command(program);
    command.stdin(std::process::Stdio::null()).kill_on_drop(true);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    prepare(&mut command);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.expect("it ends in time").expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed: {said}{complained}", program.display());
    said
}
