//! The conformance suite of MCP: the server it is pointed at, a run of it, and what it found.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;

use crate::peers::{folder, node};
use crate::programs::Process;
use crate::scene::Scene;

/// How long a whole run may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(100);

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

/// What the suite says of one check. When a check is made several times, the worst counts, so the
/// order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    Info,
    Skipped,
    Success,
    Warning,
    Failure,
}

#[derive(Deserialize)]
struct Check {
    id: String,
    status: Verdict,
    #[serde(rename = "errorMessage")]
    complaint: Option<String>,
}

/// What one run found, by `scenario check`.
#[derive(Debug, Default)]
pub struct Findings {
    verdicts: BTreeMap<String, Verdict>,
    complaints: BTreeMap<String, String>,
}

impl Findings {
    pub fn passed(&self) -> impl Iterator<Item = &str> {
        let passed = self.verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::Success);
        passed.map(|(name, _)| name.as_str())
    }

    pub fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.verdicts.iter().filter(|(_, verdict)| **verdict > Verdict::Success);
        failed.map(|(name, _)| name.as_str())
    }

    /// How many checks passed, of how many that were made.
    pub fn count(&self) -> String {
        let made = self.verdicts.values().filter(|verdict| **verdict >= Verdict::Success).count();
        format!("{} of {made} checks pass", self.passed().count())
    }

    /// The checks that pass here and not there, each with what the suite said of it there. One that
    /// was not made there counts as not passed: what it needed had failed.
    pub fn lost_in(&self, there: &Self) -> BTreeMap<&str, String> {
        let lost =
            self.passed().filter(|name| there.verdicts.get(*name) != Some(&Verdict::Success));
        let said = |name: &str| match (there.verdicts.get(name), there.complaints.get(name)) {
            (Some(verdict), complaint) => {
                format!("{verdict:?} {}", complaint.map_or("", String::as_str))
            }
            (None, _) => "not made".to_owned(),
        };
        lost.map(|name| (name, said(name))).collect()
    }

    fn read(results: &Path) -> Self {
        let mut findings = Self::default();
        for entry in std::fs::read_dir(results).expect("the suite wrote results").flatten() {
            let folder = entry.file_name().into_string().expect("a plain name");
            // A scenario that the suite itself stumbled over leaves an empty folder.
            let content = std::fs::read(entry.path().join("checks.json"));
            let content = content.unwrap_or_else(|_| b"[]".to_vec());
            let checks: Vec<Check> = serde_json::from_slice(&content).expect("checks are JSON");
            for check in checks {
                findings.note(scenario(&folder), check);
            }
        }
        findings
    }

    fn note(&mut self, scenario: &str, check: Check) {
        let name = format!("{scenario} {}", check.id);
        let verdict = self.verdicts.entry(name.clone()).or_insert(check.status);
        if check.status >= *verdict {
            *verdict = check.status;
            let first = |complaint: String| complaint.lines().next().unwrap_or_default().to_owned();
            self.complaints.extend(check.complaint.map(first).map(|complaint| (name, complaint)));
        }
    }
}

/// The scenario that a folder of results is about: `server-<scenario>-<time>`.
fn scenario(folder: &str) -> &str {
    const TIME: usize = "-2026-07-28T00-00-00-000Z".len();
    let end = folder.len().checked_sub(TIME).expect("a folder ends with a time");
    folder[..end].strip_prefix("server-").expect("the suite was run against a server")
}

/// A way of speaking to the server that the suite is pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// It understands sessions and single requests.
    Both,
    /// It knows `initialize` alone.
    Legacy,
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
            Era::Legacy => "legacy",
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
        let scene = Scene::new();
        let (alone, behind) = tokio::join!(Fixture::start(Era::Both), Fixture::start(era));
        // The suite cannot send a token.
        let settings = "require_token = false";
        let gateway = scene.gateway_to(settings, "fixture", &behind.url, "").await;
        gateway.until_connected("fixture").await;
        let url = format!("{}/mcp/fixture", gateway.origin);
        let (direct, through) = (scene.path("direct"), scene.path("through"));
        // One after the other: the suite has time limits, and two of it at once miss them.
        let direct = run(requirements, &alone.url, &direct).await;
        let through = run(requirements, &url, &through).await;
        Self { direct, through }
    }
}

/// Runs the suite against `url`; the folder `results` must not be there yet.
async fn run(requirements: Requirements, url: &str, results: &Path) -> Findings {
    let mut command = evermoor_platform::process::command(node());
    command.arg("--import").arg(folder().join("patient.mjs"));
    command.arg(folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command.args(["server", "--url", url, "--requirements", requirements.revision(), "-o"]);
    command.arg(results).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST, command.output()).await;
    let output = output.expect("the suite ends in time").expect("the suite runs");
    // Its status says whether all is well, its last words whether it came to an end at all.
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("=== SUMMARY ==="), "the suite broke off: {said}{complained}");
    Findings::read(results)
}
