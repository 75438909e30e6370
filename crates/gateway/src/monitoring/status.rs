//! The status of the whole gateway, kept up to date for subscribers.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, watch};

use evermoor_core::api;
use evermoor_core::api::Status;
use evermoor_core::catalog::list_changes::ListChange;
use evermoor_core::config;
use evermoor_core::failure::Code;

use crate::config::first_run::FirstRun;
use crate::config::upstream_set::UpstreamSetHandle;
use crate::config::warnings;
use crate::editors::Editors;
use crate::monitoring::clients::Clients;
use crate::monitoring::user_actions::UserActions;
use crate::routing::merged_catalogs::EditorCatalogs;
use crate::system::{message_parser, redaction};
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::{LinkState, Stall, UpstreamHandle, UpstreamSnapshot};

/// More of a server's own name is not shown.
const LONGEST_NAME: usize = 200;

/// The status, and what each editor may see, derived from all upstreams.
#[derive(Clone)]
pub struct Overview {
    pub status: Status,
    pub editor_catalogs: Arc<EditorCatalogs>,
}

/// What the status is derived from.
pub struct Sources {
    pub set: UpstreamSetHandle,
    pub editors: Arc<Editors>,
    pub clients: Clients,
    pub welcome: FirstRun,
    pub user_actions: UserActions,
    pub origin: String,
    /// The system's service manager runs this gateway.
    pub supervised: bool,
}

/// The first overview.
pub fn first(sources: &Sources) -> Overview {
    let upstreams = Arc::clone(&sources.set.upstreams.borrow());
    let config = Arc::clone(&sources.set.config.borrow());
    overview(sources, None, EditorCatalogs::of(&upstreams, &config.editors, None))
}

fn overview(
    sources: &Sources,
    woke: Option<SystemTime>,
    editor_catalogs: Arc<EditorCatalogs>,
) -> Overview {
    let Sources { set, editors, origin, .. } = sources;
    let upstreams = Arc::clone(&set.upstreams.borrow());
    let config = Arc::clone(&set.config.borrow());
    let running = upstreams.iter().map(|handle| {
        let hidden = editor_catalogs.hidden(handle.name());
        let app = match handle.config.transport.is_app() {
            true => set.apps.app_state(handle.name()).view(),
            false => None,
        };
        let restarted = handle.restart_requested_at().map(millis);
        let touched = sources.user_actions.last(handle.name().as_str(), restarted);
        api::UpstreamStatus { hidden, app, touched, ..view(handle, &handle.state(), origin) }
    });
    let mut views: Vec<api::UpstreamStatus> = running.collect();
    views.extend(
        config.off.iter().map(|upstream| shown(upstream, api::UpstreamState::Off, 0, origin)),
    );
    views.sort_by(|one, other| one.name.cmp(&other.name));
    let mut seen = editors.list();
    let editors_without_token =
        config.editors_without_token(|name| seen.iter().any(|editor| editor.name == name));
    let mut warnings = set.warnings.borrow().clone();
    warnings.extend(editors_without_token.iter().map(warnings::doubt));
    warnings.extend(editor_catalogs.collisions().iter().map(warnings::collision));
    seen = seen.into_iter().map(|editor| with_shown(editor, &editor_catalogs)).collect();
    let (version, process) = (crate::VERSION.into(), std::process::id());
    let status = Status::of(version, process, format!("{origin}/mcp"), views, warnings);
    let status = Status {
        attached: sources.clients.list(),
        tray: config.tray,
        first_run: sources.welcome.is_first(),
        supervised: sources.supervised,
        ..status.with_editors(seen).since_wake(woke.map(millis))
    };
    Overview { status, editor_catalogs }
}

/// An editor, with how many tools it sees.
pub fn with_shown(
    editor: api::EditorStatus,
    editor_catalogs: &EditorCatalogs,
) -> api::EditorStatus {
    let shown = editor_catalogs.shown(&editor.name);
    editor.with_shown(shown)
}

