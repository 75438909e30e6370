//! A real `evermoor serve` process, and its control API.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evermoor_core::api::{Status, UpstreamState, UpstreamStatus};
use evermoor_core::history::incident::{Incident, Incidents};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::protocol::sse;
use evermoor_core::security::tokens::{LOCAL_EDITOR, Tokens};
use evermoor_platform::ipc::handover::HandoverConnection;
use evermoor_platform::paths::Paths;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::editor::Editor;
use crate::scene::programs::Process;
use crate::scene::wait::until_some;
#[cfg(unix)]
use crate::scene::{
    freezing::signal,
    programs::{built, person},
};

/// A running gateway.
pub struct Gateway {
    pub home: PathBuf,
    pub origin: String,
    pub control_token: String,
    pub process: Process,
    http: reqwest::Client,
}

impl Gateway {
    /// Starts a gateway in `home` and waits until it serves.
    pub async fn start(home: &Path) -> Self {
        Self::start_among(home, &[]).await
    }

    /// Starts a gateway with these environment variables.
    pub async fn start_among(home: &Path, variables: &[(&str, &str)]) -> Self {
        let process = Process::evermoor(home, |command| {
            command.arg("serve").arg("--home").arg(home).envs(variables.iter().copied());
        });
        Self::started(process, home).await
    }

    /// Starts a gateway that takes over from the running one, and waits until it serves.
    pub async fn take_over(home: &Path) -> Self {
        let process = Process::evermoor(home, |command| {
            command.args(["serve", "--takeover", "--home"]).arg(home);
        });
        Self::started(process, home).await
    }

    /// Starts a gateway with a limit on open files.
    #[cfg(unix)]
    pub async fn start_with_files(home: &Path, most: usize) -> Self {
        let process = Process::start(Path::new("/bin/sh"), |command| {
            let script = format!("ulimit -n {most} && exec \"$0\" serve --home \"$1\"");
            command.arg("-c").arg(script).arg(built("evermoor")).arg(home);
            command.env("HOME", person(home));
        });
        Self::started(process, home).await
    }

    /// Starts a gateway as systemd does, and waits until it serves.
    #[cfg(target_os = "linux")]
    pub async fn start_as_service(home: &Path, manager: &Path, stored: Option<&OwnedFd>) -> Self {
        Self::started(Self::service(home, manager, stored), home).await
    }

    /// A gateway as systemd starts it, with the sockets that it kept: the notification socket at `manager`, and
    /// `stored` as the first descriptor.
    #[cfg(target_os = "linux")]
    pub fn service(home: &Path, manager: &Path, stored: Option<&OwnedFd>) -> Process {
        use std::os::fd::AsRawFd as _;
        let script = match stored {
            Some(socket) => {
                rustix::io::fcntl_setfd(socket, rustix::io::FdFlags::empty())
                    .expect("a descriptor can be inherited");
                format!("exec 3<&{}; LISTEN_FDS=1 LISTEN_PID=$$", socket.as_raw_fd())
            }
            None => String::new(),
        };
        // Other shells accept only descriptors with one digit.
        Process::start(Path::new("/bin/bash"), |command| {
            let script = format!("{script} exec \"$0\" serve --home \"$1\"");
            command.arg("-c").arg(script).arg(built("evermoor")).arg(home);
            command.env("HOME", person(home)).env("NOTIFY_SOCKET", manager);
        })
    }

    /// Asks it to stop: with a signal, and on Windows, which has none, through the control API.
    pub async fn ask_to_stop(&self) {
        #[cfg(unix)]
        signal(self.process.pid(), rustix::process::Signal::TERM);
        #[cfg(windows)]
        self.command(http::Method::POST, "/api/stop", &serde_json::Value::Null).await;
    }

    /// The gateway of a started process, once it serves.
    pub async fn started(mut process: Process, home: &Path) -> Self {
        process.line_with("Try it").await;
        let runtime = runtime(home);
        Self {
            home: home.to_owned(),
            origin: runtime.origin,
            control_token: runtime.control_token,
            process,
            http: http(),
        }
    }

