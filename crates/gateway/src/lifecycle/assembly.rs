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
use crate::apps::{Apps, RestartRecords, WatcherContext};
use crate::config::edit::ConfigEditor;
use crate::config::first_run::FirstRun;
use crate::config::pauses::Pauses;
use crate::config::presets;
use crate::config::presets::Presets;
use crate::config::programs::Programs;
use crate::config::secrets::Secrets;
use crate::config::upstream_set::{UpstreamSet, UpstreamSetContext};
use crate::editors::Editors;
use crate::history::History;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::handover_queue;
use crate::mcp::handover_queue::HandoverItem;
use crate::mcp::predecessor_handle::Predecessor;
use crate::mcp::{FinishedTasks, InputRequiredTasks, PendingInput, Sessions, SubscriptionStore};
use crate::monitoring::activity::Activity;
use crate::monitoring::clients::Clients;
use crate::monitoring::status;
use crate::monitoring::status::Sources;
use crate::monitoring::timelines::Timelines;
use crate::monitoring::user_actions::UserActions;
use crate::routing::router;
use crate::server::auth::Authenticator;
use crate::server::control::ControlApi;
use crate::server::control::editors::setup::GatewayLocation;
use crate::server::control::login_links::LoginLinks;
use crate::server::listener::{ConnectionLimits, ConnectionShutdown, Connections};
use crate::server::routes;
use crate::server::shim_socket::ShimConnections;
use crate::system::budget::Budgets;
use crate::system::clock::ClockAndRandom;
use crate::system::idle_memory::IdleMemory;
use crate::system::keys;
use crate::system::keys::KeyError;
use crate::system::wake;
use crate::system::wake::WakeNotifier;
use crate::system::write_lease::WriteLease;
use crate::upstream::auth::GrantContext;
use crate::upstream::auth::grant_store::GrantStore;
use crate::upstream::auth::reconnect;
use crate::upstream::auth::sign_in::SignIns;
use crate::upstream::catalog_cache::CatalogCache;
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::subscriptions::Subscriptions;
use crate::upstream::{Grants, UpstreamHandle};

/// The parts of a running gateway.
pub(crate) struct Assembly {
    pub(crate) connections: Arc<Connections>,
    pub(crate) shims: Arc<ShimConnections>,
    pub(crate) endpoint: Arc<McpEndpoint>,
    pub(crate) control: Arc<ControlApi>,
    pub(crate) lease: WriteLease,
    /// What is queued for the successor.
    pub(crate) queued_handover_items: mpsc::Receiver<HandoverItem>,
    /// Cancelled when another gateway serves, or on shutdown.
    pub(crate) moved: CancellationToken,
    /// Calls, which continue after a handover.
    pub(crate) calls: TaskTracker,
    /// All other tasks.
    pub(crate) tasks: TaskTracker,
    upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
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
    pub(crate) lease: WriteLease,
    pub(crate) stop: CancellationToken,
}

/// Set when the system's service manager runs the gateway.
const SUPERVISED: &str = "EVERMOOR_SUPERVISED";
pub(super) const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(1);

