//! `evermoor status`: how things are.

use evermoor_client::Control;
use evermoor_core::app::state::Next;
use evermoor_core::view::{App, Editor, Link, Overall, Status, Upstream};

use crate::exit::Exit;
use crate::serve::Place;
use crate::setup;
use crate::terminal::{self, Palette};

pub(crate) fn run(place: &Place, json: bool) -> Exit {
    let Some(control) = Control::find(&place.paths) else {
        return Exit::not_running();
    };
    let status = match run_async(control.status()) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => return Exit::failure(&error),
        Err(error) => return Exit::failure(&error),
    };
    if json {
        let mut data = serde_json::json!(status);
        data["schema"] = 1.into();
        terminal::print(&data);
    } else {
        show(&status);
        show_connected(&setup::short(place, &status));
    }
    match status.overall {
        Overall::Healthy | Overall::Busy => Exit::Ok,
        Overall::Degraded | Overall::Down | Overall::Paused => Exit::Degraded,
    }
}

/// Runs one small piece of async work.
pub(crate) fn run_async<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}

fn show(status: &Status) {
    let colours = Palette::for_output();
    let strong = colours.strong;
    terminal::print(&format_args!("{strong}{}{strong:#}\n", status.sentence));
    let rows: Vec<Vec<String>> = status.upstreams.iter().map(row).collect();
    for (line, upstream) in terminal::columns(&rows).iter().zip(&status.upstreams) {
        let (mark, style) = match upstream.link {
            Link::Off => ("–", colours.quiet),
            Link::Connected { .. } => ("●", colours.good),
            Link::Connecting => ("◐", colours.busy),
            Link::Down { .. } => ("○", colours.bad),
            Link::Paused { .. } => ("‖", colours.quiet),
        };
        terminal::print(&format_args!("  {style}{mark}{style:#} {line}"));
        if let Link::Down { failure, .. } = &upstream.link {
            let quiet = colours.quiet;
            terminal::print(&format_args!(
                "    {quiet}{} {}{quiet:#}",
                failure.what, failure.remedy
            ));
        }
        if let Some(app) = &upstream.app {
            show_app(app, upstream, colours);
        }
    }
    for warning in &status.warnings {
        let busy = colours.busy;
        terminal::print(&format_args!("\n{busy}warning:{busy:#} {warning}"));
    }
    terminal::print(&format_args!("\nEndpoint  {}", status.endpoint));
    show_editors(&status.editors, colours);
}

/// What is seen of an application besides its link.
fn show_app(app: &App, upstream: &Upstream, colours: Palette) {
    let quiet = colours.quiet;
    let connected = matches!(upstream.link, Link::Connected { .. });
    let stands = (connected && app.next != Next::Nothing)
        .then(|| format!("{} {}", app.what, app.remedy))
        .into_iter();
    let memory = app.trend.iter().map(|trend| format!("Memory: {trend}"));
    for line in stands.chain(app.notes.iter().cloned()).chain(app.offer.clone()).chain(memory) {
        terminal::print(&format_args!("    {quiet}{line}{quiet:#}"));
    }
}

/// What each editor is shown.
fn show_editors(editors: &[Editor], colours: Palette) {
    let cells = |editor: &Editor| vec![editor.name.clone(), editor.sees().unwrap_or_default()];
    let rows: Vec<Vec<String>> = editors.iter().map(cells).collect();
    let labels = std::iter::once("Editors").chain(std::iter::repeat(""));
    let quiet = colours.quiet;
    for ((line, label), editor) in terminal::columns(&rows).iter().zip(labels).zip(editors) {
        terminal::print(&format_args!("{label:<8}  {line}"));
        if let Some(hint) = &editor.hint {
            terminal::print(&format_args!("{:<8}  {quiet}{hint}{quiet:#}", ""));
        }
    }
}

/// Which editors on this machine are connected.
fn show_connected(sentences: &[String]) {
    let labels = std::iter::once("Machine").chain(std::iter::repeat(""));
    for (sentence, label) in sentences.iter().zip(labels) {
        terminal::print(&format_args!("{label:<8}  {sentence}"));
    }
}

fn row(upstream: &Upstream) -> Vec<String> {
    let tools = if upstream.is_off() { String::new() } else { upstream.tool_count() };
    vec![upstream.name.clone(), upstream.word().to_owned(), tools, upstream.target.clone()]
}
