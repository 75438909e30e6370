//! Sets up the log: stderr for commands, and a file for the gateway.

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Filter, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use evermoor_gateway::monitoring::log;
use evermoor_gateway::system::redaction;
use evermoor_platform::paths::Paths;

use crate::terminal::{options, wants_colour};

/// The log also contains what the upstreams' programs write to stderr.
const PROGRAMS: &str = "evermoor_gateway::upstream::transport::stdio::stderr=debug";

/// Logs to stderr, for commands and the shim.
pub(crate) fn to_stderr() {
    let level = if options().verbose { "debug" } else { "info" };
    let _ = tracing_subscriber::registry().with(shown().with_filter(filter(level))).try_init();
}

/// Logs to the gateway's file and, in the foreground, to stderr. Panics are logged too.
pub(crate) fn of_gateway(paths: &Paths, background: bool) {
    let level = if options().verbose { "debug" } else { "info" };
    let kept = log::start(&paths.log_file());
    let kept = kept.with_filter(filter(&format!("{level},{PROGRAMS}")));
    let shown = (!background).then(|| shown().with_filter(filter(level)));
    let _ = tracing_subscriber::registry().with(kept).with(shown).try_init();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "internal error: a task panicked");
        usual(panic);
    }));
}

/// The lines on stderr.
fn shown<S>() -> impl Layer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fmt::layer()
        .with_writer(|| redaction::RedactingWriter(std::io::stderr()))
        .with_ansi(is_coloured())
        .with_target(false)
}

fn is_coloured() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colour()
}

/// The libraries of the sign-in log codes and tokens in detail.
const CONFIDENTIAL: [&str; 2] = ["rmcp", "oauth2"];

/// What is logged: what the user asks for, without the details of [`CONFIDENTIAL`] libraries.
fn filter<S>(usual: &str) -> impl Filter<S> + use<S> {
    let asked = EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    // Without the hint, every line of every library would be looked at.
    asked.and(filter_fn(may_be_shown).with_max_level_hint(LevelFilter::TRACE))
}

fn may_be_shown(metadata: &Metadata<'_>) -> bool {
    let library = metadata.target().split("::").next().unwrap_or_default();
    !CONFIDENTIAL.contains(&library) || *metadata.level() <= Level::WARN
}
