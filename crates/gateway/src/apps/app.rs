//! An application, for its connector: where it is, and what to say if it is not.

use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, stream};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::Preset;

use super::{Apps, Desk, finder, observe, process};

#[derive(Clone)]
pub(crate) struct App {
    pub(super) apps: Apps,
    pub(super) desk: Arc<Desk>,
}

impl App {
    pub(crate) fn preset(&self, name: &str) -> Result<Arc<Preset>, Failure> {
        self.apps.preset(name)
    }

    /// The ports at which it is, as they are found. The run that is to end is at none of them.
    pub(crate) fn find(
        &self,
        preset: &Arc<Preset>,
    ) -> impl Stream<Item = u16> + Send + Unpin + use<> {
        let found = self.apps.asker().map(|asker| finder::find(preset, asker));
        let desk = Arc::clone(&self.desk);
        let found = stream::iter(found).flatten().filter_map(move |port| {
            let desk = Arc::clone(&desk);
            async move {
                let leaving = desk.leaving();
                let stays = leaving.is_none() || leaving != process::at(port).await;
                stays.then(|| {
                    desk.found(port);
                    port
                })
            }
        });
        Box::pin(found)
    }

    /// Its MCP server answered at this port.
    pub(crate) fn serves(&self, preset: &Preset, port: u16) {
        self.desk.found(port);
        self.desk.serves(observe::ready(preset, port));
    }

    /// Why there is no connection to it. `failed` is where it was found, and why that led to none.
    pub(crate) async fn why_not(
        &self,
        preset: &Arc<Preset>,
        failed: Option<(u16, Failure)>,
    ) -> Failure {
        let standing = match failed {
            // It has served before: what it says now is worth more than that it is starting.
            Some((_, failure)) if self.desk.has_served() => return failure,
            Some((port, _)) => observe::half_up(preset, port),
            None => observe::at_none(preset, &self.desk).await,
        };
        standing.failure().unwrap_or_else(|| {
            let what = format!("{} cannot be connected to.", preset.title);
            Failure::new(Code::Internal, what, "Restart it.")
        })
    }
}
