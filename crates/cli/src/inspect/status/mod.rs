//! `evermoor status`: shows the current state, once or continuously. [`details`] shows one server.

mod details;

use std::time::Duration;

use evermoor_client::ControlClient;
use evermoor_core::api::{
    AppStatus, EditorStatus, OverallState, Status, UpstreamState, UpstreamStatus,
};
use evermoor_core::failure::Failure;
use evermoor_core::policy::app::state::NextStep;
use evermoor_platform::process::signals;

use crate::editors::setup;
use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal::{self, Palette, Screen};

pub(crate) fn run(instance: &Instance, upstream: Option<&str>, watch: bool) -> Exit {
    let Some(control) = ControlClient::find(&instance.paths) else {
        return Exit::not_running();
    };
    if watch {
        return follow(instance, control, upstream);
    }
    match run_async(control.status()) {
        Ok(Ok(status)) => match show(instance, &status, upstream) {
            Ok(exit) => exit,
            Err(failure) => Exit::failed(&failure),
        },
        Ok(Err(error)) => Exit::failed(&error.into()),
        Err(error) => Exit::failure(&error),
    }
}

/// Shows every status until interrupted. Waits for the gateway if it stops.
fn follow(instance: &Instance, control: ControlClient, upstream: Option<&str>) -> Exit {
    const POLL_INTERVAL: Duration = Duration::from_millis(500);
    let mut screen = Screen::open();
    let shown = async {
        let mut control = Some(control);
        loop {
            let Some(found) = control.take() else {
                tokio::time::sleep(POLL_INTERVAL).await;
                control = ControlClient::find(&instance.paths);
                continue;
            };
            if let Ok(mut states) = found.follow().await {
                while let Some(status) = states.next().await {
                    if let Err(failure) = screen.draw(|| show(instance, &status, upstream)) {
                        return failure;
                    }
                }
            }
            screen.draw(|| {
                terminal::print_message(&"Evermoor is not running. Waiting for it to start.")
            });
        }
    };
    let ended = run_async(async {
        tokio::select! {
            failure = shown => Some(failure),
            () = signals::stop_requested() => None,
        }
    });
    // Errors are printed to the main screen.
    drop(screen);
    match ended {
        Ok(None) => Exit::Ok,
        Ok(Some(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// Shows everything, or one upstream.
fn show(instance: &Instance, status: &Status, upstream: Option<&str>) -> Result<Exit, Failure> {
    let json = terminal::options().json;
    let Some(name) = upstream else {
        if json {
            let mut data = serde_json::json!(status);
            data["setup"] = serde_json::json!(setup::attached(instance, status));
            terminal::print_json(data);
        } else {
            show_all(status);
            show_connected(&setup::short(instance, status));
        }
        return Ok(match status.overall {
            OverallState::Healthy | OverallState::Busy => Exit::Ok,
            OverallState::Degraded | OverallState::Down | OverallState::Paused => Exit::Degraded,
        });
    };
    let upstream = lookup::in_status(status, name)?;
    if json {
        terminal::print_json(serde_json::json!({ "upstream": upstream }));
    } else {
        details::show(upstream);
    }
    Ok(match upstream.link {
        UpstreamState::Connected { .. } | UpstreamState::Connecting => Exit::Ok,
        UpstreamState::Off | UpstreamState::Down { .. } | UpstreamState::Paused { .. } => {
            Exit::Degraded
        }
    })
}

fn show_all(status: &Status) {
    let (colours, width) = (Palette::for_output(), terminal::width());
    let strong = colours.strong;
    terminal::print(&format_args!(
        "{strong}{}{strong:#}\n",
        terminal::indented(&status.sentence, 0, width)
    ));
    let rows: Vec<Vec<String>> = status.upstreams.iter().map(row).collect();
    let lines = terminal::columns(&rows, width.saturating_sub(4));
    for (line, upstream) in lines.iter().zip(&status.upstreams) {
        let (mark, style) = mark(upstream, colours);
        terminal::print(&format_args!("  {style}{mark}{style:#} {line}"));
        for note in notes(upstream) {
            show_dimmed(&note, 4, colours);
        }
        if let Some(account) = account(upstream) {
            show_dimmed(&format!("Signed in as {account}."), 4, colours);
        }
    }
    for warning in &status.warnings {
        let busy = colours.busy;
        let text = terminal::indented(&warning.to_string(), 2, width);
        terminal::print(&format_args!("\n{busy}! {busy:#}{}", text.trim_start()));
    }
    terminal::print(&format_args!("\nEndpoint  {}", status.endpoint));
    show_editors(&status.editors, colours);
}

/// The symbol and colour of a state.
fn mark(upstream: &UpstreamStatus, colours: Palette) -> (&'static str, anstyle::Style) {
    match upstream.link {
        UpstreamState::Off => ("–", colours.quiet),
        UpstreamState::Connected { .. } => ("●", colours.good),
        UpstreamState::Connecting => ("◐", colours.busy),
        UpstreamState::Down { .. } => ("○", colours.bad),
        UpstreamState::Paused { .. } => ("‖", colours.quiet),
    }
}

/// The account that the user signed in with, if it is known.
fn account(upstream: &UpstreamStatus) -> Option<&str> {
    upstream.sign_in.as_ref()?.account.as_deref()
}

/// What to show about an upstream besides its state.
fn notes(upstream: &UpstreamStatus) -> Vec<String> {
    let failure = match &upstream.link {
        UpstreamState::Down { failure, .. } => Some(failure.to_string()),
        UpstreamState::Off
        | UpstreamState::Connecting
        | UpstreamState::Connected { .. }
        | UpstreamState::Paused { .. } => None,
    };
    let app = upstream.app.iter().flat_map(|app| about_app(app, upstream));
    failure.into_iter().chain(app).collect()
}

/// What to show about an application besides its connection.
fn about_app(app: &AppStatus, upstream: &UpstreamStatus) -> Vec<String> {
    let connected = matches!(upstream.link, UpstreamState::Connected { .. });
    let problem = (connected && app.next != NextStep::Nothing)
        .then(|| format!("{} {}", app.what, app.remedy))
        .into_iter();
    let memory = app.trend.iter().map(|trend| format!("Memory: {trend}"));
    problem.chain(app.notes.iter().cloned()).chain(app.offer.clone()).chain(memory).collect()
}

/// Prints a dimmed paragraph.
fn show_dimmed(text: &str, indent: usize, colours: Palette) {
    let quiet = colours.quiet;
    let text = terminal::indented(text, indent, terminal::width());
    terminal::print(&format_args!("{quiet}{text}{quiet:#}"));
}

/// Prints what each editor sees.
fn show_editors(editors: &[EditorStatus], colours: Palette) {
    let cells =
        |editor: &EditorStatus| vec![editor.name.clone(), editor.sees().unwrap_or_default()];
    let rows: Vec<Vec<String>> = editors.iter().map(cells).collect();
    let labels = std::iter::once("Editors").chain(std::iter::repeat(""));
    let lines = terminal::columns(&rows, terminal::width().saturating_sub(10));
    for ((line, label), editor) in lines.iter().zip(labels).zip(editors) {
        terminal::print(&format_args!("{label:<8}  {line}"));
        if let Some(hint) = &editor.hint {
            show_dimmed(hint, 10, colours);
        }
    }
}

/// Prints which editors on this computer are connected.
fn show_connected(sentences: &[String]) {
    let labels = std::iter::once("Computer").chain(std::iter::repeat(""));
    for (sentence, label) in sentences.iter().zip(labels) {
        let sentence = terminal::indented(sentence, 10, terminal::width());
        terminal::print(&format_args!("{label:<8}  {}", sentence.trim_start()));
    }
}

fn row(upstream: &UpstreamStatus) -> Vec<String> {
    // The tools of a server that was never reached are unknown.
    let unknown = upstream.tools == 0 && !matches!(upstream.link, UpstreamState::Connected { .. });
    let tools = if upstream.is_off() || unknown { String::new() } else { upstream.tool_count() };
    vec![upstream.name.clone(), upstream.word().to_owned(), tools, upstream.target.clone()]
}