impl Assembly {
    /// Creates the parts and starts to connect to the upstreams.
    pub(crate) async fn start(plan: AssemblyInput) -> Result<Self, KeyError> {
        let AssemblyInput { config, paths, tokens, key, control_token, address, lease, stop } =
            plan;
        let (origin, instance_id) = (format!("http://{address}"), keys::instance_id()?);
        let (tasks, calls, moved) = (TaskTracker::new(), TaskTracker::new(), stop.child_token());
        let changed = Arc::new(Notify::new());
        let store = CatalogCache::new(paths.catalog_folder(), lease.clone(), tasks.clone());
        let (file, stopped) = (paths.history_file(), stop.clone());
        let (history, history_task) =
            History::start(file, lease.clone(), ClockAndRandom::real(), tasks.clone(), stopped);
        // Not cancelled by `stop`: it first writes what is queued.
        tasks.spawn(history_task);
        let pauses = Pauses::read(paths.paused_file(), tasks.clone());
        let (presets, preset_watcher) =
            Presets::read(presets::folder_of(&paths.config), tasks.clone()).await;
        let (wake_notifier, wake_signals) = WakeNotifier::new(Arc::clone(&changed));
        let apps = Apps::new(presets.preset_set.clone());
        let (notification_log, upstream_subscriptions) =
            (NotificationLog::default(), Subscriptions::default());
        let secrets = Secrets::system_default();
        let grants = Grants::new(GrantContext {
            secrets: secrets.clone(),
            store: GrantStore::new(secrets.keychain()),
            lease: lease.clone(),
            clock: ClockAndRandom::real(),
            wakes: wake_signals.times.clone(),
            tasks: tasks.clone(),
            stop: stop.clone(),
        });
        let (sign_ins, changed_sign_ins) = SignIns::new(grants, &origin);
        let budgets = Budgets::default();
        let set_context = UpstreamSetContext {
            store: store.clone(),
            changed: changed.clone(),
            wakes: wake_signals.times,
            clock: ClockAndRandom::real(),
            tasks: tasks.clone(),
            stop: stop.clone(),
            notification_log: notification_log.clone(),
            upstream_subscriptions: upstream_subscriptions.clone(),
            history: history.clone(),
            paused: pauses.subscribe(),
            preset_set: presets.preset_set.clone(),
            problems: presets.problems,
            apps: apps.clone(),
            secrets,
            sign_ins: sign_ins.clone(),
            programs: Programs::new(paths.programs_file()),
            budgets: budgets.clone(),
        };
        let preset_set = presets.preset_set;
        let watcher_context = WatcherContext {
            apps: apps.clone(),
            history: history.clone(),
            restart_records: Arc::new(RestartRecords::read(paths.restarts_file(), tasks.clone())),
            changed: changed.clone(),
            wakes: set_context.wakes.clone(),
            clock: ClockAndRandom::real(),
            tasks: tasks.clone(),
        };
        let (upstream_set, set_handle) =
            UpstreamSet::start(config.clone(), address, set_context).await;
        let editors = Arc::new(Editors::new(
            tokens,
            paths.clone(),
            Arc::clone(&changed),
            ClockAndRandom::real(),
            tasks.clone(),
        ));
        let clients = Clients::new(Arc::clone(&changed));
        let welcome = FirstRun::new(&paths, Arc::clone(&changed), tasks.clone());
        let user_actions = UserActions::default();
        let sources = Sources {
            set: set_handle.clone(),
            editors: Arc::clone(&editors),
            clients: clients.clone(),
            welcome: welcome.clone(),
            user_actions: user_actions.clone(),
            origin: origin.clone(),
            supervised: std::env::var_os(SUPERVISED).is_some_and(|set| !set.is_empty()),
        };
        let first = status::first(&sources);
        let (show, overview) = watch::channel(first);
        let (readings, read) = mpsc::channel(1);
        let status_task =
            status::keep(sources, wake_signals.last, changed, notification_log.clone(), show);
        let timelines = Timelines::read(paths.timelines_file(), lease.clone());
        let timeline_task = timelines.clone().keep(overview.clone(), tasks.clone(), stop.clone());
        // Not cancelled by `stop`: it first writes the file.
        tasks.spawn(timeline_task);
        let catalog_task = store.keep(set_handle.upstreams.clone(), overview.clone());
        let config_task =
            crate::config::watch::follow(paths.config.clone(), Ok(config), readings, tasks.clone());
        let wake_task = wake::watch(wake_notifier, ClockAndRandom::real());
        let (own_lease, upstreams) = (lease.clone(), set_handle.upstreams.clone());
        let watchers = async move {
            // Two gateways must not both restart an application.
            own_lease.until_held().await;
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
        let sign_in_task = reconnect::follow(changed_sign_ins, set_handle.upstreams.clone());
        let last_seen_task = Arc::clone(&editors).keep_last_seen(lease.clone());
        for task in [
            status_task.boxed(),
            catalog_task.boxed(),
            token_file_task.boxed(),
            last_seen_task.boxed(),
            sign_in_task.boxed(),
            wake_task.boxed(),
        ] {
            tasks.spawn(stop.clone().run_until_cancelled_owned(task));
        }

        let upstreams = set_handle.upstreams.clone();
        let router = router::Router::new(set_handle.upstreams, overview);
        let authenticator = Arc::new(Authenticator {
            port: address.port(),
            editors: Arc::clone(&editors),
            settings: set_handle.settings,
            control_token,
            guesses: Mutex::default(),
            budgets: budgets.clone(),
        });
        let (handover_items, queued_handover_items) = mpsc::channel(handover_queue::CAPACITY);
        let notes = SubscriptionStore::new(
            paths.sessions_file(),
            lease.clone(),
            handover_items.clone(),
            calls.clone(),
        );
        let (routes, wanted, asking) =
            (router.clone(), upstream_subscriptions.clone(), calls.clone());
        let pending_input = PendingInput::new(key.clone(), &instance_id, ClockAndRandom::real());
        let (activity, memory) = (Activity::default(), IdleMemory::default());
        let endpoint = Arc::new(McpEndpoint {
            sessions: Sessions::new(key, &instance_id, notes, routes, wanted, asking),
            router: router.clone(),
            upstream_subscriptions,
            notification_log,
            activity: activity.clone(),
            clients: clients.clone(),
            instance_id,
            pending_input,
            finished: FinishedTasks::default(),
            input_required_tasks: InputRequiredTasks::default(),
            budgets: budgets.clone(),
            memory: memory.clone(),
            tasks: calls.clone(),
            moved: moved.clone(),
            abandon_calls: CancellationToken::new(),
            predecessor: Predecessor::default(),
        });
        let following = Arc::clone(&endpoint);
        let visibility_task = async move { following.sessions.follow_visibility().await };
        tasks.spawn(moved.clone().run_until_cancelled_owned(visibility_task));
        let config_editor = ConfigEditor {
            path: paths.config.clone(),
            in_force: set_handle.config,
            preset_set,
            tasks: tasks.clone(),
            turn: tokio::sync::Mutex::default(),
        };
        let control = Arc::new(ControlApi {
            router,
            editors,
            history,
            pauses,
            apps,
            here: GatewayLocation { paths: paths.clone(), origin: origin.clone() },
            links: LoginLinks::new(origin),
            control_token: authenticator.control_token.clone(),
            moved: moved.clone(),
            stop: stop.clone(),
            again: CancellationToken::new(),
            paths,
            endpoint: Arc::clone(&endpoint),
            activity,
            timelines,
            config_editor,
            welcome,
            user_actions,
            sign_ins,
        });
        let waiting = Arc::clone(&endpoint);
        let evict_expired = async move { waiting.pending_input.evict_expired().await };
        let leaving = async move { clients.evict_expired().await };
        for task in [evict_expired.boxed(), leaving.boxed(), memory.return_when_idle().boxed()] {
            tasks.spawn(stop.clone().run_until_cancelled_owned(task));
        }
        let for_editors = routes::editors(Arc::clone(&endpoint));
        let shims = ShimConnections::new(
            for_editors.clone(),
            Arc::clone(&authenticator),
            budgets,
            moved.clone(),
        );
        let all = routes::all(&authenticator, &endpoint, for_editors, Arc::clone(&control));
        let ending = ConnectionShutdown { stop, moved: moved.clone(), handover_items };
        let connections = Arc::new(Connections::new(all, ConnectionLimits::default(), ending));
        Ok(Self {
            connections,
            shims,
            endpoint,
            control,
            lease,
            queued_handover_items,
            moved,
            calls,
            tasks,
            upstreams,
        })
    }

    /// Waits until every call is answered, including those whose client is gone.
    pub(crate) async fn answered(&self) {
        self.calls.close();
        loop {
            self.connections.all_closed().await;
            self.shims.all_closed().await;
            self.calls.wait().await;
            // The predecessor may have handed over another connection meanwhile.
            if self.connections.is_empty() {
                return;
            }
        }
    }

    /// Answers the calls still in flight with what is known about them.
    pub(crate) async fn give_up(&self) {
        tracing::warn!("giving up the calls in flight");
        self.endpoint.abandon_calls.cancel();
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
        let _ = timeout(patience, join_all(upstreams.iter().map(UpstreamHandle::tried))).await;
    }
}
