//! How an upstream is connected to, as its configuration says.

use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::{self, Address, Reach, Transport};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::Wire;
use evermoor_core::protocol::dialect::Dialect;
use evermoor_core::security::secret_ref::Reference;

use super::connection::Connected;
use super::discovery;
use super::http::Clients;
use super::stdio::Program;
use crate::apps::App;
use crate::config::secrets::{Found, Secrets};
use crate::server::demo;

/// Makes connections. The supervisor knows nothing else of what is behind them.
pub(crate) trait Connect: Send + 'static {
    fn connect(&mut self) -> impl Future<Output = Result<Connected, Failure>> + Send;

    /// What the server of the last connection was found to speak.
    fn dialect(&self) -> Option<Dialect> {
        None
    }

    /// From now on connections lead to where `config` says.
    fn turn_to(&mut self, _config: &config::Upstream, _dialect: Option<Dialect>) {}
}

/// The connector for what `config.toml` can describe.
pub(crate) struct Connector {
    way: Way,
    /// What is known of the application, if it is one.
    app: App,
    /// Where the secrets that it needs are looked for.
    secrets: Secrets,
    /// What it needs of them.
    needed: Vec<Reference>,
    tasks: TaskTracker,
    stop: CancellationToken,
    dialect: Option<Dialect>,
}

enum Way {
    Http {
        url: Address,
        local: bool,
        reach: Box<Reach>,
    },
    Program(Box<Program>),
    /// An application, by its preset.
    App(String),
    /// The demo server is kept for as long as it is to run.
    Demo(Option<demo::Server>),
}

impl Connector {
    /// A connector to a server that spoke `dialect` when it was last heard. `stop` ends what the
    /// connector started itself.
    pub(crate) fn new(
        config: &config::Upstream,
        app: App,
        secrets: Secrets,
        dialect: Option<Dialect>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let (way, needed) = (Way::Demo(None), Vec::new());
        let mut connector = Self { way, app, secrets, needed, tasks, stop, dialect };
        connector.turn_to(config, dialect);
        connector
    }

    async fn over_http(
        &mut self,
        url: Url,
        local: bool,
        reach: &Reach,
        found: &Found,
    ) -> Result<Connected, Failure> {
        // New clients for each connection: no socket of the last one can be reused by mistake.
        let clients = Clients::new(&url, local, reach, found).await?;
        let (connected, dialect) =
            discovery::connect(&clients, &url, self.dialect, &self.tasks).await?;
        self.dialect = Some(dialect);
        Ok(connected)
    }
}

impl Connector {
    /// Connects to the application, wherever it is at the moment.
    async fn connect_app(&mut self, preset: &str) -> Result<Connected, Failure> {
        let app = self.app.clone();
        let preset = app.preset(preset)?;
        let mut found = app.find(&preset);
        let mut failed = None;
        while let Some(port) = found.next().await {
            for (endpoint, address) in preset.mcp.iter().zip(preset.addresses(port)) {
                self.dialect = match endpoint.wire {
                    Wire::Http => self.dialect.filter(|dialect| *dialect != Dialect::Events),
                    Wire::Sse => Some(Dialect::Events),
                };
                let Ok(url) = Url::parse(&address) else { continue };
                match self.over_http(url, true, &Reach::default(), &Found::default()).await {
                    Ok(connected) => {
                        app.serves(&preset, port);
                        return Ok(connected);
                    }
                    Err(failure) => failed = failed.or(Some((port, failure))),
                }
            }
        }
        Err(app.why_not(&preset, failed).await)
    }
}

impl Connect for Connector {
    fn dialect(&self) -> Option<Dialect> {
        match &self.way {
            Way::Program(program) => program.dialect(),
            Way::Http { .. } | Way::App(_) | Way::Demo(_) => self.dialect,
        }
    }

    fn turn_to(&mut self, config: &config::Upstream, dialect: Option<Dialect>) {
        let before = match &self.way {
            Way::Program(program) => Some(program.retire()),
            Way::Http { .. } | Way::App(_) | Way::Demo(_) => None,
        };
        self.dialect = dialect;
        self.needed = config.transport.references().into_iter().cloned().collect();
        self.way = match &config.transport {
            Transport::Http { url, reach } => Way::Http {
                url: url.clone(),
                local: config.transport.is_local(),
                reach: Box::new(reach.clone()),
            },
            Transport::Stdio(program) => {
                let (tasks, stop) = (self.tasks.clone(), self.stop.child_token());
                let program = Program::new(config.name.clone(), program, dialect, tasks, stop);
                Way::Program(Box::new(program.after(before)))
            }
            Transport::App { preset } => Way::App(preset.clone()),
            Transport::Demo => Way::Demo(None),
        };
    }

    async fn connect(&mut self) -> Result<Connected, Failure> {
        match &mut self.way {
            Way::Program(program) => {
                let found = self.secrets.find(&self.needed).await?;
                program.connect(&found).await
            }
            Way::Http { url, local, reach } => {
                let (address, local, reach) = (url.clone(), *local, reach.clone());
                let found = self.secrets.find(&self.needed).await?;
                let url = address.fill(|reference| found.value(reference))?;
                self.over_http(url, local, &reach, &found).await
            }
            Way::App(preset) => {
                let preset = preset.clone();
                self.connect_app(&preset).await
            }
            Way::Demo(server) => {
                let started = demo::Server::start("127.0.0.1:0", &self.tasks).await;
                let started = started.map_err(|error| {
                    let what = format!("The demo server cannot listen: {error}.");
                    Failure::new(Code::Internal, what, "Restart Evermoor.")
                })?;
                let url = server.insert(started).url();
                self.over_http(url, true, &Reach::default(), &Found::default()).await
            }
        }
    }
}
