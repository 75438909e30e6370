//! The suite tests a server, alone and behind a gateway.

use std::path::Path;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;

use super::findings::Findings;
use super::suite;
use crate::peers::{folder, node};
use crate::scene::Scene;
use crate::scene::programs::Process;

/// A set of requirements, frozen with its MCP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirements {
    Sessions,
    Stateless,
}

impl Requirements {
    /// The protocol version, which is also the suite's name for the set.
    pub fn revision(self) -> &'static str {
        match self {
            Self::Sessions => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

/// What the server behind the gateway speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerVersions {
    /// Sessions and stateless requests, depending on the client.
    Both,
    /// One protocol version only.
    Only(ProtocolVersion),
}

impl ServerVersions {
    /// Only the last version with sessions.
    pub const SESSIONS: Self = Self::Only(ProtocolVersion::Session(SessionVersion::V2025_11_25));

    /// All, from the most to the least capable.
    pub const ALL: [Self; 6] = [
        Self::Both,
        Self::Only(ProtocolVersion::Stateless),
        Self::Only(ProtocolVersion::Session(SessionVersion::V2025_11_25)),
        Self::Only(ProtocolVersion::Session(SessionVersion::V2025_06_18)),
        Self::Only(ProtocolVersion::Session(SessionVersion::V2025_03_26)),
        Self::Only(ProtocolVersion::Session(SessionVersion::V2024_11_05)),
    ];

    pub fn described(self) -> String {
        match self {
            Self::Both => "a server that speaks as the suite does".to_owned(),
            Self::Only(protocol_version) => {
                format!("a server that speaks {} alone", protocol_version.as_str())
            }
        }
    }
}

/// A server with everything that the suite asks for.
pub struct ConformanceServer {
    _process: Process,
    pub url: String,
}

impl ConformanceServer {
    pub async fn start(versions: ServerVersions) -> Self {
        let versions = match versions {
            ServerVersions::Both => "both",
            ServerVersions::Only(protocol_version) => protocol_version.as_str(),
        };
        let mut process = Process::start(&node(), |command| {
            command
                .arg(folder().join("fixture/main.mjs"))
                .env("PORT", "0")
                .env("VERSIONS", versions);
        });
        let url = format!("{}/mcp", process.line().await);
        Self { _process: process, url }
    }
}

/// The suite's findings for a server tested directly and for one tested through a gateway.
pub struct Comparison {
    pub direct: Findings,
    pub through: Findings,
}

impl Comparison {
    /// `versions` says what the server behind the gateway speaks. The server that is tested directly
    /// supports everything.
    pub async fn make(requirements: Requirements, versions: ServerVersions) -> Self {
        // One after the other: two concurrent runs miss the suite's time limits.
        let direct = directly(requirements).await;
        let through = through_a_gateway(requirements, versions).await;
        Self { direct, through }
    }
}

/// The suite's findings for a server that supports everything, tested directly.
pub async fn directly(requirements: Requirements) -> Findings {
    let scene = Scene::new();
    let fixture = ConformanceServer::start(ServerVersions::Both).await;
    run(requirements, &fixture.url, &scene.path("direct")).await
}

/// The suite's findings for a server that speaks `versions`, tested through a gateway.
pub async fn through_a_gateway(requirements: Requirements, versions: ServerVersions) -> Findings {
    let scene = Scene::new();
    let fixture = ConformanceServer::start(versions).await;
    // The suite cannot send a token.
    let settings = "require_token = false";
    let gateway = scene.gateway_to(settings, "fixture", &fixture.url, "").await;
    gateway.until_connected("fixture").await;
    let url = format!("{}/mcp/fixture", gateway.origin);
    run(requirements, &url, &scene.path("through")).await
}

/// Runs the suite against `url`. The folder `results` must not exist yet.
async fn run(requirements: Requirements, url: &str, results: &Path) -> Findings {
    let arguments = ["server", "--url", url, "--requirements", requirements.revision()];
    let said = suite::run(results, &arguments, &[]).await;
    // The exit status says whether all checks passed; the summary says whether the run completed.
    assert!(said.contains("=== SUMMARY ==="), "the suite broke off: {said}");
    Findings::read(results)
}
