//! Making a connection, and turning to where the configuration leads now.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::timeout;

use evermoor_core::catalog::Catalog;
use evermoor_core::config;
use evermoor_core::failure::Failure;
use evermoor_core::history::incident::How;
use evermoor_core::policy::backoff::Backoff;
use evermoor_core::policy::timing::CrashLoop;

use super::super::supervisor::read_catalog;
use super::super::transport::connection::{Connected, Incoming};
use super::super::transport::connector::Connect;
use super::super::{Command, Configure, Known, Link, Ready, State};
use super::stand_aside;
use super::text::slow_lists;
use super::{End, LISTING_LIMIT, Supervisor};

impl<C: Connect> Supervisor<C> {
    pub(super) async fn connect(&mut self) -> Result<(Arc<Ready>, mpsc::Receiver<Incoming>), End> {
        let made = {
            let mut making = std::pin::pin!(make(&mut self.connector));
            loop {
                tokio::select! {
                    biased;
                    () = self.pausing.until(true) => return Err(End::Paused),
                    () = stand_aside::until(&mut self.board.aside, true) => return Err(End::Aside),
                    Some(command) = self.commands.recv() => match command {
                        Command::Configure(new) if new.leads_elsewhere(&self.config) => break Err(new),
                        Command::Configure(new) => self.config = new.settle(),
                        // It is being made anew already.
                        Command::Restart | Command::IsThere | Command::Broken { .. } => {}
                    },
                    made = &mut making => break Ok(made),
                }
            }
        };
        let (Connected { connection, handshake, incoming }, catalog) = match made {
            Ok(made) => made.map_err(End::Failed)?,
            Err(new) => return Err(self.turn(new)),
        };
        self.generation += 1;
        tracing::info!(
            upstream = %self.config.name,
            server = %handshake.server.name,
            tools = catalog.tools.len(),
            "upstream connected"
        );
        connection.hear_of(self.board.wanted.clone(), &handshake).await;
        let ready = Arc::new(Ready::new(self.generation, connection, self.chance.now()));
        let known = Arc::new(Known::new(handshake, catalog, self.connector.dialect()));
        self.board.set(State { link: Link::Ready(Arc::clone(&ready)), known: Some(known) });
        self.board.chronicle.is_over(How::Reconnected, ready.since);
        Ok((ready, incoming))
    }

    /// Leaves the old way for the one that the configuration names now.
    pub(super) fn turn(&mut self, new: Configure) -> End {
        let dialect = new.known.as_ref().and_then(|known| known.dialect);
        self.connector.turn_to(&new.config, dialect);
        self.backoff = backoff(&new.config);
        self.crashes = CrashLoop::default();
        self.board.chronicle.is_over(How::Changed, self.chance.now());
        self.board.set(State { link: Link::Connecting, known: new.known.clone() });
        self.config = new.settle();
        End::Turned
    }
}

/// Makes a connection and reads what the upstream offers.
async fn make(connector: &mut impl Connect) -> Result<(Connected, Catalog), Failure> {
    let connected = connector.connect().await?;
    let listing = read_catalog::catalog(&connected.connection, &connected.handshake);
    let catalog = timeout(LISTING_LIMIT, listing).await.unwrap_or_else(|_| Err(slow_lists()))?;
    Ok((connected, catalog))
}

pub(super) fn backoff(config: &config::Upstream) -> Backoff {
    if config.transport.is_local() { Backoff::LOCAL } else { Backoff::REMOTE }
}

impl Configure {
    pub(super) fn leads_elsewhere(&self, from: &config::Upstream) -> bool {
        self.config.transport != from.transport
    }

    /// Says that it is so.
    pub(super) fn settle(self) -> Arc<config::Upstream> {
        let _ = self.done.send(());
        self.config
    }
}
