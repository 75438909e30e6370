//! What a person is told unasked: which trouble is worth a notification, when, and in which words.
//!
//! # Theory of operation
//! [`Alerts`] is told what is seen of the gateway, what the person does and what time it is, and
//! says what to show, replace and withdraw. It touches nothing and waits for nothing: `next_look`
//! says when it wants to be asked again.
//!
//! An upstream that goes down has an *outage*. It is told when its grace is over and nothing speaks
//! against it: a person who acts on it, a machine that just woke, a restart under way, an allowance
//! that is used up. What is shown is kept on a *board*: outages that began together share a notice,
//! and whenever their state changes the notice is written anew in its place, up to the silent word
//! that all is well again. So what stands on the screen is never a lie that was true once.
//!
//! # Layout
//! - [`notice`]: what is shown, with its buttons; [`words`]: its texts
//! - [`outage`]: one upstream, from what is seen of it to the moment at which its trouble is told;
//!   [`kind`]: the kinds of trouble
//! - [`settling`]: what is told now, and when to look again
//! - [`board`]: what is on the screen
//! - [`allowance`]: how often a person may be disturbed
//! - [`clock`]: what time it is, and whether the machine slept
//! - [`times`]: all lengths of time

mod clock;
mod displayed;
mod kind;
pub mod notification;
mod outage;
mod rate_limit;
mod schedule;
#[cfg(test)]
mod tests;
mod text;
pub mod timing;

use std::collections::BTreeMap;

use crate::api::{Notifications, Status};
use crate::failure::Failure;
use clock::Clock;
pub use clock::Now;
use displayed::Board;
pub use notification::{Button, Id, Notice, Order, Place};
use outage::Watched;
use rate_limit::Allowance;
pub use timing::Times;

/// What a person did, which they need not be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// They restart this upstream.
    Restart(String),
    /// They pause, resume or turn off this upstream, or all.
    Touch(Option<String>),
    /// They want to hear nothing of this upstream until this moment (milliseconds of the Unix epoch).
    Ignore { upstream: String, until: u64 },
    /// They quit the tray.
    Quit,
}

/// The rules, with what they remember.
#[derive(Debug)]
pub struct Alerts {
    times: Times,
    clock: Clock,
    level: Notifications,
    upstreams: BTreeMap<String, Watched>,
    /// The gateway itself; it is down while nothing is known of upstreams.
    gateway: Watched,
    endpoint: Option<String>,
    /// The version of an update that was told.
    update: Option<String>,
    allowance: Allowance,
    board: Board,
    muted_until: u64,
    quitting: bool,
}

impl Alerts {
    /// The tray starts. Right after a login everything else starts too, and nobody is told of it.
    pub fn new(times: Times, at_login: bool, now: Now) -> Self {
        Self {
            times,
            clock: Clock::new(now),
            level: Notifications::default(),
            upstreams: BTreeMap::new(),
            gateway: Watched::gateway(),
            endpoint: None,
            update: None,
            allowance: Allowance::default(),
            board: Board::default(),
            muted_until: if at_login { now.awake + times.mute } else { 0 },
            quitting: false,
        }
    }

    /// The gateway serves, and this is its state.
    pub fn see(&mut self, status: &Status, now: Now) -> Vec<Order> {
        self.pass(now);
        self.level = status.tray.notifications;
        if let Some(left) = status.muted_until.and_then(|until| until.checked_sub(now.wall)) {
            self.mute(now.awake + left.min(self.times.mute));
        }
        if let Some(id) = self.gateway.recover() {
            self.board.back(id, GATEWAY, text::gateway_is_back());
        }
        self.forget_the_removed(status);
        for upstream in &status.upstreams {
            let watched = self.upstreams.entry(upstream.name.clone());
            let watched = watched.or_insert_with(|| Watched::new(upstream));
            watched.heed(upstream.touched, now, self.times.acting);
            watched.see(upstream, now.awake, &mut self.board);
        }
        let before = self.endpoint.replace(status.endpoint.clone());
        if before.is_some_and(|before| before != status.endpoint) {
            self.inform(text::moved(&status.endpoint), now);
        }
        self.settle(now)
    }

    /// The gateway does not serve.
    pub fn lose(&mut self, failure: &Failure, now: Now) -> Vec<Order> {
        self.pass(now);
        self.gateway.lose(failure, now.awake);
        self.settle(now)
    }

    /// The person did something.
    pub fn act(&mut self, act: &Act, now: Now) -> Vec<Order> {
        self.pass(now);
        let acting = now.awake + self.times.acting;
        match act {
            Act::Restart(name) => {
                if let Some(watched) = self.upstreams.get_mut(name) {
                    watched.restart(acting);
                }
            }
            Act::Touch(name) => {
                let touched = self.upstreams.iter_mut();
                let touched = touched.filter(|(own, _)| name.as_ref().is_none_or(|it| it == *own));
                touched.for_each(|(_, watched)| watched.hush(acting));
            }
            Act::Ignore { upstream, until } => {
                let until = now.awake + until.saturating_sub(now.wall);
                if let Some(watched) = self.upstreams.get_mut(upstream) {
                    watched.ignore(until, &mut self.board);
                }
            }
            Act::Quit => self.quitting = true,
        }
        self.settle(now)
    }

    /// An update can be installed.
    pub fn update_is_ready(&mut self, version: &str, now: Now) -> Vec<Order> {
        self.pass(now);
        if self.update.as_deref() != Some(version) {
            self.update = Some(version.to_owned());
            self.inform(text::update_is_ready(version), now);
        }
        self.settle(now)
    }

    /// The network is another one: connections break without anybody's fault.
    pub fn network_changed(&mut self, now: Now) -> Vec<Order> {
        self.pass(now);
        self.mute(now.awake + self.times.mute);
        self.settle(now)
    }

    /// Time passed.
    pub fn look(&mut self, now: Now) -> Vec<Order> {
        self.pass(now);
        self.settle(now)
    }

    /// A notice could not be shown, so nothing will be said of its end either.
    pub fn was_not_shown(&mut self, id: Id) {
        self.board.remove(id);
        let watched = self.upstreams.values_mut().chain([&mut self.gateway]);
        watched.for_each(|watched| watched.was_not_shown(id));
    }

    fn pass(&mut self, now: Now) {
        if self.clock.slept(now, self.times.nap) {
            self.mute(now.awake + self.times.mute);
        }
    }

    fn mute(&mut self, until: u64) {
        self.muted_until = self.muted_until.max(until);
    }

    fn forget_the_removed(&mut self, status: &Status) {
        let board = &mut self.board;
        self.upstreams.retain(|name, watched| {
            let stays = status.upstreams.iter().any(|upstream| upstream.name == *name);
            if !stays {
                watched.end(board);
            }
            stays
        });
    }
}

/// In the place of an upstream's name; no upstream is called so.
const GATEWAY: &str = "";
