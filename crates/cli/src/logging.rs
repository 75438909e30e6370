//! Where what the program says of its own work goes.

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use evermoor_gateway::monitoring::log;
use evermoor_gateway::system::redaction;
use evermoor_platform::paths::Paths;

use crate::terminal::{manner, wants_colour};

/// What goes into the log besides: what upstreams' programs print.
const PROGRAMS: &str = "evermoor_gateway::upstream::transport::stdio::stderr=debug";

/// To standard error, for commands and for the shim.
pub(crate) fn to_stderr() {
    let quietest = if manner().verbose { "debug" } else { "info" };
    let _ = fmt()
        .with_env_filter(filter(quietest))
        .with_writer(|| redaction::RedactingWriter(std::io::stderr()))
        .with_ansi(is_coloured())
        .with_target(false)
        .try_init();
}

/// Into the log of the gateway, and to standard error if somebody may look at it.
pub(crate) fn of_gateway(paths: &Paths, background: bool) {
    let quietest = if manner().verbose { "debug" } else { "info" };
    let kept = log::start(&paths.log_file());
    let kept = kept.with_filter(filter(&format!("{quietest},{PROGRAMS}")));
    let shown = (!background).then(|| {
        let shown = fmt::layer().with_writer(|| redaction::RedactingWriter(std::io::stderr()));
        let shown = shown.with_ansi(is_coloured());
        shown.with_target(false).with_filter(filter(quietest))
    });
    let _ = tracing_subscriber::registry().with(kept).with(shown).try_init();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "something in Evermoor broke");
        usual(panic);
    }));
}

fn is_coloured() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colour()
}

fn filter(usual: &str) -> EnvFilter {
    EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| EnvFilter::new(usual))
}
