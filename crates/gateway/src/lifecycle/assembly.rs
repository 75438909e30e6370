//! Creates all parts of a gateway and connects them, except for the listener and the lock.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::security::session_id::SessionKey;
use evermoor_core::security::tokens::Tokens;
use evermoor_platform::paths::Paths;

use crate::apps;
use crate::apps::{Apps, WatcherContext};
use crate::config::edit::ConfigBook;
use crate::config::first_run::Welcome;
use crate::config::pauses::Pauses;
use crate::config::presets;
use crate::config::presets::Presets;
use crate::config::secrets::Secrets;
use crate::config::upstream_set::{UpstreamSet, UpstreamSetContext};
use crate::editors::Editors;
use crate::history::History;
use crate::history::timelines::Timelines;
use crate::mcp::endpoint::{Endpoint, LARGEST_REQUEST};
use crate::mcp::handoff_queue;
use crate::mcp::handoff_queue::Parcel;
use crate::mcp::predecessor::Predecessor;
use crate::mcp::{Continuations, Finished, Notes, Parked, Sessions};
use crate::monitoring::activity::Activity;
use crate::monitoring::clients::Attendance;
use crate::monitoring::status;
use crate::monitoring::status::Sources;
use crate::monitoring::user_actions::Touches;
use crate::routing::router;
use crate::server::auth::Door;
use crate::server::control::Control;
use crate::server::control::editors::setup::Whereabouts;
use crate::server::control::login_links::Links;
use crate::server::listener::{Ending, Limits, Reception};
use crate::server::routes;
use crate::system::clock::Chance;
use crate::system::keys;
use crate::system::keys::KeyError;
use crate::system::wake;
use crate::system::wake::WakeNotifier;
use crate::system::write_lease::Pen;
use crate::upstream::Handle;
use crate::upstream::catalog_cache::Store;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Interests;

/// The parts of a running gateway.
pub(crate) struct Assembly {
    pub(crate) reception: Arc<Reception>,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) control: Arc<Control>,
    pub(crate) pen: Pen,
    /// What is queued for the successor.
    pub(crate) parcels: mpsc::Receiver<Parcel>,
    /// Cancelled when another gateway serves, or on shutdown.
    pub(crate) moved: CancellationToken,
    /// Calls, which continue after a handover.
    pub(crate) calls: TaskTracker,
    /// All other tasks.
    pub(crate) tasks: TaskTracker,
    upstreams: watch::Receiver<Arc<[Handle]>>,
}

/// What a gateway needs before it can serve.
pub(crate) struct AssemblyInput {
    pub(crate) config: Config,
    pub(crate) paths: Paths,
    pub(crate) tokens: Tokens,
    pub(crate) key: SessionKey,
    pub(crate) control_token: String,
    pub(crate) address: SocketAddr,
    /// Held from the start, unless this gateway takes over from another.
    pub(crate) pen: Pen,
    pub(crate) stop: CancellationToken,
}

/// Set when the system's service manager runs the gateway.
const SUPERVISED: &str = "EVERMOOR_SUPERVISED";
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(2);

