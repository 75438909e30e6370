//! The suite against a server: the server that it is pointed at, alone and behind a gateway.

use std::path::Path;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;

use super::findings::Findings;
use super::suite;
use crate::peers::{folder, node};
use crate::scene::Scene;
use crate::scene::programs::Process;

/// A set of requirements, frozen with the revision of MCP that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirements {
    Sessions,
    Stateless,
}

impl Requirements {
    /// The revision, which is how the suite calls the set.
    pub fn revision(self) -> &'static str {
        match self {
            Self::Sessions => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

/// What the server behind the gateway speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Sessions and single requests, as whoever asks it wants.
    Both,
    /// One revision alone.
    Only(ProtocolVersion),
}

impl Era {
    /// The last revision with sessions, alone.
    pub const SESSIONS: Self = Self::Only(ProtocolVersion::Session(SessionVersion::V2025_11_25));

    /// All, from the one that can do most to the one that can do least.
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
            Self::Only(spoken) => format!("a server that speaks {} alone", spoken.as_str()),
        }
    }
}

/// A server that has all that the suite asks for.
pub struct Fixture {
    _process: Process,
    pub url: String,
}

impl Fixture {
    pub async fn start(era: Era) -> Self {
        let era = match era {
            Era::Both => "both",
            Era::Only(spoken) => spoken.as_str(),
        };
        let mut process = Process::start(&node(), |command| {
            command.arg(folder().join("fixture/main.mjs")).env("PORT", "0").env("ERA", era);
        });
        let url = format!("{}/mcp", process.line().await);
        Self { _process: process, url }
    }
}

/// What the suite finds when it asks a server directly, and when it asks one through a gateway.
pub struct Comparison {
    pub direct: Findings,
    pub through: Findings,
}

impl Comparison {
    /// The server behind the gateway speaks as `era` says. The one that is asked directly can do all
    /// that can be asked of it.
    pub async fn make(requirements: Requirements, era: Era) -> Self {
        // One after the other: the suite has time limits, and two of it at once miss them.
        let direct = directly(requirements).await;
        let through = through_a_gateway(requirements, era).await;
        Self { direct, through }
    }
}

/// What the suite finds when it asks a server that can do all that can be asked of it.
pub async fn directly(requirements: Requirements) -> Findings {
    let scene = Scene::new();
    let fixture = Fixture::start(Era::Both).await;
    run(requirements, &fixture.url, &scene.path("direct")).await
}

/// What the suite finds when it asks a server that speaks as `era` says through a gateway.
pub async fn through_a_gateway(requirements: Requirements, era: Era) -> Findings {
    let scene = Scene::new();
    let fixture = Fixture::start(era).await;
    // The suite cannot send a token.
    let settings = "require_token = false";
    let gateway = scene.gateway_to(settings, "fixture", &fixture.url, "").await;
    gateway.until_connected("fixture").await;
    let url = format!("{}/mcp/fixture", gateway.origin);
    run(requirements, &url, &scene.path("through")).await
}

/// Runs the suite against `url`; the folder `results` must not be there yet.
async fn run(requirements: Requirements, url: &str, results: &Path) -> Findings {
    let arguments = ["server", "--url", url, "--requirements", requirements.revision()];
    let said = suite::run(results, &arguments, &[]).await;
    // Its status says whether all is well, its last words whether it came to an end at all.
    assert!(said.contains("=== SUMMARY ==="), "the suite broke off: {said}");
    Findings::read(results)
}
