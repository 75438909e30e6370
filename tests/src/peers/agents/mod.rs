//! Agents with a real command line, driven by a [`model`] that does what the test says.
//!
//! An agent is set up with `evermoor setup`, as a user would, and then given one prompt.

pub mod model;

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Child;
use tokio::time::timeout;

use super::{folder, installed, node};
use crate::PATIENCE;
use crate::scene::machine::Machine;
use model::Model;

/// An agent from npm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    Codex,
    Gemini,
    Copilot,
    Grok,
}

/// An agent at work on a prompt.
pub struct AgentSession {
    agent: Agent,
    child: Child,
}

impl Agent {
    /// Its name for `evermoor setup`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
            Self::Copilot => "copilot-cli",
            Self::Grok => "grok",
        }
    }

    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Grok => "grok",
        }
    }

    /// The program.
    pub fn program(self) -> PathBuf {
        let modules = folder().join("node_modules");
        installed(modules.join(match self {
            Self::Codex => "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            Self::Gemini => "@google/gemini-cli/bundle/gemini.js",
            Self::Copilot => "@github/copilot-linux-x64/copilot",
            Self::Grok => return unpacked_grok(),
        }))
    }

    /// Writes what a user has configured before `evermoor setup`: the model, in most cases.
    pub fn configure(self, machine: &Machine, model: &Model) {
        let origin = &model.origin;
        match self {
            Self::Codex => {
                let text = format!(
                    "model = \"stand-in\"\nmodel_provider = \"stand-in\"\n\
                     approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\n\
                     [model_providers.stand-in]\nname = \"stand-in\"\n\
                     base_url = \"{origin}/v1\"\nwire_api = \"responses\"\n"
                );
                machine.write(".codex/config.toml", &text);
            }
            Self::Gemini => {
                let text = "{\n  // mine\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } },\n  \"privacy\": { \"usageStatisticsEnabled\": false },\n  \"general\": { \"disableAutoUpdate\": true }\n}\n";
                machine.write(".gemini/settings.json", text);
            }
            Self::Copilot => {}
            Self::Grok => {
                let text = format!(
                    "[models]\ndefault = \"stand-in\"\n\n[model.stand-in]\nmodel = \"stand-in\"\n\
                     base_url = \"{origin}/v1\"\napi_key = \"none\"\ncontext_window = 100000\n"
                );
                machine.write(".grok/config.toml", &text);
            }
        }
    }

    /// Starts it with a prompt.
    pub fn start(self, machine: &Machine, model: &Model) -> AgentSession {
        let mut command = match self {
            Self::Gemini => {
                let mut command = machine.command(&node());
                command.arg(self.program());
                command
            }
            Self::Codex | Self::Copilot | Self::Grok => machine.command(&self.program()),
        };
        match self {
            Self::Codex => {
                command.args(["exec", "--skip-git-repo-check", "--json", "Go."]);
            }
            Self::Gemini => {
                command.args(["--prompt", "Go.", "--yolo", "--model", "gemini-2.5-flash"]);
                command.env("GEMINI_API_KEY", "none");
                command.env("GOOGLE_GEMINI_BASE_URL", &model.origin);
                command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
            }
            Self::Copilot => {
                command.args(["--prompt", "Go.", "--allow-all-tools", "--no-auto-update"]);
                command.args(["--disable-builtin-mcps", "--log-level", "error"]);
                command.env("COPILOT_OFFLINE", "true").env("COPILOT_MODEL", "stand-in");
                command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.origin));
                // It unpacks itself into its cache.
                command.env("XDG_CACHE_HOME", cache());
            }
            Self::Grok => {
                command.args(["--single", "Go.", "--always-approve"]);
                command.env("GROK_DISABLE_AUTOUPDATER", "1").env("GROK_TELEMETRY_ENABLED", "false");
            }
        }
        command.stdin(Stdio::null());
        AgentSession { agent: self, child: command.spawn().expect("the agent starts") }
    }
}

impl AgentSession {
    /// Waits until it is done and returns what it printed.
    pub async fn ended(self) -> String {
        let output = timeout(PATIENCE, self.child.wait_with_output()).await;
        let output = output.expect("it ends in time").expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?} failed: {said}{complained}", self.agent);
        said
    }
}

/// A folder for what agents unpack, which stays until the packages are installed again.
fn cache() -> PathBuf {
    folder().join("node_modules/.cache/agents")
}

/// The package of grok contains a compressed program, which its installation unpacks into the home
/// of the user.
fn unpacked_grok() -> PathBuf {
    let package = folder().join("node_modules/@xai-official/grok-linux-x64");
    let packed = installed(package.join("bin/grok.br"));
    let program = cache().join("grok");
    if !program.exists() {
        let script = "const fs = require('fs'), zlib = require('zlib');\
            const [packed, program] = process.argv.slice(1), part = `${program}.${process.pid}`;\
            fs.mkdirSync(require('path').dirname(program), { recursive: true });\
            fs.writeFileSync(part, zlib.brotliDecompressSync(fs.readFileSync(packed)), { mode: 0o755 });\
            fs.renameSync(part, program);";
        let mut unpacking = crate::scene::programs::command(node());
        unpacking.arg("-e").arg(script).arg(packed).arg(&program);
        let status = unpacking.as_std_mut().status().expect("Node runs");
        assert!(status.success(), "grok is unpacked");
    }
    program
}
