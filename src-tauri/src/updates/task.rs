//! The task that checks for updates and installs them.

use std::time::Duration;

use tauri::{AppHandle, Manager};
use tauri_plugin_updater::{Update as FoundUpdate, UpdaterExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::Update;
use super::source::Source;
use crate::gateway::SupervisedGateway;

/// How often to check for updates.
const CHECK_INTERVAL: Duration = Duration::from_secs(12 * 3600);
/// How soon to check again after a failure: there may be no network at login.
const RETRY_INTERVAL: Duration = Duration::from_secs(1800);
/// How long the update server may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How often to ask the gateway whether calls are running.
const CALLS_POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(super) struct UpdatesTask {
    pub(super) app: AppHandle,
    pub(super) source: Source,
    pub(super) state: watch::Sender<Update>,
    pub(super) install_requests: mpsc::UnboundedReceiver<()>,
}

impl UpdatesTask {
    pub(super) async fn run(mut self) {
        let mut found = self.check().await;
        loop {
            let pause = if self.has_failed() { RETRY_INTERVAL } else { CHECK_INTERVAL };
            match timeout(pause, self.install_requests.recv()).await {
                Err(_) => found = self.check().await,
                Ok(None) => return,
                Ok(Some(())) => {
                    if found.is_none() {
                        found = self.check().await;
                    }
                    if let Some(found) = &found {
                        self.install(found).await;
                    }
                }
            }
        }
    }

    fn has_failed(&self) -> bool {
        matches!(&*self.state.borrow(), Update::Failed { .. })
    }

    /// Checks for a newer version and publishes the result.
    async fn check(&self) -> Option<FoundUpdate> {
        let updater = self
            .app
            .updater_builder()
            .pubkey(&self.source.key)
            .timeout(REQUEST_TIMEOUT)
            .endpoints(vec![self.source.endpoint.clone()])
            .and_then(tauri_plugin_updater::UpdaterBuilder::build);
        let checked = match updater {
            Ok(updater) => updater.check().await,
            Err(error) => Err(error),
        };
        let (state, found) = match checked {
            Ok(Some(found)) => (Update::Available { version: found.version.clone() }, Some(found)),
            Ok(None) => (Update::None, None),
            Err(error) => {
                warn!(%error, "cannot check for updates");
                (
                    Update::Failed {
                        version: None,
                        reason: format!("Could not check for updates: {error}."),
                    },
                    None,
                )
            }
        };
        self.state.send_replace(state);
        found
    }

    /// Downloads the update and verifies its signature, waits for calls to finish, and replaces
    /// this program.
    async fn install(&self, found: &FoundUpdate) {
        let version = found.version.clone();
        self.state.send_replace(Update::Installing { version: version.clone() });
        let bytes = match found.download(|_, _| {}, || {}).await {
            Ok(bytes) => bytes,
            Err(error) => return self.fail(&version, &error.to_string()),
        };
        self.state.send_replace(Update::Waiting { version: version.clone() });
        self.wait_for_calls().await;
        self.state.send_replace(Update::Installing { version: version.clone() });
        if let Err(error) = found.install(bytes) {
            return self.fail(&version, &error.to_string());
        }
        info!(version, "the update is installed");
        // The new tray finds the old gateway and starts a new one that takes over. No call is lost.
        self.app.request_restart();
        std::future::pending().await
    }

    fn fail(&self, version: &str, error: &str) {
        warn!(version, error, "cannot install the update");
        let reason = format!("Could not install the update to {version}: {error}.");
        self.state.send_replace(Update::Failed { version: Some(version.to_owned()), reason });
    }

    /// Waits until no call is running. Without a gateway there are none.
    async fn wait_for_calls(&self) {
        while self.calls().await > 0 {
            sleep(CALLS_POLL_INTERVAL).await;
        }
    }

    async fn calls(&self) -> u64 {
        let Ok(control) = self.app.state::<SupervisedGateway>().supervisor().control() else {
            return 0;
        };
        match control.calls_under_way().await {
            Ok(calls) => calls,
            Err(error) => {
                warn!(%error, "cannot ask the gateway whether calls are running");
                0
            }
        }
    }
}
