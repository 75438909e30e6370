//! Presets: what is known of a desktop application that hosts an MCP server.
//!
//! A preset is data, not code: how to find the application, how to know it, how to ask it for its
//! health and version, how to launch, restart and quit it on each system, where it leaves logs and
//! crash reports, and what memory is normal. Those that come with Evermoor lie in `presets/`, with
//! the source of every fact beside it. A person may add others, or change one of these.

mod file;
mod probe;
mod set;
mod system;
mod user;
mod version;

use std::ops::RangeInclusive;
use std::time::Duration;

pub use probe::{Ask, Body, Expect, Is, Method};
pub(crate) use set::is_name;
pub use set::{Misread, Shelf};
pub use system::{OnSystem, Os};
pub use user::Own;
pub use version::{Fit, Version, VersionCheck};

/// What is known of one application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What a configuration calls it: the name of its file.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Where it can be had, for one who has not got it.
    pub about: Option<String>,
    /// It may hold work that nobody saved: it is asked to quit, and never ended by force.
    pub unsaved_work: bool,
    pub find: Find,
    /// Its MCP endpoints, the best first. There is at least one.
    pub mcp: Vec<Endpoint>,
    pub health: Option<Ask>,
    pub version: Option<VersionCheck>,
    /// Its own way to restart.
    pub restart: Option<Request>,
    /// Its own way to quit.
    pub quit: Option<Request>,
    /// Its own way to use less memory, and how long it takes until that shows.
    pub relief: Option<Request>,
    pub memory: Option<Memory>,
    /// What it tells of itself that a person should know.
    pub tells: Vec<Tell>,
    /// What to say when it runs and serves no MCP.
    pub off: Option<Words>,
    pub macos: Option<OnSystem>,
    pub linux: Option<OnSystem>,
    pub windows: Option<OnSystem>,
}

/// How it is found among the servers of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    pub ports: RangeInclusive<u16>,
    /// The process that listens must bear one of its names. Nothing is sent to another.
    pub owner: bool,
    /// What it answers, and no other would. All of them must hold.
    pub identity: Vec<Ask>,
}

/// One of its MCP endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub wire: Wire,
    pub path: String,
}

/// Over what an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Streamable HTTP.
    Http,
    /// The older HTTP+SSE.
    Sse,
}

/// Something that it is asked to do, and how long that may take until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub ask: Ask,
    pub within: Duration,
}

/// What memory is normal, in bytes, and when it may be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub normal: u64,
    pub alarm: u64,
    /// For how long nobody must have called it before it is restarted for its memory.
    pub idle: Duration,
}

/// Something that it tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tell {
    pub kind: TellKind,
    /// It is so when the answer is as expected.
    pub ask: Ask,
    pub words: Words,
    /// The tools that cannot be used while it is so; all of them if none is named.
    pub tools: Vec<String>,
}

/// What kind of thing it tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TellKind {
    SignedOut,
    /// A part of it is turned off.
    FeatureOff {
        name: String,
    },
}

/// Two sentences for a person: what is, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub what: String,
    pub remedy: String,
}

impl Preset {
    /// What is known of it on one system; `None` where it does not run.
    pub fn on(&self, os: Os) -> Option<&OnSystem> {
        match os {
            Os::MacOs => self.macos.as_ref(),
            Os::Linux => self.linux.as_ref(),
            Os::Windows => self.windows.as_ref(),
        }
    }

    /// The addresses of its endpoints at a port, the best first.
    pub fn addresses(&self, port: u16) -> Vec<String> {
        let address = |endpoint: &Endpoint| format!("http://127.0.0.1:{port}{}", endpoint.path);
        self.mcp.iter().map(address).collect()
    }

    /// Whether a process of this name is one of its own on this system.
    pub fn is_process(&self, os: Os, name: &str) -> bool {
        let known = |on: &OnSystem| on.processes.iter().any(|known| os.same_process(known, name));
        self.on(os).is_some_and(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_that_comes_along_is_good_and_runs_somewhere() {
        let shelf = Shelf::of_our_own();
        let names: Vec<&str> = shelf.all().map(|preset| preset.name.as_str()).collect();
        assert_eq!(names, ["figma", "intellij-idea", "pieces-os", "sketch"]);
        for preset in shelf.all() {
            let systems = [Os::MacOs, Os::Linux, Os::Windows];
            assert!(systems.iter().any(|os| preset.on(*os).is_some()), "{}", preset.name);
            assert!(!preset.mcp.is_empty());
        }
    }

    #[test]
    fn the_endpoints_of_pieces_os_are_on_this_machine_and_the_best_comes_first() {
        let shelf = Shelf::of_our_own();
        let pieces = shelf.get("pieces-os").unwrap();
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

    #[test]
    fn a_process_is_known_by_its_name_as_each_system_writes_it() {
        let shelf = Shelf::of_our_own();
        let figma = shelf.get("figma").unwrap();
        assert!(figma.is_process(Os::MacOs, "Figma"));
        assert!(figma.is_process(Os::Windows, "figma.EXE"));
        assert!(!figma.is_process(Os::MacOs, "Figma Helper"));
        assert!(!figma.is_process(Os::Linux, "Figma"));
        let pieces = shelf.get("pieces-os").unwrap();
        assert!(pieces.is_process(Os::Linux, "os_server"));
    }
}
