//! How an upstream is connected to, as its configuration says.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::{self, Transport};
use evermoor_core::failure::{Code, Failure};

use super::connection::Connected;
use super::discovery::{self, Dialect};
use super::http::Clients;
use super::stdio::Program;
use crate::demo;

/// Makes connections. The supervisor knows nothing else of what is behind them.
pub(crate) trait Connect: Send + 'static {
    fn connect(&mut self) -> impl Future<Output = Result<Connected, Failure>> + Send;
}

/// The connector for what `config.toml` can describe.
pub(crate) struct Connector {
    way: Way,
    tasks: TaskTracker,
    dialect: Option<Dialect>,
}

enum Way {
    Http {
        url: Url,
        local: bool,
    },
    Program(Box<Program>),
    /// The demo server is kept for as long as it is to run.
    Demo(Option<demo::Server>),
}

impl Connector {
    /// `stop` ends what the connector started itself.
    pub(crate) fn new(
        config: &config::Upstream,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let way = match &config.transport {
            Transport::Http { url } => {
                Way::Http { url: url.clone(), local: config.transport.is_local() }
            }
            Transport::Stdio(program) => {
                let program = Program::new(config.name.clone(), program, tasks.clone(), stop);
                Way::Program(Box::new(program))
            }
            Transport::Demo => Way::Demo(None),
        };
        Self { way, tasks, dialect: None }
    }

    async fn over_http(&mut self, url: Url, local: bool) -> Result<Connected, Failure> {
        // New clients for each connection: no socket of the last one can be reused by mistake.
        let clients = Clients::new(local).map_err(|error| {
            Failure::new(Code::Internal, format!("No HTTP client: {error}."), "Report this.")
        })?;
        let (connected, dialect) =
            discovery::connect(&clients, &url, self.dialect, &self.tasks).await?;
        self.dialect = Some(dialect);
        Ok(connected)
    }
}

impl Connect for Connector {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        match &mut self.way {
            Way::Program(program) => program.connect().await,
            Way::Http { url, local } => {
                let (url, local) = (url.clone(), *local);
                self.over_http(url, local).await
            }
            Way::Demo(server) => {
                let started = demo::Server::start("127.0.0.1:0", &self.tasks).await;
                let started = started.map_err(|error| {
                    let what = format!("The demo server cannot listen: {error}.");
                    Failure::new(Code::Internal, what, "Restart Evermoor.")
                })?;
                let url = server.insert(started).url();
                self.over_http(url, true).await
            }
        }
    }
}