    /// The token for editors.
    pub fn token(&self) -> String {
        let content =
            std::fs::read(self.home.join("data/tokens.json")).expect("the gateway made tokens");
        Tokens::parse(&content)
            .expect("the gateway reads them too")
            .of(LOCAL_EDITOR)
            .expect("one is ours")
            .to_owned()
    }

    /// Sends a request to the control API, which must succeed.
    pub async fn control(&self, method: http::Method, path: &str) -> serde_json::Value {
        let request = self.http.request(method, format!("{}{path}", self.origin));
        let answer =
            request.bearer_auth(&self.control_token).send().await.expect("the gateway answers");
        let status = answer.status();
        let body = answer.bytes().await.expect("the answer is complete");
        assert!(status.is_success(), "{path}: {status} {body:?}");
        serde_json::from_slice(&body).expect("the answer is JSON")
    }

    /// The outages, newest first.
    pub async fn incidents(&self, query: &str) -> Vec<Incident> {
        let found = self.control(http::Method::GET, &format!("/api/incidents{query}")).await;
        serde_json::from_value::<Incidents>(found).expect("a list of outages").incidents
    }

    /// Waits until the newest outage satisfies `wanted`.
    pub async fn until_incident(&self, wanted: impl Fn(&Incident) -> bool) -> Incident {
        until_some("the outage in the history", async || {
            self.incidents("").await.into_iter().next().filter(&wanted)
        })
        .await
    }

