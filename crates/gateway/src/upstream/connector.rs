//! How an upstream is connected to, as its configuration says.

use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::Transport;
use evermoor_core::failure::{Code, Failure};

use super::connection::Connected;
use super::discovery::{self, Dialect};
use super::http::Clients;
use crate::demo;

/// Makes connections. The supervisor knows nothing else of what is behind them.
pub(crate) trait Connect: Send + 'static {
    fn connect(&mut self) -> impl Future<Output = Result<Connected, Failure>> + Send;
}

/// The connector for what `config.toml` can describe.
pub(crate) struct Connector {
    transport: Transport,
    tasks: TaskTracker,
    dialect: Option<Dialect>,
    /// Kept for as long as the demo server is to run.
    demo: Option<demo::Server>,
}

impl Connector {
    pub(crate) fn new(transport: Transport, tasks: TaskTracker) -> Self {
        Self { transport, tasks, dialect: None, demo: None }
    }

    /// The address of the upstream. The demo server has one once it runs.
    async fn url(&mut self) -> Result<Url, Failure> {
        match &self.transport {
            Transport::Http { url } => Ok(url.clone()),
            Transport::Demo => {
                let server = demo::Server::start("127.0.0.1:0", &self.tasks).await;
                let server = server.map_err(|error| {
                    let what = format!("The demo server cannot listen: {error}.");
                    Failure::new(Code::Internal, what, "Restart Evermoor.")
                })?;
                let url = server.url();
                self.demo = Some(server);
                Ok(url)
            }
        }
    }
}

impl Connect for Connector {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        let url = self.url().await?;
        // New clients for each connection: no socket of the last one can be reused by mistake.
        let clients = Clients::new(self.transport.is_local()).map_err(|error| {
            Failure::new(Code::Internal, format!("No HTTP client: {error}."), "Report this.")
        })?;
        let (connected, dialect) =
            discovery::connect(&clients, &url, self.dialect, &self.tasks).await?;
        self.dialect = Some(dialect);
        Ok(connected)
    }
}