impl Assembly {
    /// Creates the parts and starts to connect to the upstreams.
    pub(crate) async fn start(plan: AssemblyInput) -> Result<Self, KeyError> {
        let AssemblyInput { config, paths, tokens, key, control_token, address, pen, stop } = plan;
        let (origin, edition) = (format!("http://{address}"), keys::edition()?);
        let (tasks, calls, moved) = (TaskTracker::new(), TaskTracker::new(), stop.child_token());
        let changed = Arc::new(Notify::new());
        let store = Store::new(paths.catalog_folder(), pen.clone(), tasks.clone());
        let (file, stopped) = (paths.history_file(), stop.clone());
        let (history, history_task) =
            History::start(file, pen.clone(), Chance::real(), tasks.clone(), stopped);
        // Not cancelled by `stop`: it first writes what is queued.
        tasks.spawn(history_task);
        let pauses = Pauses::read(paths.paused_file(), tasks.clone());
        let (presets, preset_watcher) =
            Presets::read(presets::folder_of(&paths.config), tasks.clone()).await;
        let (wake_notifier, wake_signals) = WakeNotifier::new(Arc::clone(&changed));
        let apps = Apps::new(presets.shelf.clone());
        let (news, interests) = (Newsroom::default(), Interests::default());
        let set_context = UpstreamSetContext {
            store: store.clone(),
            changed: changed.clone(),
            wakes: wake_signals.times,
            chance: Chance::real(),
            tasks: tasks.clone(),
            stop: stop.clone(),
            news: news.clone(),
            interests: interests.clone(),
            history: history.clone(),
            paused: pauses.subscribe(),
            shelf: presets.shelf.clone(),
            problems: presets.problems,
            apps: apps.clone(),
            secrets: Secrets::of_the_system(),
        };
        let shelf = presets.shelf;
        let watcher_context = WatcherContext {
            apps: apps.clone(),
            history: history.clone(),
            changed: changed.clone(),
            wakes: set_context.wakes.clone(),
            chance: Chance::real(),
            tasks: tasks.clone(),
        };
        let (upstream_set, set_handle) =
            UpstreamSet::start(config.clone(), address, set_context).await;
        let editors = Arc::new(Editors::new(
            tokens,
            paths.clone(),
            Arc::clone(&changed),
            Chance::real(),
            tasks.clone(),
        ));
        let attendance = Attendance::new(Arc::clone(&changed));
        let welcome = Welcome::new(&paths, Arc::clone(&changed), tasks.clone());
        let touches = Touches::default();
        let sources = Sources {
            set: set_handle.clone(),
            editors: Arc::clone(&editors),
            clients: attendance.clone(),
            welcome: welcome.clone(),
            touches: touches.clone(),
            origin: origin.clone(),
            supervised: std::env::var_os(SUPERVISED).is_some_and(|set| !set.is_empty()),
        };
        let first = status::overview(&sources, None, None);
        let (show, overview) = watch::channel(first);
        let (readings, read) = mpsc::channel(1);
        let status_task = status::keep(sources, wake_signals.last, changed, news.clone(), show);
        let timelines = Timelines::read(paths.timelines_file(), pen.clone());
        let timeline_task = timelines.clone().keep(overview.clone(), tasks.clone(), stop.clone());
        // Not cancelled by `stop`: it first writes the file.
        tasks.spawn(timeline_task);
        let catalog_task = store.keep(set_handle.upstreams.clone(), overview.clone());
        let config_task =
            crate::config::watch::follow(paths.config.clone(), Ok(config), readings, tasks.clone());
        let wake_task = wake::watch(wake_notifier, Chance::real());
        let (own_lease, upstreams) = (pen.clone(), set_handle.upstreams.clone());
        let watchers = async move {
            // Two gateways must not both restart an application.
            own_lease.until_ours().await;
            apps::run_watchers(watcher_context, upstreams).await;
        };
        let (upstream_set, token_file_task) =
            (upstream_set.run(read), Arc::clone(&editors).follow());
        // After a handover, calls in flight keep the configuration of that moment.
        for task in [
            config_task.boxed(),
            preset_watcher.follow().boxed(),
            upstream_set.boxed(),
            watchers.boxed(),
        ] {
            tasks.spawn(moved.clone().run_until_cancelled_owned(task));
        }
        for task in
            [status_task.boxed(), catalog_task.boxed(), token_file_task.boxed(), wake_task.boxed()]
        {
            tasks.spawn(stop.clone().run_until_cancelled_owned(task));
        }

        let upstreams = set_handle.upstreams.clone();
        let router = router::Router::new(set_handle.upstreams, overview);
        let door = Arc::new(Door {
            port: address.port(),
            editors: Arc::clone(&editors),
            settings: set_handle.settings,
            control_token,
            guesses: Mutex::default(),
        });
        let (outbox, parcels) = mpsc::channel(handoff_queue::ROOM);
        let notes = Notes::new(paths.sessions_file(), pen.clone(), outbox.clone(), calls.clone());
        let (routes, wanted, asking) = (router.clone(), interests.clone(), calls.clone());
        let continuations = Continuations::new(key.clone(), &edition, Chance::real());
        let activity = Activity::default();
        let endpoint = Arc::new(Endpoint {
            sessions: Sessions::new(key, &edition, notes, routes, wanted, asking),
            router: router.clone(),
            interests,
            news,
            activity: activity.clone(),
            attendance: attendance.clone(),
            edition,
            continuations,
            finished: Finished::default(),
            parked: Parked::default(),
            tasks: calls.clone(),
            moved: moved.clone(),
            given_up: CancellationToken::new(),
            predecessor: Predecessor::default(),
        });
        let book = ConfigBook {
            path: paths.config.clone(),
            in_force: set_handle.config,
            shelf,
            tasks: tasks.clone(),
            turn: tokio::sync::Mutex::default(),
        };
        let control = Arc::new(Control {
            router,
            editors,
            history,
            pauses,
            apps,
            here: Whereabouts { paths: paths.clone(), origin: origin.clone() },
            links: Links::new(origin),
            control_token: door.control_token.clone(),
            moved: moved.clone(),
            stop: stop.clone(),
            again: CancellationToken::new(),
            paths,
            endpoint: Arc::clone(&endpoint),
            activity,
            timelines,
            book,
            welcome,
            touches,
        });
        let waiting = Arc::clone(&endpoint);
        let tidy = async move { waiting.continuations.tidy().await };
        let leaving = async move { attendance.tidy().await };
        for task in [tidy.boxed(), leaving.boxed()] {
            tasks.spawn(stop.clone().run_until_cancelled_owned(task));
        }
        let app = routes::app(&door, Arc::clone(&endpoint), Arc::clone(&control));
        let limits = Limits { body: LARGEST_REQUEST, ..Limits::default() };
        let ending = Ending { stop, moved: moved.clone(), outbox };
        let reception = Arc::new(Reception::new(app, limits, ending));
        Ok(Self { reception, endpoint, control, pen, parcels, moved, calls, tasks, upstreams })
    }

    /// Waits until every call is answered, including those whose client is gone.
    pub(crate) async fn answered(&self) {
        self.calls.close();
        loop {
            self.reception.emptied().await;
            self.calls.wait().await;
            // The predecessor may have handed over another connection meanwhile.
            if self.reception.is_empty() {
                return;
            }
        }
    }

    /// Answers the calls still in flight with what is known about them.
    pub(crate) async fn give_up(&self) {
        tracing::warn!("giving up the calls in flight");
        self.endpoint.given_up.cancel();
        let _ = timeout(LAST_ANSWERS_TIMEOUT, self.answered()).await;
    }

    /// Drops everything and waits up to `patience` for all tasks to end. Tasks with a stop token end
    /// when it is cancelled; those of an upstream connection end with its last holder.
    pub(crate) async fn ended(self, patience: Duration) {
        let tasks = self.tasks.clone();
        drop(self);
        tasks.close();
        let _ = timeout(patience, tasks.wait()).await;
    }

    /// Waits up to `patience` until each upstream is connected or has failed once.
    pub(crate) async fn warmed_up(&self, patience: Duration) {
        let upstreams = Arc::clone(&self.upstreams.borrow());
        let _ = timeout(patience, join_all(upstreams.iter().map(Handle::tried))).await;
    }
}