/// Rebuilds the overview whenever an upstream, an editor or the configuration changes or the machine
/// wakes, and notifies editors of the lists that changed.
pub async fn keep(
    sources: Sources,
    woke: watch::Receiver<Option<SystemTime>>,
    changed: Arc<Notify>,
    notification_log: NotificationLog,
    show: watch::Sender<Overview>,
) {
    loop {
        changed.notified().await;
        let before = Arc::clone(&show.borrow().editor_catalogs);
        let (editor_catalogs, changed_lists) = current_catalogs(&sources.set, before).await;
        let after = overview(&sources, *woke.borrow(), editor_catalogs);
        // Publish first: an editor that reacts to the notification must get the new list.
        show.send_replace(after);
        for list in changed_lists {
            notification_log.list_changed(list);
        }
    }
}

/// What editors see now, and which lists changed since `before`.
async fn current_catalogs(
    set: &UpstreamSetHandle,
    before: Arc<EditorCatalogs>,
) -> (Arc<EditorCatalogs>, Vec<ListChange>) {
    let upstreams = Arc::clone(&set.upstreams.borrow());
    let config = Arc::clone(&set.config.borrow());
    if before.is_current(&upstreams, &config.editors) {
        return (before, Vec::new());
    }
    let bytes = EditorCatalogs::bytes_of(&upstreams);
    let merge = move || {
        let after = EditorCatalogs::of(&upstreams, &config.editors, Some(&before));
        let changes = after.changes_since(&before);
        (after, changes)
    };
    message_parser::process(bytes, merge).await
}

fn view(handle: &UpstreamHandle, state: &UpstreamSnapshot, origin: &str) -> api::UpstreamStatus {
    let link = match &state.link {
        LinkState::Connecting => api::UpstreamState::Connecting,
        LinkState::Ready(ready) => match ready.stalled() {
            None => api::UpstreamState::Connected {
                since: millis(ready.since),
                server: state.known.as_ref().map_or_else(String::new, |known| {
                    let server = &known.handshake.server;
                    let name = format!("{} {}", server.name, server.version);
                    redaction::excerpt(name.as_bytes(), LONGEST_NAME)
                }),
            },
            // Connected but not answering: show it as down.
            Some(Stall { since, failure }) => {
                let since = millis(since);
                api::UpstreamState::Down { since, retry_at: since, attempts: 0, failure }
            }
        },
        LinkState::Down { since, retry_at, attempts, failure } => api::UpstreamState::Down {
            since: millis(*since),
            retry_at: millis(*retry_at),
            attempts: *attempts,
            failure: failure.clone(),
        },
        LinkState::Paused { since } => api::UpstreamState::Paused { since: millis(*since) },
    };
    let tools = state.known.as_ref().map_or(0, |known| known.catalog.tools.len());
    let sign_in = sign_in(handle, &link);
    api::UpstreamStatus { sign_in, ..shown(&handle.config, link, tools, origin) }
}

/// The sign-in to an upstream, if a user is or should be signed in.
fn sign_in(handle: &UpstreamHandle, link: &api::UpstreamState) -> Option<api::SignInStatus> {
    let is_refused = matches!(link, api::UpstreamState::Down { failure, .. } if failure.code == Code::AuthRequired);
    let is_needed = is_refused && handle.config.transport.takes_sign_in();
    let account = handle.account();
    (is_needed || account.is_some()).then_some(api::SignInStatus { is_needed, account })
}

fn shown(
    upstream: &config::UpstreamConfig,
    link: api::UpstreamState,
    tools: usize,
    origin: &str,
) -> api::UpstreamStatus {
    api::UpstreamStatus {
        name: upstream.name.to_string(),
        title: upstream.title.clone(),
        kind: Some(upstream.transport.kind()),
        target: upstream.transport.target(),
        endpoint: format!("{origin}/mcp/{}", upstream.name),
        link,
        tools: u32::try_from(tools).unwrap_or(u32::MAX),
        hidden: 0,
        app: None,
        touched: None,
        sign_in: None,
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
