//! While an application is being restarted, no call is sent to it and nobody connects to it.

use tokio::sync::watch;

use super::super::transport::connector::Connect;
use super::super::{Command, Link};
use super::Supervisor;
use super::text::being_restarted;

/// Waits until the supervisor is to stand aside, or until it is not.
pub(super) async fn until(aside: &mut watch::Receiver<bool>, wanted: bool) {
    if aside.wait_for(|aside| *aside == wanted).await.is_err() {
        // Nobody can change it any more.
        std::future::pending().await
    }
}

impl<C: Connect> Supervisor<C> {
    /// Waits until the application may be connected to. Calls wait as in any outage, and it is
    /// written down as one.
    pub(super) async fn stand_aside(&mut self) {
        let (since, failure) = (self.chance.now(), being_restarted(&self.config.title));
        // What is done during an outage is told step by step by whoever does it.
        if !self.board.chronicle.is_down() {
            self.went_down(&failure);
        }
        self.show(Link::Down { since, retry_at: since, attempts: 0, failure });
        loop {
            tokio::select! {
                biased;
                () = until(&mut self.board.aside, false) => return,
                () = self.pausing.until(true) => return,
                Some(command) = self.commands.recv() => match command {
                    Command::Configure(new) if new.leads_elsewhere(&self.config) => {
                        self.turn(new);
                        return;
                    }
                    Command::Configure(new) => self.config = new.settle(),
                    Command::Restart | Command::IsThere | Command::Broken { .. } => {}
                },
            }
        }
    }
}
