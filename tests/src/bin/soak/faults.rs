//! What breaks: one upstream, its network or the gateway at a time, for a moment, and then it works again.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use evermoor_client::launch::Launcher;
use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_platform::process::spawn;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::fakes::single_version::upstream::SingleVersionUpstream;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::{found, runtime};
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle::faults::InjectedFault;
use evermoor_tests::oracle::random::Dice;
use tokio::time::{Instant, sleep, timeout};

/// Longer than a call is held.
const TOO_LONG: Duration = Duration::from_millis(2_500);
/// How long another gateway may take until it serves. A takeover connects to broken upstreams first.
const REPLACED_WITHIN: Duration = Duration::from_secs(45);
/// How long the upstreams may take to connect.
const CONNECTED_WITHIN: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// An upstream that can be broken.
pub(crate) enum Breakable {
    /// Every fault, of the server and of its network.
    Scripted(Upstream, Proxy),
    /// Killed and started again.
    SingleVersionUpstream(SingleVersionUpstream),
    /// Killed; the gateway starts it again.
    Program(Program),
}

impl Breakable {
    /// Breaks it in a random way. It works again at the end, after a short rest.
    pub(crate) async fn break_once(&mut self, dice: &mut Dice) {
        let (lasts, rest) = (dice.millis(20, 400), dice.millis(5, 200));
        match self {
            Self::Scripted(upstream, network) => {
                let fault = dice.pick(&InjectedFault::all());
                fault.inject(upstream, network, dice, TOO_LONG).await;
            }
            Self::SingleVersionUpstream(upstream) => {
                upstream.kill().await;
                sleep(lasts).await;
                upstream.start_again().await;
            }
            Self::Program(program) => {
                let newest = program.instance(program.starts().max(1)).await;
                // It may have exited already.
                let _ = spawn::kill(newest);
                sleep(lasts).await;
            }
        }
        sleep(rest).await;
    }
}

/// The gateway, which is killed or replaced. The supervisor of this process starts another one after a kill.
pub(crate) struct BreakableGateway {
    home: PathBuf,
    launcher: Launcher,
    pub(crate) kills: Vec<Instant>,
    /// When each takeover was asked for and when it was complete.
    pub(crate) takeovers: Vec<Instant>,
    pub(crate) not_replaced: usize,
}

impl BreakableGateway {
    pub(crate) fn of(home: PathBuf, launcher: Launcher) -> Self {
        Self { home, launcher, kills: Vec::new(), takeovers: Vec::new(), not_replaced: 0 }
    }

    /// Kills it, or lets another one take over, in turn.
    pub(crate) async fn break_once(&mut self, dice: &mut Dice) {
        match self.kills.len() < self.takeovers.len() / 2 {
            true => self.kill().await,
            false => self.take_over().await,
        }
        sleep(dice.millis(200, 1_000)).await;
    }

    /// Waits until every upstream is connected. A program that was killed too often is started once a minute.
    pub(crate) async fn until_all_connected(&self) {
        let connected = async {
            while !self.are_all_connected().await {
                sleep(POLL_INTERVAL).await;
            }
        };
        // If one never is, the descriptors show it.
        let _ = timeout(CONNECTED_WITHIN, connected).await;
    }

    async fn are_all_connected(&self) -> bool {
        let Some(control) = self.launcher.running().await else { return false };
        let Ok(status) = control.status().await else { return false };
        let is_connected =
            |one: &UpstreamStatus| matches!(one.link, UpstreamState::Connected { .. });
        status.upstreams.iter().all(is_connected)
    }

    pub(crate) fn pid(&self) -> u32 {
        runtime(&self.home).pid
    }

    async fn kill(&mut self) {
        let pid = self.pid();
        self.kills.push(Instant::now());
        self.until_replaced(pid, spawn::kill(pid)).await;
    }

    pub(crate) async fn take_over(&mut self) {
        let pid = self.pid();
        self.takeovers.push(Instant::now());
        self.until_replaced(pid, self.launcher.take_over().map(drop)).await;
        self.takeovers.push(Instant::now());
    }

    /// Waits until another gateway serves. Counts a fault that could not be injected as a failure.
    async fn until_replaced(&mut self, before: u32, injected: io::Result<()>) {
        let replaced = async {
            let is_other = |home| found(home).is_some_and(|runtime| runtime.pid != before);
            while !is_other(&self.home) || self.launcher.running().await.is_none() {
                sleep(POLL_INTERVAL).await;
            }
        };
        let replaced = injected.is_ok() && timeout(REPLACED_WITHIN, replaced).await.is_ok();
        self.not_replaced += usize::from(!replaced);
    }
}
