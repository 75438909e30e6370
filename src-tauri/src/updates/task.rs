//! The task that looks for updates and installs them.

use std::time::Duration;

use tauri::{AppHandle, Manager};
use tauri_plugin_updater::{Update as Found, UpdaterExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::Update;
use super::source::Source;
use crate::gateway::Gateway;

/// Often enough for somebody who never quits.
const LOOK_AGAIN: Duration = Duration::from_secs(12 * 3600);
/// There may be no network at login.
const TRY_AGAIN: Duration = Duration::from_secs(1800);
/// A server that takes longer is asked again later.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the gateway is asked whether calls are under way.
const GLANCE: Duration = Duration::from_millis(500);

pub(super) struct Task {
    pub(super) app: AppHandle,
    pub(super) source: Source,
    pub(super) show: watch::Sender<Update>,
    pub(super) heard: mpsc::UnboundedReceiver<()>,
}

impl Task {
    pub(super) async fn run(mut self) {
        let mut found = self.look().await;
        loop {
            let pause = if self.has_failed() { TRY_AGAIN } else { LOOK_AGAIN };
            match timeout(pause, self.heard.recv()).await {
                Err(_) => found = self.look().await,
                Ok(None) => return,
                Ok(Some(())) => {
                    if found.is_none() {
                        found = self.look().await;
                    }
                    if let Some(found) = &found {
                        self.install(found).await;
                    }
                }
            }
        }
    }

    fn has_failed(&self) -> bool {
        matches!(&*self.show.borrow(), Update::Failed { .. })
    }

    /// Asks for something newer, and shows what there is.
    async fn look(&self) -> Option<Found> {
        let updater = self
            .app
            .updater_builder()
            .pubkey(&self.source.key)
            .timeout(PATIENCE)
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
                warn!(%error, "updates could not be looked for");
                (
                    Update::Failed {
                        version: None,
                        reason: format!("Updates could not be looked for: {error}."),
                    },
                    None,
                )
            }
        };
        self.show.send_replace(state);
        found
    }

    /// Fetches the update, which is refused if its signature is not ours, waits for calls to end, and
    /// puts it in the place of this program.
    async fn install(&self, found: &Found) {
        let version = found.version.clone();
        self.show.send_replace(Update::Installing { version: version.clone() });
        let bytes = match found.download(|_, _| {}, || {}).await {
            Ok(bytes) => bytes,
            Err(error) => return self.fail(&version, &error.to_string()),
        };
        self.show.send_replace(Update::Waiting { version: version.clone() });
        self.until_quiet().await;
        self.show.send_replace(Update::Installing { version: version.clone() });
        if let Err(error) = found.install(bytes) {
            return self.fail(&version, &error.to_string());
        }
        info!(version, "the update is installed");
        // The newer tray finds the older gateway and has a newer one take over, which drops nobody.
        self.app.request_restart();
        std::future::pending().await
    }

    fn fail(&self, version: &str, error: &str) {
        warn!(version, error, "the update was not installed");
        let reason = format!("The update to {version} was not installed: {error}.");
        self.show.send_replace(Update::Failed { version: Some(version.to_owned()), reason });
    }

    /// Waits until no call is under way. Without a gateway there is none.
    async fn until_quiet(&self) {
        while self.calls().await > 0 {
            sleep(GLANCE).await;
        }
    }

    async fn calls(&self) -> u64 {
        let Ok(control) = self.app.state::<Gateway>().keeper().control() else {
            return 0;
        };
        match control.calls_under_way().await {
            Ok(calls) => calls,
            Err(error) => {
                warn!(%error, "the gateway does not say whether calls are under way");
                0
            }
        }
    }
}
