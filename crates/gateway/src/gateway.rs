//! Puts the parts together and runs them until told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::runtime::Runtime;
use evermoor_platform::child::orphans;
use evermoor_platform::lock::InstanceLock;
use evermoor_platform::paths::Paths;
use evermoor_platform::{files, port};

use crate::chance::Chance;
use crate::control::{self, Control, links::Links};
use crate::downstream::endpoint::{Endpoint, LARGEST_REQUEST};
use crate::downstream::guard::{self, Door};
use crate::downstream::{Continuations, Sessions, events, listen, mcp};
use crate::editors::Editors;
use crate::history::History;
use crate::interests::Interests;
use crate::keys::{self, KeyError};
use crate::listener::{self, Limits};
use crate::news::Newsroom;
use crate::pauses::Pauses;
use crate::roster::{Roster, Surroundings};
use crate::store::Store;
use crate::{VERSION, config_watch, dashboard, router, status, wake};

/// A gateway that listens.
pub struct Gateway {
    listener: TcpListener,
    app: Router,
    control: Arc<Control>,
    paths: Paths,
    tasks: TaskTracker,
    stop: CancellationToken,
    _lock: InstanceLock,
}

/// Why a gateway cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("Evermoor runs already.")]
    RunsAlready,
    #[error("{0}")]
    PortTaken(Failure),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("{path} cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
}

/// Whoever asks whether a gateway runs holds its lock for a moment; that is no second gateway.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// How long calls under way may take to end when the gateway is stopped.
const DRAIN: Duration = Duration::from_secs(10);

impl Gateway {
    /// Takes the lock and the port, and connects to the upstreams.
    pub async fn start(
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let lock = take_lock(&paths).await?;
        // What a killed gateway left behind must not be taken for ours while we start.
        let _ = std::fs::remove_file(paths.runtime_file());
        let left = orphans::end().await;
        if left > 0 {
            tracing::info!(processes = left, "what a killed gateway left behind was ended");
        }
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let listener = listen(config.gateway.listen).await?;
        let address = listener.local_addr().unwrap_or(config.gateway.listen);
        let origin = format!("http://{address}");

        let (tasks, changed) = (TaskTracker::new(), Arc::new(Notify::new()));
        let store = Store::new(paths.catalog_folder(), tasks.clone());
        let (history, kept) =
            History::start(paths.history_file(), Chance::real(), tasks.clone(), stop.clone());
        // It ends by itself, when it has written what it was told.
        tasks.spawn(kept);
        let pauses = Pauses::read(paths.paused_file(), tasks.clone());
        let (wakes, woken) = watch::channel(0);
        let (news, interests) = (Newsroom::default(), Interests::default());
        let around = Surroundings {
            store: store.clone(),
            changed: changed.clone(),
            wakes: woken,
            chance: Chance::real(),
            tasks: tasks.clone(),
            stop: stop.clone(),
            news: news.clone(),
            interests: interests.clone(),
            history: history.clone(),
            paused: pauses.subscribe(),
        };
        let (roster, lineup) = Roster::start(config.clone(), around).await;
        let editors = Arc::new(Editors::new(
            tokens,
            paths.clone(),
            Arc::clone(&changed),
            Chance::real(),
            tasks.clone(),
        ));
        let (show, overview) = watch::channel(status::overview(&lineup, &editors, &origin));
        let (readings, read) = mpsc::channel(1);
        let keep =
            status::keep(lineup.clone(), Arc::clone(&editors), origin.clone(), changed, show);
        let remember = store.keep(lineup.upstreams.clone(), overview.clone());
        let follow =
            config_watch::follow(paths.config.clone(), Ok(config), readings, tasks.clone());
        let wake = wake::watch(wakes, Chance::real());
        let (roster, known) = (roster.run(read), Arc::clone(&editors).follow());
        for task in [
            keep.boxed(),
            remember.boxed(),
            follow.boxed(),
            known.boxed(),
            wake.boxed(),
            roster.boxed(),
        ] {
            tasks.spawn(stop.child_token().run_until_cancelled_owned(task));
        }

        let router = router::Router::new(lineup.upstreams, overview);
        let door = Arc::new(Door {
            port: address.port(),
            editors: Arc::clone(&editors),
            settings: lineup.settings,
            control_token: keys::unguessable()?,
            guesses: Mutex::default(),
        });
        let control = Arc::new(Control {
            router: router.clone(),
            editors,
            history,
            pauses,
            links: Links::new(origin.clone()),
            control_token: door.control_token.clone(),
            stop: stop.clone(),
        });
        let sessions = Sessions::new(
            key,
            paths.sessions_file(),
            router.clone(),
            interests.clone(),
            tasks.clone(),
        );
        let endpoint = Arc::new(Endpoint {
            router,
            sessions,
            interests,
            news,
            edition: keys::edition()?,
            continuations: Continuations::default(),
            tasks: tasks.clone(),
        });
        let app = app(&door, endpoint, Arc::clone(&control));
        announce(&paths, origin, &door.control_token)?;
        Ok(Self { listener, app, control, paths, tasks, stop, _lock: lock })
    }

