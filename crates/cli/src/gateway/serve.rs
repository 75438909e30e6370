//! `evermoor serve`: the gateway in the foreground.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use evermoor_core::config::{Config, TransportConfig};
use evermoor_core::failure::Failure;
use evermoor_core::lifecycle::version;
use evermoor_gateway::config::file;
use evermoor_gateway::monitoring::log;
use evermoor_gateway::{Gateway, ServeError, TakeoverTerms, VERSION};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::{descriptors, memory, signals};

use crate::exit::Exit;
use crate::{logging, terminal};

/// After this long everything that a start does is done, or waits for somebody else.
const STARTED: Duration = Duration::from_secs(5);

/// Which Evermoor a command speaks of.
#[derive(Clone)]
pub(crate) struct Place {
    /// What `--home` was given, to be passed on to a gateway that is started.
    pub(crate) home: Option<PathBuf>,
    pub(crate) paths: Paths,
}

/// What becomes of a gateway that runs already.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// It stays, and we end.
    Stays,
    /// We take its place.
    TakenOver(TakeoverTerms),
}

impl Way {
    pub(crate) fn of(takeover: bool, if_older: bool) -> Self {
        match (takeover, if_older) {
            (false, _) => Self::Stays,
            (true, false) => Self::TakenOver(TakeoverTerms::Any),
            (true, true) => Self::TakenOver(TakeoverTerms::Older),
        }
    }
}

pub(crate) fn run(place: &Place, way: Way, background: bool) -> Exit {
    logging::of_gateway(&place.paths, background);
    descriptors::raise_limit();
    let mut life = Life { way, greets: !background, moved: false };
    let exit = loop {
        match once(place, life) {
            End::Over(exit) => break exit,
            End::Again => life = Life { way: Way::Stays, greets: false, moved: true },
        }
    };
    if let Some(log) = log::here() {
        log.finish();
    }
    exit
}

/// One of the lives of a gateway in this process.
#[derive(Clone, Copy)]
struct Life {
    way: Way,
    greets: bool,
    /// It is somewhere else than in its life before.
    moved: bool,
}

/// How a life ended.
enum End {
    Over(Exit),
    /// Another one follows, with the configuration as it is then.
    Again,
}

fn once(place: &Place, life: Life) -> End {
    let config = match file::read(&place.paths.config) {
        Ok(config) => config.unwrap_or_default(),
        Err(failure) => {
            leave_word(&place.paths, &failure);
            terminal::complain(&failure);
            return End::Over(Exit::BadConfiguration);
        }
    };
    // One thread: calls are passed on, not worked on, and handing them between threads costs more.
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(serve(config, place, life)),
        Err(error) => End::Over(Exit::failure(&error)),
    }
}

async fn serve(config: Config, place: &Place, life: Life) -> End {
    let stop = CancellationToken::new();
    let demo = config.upstreams.iter().any(|upstream| upstream.transport == TransportConfig::Demo);
    let (paths, until) = (place.paths.clone(), stop.clone());
    let started = match life.way {
        Way::Stays => Gateway::start(config, paths, until).await,
        Way::TakenOver(terms) => Gateway::take_over(config, paths, until, terms).await,
    };
    let gateway = match started {
        Ok(gateway) => gateway,
        Err(ServeError::AlreadyRunning) => return End::Over(runs_already(&place.paths).await),
        Err(error) => {
            let failure = Failure::from(&error);
            leave_word(&place.paths, &failure);
            return End::Over(match error {
                ServeError::Keys(_) => {
                    terminal::complain(&failure);
                    Exit::BadConfiguration
                }
                ServeError::AlreadyRunning
                | ServeError::PortTaken(_)
                | ServeError::NotTakenOver(_)
                | ServeError::Unwritable { .. }
                | ServeError::Listen { .. } => Exit::failure(&failure),
            });
        }
    };
    if life.greets {
        greet(&gateway, demo);
    }
    let again = gateway.again();
    let telling = async {
        if life.moved {
            tell_editors(&place.paths).await;
        }
        std::future::pending::<()>().await;
    };
    let asked = async {
        signals::stop_requested().await;
        stop.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = gateway.run() => {}
        () = asked => {}
        () = telling => {}
        () = settle() => {}
    }
    if again.is_cancelled() { End::Again } else { End::Over(Exit::Ok) }
}

/// Editors know the address, so they are told where it is now.
async fn tell_editors(paths: &Paths) {
    let Some(control) = evermoor_client::Control::find(paths) else { return };
    match evermoor_client::move_port::update_editors(&control).await {
        Ok(updated) => tracing::info!(?updated, "the editors were told of the new address"),
        Err(failure) => tracing::warn!(%failure, "the editors were not told of the new address"),
    }
}

/// Makes a process that runs for days smaller than its start was. Does not end.
pub(crate) async fn settle() {
    tokio::time::sleep(STARTED).await;
    memory::release_startup_code();
    std::future::pending().await
}

fn greet(gateway: &Gateway, demo: bool) {
    let (Ok(address), Ok(link)) = (gateway.address(), gateway.dashboard_link()) else {
        return;
    };
    let program = std::env::current_exe().unwrap_or_else(|_| "evermoor".into());
    let entry = serde_json::json!({ "mcpServers": { "evermoor": { "command": program, "args": ["connect"] } } });
    let colours = terminal::Palette::for_output();
    let (strong, quiet) = (colours.strong, colours.quiet);
    terminal::print(&format_args!("{strong}Evermoor is running.{strong:#}\n"));
    terminal::print(&format_args!("  Endpoint   http://{address}/mcp"));
    terminal::print(&format_args!("  Dashboard  {link}"));
    terminal::print(&format_args!(
        "             {quiet}The link works once; `evermoor open` makes another.{quiet:#}"
    ));
    terminal::print(&format_args!("  Editor     {entry}"));
    let first = if demo { "call demo__echo text=hello" } else { "tools" };
    terminal::print(&format_args!("  Try it     {} {first}\n", program.display()));
}

async fn runs_already(paths: &Paths) -> Exit {
    let Some(control) = evermoor_client::Control::find(paths) else {
        terminal::print(&"Evermoor is already running.");
        return Exit::Ok;
    };
    let (origin, running) = (&control.runtime().origin, &control.runtime().version);
    terminal::print(&format_args!("Evermoor is already running at {origin}/mcp."));
    if version::is_older(running, VERSION) {
        terminal::remark(&format_args!(
            "It is version {running}, and this is {VERSION}. `evermoor serve --takeover` takes its place, and no call is lost."
        ));
    }
    Exit::Ok
}

/// Tells whoever started us why we end.
fn leave_word(paths: &Paths, failure: &Failure) {
    if let Ok(content) = serde_json::to_vec(failure) {
        let _ = private::write_private(&paths.start_failure_file(), &content);
    }
}
