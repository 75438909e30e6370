//! What the fake PiecesOS is at the moment: a file in its folder, read anew whenever it matters.
//!
//! The file outlives every life, so a test can alter it while nothing runs, and whoever launches
//! the application gets the altered one.

use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// How many ports PiecesOS may use, from its first on.
pub const PORTS: u16 = 34;

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The first port of its range. Tests give each fake a range of its own.
    pub first_port: u16,
    /// The port that a new life takes; without one, the first that is free.
    pub port: Option<u16>,
    /// Where the test waits for its lives. Without it, it lives for itself.
    pub guardian: Option<SocketAddr>,
    pub version: String,
    pub signed_in: bool,
    pub long_term_memory: bool,
    /// Tools besides its own.
    pub tools: Vec<String>,
    /// Health is good, and MCP is not there yet.
    pub half_up: bool,
    /// Whether a session must begin with a handshake. The real one does not ask for it.
    pub strict: bool,
    pub on_restart: OnRestart,
    /// How long a new life takes before it listens.
    pub start_millis: u64,
    pub flap: Option<Flap>,
}

/// What it does when it is asked to restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnRestart {
    /// It ends, and another life begins.
    Works,
    /// It says no.
    Refuses { status: u16 },
    /// It says yes and does nothing.
    Ignores,
    /// The old process goes on answering health, and nothing else, for so long before it ends.
    Lingers { millis: u64 },
    /// The new process is there, and the old one goes on answering health for good.
    Overlaps,
}

/// Crashes that follow one another: lives so long, with so much time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flap {
    pub left: u32,
    pub up_millis: u64,
    pub down_millis: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first_port: 39300,
            port: None,
            guardian: None,
            version: "12.3.10".to_owned(),
            signed_in: true,
            long_term_memory: true,
            tools: Vec::new(),
            half_up: false,
            strict: false,
            on_restart: OnRestart::Works,
            start_millis: 0,
            flap: None,
        }
    }
}

impl Settings {
    /// The settings in this folder; the usual ones if there are none.
    pub fn read(folder: &Path) -> Self {
        match std::fs::read(folder.join(FILE)) {
            Ok(content) => serde_json::from_slice(&content).expect("the settings are ours"),
            Err(_) => Self::default(),
        }
    }

    pub fn write(&self, folder: &Path) {
        let content = serde_json::to_vec_pretty(self).expect("settings are JSON");
        evermoor_platform::fs::private::write_private(&folder.join(FILE), &content)
            .expect("the settings can be written");
    }

    /// Changes what lies in this folder.
    pub fn alter(folder: &Path, change: impl FnOnce(&mut Self)) {
        let mut settings = Self::read(folder);
        change(&mut settings);
        settings.write(folder);
    }

    /// The ports it may use.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        self.first_port..self.first_port + PORTS
    }

    /// Another port of its range.
    pub fn port_after(&self, port: u16) -> u16 {
        let last = self.first_port + PORTS - 1;
        if port >= last { self.first_port } else { port + 1 }
    }
}

const FILE: &str = "settings.json";