    /// Sends a request with a body to the control API and returns the response, whatever it is.
    pub async fn command(
        &self,
        method: http::Method,
        path: &str,
        body: &serde_json::Value,
    ) -> (http::StatusCode, serde_json::Value) {
        let request = self.http.request(method, format!("{}{path}", self.origin));
        let request = request.bearer_auth(&self.control_token).body(body.to_string());
        let answer = request.header("content-type", "application/json").send();
        let answer = answer.await.expect("the gateway answers");
        let status = answer.status();
        let body = answer.bytes().await.expect("the answer is complete");
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// The current text of `config.toml`.
    pub fn config(&self) -> String {
        std::fs::read_to_string(self.home.join("config.toml")).expect("there is a configuration")
    }

    /// Adds an editor and returns its token.
    pub async fn add_editor(&self, name: &str) -> String {
        let made = self.control(http::Method::POST, &format!("/api/editors/{name}")).await;
        made["token"].as_str().expect("a token is told once").to_owned()
    }

    /// An editor with a session at `path`, over HTTP.
    pub async fn editor(&self, path: &str) -> Editor {
        Editor::over_http(&self.origin, path, &self.token()).await
    }

    /// An editor that connects through the shim.
    pub async fn editor_over_shim(&self, upstream: Option<&str>) -> Editor {
        Editor::over_shim(&self.home, upstream).await
    }

    pub async fn status(&self) -> Status {
        let answer = self
            .http
            .get(format!("{}/api/status", self.origin))
            .bearer_auth(&self.control_token)
            .send()
            .await
            .expect("the gateway answers");
        let body = answer.bytes().await.expect("the answer is complete");
        serde_json::from_slice(&body).expect("the answer is a status")
    }

    /// The gateway's states from now on.
    pub async fn states(&self) -> States {
        self.states_of("/api/events").await
    }

    /// Watches an upstream, as the dashboard does, until the returned value is dropped.
    pub async fn look(&self, upstream: &str) -> States {
        self.states_of(&format!("/api/events?look={upstream}")).await
    }

    async fn states_of(&self, path: &str) -> States {
        let request = self.http.get(format!("{}{path}", self.origin));
        let answer =
            request.bearer_auth(&self.control_token).send().await.expect("the gateway answers");
        assert!(answer.status().is_success(), "the gateway answered {}", answer.status());
        States { answer, parser: sse::SseParser::new(1 << 20), ready: Vec::new().into_iter() }
    }

    /// Waits until the status satisfies `wanted`.
    pub async fn until_status(&self, wanted: impl Fn(&Status) -> bool) -> Status {
        let mut states = self.states().await;
        loop {
            let status = states.next().await;
            if wanted(&status) {
                return status;
            }
        }
    }

    /// Waits until this upstream exists and satisfies `wanted`.
    pub async fn until(
        &self,
        name: &str,
        wanted: impl Fn(&UpstreamStatus) -> bool,
    ) -> UpstreamStatus {
        let named = |upstream: &&UpstreamStatus| upstream.name == name && wanted(upstream);
        let status = self.until_status(|status| status.upstreams.iter().any(|u| named(&u))).await;
        status.upstreams.iter().find(named).cloned().expect("it was just seen")
    }

    pub async fn until_connected(&self, name: &str) -> UpstreamStatus {
        self.until(name, |upstream| matches!(upstream.link, UpstreamState::Connected { .. })).await
    }

    pub async fn until_down(&self, name: &str) -> UpstreamStatus {
        self.until(name, |upstream| matches!(upstream.link, UpstreamState::Down { .. })).await
    }
}

/// The stream of a gateway's states.
pub struct States {
    answer: reqwest::Response,
    parser: sse::SseParser,
    ready: std::vec::IntoIter<sse::SseEvent>,
}

impl States {
    pub async fn next(&mut self) -> Status {
        loop {
            if let Some(event) = self.ready.next() {
                return serde_json::from_slice(&event.data).expect("an event is a status");
            }
            let chunk =
                timeout(PATIENCE, self.answer.chunk()).await.expect("the state changes in time");
            let chunk = chunk.expect("the stream is whole").expect("the gateway goes on");
            self.ready = self.parser.push(&chunk).expect("a state is small").into_iter();
        }
    }
}

/// Waits until the gateway has written this file and its content differs from `damaged`.
pub async fn written(path: &Path, damaged: &[u8]) {
    let written = async {
        while std::fs::read(path).map_or(true, |content| content == damaged) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, written).await.expect("the file is written in time");
}

/// The runtime file of the gateway in `home`.
pub fn runtime(home: &Path) -> RuntimeFile {
    let content = std::fs::read(home.join("run/gateway.json")).expect("a gateway runs");
    serde_json::from_slice(&content).expect("its runtime file can be read")
}

/// Makes the running gateway look like another version.
pub fn pretend(home: &Path, version: &str) {
    let runtime = RuntimeFile { version: version.into(), ..runtime(home) };
    let content = serde_json::to_vec(&runtime).expect("a runtime can be written");
    let file = home.join("run/gateway.json");
    evermoor_platform::fs::private::write_private(&file, &content).expect("a file can be written");
}

/// The runtime file of the gateway in `home`, if it exists.
pub fn found(home: &Path) -> Option<RuntimeFile> {
    let content = std::fs::read(home.join("run/gateway.json")).ok()?;
    serde_json::from_slice(&content).ok()
}

/// The gateway that follows the one with process id `before`. Only its runtime file announces it.
pub async fn next_gateway(home: &Path, before: u32) -> RuntimeFile {
    let next = async {
        loop {
            let content = std::fs::read(home.join("run/gateway.json")).unwrap_or_default();
            match serde_json::from_slice::<RuntimeFile>(&content) {
                Ok(runtime) if runtime.pid != before => return runtime,
                Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    timeout(PATIENCE, next).await.expect("another gateway is started in time")
}

/// Waits until a supervisor in this process keeps the gateway's address open.
pub async fn until_held(paths: &Paths) {
    let ask = async || {
        let path = paths.listener_holder_file();
        let mut line = HandoverConnection::connect(&path, std::process::id()).await.ok()?;
        line.receiver.next().await.ok()??.into_copy().ok()
    };
    until_some("the address is held", ask).await;
}

/// An HTTP client for loopback addresses.
pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    client.build().expect("a client can be made")
}
