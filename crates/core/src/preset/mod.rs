//! Presets: descriptions of desktop apps that host an MCP server.
//!
//! A preset is data, not code: how to find and recognise the app, how to query its health and
//! version, how to launch, restart and quit it on each OS, where its logs and crash reports are, and
//! how much memory is normal. Bundled presets are in `presets/`, each fact with its source. Users can
//! add presets or change bundled ones.
//!
//! - `file`: parses a preset file, and lists the steps for a new field; `set`: all presets by name; `user`: the user's files
//! - `probe`: an HTTP request and the expected answer; `process_name`: which processes are the
//!   app; `system`: facts per OS; `version`: app versions
//!
//! This module uses `config` (errors, sizes, durations) and `failure`.

mod file;
mod probe;
mod process_name;
mod set;
mod system;
mod user;
mod version;

use std::ops::RangeInclusive;
use std::time::Duration;

pub use probe::{Expectation, ExpectedBody, Probe, ProbeMethod, ValueCheck};
pub(crate) use set::is_name;
pub use set::{PresetSet, UnreadablePreset};
pub use system::{Os, PlatformSpec};
pub use user::UserPresets;
pub use version::{AppVersion, VersionCheck, VersionFit};

/// The description of one app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name in the configuration, which is the name of its file.
    pub name: String,
    /// The display name.
    pub title: String,
    /// Where to get the app.
    pub about: Option<String>,
    /// The app may hold unsaved work: it is asked to quit and never killed.
    pub unsaved_work: bool,
    /// Whether its MCP server handles several requests at once, if known.
    pub concurrent: Option<bool>,
    pub find: Discovery,
    /// Its MCP endpoints, preferred first. There is at least one.
    pub mcp: Vec<PresetEndpoint>,
    pub health: Option<Probe>,
    pub version: Option<VersionCheck>,
    /// The request that makes it restart.
    pub restart: Option<AppRequest>,
    /// The request that makes it quit.
    pub quit: Option<AppRequest>,
    /// The request that makes it free memory, and how long that takes to show.
    pub relief: Option<AppRequest>,
    pub memory: Option<MemoryLimits>,
    /// The tools that it is known to have, shown until it was connected once.
    pub tools: Vec<PresetTool>,
    /// Conditions that the user should know about.
    pub tells: Vec<Condition>,
    /// The text for an app that is running but does not serve MCP.
    pub off: Option<ConditionText>,
    pub macos: Option<PlatformSpec>,
    pub linux: Option<PlatformSpec>,
    pub windows: Option<PlatformSpec>,
}

/// How the app is found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    pub ports: RangeInclusive<u16>,
    /// The listening process must have one of its names; nothing is sent to any other process.
    pub owner: bool,
    /// Requests that only this app answers as expected. All must match.
    pub identity: Vec<Probe>,
}

/// An MCP endpoint of the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetEndpoint {
    pub wire: EndpointTransport,
    pub path: String,
}

/// The transport of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointTransport {
    /// Streamable HTTP.
    Http,
    /// The older HTTP+SSE.
    Sse,
}

/// A request for an action, and the time limit until it takes effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppRequest {
    pub ask: Probe,
    pub within: Duration,
}

/// Memory thresholds in bytes, and when the app may be restarted to free memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    pub normal: u64,
    pub alarm: u64,
    /// How long the app must be unused before it is restarted to free memory.
    pub idle: Duration,
}

/// A tool that the app is known to have. What arguments it takes is known when it is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetTool {
    pub name: String,
    pub description: String,
}

/// A condition that the app reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub kind: ConditionKind,
    /// The condition holds if the answer is as expected.
    pub ask: Probe,
    pub words: ConditionText,
    /// The tools that do not work under this condition; all if empty.
    pub tools: Vec<String>,
}

/// The kinds of conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    SignedOut,
    /// A feature is turned off.
    FeatureOff {
        name: String,
    },
}

/// Two sentences for the user: what is the case, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionText {
    pub what: String,
    pub remedy: String,
}

impl Preset {
    /// The facts for one OS; `None` if the app does not run there.
    pub fn on(&self, os: Os) -> Option<&PlatformSpec> {
        match os {
            Os::MacOs => self.macos.as_ref(),
            Os::Linux => self.linux.as_ref(),
            Os::Windows => self.windows.as_ref(),
        }
    }

    /// The addresses of its endpoints at a port, preferred first.
    pub fn addresses(&self, port: u16) -> Vec<String> {
        let address =
            |endpoint: &PresetEndpoint| format!("http://127.0.0.1:{port}{}", endpoint.path);
        self.mcp.iter().map(address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_preset_is_valid_and_runs_on_some_os() {
        let presets = PresetSet::bundled();
        let names: Vec<&str> = presets.all().map(|preset| preset.name.as_str()).collect();
        assert_eq!(names, ["figma", "intellij-idea", "pieces-os", "sketch"]);
        for preset in presets.all() {
            let systems = [Os::MacOs, Os::Linux, Os::Windows];
            assert!(systems.iter().any(|os| preset.on(*os).is_some()), "{}", preset.name);
            assert!(!preset.mcp.is_empty());
        }
    }

    #[test]
    fn the_endpoints_of_pieces_os_are_local_and_the_preferred_one_is_first() {
        let presets = PresetSet::bundled();
        let pieces = presets.get("pieces-os").unwrap();
        assert_eq!(
            pieces.addresses(39301),
            [
                "http://127.0.0.1:39301/model_context_protocol/2025-03-26/mcp",
                "http://127.0.0.1:39301/model_context_protocol/2024-11-05/sse",
            ]
        );
        assert_eq!(pieces.find.ports, 39300..=39333);
        assert_eq!(pieces.memory.unwrap().alarm, 2_500_000_000);
    }
}
