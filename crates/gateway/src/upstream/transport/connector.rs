//! Connects to an upstream as its configuration says.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::{self, HttpOptions, UpstreamUrl};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::EndpointTransport;
use evermoor_core::protocol::version::transport::Transport;
use evermoor_core::security::secret_ref::SecretRef;

use super::connection::Connected;
use super::discovery;
use super::http::HttpClients;
use super::stdio::StdioServer;
use crate::apps::App;
use crate::config::secrets::{FoundSecrets, Secrets};
use crate::system::budget::Budget;
use crate::upstream::auth::{GrantHandle, Grants, ProtectedServer};
use crate::upstream::demo;

/// Makes connections. This is all that the supervisor knows about the transport.
pub(crate) trait Connect: Send + 'static {
    fn connect(&mut self) -> impl Future<Output = Result<Connected, Failure>> + Send;

    /// The transport and version that the last server was found to speak.
    fn transport(&self) -> Option<Transport> {
        None
    }

    /// Whether the server handles several requests at once, if its preset says so.
    fn preset_concurrency(&self) -> Option<bool> {
        None
    }

    /// Keeps the process of the last connection when the next one is made.
    fn keep_last(&mut self) {}

    /// Makes connections as `config` says from now on.
    fn switch_to(&mut self, _config: &config::UpstreamConfig, _dialect: Option<Transport>) {}
}

/// The connector for everything that `config.toml` can describe.
pub(crate) struct Connector {
    target: Target,
    /// The state of the application, if the upstream is one.
    app: App,
    secrets: Secrets,
    grants: Grants,
    /// How much of what the server sends may be kept.
    buffers: Arc<Budget>,
    /// The secrets that the configuration refers to.
    needed: Vec<SecretRef>,
    tasks: TaskTracker,
    stop: CancellationToken,
    transport: Option<Transport>,
}

enum Target {
    Http {
        url: UpstreamUrl,
        local: bool,
        reach: Box<HttpOptions>,
        grant: Option<GrantHandle>,
    },
    Stdio(Box<StdioServer>),
    /// An application, by its preset.
    App(String),
    /// The demo server, which runs until it is dropped.
    Demo(Option<demo::DemoServer>),
}

impl Connector {
    /// A connector to a server that last spoke `transport`. `stop` ends the processes it started.
    pub(crate) fn new(
        config: &config::UpstreamConfig,
        app: App,
        (secrets, grants): (Secrets, Grants),
        buffers: Arc<Budget>,
        transport: Option<Transport>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let (target, needed) = (Target::Demo(None), Vec::new());
        let mut connector =
            Self { target, app, secrets, grants, buffers, needed, tasks, stop, transport };
        connector.switch_to(config, transport);
        connector
    }

    async fn connect_http(
        &mut self,
        url: Url,
        local: bool,
        reach: &HttpOptions,
        found: &FoundSecrets,
        grant: Option<GrantHandle>,
    ) -> Result<Connected, Failure> {
        if let Some(grant) = &grant {
            // Without a token the server need not be asked.
            grant.token().await?;
        }
        // New clients for each connection, so that no socket of the last one is reused.
        let clients =
            HttpClients::new(&url, local, reach, found, &self.buffers, &self.tasks).await?;
        let clients = clients.with_grant(grant);
        let (connected, transport) =
            discovery::connect(&clients, &url, self.transport, &self.tasks).await?;
        self.transport = Some(transport);
        Ok(connected)
    }

    /// Connects to an application on the port where it listens now.
    async fn connect_app(&mut self, preset: &str) -> Result<Connected, Failure> {
        let app = self.app.clone();
        let preset = app.preset(preset)?;
        let mut found = app.find(&preset);
        let mut failed = None;
        while let Some(port) = found.next().await {
            for (endpoint, address) in preset.mcp.iter().zip(preset.addresses(port)) {
                self.transport = match endpoint.wire {
                    EndpointTransport::Http => {
                        self.transport.filter(|transport| *transport != Transport::Events)
                    }
                    EndpointTransport::Sse => Some(Transport::Events),
                };
                let Ok(url) = Url::parse(&address) else { continue };
                let (reach, found) = (HttpOptions::default(), FoundSecrets::default());
                match self.connect_http(url, true, &reach, &found, None).await {
                    Ok(connected) => {
                        app.serves(&preset, port);
                        return Ok(connected);
                    }
                    Err(failure) => failed = failed.or(Some((port, failure))),
                }
            }
        }
        Err(app.connect_failure(&preset, failed).await)
    }
}

impl Connect for Connector {
    fn transport(&self) -> Option<Transport> {
        match &self.target {
            Target::Stdio(server) => server.transport(),
            Target::Http { .. } | Target::App(_) | Target::Demo(_) => self.transport,
        }
    }

    fn preset_concurrency(&self) -> Option<bool> {
        match &self.target {
            Target::App(preset) => self.app.preset(preset).ok()?.concurrent,
            Target::Http { .. } | Target::Stdio(_) | Target::Demo(_) => None,
        }
    }

    fn keep_last(&mut self) {
        match &mut self.target {
            Target::Stdio(server) => server.keep_last(),
            Target::Http { .. } | Target::App(_) | Target::Demo(_) => {}
        }
    }

    fn switch_to(&mut self, config: &config::UpstreamConfig, transport: Option<Transport>) {
        let previous = match &self.target {
            Target::Stdio(server) => Some(server.retire()),
            Target::Http { .. } | Target::App(_) | Target::Demo(_) => None,
        };
        self.transport = transport;
        self.needed = config.transport.references().into_iter().cloned().collect();
        self.target = match &config.transport {
            config::TransportConfig::Http { url, reach } => Target::Http {
                url: url.clone(),
                local: config.transport.is_local(),
                reach: Box::new(reach.clone()),
                grant: ProtectedServer::of(config).map(|server| self.grants.of(server)),
            },
            config::TransportConfig::Stdio(program) => {
                let (tasks, stop) = (self.tasks.clone(), self.stop.child_token());
                let (name, buffers) = (config.name.clone(), Arc::clone(&self.buffers));
                let server = StdioServer::new(name, program, buffers, transport, tasks, stop);
                Target::Stdio(Box::new(server.after(previous)))
            }
            config::TransportConfig::App { preset } => Target::App(preset.clone()),
            config::TransportConfig::Demo => Target::Demo(None),
        };
    }

    async fn connect(&mut self) -> Result<Connected, Failure> {
        match &mut self.target {
            Target::Stdio(server) => {
                let found = self.secrets.find(&self.needed).await?;
                server.connect(&found).await
            }
            Target::Http { url, local, reach, grant } => {
                let (address, local, reach) = (url.clone(), *local, reach.clone());
                let grant = grant.clone();
                let found = self.secrets.find(&self.needed).await?;
                let url = address.fill(|reference| found.value(reference))?;
                self.connect_http(url, local, &reach, &found, grant).await
            }
            Target::App(preset) => {
                let preset = preset.clone();
                self.connect_app(&preset).await
            }
            Target::Demo(server) => {
                let started = demo::DemoServer::start("127.0.0.1:0", &self.tasks).await;
                let started = started.map_err(|error| {
                    let what = format!("The demo server cannot open a port: {error}.");
                    Failure::new(Code::Internal, what, "Restart Evermoor.")
                })?;
                let url = server.insert(started).url();
                let (reach, found) = (HttpOptions::default(), FoundSecrets::default());
                self.connect_http(url, true, &reach, &found, None).await
            }
        }
    }
}
