//! The settings of the fake PiecesOS: a file in its folder that is read each time it is needed.
//!
//! The file outlives the processes, so a test can change it while nothing runs, and the next start
//! uses it.

use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The number of ports PiecesOS may use, counted from its first.
pub const PORTS: u16 = 34;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AppSettings {
    /// The first port of its range. Each fake has its own range.
    pub first_port: u16,
    /// The port to use at the next start; `None` for the first free one.
    pub port: Option<u16>,
    /// The address where the test waits for its processes; `None` for a fake without a test.
    pub test_address: Option<SocketAddr>,
    pub version: String,
    pub signed_in: bool,
    pub long_term_memory: bool,
    /// Additional tools.
    pub tools: Vec<String>,
    /// The health check passes, but MCP is not available yet.
    pub half_up: bool,
    /// Whether a session requires a handshake. The real one does not.
    pub strict: bool,
    pub on_restart: OnRestart,
    /// Delay between starting and listening.
    pub start_millis: u64,
    pub flap: Option<Flap>,
}

/// How it reacts to a restart request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnRestart {
    /// Exits, and a new process starts.
    Works,
    /// Refuses.
    Refuses { status: u16 },
    /// Accepts, and does nothing.
    Ignores,
    /// The old process keeps answering health checks, and nothing else, for this long before it
    /// exits.
    Lingers { millis: u64 },
    /// The new process starts, and the old one keeps answering health checks forever.
    Overlaps,
}

/// A series of crashes: how long each process runs, and the pause between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flap {
    pub left: u32,
    pub up_millis: u64,
    pub down_millis: u64,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            first_port: 39300,
            port: None,
            test_address: None,
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

impl AppSettings {
    /// The settings in this folder, or the defaults.
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

    /// Changes the settings in this folder.
    pub fn alter(folder: &Path, change: impl FnOnce(&mut Self)) {
        let mut settings = Self::read(folder);
        change(&mut settings);
        settings.write(folder);
    }

    /// The ports it may use.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        self.first_port..self.first_port + PORTS
    }

    /// The next port in its range.
    pub fn port_after(&self, port: u16) -> u16 {
        let last = self.first_port + PORTS - 1;
        if port >= last { self.first_port } else { port + 1 }
    }
}

const FILE: &str = "settings.json";
