//! Third-party servers and clients as real processes: the reference server and the inspector from
//! npm, the Python package, and rmcp.
//!
//! Whatever a server is built with, a test can call one of its tools with a nonce and count the
//! executions in a ledger.
//!
//! - [`remote`], [`child`]: a server at an address, and one that the gateway starts
//! - [`fetch_recorder`]: a ledger for a server that keeps none
//! - [`authorization`]: a server that wants a sign-in, and its authorization server
//! - [`clients`], [`client_reports`], [`rmcp_client`]: the clients
//! - [`agents`]: agents with a model that does what the test says, Linux only
//!
//! Depends on [`scene`](crate::scene), [`gateway`](crate::gateway), [`editor`](crate::editor),
//! [`oracle`](crate::oracle) and [`fakes`](crate::fakes). Used by `e2e/interop`,
//! [`interop`](crate::interop), [`conformance`](crate::conformance) and
//! [`desktop`](crate::desktop).

#[cfg(target_os = "linux")]
pub mod agents;
pub mod authorization;
#[cfg(target_os = "linux")]
mod child;
pub mod client_reports;
mod clients;
mod fetch_recorder;
mod remote;
pub mod rmcp_client;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::oracle::ledger::Ledger;
use crate::scene::programs::built;
use fetch_recorder::FetchRecorder;

#[cfg(target_os = "linux")]
pub use child::Child;
pub use clients::{inspector, python_client};
pub use remote::{Remote, free_port};

/// The maker of a server, which decides how it is started and called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// `@modelcontextprotocol/server-everything`, from npm.
    Everything,
    /// The `mcp` package, from PyPI.
    Python,
    /// The crate `rmcp`.
    Rmcp,
    /// The same, without the stateless version.
    RmcpWithSessions,
}

/// The transport of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Pipes,
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05.
    Events,
}

/// A server's command line.
pub struct PeerCommand {
    pub program: PathBuf,
    pub args: Vec<String>,
}

/// Calls a tool whose executions are recorded in a ledger.
pub struct PeerRecorder {
    ledger: Ledger,
    fetch_recorder: Option<FetchRecorder>,
}

/// The folder `tests/peers`.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn installed(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing: run `npm test` once", path.display());
    path
}

/// A Node that is recent enough for all of them.
pub fn node() -> PathBuf {
    let file = format!("node_modules/node/bin/node{}", std::env::consts::EXE_SUFFIX);
    installed(folder().join(file))
}

pub(crate) fn python() -> PathBuf {
    let windows = cfg!(windows);
    installed(folder().join(if windows { ".venv/Scripts/python.exe" } else { ".venv/bin/python" }))
}

impl Maker {
    /// How to start it. Its executions are recorded in `ledger`, by the server or by the fetch
    /// recorder.
    pub(crate) fn command_line(self, over: Over, ledger: &Ledger, port: u16) -> PeerCommand {
        let text = |path: PathBuf| path.to_str().expect("a path is text").to_owned();
        let ledger = text(ledger.path().to_owned());
        let port = port.to_string();
        match self {
            Self::Everything => {
                let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
                let mode = match over {
                    Over::Pipes => "stdio",
                    Over::StreamableHttp => "streamableHttp",
                    Over::Events => "sse",
                };
                let args = vec![text(folder().join(script)), mode.into()];
                PeerCommand { program: node(), args }
            }
            Self::Python => {
                let mode = match over {
                    Over::Pipes => "stdio",
                    Over::StreamableHttp => "streamable-http",
                    Over::Events => "sse",
                };
                let args = vec![text(folder().join("server.py")), ledger, mode.into(), port];
                PeerCommand { program: python(), args }
            }
            Self::Rmcp | Self::RmcpWithSessions => {
                let mode = match over {
                    Over::Pipes => "stdio",
                    Over::StreamableHttp => "http",
                    Over::Events => panic!("rmcp has no HTTP+SSE any more"),
                };
                let newest = if self == Self::Rmcp { "2026-07-28" } else { "2025-11-25" };
                let args = vec![ledger, mode.into(), port, newest.into()];
                PeerCommand { program: built("rmcp-server"), args }
            }
        }
    }

    /// The path at which it serves by default.
    fn path(self, over: Over) -> &'static str {
        match (self, over) {
            (Self::Python, Over::Events) => "/events",
            (_, Over::Events) => "/sse",
            (_, Over::StreamableHttp | Over::Pipes) => "/mcp",
        }
    }

    async fn recorder(self, ledger: PathBuf) -> PeerRecorder {
        let ledger = Ledger::at(ledger);
        let fetch_recorder = match self {
            Self::Everything => Some(FetchRecorder::start(ledger.clone()).await),
            Self::Python | Self::Rmcp | Self::RmcpWithSessions => None,
        };
        PeerRecorder { ledger, fetch_recorder }
    }
}

impl PeerRecorder {
    /// Calls a tool that records `nonce` in the ledger, and returns its result.
    pub async fn run(&self, editor: &mut Editor, nonce: &str) -> Value {
        let result = match &self.fetch_recorder {
            // The reference server keeps no ledger, but it has a tool that fetches a file.
            Some(fetch_recorder) => {
                let arguments = json!({ "name": nonce, "data": fetch_recorder.url(nonce), "outputType": "resource" });
                editor.call("gzip-file-as-resource", &arguments).await
            }
            None => editor.call("record", &json!({ "nonce": nonce })).await,
        };
        assert_ne!(result["isError"], true, "{result}");
        result
    }

    /// How often a call was executed.
    pub fn executions(&self, nonce: &str) -> usize {
        self.ledger.executions(nonce)
    }
}
