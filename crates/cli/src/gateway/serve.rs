//! `evermoor serve`: runs the gateway in the foreground.
//!
//! Moving to another address restarts the gateway within this process, with the configuration as it
//! is then. One such run is a [`GatewayRun`].

use tokio_util::sync::CancellationToken;

use evermoor_client::gateway_files::stop_marker;
use evermoor_core::config::{Config, TransportConfig};
use evermoor_core::failure::Failure;
use evermoor_core::lifecycle::version;
use evermoor_core::security::secret_ref::SecretRef;
use evermoor_gateway::config::file;
use evermoor_gateway::monitoring::log;
use evermoor_gateway::{Gateway, ServeError, TakeoverTerms, VERSION};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::ChildEnvironment;
use evermoor_platform::process::{descriptors, memory, protect, signals};
use evermoor_platform::startup::service::stored_listener;

use crate::exit::Exit;
use crate::gateway::logging;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal;

/// What to do if a gateway is already running.
#[derive(Clone, Copy)]
pub(crate) enum StartMode {
    /// Keep it and exit.
    KeepRunning,
    /// Take over from it.
    TakeOver(TakeoverTerms),
}

impl StartMode {
    pub(crate) fn of(takeover: bool, if_older: bool) -> Self {
        match (takeover, if_older) {
            (false, _) => Self::KeepRunning,
            (true, false) => Self::TakeOver(TakeoverTerms::Any),
            (true, true) => Self::TakeOver(TakeoverTerms::Older),
        }
    }
}

pub(crate) fn run(instance: &Instance, mode: StartMode, background: bool) -> Exit {
    // Before anything that starts a thread.
    memory::use_one_heap();
    take_secrets_from_environment(&instance.paths);
    logging::of_gateway(&instance.paths, background);
    descriptors::raise_limit();
    protect::protect();
    let mut run = GatewayRun { mode, banner: !background, moved: false };
    let exit = loop {
        match once(instance, run) {
            RunEnd::Exit(exit) => break exit,
            RunEnd::Restart => {
                run = GatewayRun { mode: StartMode::KeepRunning, banner: false, moved: true }
            }
        }
    };
    if let Some(log) = log::here() {
        log.finish();
    }
    exit
}

/// Moves the secrets that the configuration refers to out of the environment. A variable that programs
/// need to run is not a secret.
fn take_secrets_from_environment(paths: &Paths) {
    let Some(config) = file::peek(&paths.config) else { return };
    let upstreams = config.upstreams.iter().chain(&config.off);
    let references = upstreams.flat_map(|upstream| upstream.transport.references());
    let secrets = references.filter_map(|reference| match reference {
        SecretRef::Env(name) if !ChildEnvironment::is_passed_on(name) => Some(name.as_str()),
        SecretRef::Env(_) | SecretRef::Keyring(_) | SecretRef::File(_) => None,
    });
    protect::take_variables(secrets);
}

/// One run of a gateway in this process.
#[derive(Clone, Copy)]
struct GatewayRun {
    mode: StartMode,
    banner: bool,
    /// Its address differs from that of the run before.
    moved: bool,
}

/// How a run ended.
enum RunEnd {
    Exit(Exit),
    /// Another run follows, with the configuration read again.
    Restart,
}

fn once(instance: &Instance, run: GatewayRun) -> RunEnd {
    let config = match file::read(&instance.paths.config) {
        Ok(config) => config.unwrap_or_default(),
        Err(failure) => {
            write_start_failure(&instance.paths, &failure);
            terminal::print_error(&failure);
            close_waiting();
            return RunEnd::Exit(Exit::BadConfiguration);
        }
    };
    // One thread is faster: calls are only forwarded, and passing them between threads costs more.
    match run_async(serve(config, instance, run)) {
        Ok(end) => end,
        Err(error) => {
            close_waiting();
            RunEnd::Exit(Exit::failure(&error))
        }
    }
}

async fn serve(config: Config, instance: &Instance, run: GatewayRun) -> RunEnd {
    let stop = CancellationToken::new();
    let demo = config.upstreams.iter().any(|upstream| upstream.transport == TransportConfig::Demo);
    let (paths, until) = (instance.paths.clone(), stop.clone());
    let started = match run.mode {
        StartMode::KeepRunning => Gateway::start(config, paths, until).await,
        StartMode::TakeOver(terms) => Gateway::take_over(config, paths, until, terms).await,
    };
    let gateway = match started {
        Ok(gateway) => gateway,
        Err(ServeError::AlreadyRunning) => {
            return RunEnd::Exit(runs_already(&instance.paths).await);
        }
        Err(error) => {
            let failure = Failure::from(&error);
            write_start_failure(&instance.paths, &failure);
            return RunEnd::Exit(match error {
                ServeError::Keys(_) => {
                    terminal::print_error(&failure);
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
    stop_marker::remove(&instance.paths);
    if run.banner {
        print_banner(&gateway, demo);
    }
    // The start needed the parser of all commands and the files of the last run.
    memory::return_free_memory();
    let again = gateway.again();
    let updating = async {
        if run.moved {
            update_editors(&instance.paths).await;
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
        () = updating => {}
    }
    if again.is_cancelled() { RunEnd::Restart } else { RunEnd::Exit(Exit::Ok) }
}

/// Writes the new address to the editors' configurations.
async fn update_editors(paths: &Paths) {
    let Some(control) = evermoor_client::ControlClient::find(paths) else { return };
    match evermoor_client::move_port::update_editors(&control).await {
        Ok(updated) => tracing::info!(?updated, "updated the editors with the new address"),
        Err(failure) => tracing::warn!(%failure, "cannot update the editors with the new address"),
    }
}

fn print_banner(gateway: &Gateway, demo: bool) {
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
        "             {quiet}The link works once. For another, run `evermoor open`.{quiet:#}"
    ));
    terminal::print(&format_args!("  Editor     {entry}"));
    let first = if demo { "call demo__echo text=hello" } else { "tools" };
    terminal::print(&format_args!("  Try it     {} {first}\n", program.display()));
}

async fn runs_already(paths: &Paths) -> Exit {
    let Some(control) = evermoor_client::ControlClient::find(paths) else {
        terminal::print(&"Evermoor is already running.");
        return Exit::Ok;
    };
    let (origin, running) = (&control.runtime().origin, &control.runtime().version);
    terminal::print(&format_args!("Evermoor is already running at {origin}/mcp."));
    if version::is_older(running, VERSION) {
        terminal::print_note(&format_args!(
            "It is version {running}, and this is {VERSION}. To replace it without losing a call, run `evermoor serve --takeover`."
        ));
    }
    Exit::Ok
}

/// Closes the connections that wait in a socket which the service manager keeps open, if the start fails
/// before the gateway takes that socket.
fn close_waiting() {
    if let Some(listener) = stored_listener::take() {
        let _ = stored_listener::close_waiting(&listener);
    }
}

/// Writes why the start failed, for the program that started this one.
fn write_start_failure(paths: &Paths, failure: &Failure) {
    if let Ok(content) = serde_json::to_vec(failure) {
        let _ = private::write_private(&paths.start_failure_file(), &content);
    }
}
