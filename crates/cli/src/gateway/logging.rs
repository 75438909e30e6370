//! Sets up the log: stderr for commands, and a file for the gateway.

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use evermoor_gateway::monitoring::log;
use evermoor_gateway::system::redaction;
use evermoor_platform::paths::Paths;

use crate::terminal::{options, wants_colour};

/// The log also contains what the upstreams' programs write to stderr.
const PROGRAMS: &str = "evermoor_gateway::upstream::transport::stdio::stderr=debug";

/// Logs to stderr, for commands and the shim.
pub(crate) fn to_stderr() {
    let level = if options().verbose { "debug" } else { "info" };
    let _ = fmt()
        .with_env_filter(filter(level))
        .with_writer(|| redaction::RedactingWriter(std::io::stderr()))
        .with_ansi(is_coloured())
        .with_target(false)
        .try_init();
}

/// Logs to the gateway's file and, in the foreground, to stderr. Panics are logged too.
pub(crate) fn of_gateway(paths: &Paths, background: bool) {
    let level = if options().verbose { "debug" } else { "info" };
    let kept = log::start(&paths.log_file());
    let kept = kept.with_filter(filter(&format!("{level},{PROGRAMS}")));
    let shown = (!background).then(|| {
        let shown = fmt::layer().with_writer(|| redaction::RedactingWriter(std::io::stderr()));
        let shown = shown.with_ansi(is_coloured());
        shown.with_target(false).with_filter(filter(level))
    });
    let _ = tracing_subscriber::registry().with(kept).with(shown).try_init();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "internal error: a task panicked");
        usual(panic);
    }));
}

fn is_coloured() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colour()
}

/// The libraries of the sign-in log codes and tokens in detail, whatever the user asks for.
const QUIET: [&str; 2] = ["rmcp=warn", "oauth2=warn"];

fn filter(usual: &str) -> EnvFilter {
    let filter = EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let quiet = QUIET.iter().filter_map(|directive| directive.parse().ok());
    quiet.fold(filter, EnvFilter::add_directive)
}
