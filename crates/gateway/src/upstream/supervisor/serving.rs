//! What a supervisor does for a connection while it serves.

use std::sync::Arc;

use tokio::time::timeout;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::How;

use super::super::supervisor::read_catalog;
use super::super::transport::connector::Connect;
use super::super::{Known, Link, Ready, State};
use super::text::slow_lists;
use super::{LISTING_LIMIT, Supervisor};

impl<C: Connect> Supervisor<C> {
    /// Reads the lists again and shows them if they differ.
    pub(super) async fn refresh(&mut self, ready: &Arc<Ready>) -> Option<Failure> {
        let known = self.board.known()?;
        let listed =
            timeout(LISTING_LIMIT, read_catalog::catalog(&ready.connection, &known.handshake))
                .await;
        match listed.unwrap_or_else(|_| Err(slow_lists())) {
            Ok(catalog) if catalog != known.catalog => {
                let (handshake, dialect) = (known.handshake.clone(), known.dialect);
                let known = Known::new(handshake, catalog, dialect);
                let link = Link::Ready(Arc::clone(ready));
                self.board.set(State { link, known: Some(Arc::new(known)) });
                None
            }
            Ok(_) => None,
            Err(failure) if failure.code == Code::ConnectionLost => Some(failure),
            // A server that is slow keeps the list it had.
            Err(failure) => {
                tracing::debug!(upstream = %self.config.name, %failure, "lists not read");
                None
            }
        }
    }

    pub(super) fn show_stall(&mut self, ready: &Arc<Ready>, stalled: Option<Failure>) {
        if ready.set_stalled(stalled.clone()) {
            match stalled {
                Some(failure) => self.went_down(&failure),
                None => self.board.chronicle.is_over(How::Answered, self.chance.now()),
            }
            self.board.changed.notify_one();
        }
    }
}
