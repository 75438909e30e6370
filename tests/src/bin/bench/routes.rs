//! The ways from the benchmark to its server: directly, through the floor, through Evermoor, and through
//! other proxies.
//!
//! The floor is what a process in between costs at least: a relay that copies bytes, and a shim that
//! forwards lines to that relay.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evermoor_core::security::tokens::{LOCAL_EDITOR, Tokens};
use evermoor_tests::Scene;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::command;
use tokio::process::Command;
use tokio::time::Instant;

use crate::http::{BenchConnection, BenchEndpoint};
use crate::program::{BenchProgram, free_address};

pub(crate) const DIRECT: &str = "direct";
pub(crate) const RELAY: &str = "relay";
pub(crate) const EVERMOOR: &str = "Evermoor";
pub(crate) const BARE_SHIM: &str = "bare shim";
/// The crate of this name, the fastest of the other proxies.
pub(crate) const MCP_PROXY: &str = "mcp-proxy (crate)";

/// The server that all routes lead to.
pub(crate) struct BenchServer {
    pub(crate) address: SocketAddr,
    _program: BenchProgram,
}

impl BenchServer {
    pub(crate) fn start(tools: usize) -> Self {
        let address = free_address();
        let program =
            BenchProgram::built("floor-server", &[&address.to_string(), &tools.to_string()]);
        until_answers(&direct(address));
        Self { address, _program: program }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

/// A way to the server over HTTP.
pub(crate) struct BenchRoute {
    pub(crate) name: &'static str,
    pub(crate) endpoint: BenchEndpoint,
    /// What is in between; `None` for the direct way.
    pub(crate) program: Option<BenchProgram>,
    /// How long it took from its start to its first answer to a call.
    pub(crate) started: Duration,
}

/// Evermoor's folder, prepared so that a gateway starts as it usually does.
pub(crate) struct BenchHome {
    scene: Scene,
    address: SocketAddr,
    token: String,
}

impl BenchHome {
    /// `upstreams` are entries of `config.toml`.
    pub(crate) fn new(upstreams: &str) -> Self {
        let (scene, address) = (Scene::new(), free_address());
        let text = format!("[gateway]\nlisten = \"{address}\"\n{upstreams}");
        let home = scene.home();
        std::fs::create_dir_all(&home).expect("a folder can be made");
        std::fs::write(home.join("config.toml"), text).expect("a file can be written");
        // The first start creates the keys.
        let first = BenchProgram::start(BenchProgram::evermoor(&home, &["serve"]));
        let tokens = || Tokens::parse(&std::fs::read(home.join("data/tokens.json")).ok()?).ok();
        let token = wait_for(|| tokens()?.of(LOCAL_EDITOR).map(str::to_owned));
        let started = Self { scene, address, token };
        until_answers(&started.endpoint("/mcp", ""));
        drop(first);
        started
    }

    pub(crate) fn with_server(server: &BenchServer) -> Self {
        Self::new(&entry::at("bench", &server.url()))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scene.home()
    }

    pub(crate) fn endpoint(&self, path: &str, tool: &str) -> BenchEndpoint {
        let (address, token) = (self.address, Some(self.token.clone()));
        BenchEndpoint { address, path: path.to_owned(), token, tool: tool.to_owned() }
    }
}

pub(crate) fn direct(address: SocketAddr) -> BenchEndpoint {
    BenchEndpoint { address, path: "/mcp".into(), token: None, tool: "mirror0".into() }
}

impl BenchRoute {
    pub(crate) fn direct(server: &BenchServer) -> Self {
        let (endpoint, started) = (direct(server.address), Duration::ZERO);
        Self { name: DIRECT, endpoint, program: None, started }
    }

    pub(crate) fn relay(server: &BenchServer) -> Self {
        let address = free_address();
        let (from, to) = (address.to_string(), server.address.to_string());
        Self::start(RELAY, direct(address), || BenchProgram::built("floor-relay", &[&from, &to]))
    }

    pub(crate) fn evermoor(home: &BenchHome) -> Self {
        Self::evermoor_at(home, "/mcp/bench", "mirror0")
    }

    pub(crate) fn evermoor_at(home: &BenchHome, path: &str, tool: &str) -> Self {
        let serve = BenchProgram::evermoor(&home.path(), &["serve"]);
        Self::start(EVERMOOR, home.endpoint(path, tool), || BenchProgram::start(serve))
    }

    /// The crate `mcp-proxy`.
    pub(crate) fn mcp_proxy(peers: &Path, folder: &Path, server: &BenchServer) -> Self {
        let address = free_address();
        let config = folder.join("mcp-proxy.toml");
        let text = format!(
            "[proxy]\nname = \"bench\"\nseparator = \"/\"\n[proxy.listen]\nhost = \"127.0.0.1\"\n\
             port = {}\n[[backends]]\nname = \"bench\"\ntransport = \"http\"\nurl = \"{}\"\n",
            address.port(),
            server.url()
        );
        std::fs::write(&config, text).expect("a file can be written");
        let mut command = command(peers.join("cargo/bin/mcp-proxy"));
        command.arg("--config").arg(config);
        let endpoint =
            BenchEndpoint { address, path: "/".into(), token: None, tool: "bench/mirror0".into() };
        Self::start(MCP_PROXY, endpoint, || BenchProgram::start(command))
    }

    fn start(
        name: &'static str,
        endpoint: BenchEndpoint,
        start: impl FnOnce() -> BenchProgram,
    ) -> Self {
        let began = Instant::now();
        let program = Some(start());
        until_answers(&endpoint);
        Self { name, endpoint, program, started: began.elapsed() }
    }
}

/// A way to the server over stdio.
pub(crate) struct BenchShim {
    pub(crate) name: &'static str,
    pub(crate) command: Command,
}

impl BenchShim {
    /// A shim that forwards lines to the relay.
    pub(crate) fn bare(relay: &BenchRoute) -> Self {
        let mut command = command(evermoor_tests::scene::programs::built("floor-shim"));
        command.arg(relay.endpoint.address.to_string()).arg("/mcp");
        Self { name: BARE_SHIM, command }
    }

    pub(crate) fn evermoor(home: &BenchHome) -> Self {
        let command = BenchProgram::evermoor(&home.path(), &["connect", "bench"]);
        Self { name: EVERMOOR, command }
    }

    /// The shims of others, installed in `peers`.
    pub(crate) fn others(peers: &Path, folder: &Path, server: &BenchServer) -> Vec<Self> {
        let node = |package: &str, entry: &str| {
            let mut command = command("node");
            command.arg(peers.join("npm/node_modules").join(package).join(entry));
            command
        };
        let mut remote = node("mcp-remote", "dist/proxy.js");
        remote.arg(server.url()).arg("--allow-http");
        let mut supergateway = node("supergateway", "dist/index.js");
        supergateway.args(["--streamableHttp", &server.url(), "--logLevel", "none"]);
        let mut python = command(peers.join("venv/bin/mcp-proxy"));
        python.args(["--transport", "streamablehttp", &server.url()]);
        let shims =
            [("mcp-remote", remote), ("supergateway", supergateway), ("mcp-proxy (PyPI)", python)];
        shims
            .into_iter()
            .map(|(name, mut command)| {
                command.env("HOME", folder);
                Self { name, command }
            })
            .collect()
    }
}

/// Waits until a call is answered.
fn until_answers(endpoint: &BenchEndpoint) {
    wait_for(|| {
        let mut connection = BenchConnection::open(endpoint).ok()?;
        if !endpoint.tool.is_empty() {
            let call = connection.prepare(1);
            connection.call(&call);
        }
        Some(())
    });
}

/// Asks again and again until there is an answer.
fn wait_for<T>(ask: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < evermoor_tests::PATIENCE, "it does not start");
        std::thread::yield_now();
    }
}