    /// A link that opens the dashboard once.
    pub fn dashboard_link(&self) -> Result<String, KeyError> {
        self.control.links.make()
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until told to stop, then lets calls under way end.
    pub async fn run(self) {
        let limits = Limits { body: LARGEST_REQUEST, ..Limits::default() };
        tokio::select! {
            () = listener::serve(self.listener, self.app, limits, self.stop.clone()) => {}
            () = async {
                self.stop.cancelled().await;
                tokio::time::sleep(DRAIN).await;
            } => {}
        }
        self.tasks.close();
        let _ = tokio::time::timeout(DRAIN, self.tasks.wait()).await;
        let _ = std::fs::remove_file(self.paths.runtime_file());
    }
}

fn app(door: &Arc<Door>, endpoint: Arc<Endpoint>, control: Arc<Control>) -> Router {
    let editors = Router::new()
        .route("/mcp", streamable())
        .route("/mcp/{upstream}", streamable())
        .route("/sse", get(events::open).fallback(mcp::not_offered))
        .route("/sse/{upstream}", get(events::open).fallback(mcp::not_offered))
        .route("/messages", post(events::post).fallback(mcp::not_offered))
        .route("/messages/{upstream}", post(events::post).fallback(mcp::not_offered))
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::editors))
        .with_state(endpoint);
    let tools = control::routes()
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::control))
        .with_state(Arc::clone(&control));
    let pages = control::login()
        .with_state(control)
        .fallback(dashboard::file)
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::place));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(editors)
        .merge(tools)
        .merge(pages)
}

/// Streamable HTTP: messages, the stream of news, and the end of a session.
fn streamable() -> MethodRouter<Arc<Endpoint>> {
    post(mcp::post).get(listen::get).delete(mcp::delete).fallback(mcp::not_offered)
}

async fn take_lock(paths: &Paths) -> Result<InstanceLock, StartError> {
    let path = paths.lock_file();
    let deadline = tokio::time::Instant::now() + LOCK_PATIENCE;
    loop {
        match InstanceLock::take(&path) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if tokio::time::Instant::now() >= deadline => {
                return Err(StartError::RunsAlready);
            }
            Ok(None) => tokio::time::sleep(LOCK_PATIENCE / 20).await,
            Err(source) => {
                return Err(StartError::Unwritable { path: path.display().to_string(), source });
            }
        }
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let owner = port::owner(address.port()).await;
            let by = match owner {
                Some(port::Owner { pid, name: Some(name) }) => {
                    format!("\"{name}\" (process {pid})")
                }
                Some(port::Owner { pid, name: None }) => format!("process {pid}"),
                None => "another program".into(),
            };
            let what = format!("Port {} is used by {by}.", address.port());
            let remedy =
                "End that program, or set another `listen` under [gateway] in config.toml.";
            Err(StartError::PortTaken(Failure::new(Code::PortTaken, what, remedy)))
        }
        Err(source) => Err(StartError::Listen { address, source }),
    }
}

fn announce(paths: &Paths, origin: String, control_token: &str) -> Result<(), StartError> {
    let runtime = Runtime {
        pid: std::process::id(),
        version: VERSION.into(),
        origin,
        control_token: control_token.into(),
    };
    let path = paths.runtime_file();
    let content = serde_json::to_vec(&runtime).expect("strings and numbers serialise");
    files::write_private(&path, &content)
        .map_err(|source| StartError::Unwritable { path: path.display().to_string(), source })
}

impl From<&StartError> for Failure {
    fn from(error: &StartError) -> Self {
        match error {
            StartError::PortTaken(failure) => failure.clone(),
            StartError::RunsAlready
            | StartError::Keys(_)
            | StartError::Unwritable { .. }
            | StartError::Listen { .. } => {
                Self::new(Code::Configuration, format!("{error}."), "Then start Evermoor again.")
            }
        }
    }
}
