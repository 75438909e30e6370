//! The task that shows notifications.

use std::collections::BTreeMap;
use std::time::Duration;

use evermoor_client::Presence;
use evermoor_core::policy::alerts::{Act, Alerts, Id, Notice, Now, Order, Times};
use evermoor_platform::clock;
use tauri::AppHandle;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::buttons;
use super::notifier::Notifier;
use crate::system::network::Network;
use crate::updates::Update;

pub(super) struct Task<N> {
    app: AppHandle,
    notifier: N,
    presence: watch::Receiver<Presence>,
    updates: watch::Receiver<Update>,
    acts: mpsc::UnboundedReceiver<Act>,
    began: Instant,
    rules: Alerts,
    /// The notifications that are on the screen, as far as we know.
    shown: BTreeMap<Id, Notice>,
}

impl<N: Notifier> Task<N> {
    pub(super) fn new(
        app: AppHandle,
        notifier: N,
        mut presence: watch::Receiver<Presence>,
        updates: watch::Receiver<Update>,
        acts: mpsc::UnboundedReceiver<Act>,
        at_login: bool,
    ) -> Self {
        // The first state is handled like a change.
        presence.mark_changed();
        let began = Instant::now();
        let rules = Alerts::new(Times::default(), at_login, now(began));
        Self { app, notifier, presence, updates, acts, began, rules, shown: BTreeMap::new() }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut network = Network::watch().await;
        loop {
            let next = self.rules.next_look(now(self.began));
            let orders = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(act) = self.acts.recv() => self.rules.act(&act, now(self.began)),
                Ok(()) = self.presence.changed() => self.on_presence(),
                Ok(()) = self.updates.changed() => self.on_update(),
                click = self.notifier.clicked() => {
                    if let Some(notice) = self.shown.get(&click.id) {
                        buttons::perform(&self.app, notice, click.target);
                    }
                    continue;
                }
                () = network.changed() => self.rules.network_changed(now(self.began)),
                () = after(next) => self.rules.look(now(self.began)),
            };
            self.carry_out(orders).await;
        }
        let orders = self.rules.act(&Act::Quit, now(self.began));
        self.carry_out(orders).await;
    }

    fn on_presence(&mut self) -> Vec<Order> {
        let now = now(self.began);
        match &*self.presence.borrow_and_update() {
            Presence::Starting => self.rules.look(now),
            Presence::Serving { status } => self.rules.see(status, now),
            Presence::Lost { failure } => self.rules.lose(failure, now),
        }
    }

    fn on_update(&mut self) -> Vec<Order> {
        let Update::Available { version } = &*self.updates.borrow_and_update() else {
            return Vec::new();
        };
        self.rules.update_is_ready(version, now(self.began))
    }

    async fn carry_out(&mut self, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Show(id, notice) => match self.notifier.show(id, &notice).await {
                    true => drop(self.shown.insert(id, notice)),
                    false => self.rules.was_not_shown(id),
                },
                Order::Replace(id, notice) => {
                    self.notifier.replace(id, &notice).await;
                    self.shown.insert(id, notice);
                }
                Order::Withdraw(id) => {
                    self.notifier.withdraw(id).await;
                    self.shown.remove(&id);
                }
            }
        }
    }
}

/// Both clocks. The monotonic one counts from the start of the task.
fn now(began: Instant) -> Now {
    let awake = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Now { awake, wall: clock::unix_millis() }
}

async fn after(time: Option<u64>) {
    match time {
        Some(time) => sleep(Duration::from_millis(time)).await,
        None => std::future::pending().await,
    }
}
