//! While a person has paused an upstream, nothing is asked of it.

use tokio::sync::watch;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::history::incident::How;
use evermoor_core::policy::pause::Paused;

use super::super::transport::connector::Connect;
use super::super::{Command, Link, State};
use super::Supervisor;

/// Whether one upstream is paused.
pub(crate) struct Pausing {
    pub(crate) paused: watch::Receiver<Paused>,
    pub(crate) upstream: UpstreamName,
}

impl Pausing {
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.borrow().is(self.upstream.as_str())
    }

    /// Waits until it is paused, or until it is not.
    pub(super) async fn until(&mut self, wanted: bool) {
        let upstream = self.upstream.as_str();
        if self.paused.wait_for(|paused| paused.is(upstream) == wanted).await.is_err() {
            // Nobody can change it any more.
            std::future::pending().await
        }
    }
}

impl<C: Connect> Supervisor<C> {
    /// Waits until a person resumes it. What the configuration says meanwhile holds then.
    pub(super) async fn pause(&mut self) {
        tracing::info!(upstream = %self.config.name, "upstream paused");
        let since = self.chance.now();
        self.board.chronicle.is_over(How::Paused, since);
        self.show(Link::Paused { since });
        loop {
            tokio::select! {
                biased;
                () = self.pausing.until(false) => break,
                Some(command) = self.commands.recv() => match command {
                    Command::Configure(new) if new.leads_elsewhere(&self.config) => {
                        self.turn(new);
                        self.show(Link::Paused { since });
                    }
                    Command::Configure(new) => self.config = new.settle(),
                    Command::Restart | Command::IsThere | Command::Broken { .. } => {}
                },
            }
        }
        tracing::info!(upstream = %self.config.name, "upstream resumed");
        self.show(Link::Connecting);
    }

    pub(super) fn show(&self, link: Link) {
        self.board.set(State { link, known: self.board.known() });
    }
}
