//! `evermoor status`: how things are, once or for as long as somebody looks.

mod one;

use std::time::Duration;

use evermoor_client::Control;
use evermoor_core::api::{
    AppStatus, EditorStatus, OverallState, Status, UpstreamState, UpstreamStatus,
};
use evermoor_core::failure::Failure;
use evermoor_core::policy::app::state::NextStep;
use evermoor_platform::process::signals;

use crate::editors::setup;
use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::servers::lookup;
use crate::terminal::{self, Palette, Screen};

pub(crate) fn run(place: &Place, upstream: Option<&str>, watch: bool) -> Exit {
    let Some(control) = Control::find(&place.paths) else {
        return Exit::not_running();
    };
    if watch {
        return follow(place, control, upstream);
    }
    match run_async(control.status()) {
        Ok(Ok(status)) => match show(place, &status, upstream) {
            Ok(exit) => exit,
            Err(failure) => Exit::failed(&failure),
        },
        Ok(Err(error)) => Exit::failed(&error.into()),
        Err(error) => Exit::failure(&error),
    }
}

/// Runs one small piece of async work.
pub(crate) fn run_async<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}

/// Shows every state until somebody stops it. A gateway that goes away is waited for.
fn follow(place: &Place, control: Control, upstream: Option<&str>) -> Exit {
    const LOOK_AGAIN: Duration = Duration::from_millis(500);
    let mut screen = Screen::open();
    let shown = async {
        let mut control = Some(control);
        loop {
            let Some(found) = control.take() else {
                tokio::time::sleep(LOOK_AGAIN).await;
                control = Control::find(&place.paths);
                continue;
            };
            if let Ok(mut states) = found.follow().await {
                while let Some(status) = states.next().await {
                    if let Err(failure) = screen.draw(|| show(place, &status, upstream)) {
                        return failure;
                    }
                }
            }
            screen.draw(|| terminal::say(&"Evermoor is not running. Waiting for it."));
        }
    };
    let ended = run_async(async {
        tokio::select! {
            failure = shown => Some(failure),
            () = signals::stop_requested() => None,
        }
    });
    // What is said now is said on the usual screen.
    drop(screen);
    match ended {
        Ok(None) => Exit::Ok,
        Ok(Some(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// Shows the whole, or one upstream.
fn show(place: &Place, status: &Status, upstream: Option<&str>) -> Result<Exit, Failure> {
    let json = terminal::manner().json;
    let Some(name) = upstream else {
        if json {
            let mut data = serde_json::json!(status);
            data["setup"] = serde_json::json!(setup::attached(place, status));
            terminal::print_json(data);
        } else {
            show_all(status);
            show_connected(&setup::short(place, status));
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
        one::show(upstream);
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
            show_quietly(&note, 4, colours);
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

/// The shape and the colour of a state.
fn mark(upstream: &UpstreamStatus, colours: Palette) -> (&'static str, anstyle::Style) {
    match upstream.link {
        UpstreamState::Off => ("–", colours.quiet),
        UpstreamState::Connected { .. } => ("●", colours.good),
        UpstreamState::Connecting => ("◐", colours.busy),
        UpstreamState::Down { .. } => ("○", colours.bad),
        UpstreamState::Paused { .. } => ("‖", colours.quiet),
    }
}

/// What is worth knowing of an upstream besides its state.
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

/// What is seen of an application besides its link.
fn about_app(app: &AppStatus, upstream: &UpstreamStatus) -> Vec<String> {
    let connected = matches!(upstream.link, UpstreamState::Connected { .. });
    let stands = (connected && app.next != NextStep::Nothing)
        .then(|| format!("{} {}", app.what, app.remedy))
        .into_iter();
    let memory = app.trend.iter().map(|trend| format!("Memory: {trend}"));
    stands.chain(app.notes.iter().cloned()).chain(app.offer.clone()).chain(memory).collect()
}

/// A paragraph that stands back.
fn show_quietly(text: &str, indent: usize, colours: Palette) {
    let quiet = colours.quiet;
    let text = terminal::indented(text, indent, terminal::width());
    terminal::print(&format_args!("{quiet}{text}{quiet:#}"));
}

/// What each editor is shown.
fn show_editors(editors: &[EditorStatus], colours: Palette) {
    let cells =
        |editor: &EditorStatus| vec![editor.name.clone(), editor.sees().unwrap_or_default()];
    let rows: Vec<Vec<String>> = editors.iter().map(cells).collect();
    let labels = std::iter::once("Editors").chain(std::iter::repeat(""));
    let lines = terminal::columns(&rows, terminal::width().saturating_sub(10));
    for ((line, label), editor) in lines.iter().zip(labels).zip(editors) {
        terminal::print(&format_args!("{label:<8}  {line}"));
        if let Some(hint) = &editor.hint {
            show_quietly(hint, 10, colours);
        }
    }
}

/// Which editors on this machine are connected.
fn show_connected(sentences: &[String]) {
    let labels = std::iter::once("Machine").chain(std::iter::repeat(""));
    for (sentence, label) in sentences.iter().zip(labels) {
        let sentence = terminal::indented(sentence, 10, terminal::width());
        terminal::print(&format_args!("{label:<8}  {}", sentence.trim_start()));
    }
}

fn row(upstream: &UpstreamStatus) -> Vec<String> {
    // Nothing is known of one that was never reached.
    let unknown = upstream.tools == 0 && !matches!(upstream.link, UpstreamState::Connected { .. });
    let tools = if upstream.is_off() || unknown { String::new() } else { upstream.tool_count() };
    vec![upstream.name.clone(), upstream.word().to_owned(), tools, upstream.target.clone()]
}
