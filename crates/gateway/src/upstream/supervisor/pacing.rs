//! How long to wait before the next attempt.

use std::time::Duration;

use evermoor_core::failure::Code;
use evermoor_core::policy::backoff::Backoff;
use evermoor_core::policy::timing::SLOW_LANE;

use super::super::transport::connector::Connect;
use super::Supervisor;
use crate::config::secrets::is_about_secrets;

impl<C: Connect> Supervisor<C> {
    /// The wait after this many attempts, the last of which failed so.
    pub(super) fn wait(&self, attempt: u32, code: Code, looping: bool) -> Duration {
        match attempt {
            _ if looping => SLOW_LANE,
            // A connection that just broke is worth one attempt at once.
            0 => Duration::ZERO,
            // The keychain is on this machine, wherever the server is.
            _ if is_about_secrets(code) => Backoff::LOCAL.wait(attempt - 1, self.chance.dice()),
            _ => self.backoff.wait(attempt - 1, self.chance.dice()),
        }
    }
}
