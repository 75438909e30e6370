//! The state of the whole, kept up to date for everybody who watches.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, watch};

use evermoor_core::catalog::Merged;
use evermoor_core::view::{self, Status};

use crate::editors::Editors;
use crate::roster::Lineup;
use crate::upstream::{Handle, Known, Link, State};

/// What is derived from the states of all upstreams.
#[derive(Clone)]
pub struct Overview {
    pub status: Status,
    /// All upstreams seen as one.
    pub merged: Arc<Merged>,
    /// What it was merged from.
    sources: Vec<Arc<Known>>,
}

impl Overview {
    /// Whether what this upstream says now is part of it.
    pub fn covers(&self, upstream: &Handle) -> bool {
        let known = upstream.state().known;
        known.is_none_or(|known| self.sources.iter().any(|source| Arc::ptr_eq(source, &known)))
    }
}

/// The overview at this moment.
pub fn overview(lineup: &Lineup, editors: &Editors, origin: &str) -> Overview {
    let upstreams = Arc::clone(&lineup.upstreams.borrow());
    let states: Vec<State> = upstreams.iter().map(Handle::state).collect();
    let views = upstreams.iter().zip(&states).map(|(handle, state)| view(handle, state, origin));
    let status = Status::of(
        crate::VERSION.into(),
        std::process::id(),
        format!("{origin}/mcp"),
        views.collect(),
        lineup.warnings.borrow().clone(),
    )
    .with_editors(editors.list());
    let catalogs = upstreams.iter().zip(&states).filter_map(|(handle, state)| {
        state.known.as_ref().map(|known| (handle.name(), &known.catalog))
    });
    let merged = Arc::new(Merged::of(catalogs));
    let sources = states.iter().filter_map(|state| state.known.clone()).collect();
    Overview { status, merged, sources }
}

/// Makes the overview anew whenever an upstream, an editor or the configuration changes.
pub async fn keep(
    lineup: Lineup,
    editors: Arc<Editors>,
    origin: String,
    changed: Arc<Notify>,
    show: watch::Sender<Overview>,
) {
    loop {
        changed.notified().await;
        show.send_replace(overview(&lineup, &editors, &origin));
    }
}

fn view(handle: &Handle, state: &State, origin: &str) -> view::Upstream {
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
        Link::Paused { since } => view::Link::Paused { since: millis(*since) },
    };
    let tools = state.known.as_ref().map_or(0, |known| known.catalog.tools.len());
    view::Upstream {
        name: handle.name().to_string(),
        title: handle.config.title.clone(),
        target: handle.config.transport.target(),
        endpoint: format!("{origin}/mcp/{}", handle.name()),
        link,
        tools: u32::try_from(tools).unwrap_or(u32::MAX),
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
