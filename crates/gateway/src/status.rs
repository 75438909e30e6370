//! The state of the whole, kept up to date for everybody who watches.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, watch};

use evermoor_core::catalog::Merged;
use evermoor_core::failure::Failure;
use evermoor_core::view::{self, Status};

use crate::upstream::{Handle, Link, State};

/// What is derived from the states of all upstreams.
#[derive(Clone)]
pub struct Overview {
    pub status: Status,
    /// All upstreams seen as one.
    pub merged: Arc<Merged>,
}

/// What the overview needs besides the upstreams.
pub struct Setting {
    pub origin: String,
    pub warnings: Vec<Failure>,
}

/// The overview at this moment.
pub fn overview(upstreams: &[Handle], setting: &Setting) -> Overview {
    let states: Vec<State> = upstreams.iter().map(Handle::state).collect();
    let views = upstreams.iter().zip(&states).map(|(handle, state)| view(handle, state, setting));
    let status = Status::of(
        crate::VERSION.into(),
        std::process::id(),
        format!("{}/mcp", setting.origin),
        views.collect(),
        setting.warnings.clone(),
    );
    let catalogs = upstreams.iter().zip(&states).filter_map(|(handle, state)| {
        state.known.as_ref().map(|known| (handle.name(), &known.catalog))
    });
    Overview { status, merged: Arc::new(Merged::of(catalogs)) }
}

/// Makes the overview anew whenever an upstream changes.
pub async fn keep(
    upstreams: Arc<[Handle]>,
    setting: Setting,
    changed: Arc<Notify>,
    show: watch::Sender<Overview>,
) {
    loop {
        changed.notified().await;
        show.send_replace(overview(&upstreams, &setting));
    }
}

fn view(handle: &Handle, state: &State, setting: &Setting) -> view::Upstream {
    let link = match &state.link {
        Link::Connecting => view::Link::Connecting,
        Link::Ready(ready) => match ready.stalled() {
            None => view::Link::Connected {
                since: millis(ready.since),
                server: state.known.as_ref().map_or_else(String::new, |known| {
                    let server = &known.handshake.server;
                    format!("{} {}", server.name, server.version).trim().to_owned()
                }),
            },
            // Still connected, and of no use: that is what a person must see.
            Some(failure) => {
                let now = millis(SystemTime::now());
                view::Link::Down { since: now, retry_at: now, attempts: 0, failure }
            }
        },
        Link::Down { since, retry_at, attempts, failure } => view::Link::Down {
            since: millis(*since),
            retry_at: millis(*retry_at),
            attempts: *attempts,
            failure: failure.clone(),
        },
    };
    let tools = state.known.as_ref().map_or(0, |known| known.catalog.tools.len());
    view::Upstream {
        name: handle.name().to_string(),
        title: handle.config.title.clone(),
        target: handle.config.transport.target(),
        endpoint: format!("{}/mcp/{}", setting.origin, handle.name()),
        link,
        tools: u32::try_from(tools).unwrap_or(u32::MAX),
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
