//! An application as its connector sees it: where it listens, and why it cannot be reached.

use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, stream};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::Preset;

use super::{AppState, Apps, observe, port_finder, process};

#[derive(Clone)]
pub(crate) struct App {
    pub(super) apps: Apps,
    pub(super) app: Arc<AppState>,
}

impl App {
    pub(crate) fn preset(&self, name: &str) -> Result<Arc<Preset>, Failure> {
        self.apps.preset(name)
    }

    /// The ports where the application answers, as they are found. A run that is being replaced is
    /// skipped.
    pub(crate) fn find(
        &self,
        preset: &Arc<Preset>,
    ) -> impl Stream<Item = u16> + Send + Unpin + use<> {
        let found = self.apps.probe().map(|probe| port_finder::find(preset, probe));
        let app = Arc::clone(&self.app);
        let found = stream::iter(found).flatten().filter_map(move |port| {
            let app = Arc::clone(&app);
            async move {
                let leaving = app.leaving();
                let stays = leaving.is_none() || leaving != process::at(port).await;
                stays.then(|| {
                    app.found(port);
                    port
                })
            }
        });
        Box::pin(found)
    }

    /// Records that its MCP server answered on this port.
    pub(crate) fn serves(&self, preset: &Preset, port: u16) {
        self.app.found(port);
        self.app.serves(observe::ready(preset, port));
    }

    /// Why no connection could be made. `failed` is the port where the application was found, and
    /// why connecting to it failed.
    pub(crate) async fn connect_failure(
        &self,
        preset: &Arc<Preset>,
        failed: Option<(u16, Failure)>,
    ) -> Failure {
        let health = match failed {
            // It has served in this run, so it is not starting: its own failure says more.
            Some((_, failure)) if self.app.has_served() => return failure,
            Some((port, _)) => observe::half_up(preset, port),
            None => observe::at_none(preset, &self.app).await,
        };
        health.failure().unwrap_or_else(|| {
            let what = format!("Evermoor cannot connect to {}.", preset.title);
            Failure::new(Code::Internal, what, "Restart it.")
        })
    }
}
