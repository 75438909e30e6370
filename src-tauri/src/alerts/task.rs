//! The task that shows notifications.

use std::collections::BTreeMap;
use std::time::Duration;

use evermoor_client::Presence;
use evermoor_core::policy::alerts::{
    Alert, AlertCommand, AlertId, AlertRules, AlertTiming, ClockReading, TrayAction,
};
use evermoor_platform::clock;
use tauri::AppHandle;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::buttons;
use super::notifier::Notifier;
use crate::system::network::Network;
use crate::updates::Update;
use crate::window::reopen;

pub(super) struct AlertsTask<N> {
    app: AppHandle,
    notifier: N,
    presence: watch::Receiver<Presence>,
    updates: watch::Receiver<Update>,
    acts: mpsc::UnboundedReceiver<TrayAction>,
    began: Instant,
    rules: AlertRules,
    /// The notifications that are on the screen, to our knowledge.
    shown: BTreeMap<AlertId, Alert>,
}

impl<N: Notifier> AlertsTask<N> {
    pub(super) fn new(
        app: AppHandle,
        notifier: N,
        mut presence: watch::Receiver<Presence>,
        updates: watch::Receiver<Update>,
        acts: mpsc::UnboundedReceiver<TrayAction>,
        at_login: bool,
    ) -> Self {
        // The first state is handled like a change.
        presence.mark_changed();
        let began = Instant::now();
        let rules = AlertRules::new(AlertTiming::default(), at_login, now(began));
        Self { app, notifier, presence, updates, acts, began, rules, shown: BTreeMap::new() }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut network = Network::watch().await;
        loop {
            let next = self.rules.next_evaluation(now(self.began));
            let orders = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(act) = self.acts.recv() => self.rules.act(&act, now(self.began)),
                Ok(()) = self.presence.changed() => self.on_presence(),
                Ok(()) = self.updates.changed() => self.on_update(),
                click = self.notifier.clicked() => {
                    reopen::notification_pressed(&self.app);
                    if let Some(alert) = self.shown.get(&click.id) {
                        buttons::perform(&self.app, alert, click.target);
                    }
                    continue;
                }
                () = network.changed() => self.rules.network_changed(now(self.began)),
                () = after(next) => self.rules.evaluate(now(self.began)),
            };
            self.carry_out(orders).await;
        }
        let orders = self.rules.act(&TrayAction::Quit, now(self.began));
        self.carry_out(orders).await;
    }

    fn on_presence(&mut self) -> Vec<AlertCommand> {
        let now = now(self.began);
        match &*self.presence.borrow_and_update() {
            Presence::Starting | Presence::Stopped => self.rules.evaluate(now),
            Presence::Serving { status } => self.rules.observe(status, now),
            Presence::Lost { failure } => self.rules.gateway_lost(failure, now),
        }
    }

    fn on_update(&mut self) -> Vec<AlertCommand> {
        let Update::Available { version } = &*self.updates.borrow_and_update() else {
            return Vec::new();
        };
        self.rules.update_ready(version, now(self.began))
    }

    async fn carry_out(&mut self, orders: Vec<AlertCommand>) {
        for order in orders {
            match order {
                AlertCommand::Show(id, alert) => match self.notifier.show(id, &alert).await {
                    true => drop(self.shown.insert(id, alert)),
                    false => self.rules.not_shown(id),
                },
                AlertCommand::Replace(id, alert) => {
                    self.notifier.replace(id, &alert).await;
                    self.shown.insert(id, alert);
                }
                AlertCommand::Withdraw(id) => {
                    self.notifier.withdraw(id).await;
                    self.shown.remove(&id);
                }
            }
        }
    }
}

/// Both clocks. The monotonic one counts from the start of the task.
fn now(began: Instant) -> ClockReading {
    let awake = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    ClockReading { awake, wall: clock::unix_millis() }
}

async fn after(time: Option<u64>) {
    match time {
        Some(time) => sleep(Duration::from_millis(time)).await,
        None => std::future::pending().await,
    }
}
