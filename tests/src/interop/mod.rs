//! The repertoire: the same server and the same editor built with each SDK, see `peers/repertoire`.
//!
//! [`RepertoireServer`] starts a server, [`look`] runs an editor against it and returns what the editor saw.
//! [`rust`] is the editor built with rmcp; the others are programs in `peers/repertoire`.
//!
//! Depends on [`scene`](crate::scene), [`gateway`](crate::gateway), [`oracle`](crate::oracle) and
//! [`peers`](crate::peers). Used by `e2e/interop`.

mod rust;

use std::path::PathBuf;

use serde::Deserialize;

use crate::Scene;
use crate::gateway::Gateway;
use crate::oracle::ledger::Ledger;
use crate::peers::client_reports::said;
use crate::peers::{folder, free_port, node, python};
use crate::scene::entry;
use crate::scene::programs::{Process, built};

/// The SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sdk {
    /// Version 1 of the TypeScript SDK, which only supports sessions.
    FirstTypeScript,
    /// Version 2 of the TypeScript SDK.
    SecondTypeScript,
    /// The Python package `mcp`.
    Python,
    /// rmcp.
    Rust,
}

/// How an editor reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditorRoute {
    Http,
    Shim,
}

/// What the editor saw.
#[derive(Debug, PartialEq, Deserialize)]
pub struct RepertoireReport {
    pub tools: Vec<String>,
    pub prompts: Vec<String>,
    pub resources: Vec<String>,
    pub read: String,
    pub prompt: String,
    pub completed: Vec<String>,
    pub called: String,
    pub progress: Vec<f64>,
    /// Only if the server declares logging, or if the call itself sets the level.
    pub logged: Option<String>,
    pub updated: String,
    pub sampled: String,
    pub asked: String,
    pub roots: String,
    pub cancelled: bool,
}

impl RepertoireReport {
    /// What every editor must see of every server.
    pub fn wanted(nonce: &str) -> Self {
        let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            tools: all(&[
                "ask", "echo", "log", "release", "roots", "sample", "steps", "touch", "wait",
            ]),
            prompts: all(&["greet"]),
            resources: all(&["note://1"]),
            read: "a note".into(),
            prompt: "Hello, Ada!".into(),
            completed: all(&["Ada"]),
            called: nonce.into(),
            progress: vec![1.0, 2.0, 3.0],
            logged: Some("told".into()),
            updated: "note://1".into(),
            sampled: "Something.".into(),
            asked: "Ada".into(),
            roots: "file:///here".into(),
            cancelled: true,
        }
    }
}

/// A server with the repertoire, at an address.
pub struct RepertoireServer {
    pub ledger: Ledger,
    url: String,
    _process: Process,
}

impl RepertoireServer {
    pub fn start(scene: &Scene, sdk: Sdk) -> Self {
        let ledger = Ledger::at(scene.path("repertoire.ledger"));
        let port = free_port();
        let script = |name: &str| vec![folder().join("repertoire").join(name)];
        let (program, script): (PathBuf, Vec<PathBuf>) = match sdk {
            Sdk::FirstTypeScript => (node(), script("server_sdk_v1.mjs")),
            Sdk::SecondTypeScript => (node(), script("server_sdk_v2.mjs")),
            Sdk::Python => (python(), script("server.py")),
            Sdk::Rust => (built("rmcp-repertoire"), Vec::new()),
        };
        let process = Process::start(&program, |command| {
            // It warns about features that the newest version deprecates and that this test uses on
            // purpose.
            command.env("PYTHONWARNINGS", "ignore");
            command.args(script).arg(ledger.path()).arg(port.to_string());
        });
        Self { ledger, url: format!("http://127.0.0.1:{port}/mcp"), _process: process }
    }

    /// Its configuration entry.
    pub fn entry(&self) -> String {
        entry::at("peer", &self.url)
    }
}

/// Runs the repertoire against the gateway's server `peer`.
pub async fn look(
    sdk: Sdk,
    route: EditorRoute,
    gateway: &Gateway,
    nonce: &str,
) -> RepertoireReport {
    let url = format!("{}/mcp/peer", gateway.origin);
    let generation = match sdk {
        Sdk::FirstTypeScript => "1",
        Sdk::SecondTypeScript => "2",
        Sdk::Python => "",
        Sdk::Rust => return rust::look(route, gateway, &url, nonce).await,
    };
    let (program, script) = match sdk {
        Sdk::Python => (python(), "editor.py"),
        Sdk::FirstTypeScript | Sdk::SecondTypeScript | Sdk::Rust => (node(), "editor.mjs"),
    };
    let said = said(&program, |command| {
        command.env("PYTHONWARNINGS", "ignore").arg(folder().join("repertoire").join(script));
        command.args(Some(generation).filter(|generation| !generation.is_empty())).arg(nonce);
        match route {
            EditorRoute::Http => command.args(["http", &url, &gateway.token()]),
            EditorRoute::Shim => {
                command.arg("stdio").arg(built("evermoor")).args(["connect", "peer", "--home"]);
                command.arg(&gateway.home)
            }
        };
    })
    .await;
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}
