//! Output to the terminal: data goes to stdout, everything else to stderr.
//!
//! [`table`] lays out columns and paragraphs, [`progress`] shows a temporary line, and [`screen`]
//! redraws a live view. All output of the commands goes through this folder, which leaves out control
//! characters that others wrote.

#![expect(clippy::disallowed_methods, reason = "this is the place that prints")]

mod progress;
mod screen;
mod table;

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

use evermoor_core::security::foreign_text::{lines, styled_lines};

pub(crate) use progress::Progress;
pub(crate) use screen::Screen;
pub(crate) use table::{columns, fit, indented, wrap};

/// The output options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputOptions {
    /// Print only data and errors.
    pub(crate) quiet: bool,
    /// Print data and errors as JSON.
    pub(crate) json: bool,
    pub(crate) no_color: bool,
    /// Answer yes to every question.
    pub(crate) yes: bool,
    /// Print debug output to stderr.
    pub(crate) verbose: bool,
}

static OPTIONS: OnceLock<OutputOptions> = OnceLock::new();

/// Sets the options, once per process.
pub(crate) fn configure(options: OutputOptions) {
    let _ = OPTIONS.set(options);
}

pub(crate) fn options() -> OutputOptions {
    OPTIONS.get().copied().unwrap_or_default()
}

/// Prints a line of data. A closed pipe is not an error.
pub(crate) fn print(line: &dyn Display) {
    let line = line.to_string();
    let line = styled_lines(&line);
    if !screen::capture(&line) {
        progress::clear();
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// Prints data for a program: unchanged into a file or a pipe, safe to show on a terminal.
pub(crate) fn print_result(text: &str) {
    progress::clear();
    let shown = if is_watched() { lines(text) } else { text.into() };
    let _ = writeln!(std::io::stdout(), "{shown}");
}

/// Prints bytes unchanged. A closed pipe is not an error.
pub(crate) fn print_raw(bytes: &[u8]) {
    let _ = std::io::stdout().write_all(bytes);
}

/// Prints a JSON object with its schema version.
pub(crate) fn print_json(mut data: serde_json::Value) {
    data["schema"] = 1.into();
    print_result(&data.to_string());
}

/// Prints what was done. Silent with `--quiet` and `--json`.
pub(crate) fn print_message(text: &dyn Display) {
    if !options().quiet && !options().json {
        print(text);
    }
}

/// Prints a remark to stderr. Silent with `--quiet`.
pub(crate) fn print_note(text: &dyn Display) {
    if options().quiet {
        return;
    }
    let style = paint(Style::new().dimmed(), std::io::stderr().is_terminal());
    progress::clear();
    let text = for_stderr(&text.to_string());
    let _ = writeln!(std::io::stderr(), "{style}{text}{style:#}");
}

/// Prints an error to stderr.
pub(crate) fn print_error(why: &dyn Display) {
    let style = paint(AnsiColor::Red.on_default(), std::io::stderr().is_terminal());
    progress::clear();
    let text = for_stderr(&format!("error: {why}"));
    let text = text.strip_prefix("error:").unwrap_or(&text);
    let _ = writeln!(std::io::stderr(), "{style}error:{style:#}{text}");
}

/// Wraps sentences between words. Indented lines stay as they are.
fn for_stderr(text: &str) -> String {
    let seen = terminal_size::terminal_size_of(std::io::stderr());
    let text = &*lines(text);
    let Some((width, _)) = seen else { return text.to_owned() };
    let width = usize::from(width.0).max(NARROWEST);
    let fits = |line: &str| line.chars().count() <= width || line.starts_with(' ');
    let lines = text.lines().map(|line| match fits(line) {
        true => line.to_owned(),
        false => wrap(line, width).join("\n"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Asks a yes-or-no question. Without a terminal, the answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    if options().yes {
        return true;
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    let _ = write!(std::io::stderr(), "{} ", for_stderr(&format!("{question} [y/N]")));
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Whether stdout is a terminal.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// The width of the terminal in characters; unlimited if stdout is not a terminal.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let seen = || is_watched().then(seen).flatten();
    columns
        .or_else(seen)
        .filter(|width| *width > 0)
        .map_or(usize::MAX, |width| width.max(NARROWEST))
}

/// Narrower terminals wrap lines themselves.
const NARROWEST: usize = 30;

/// Colours for stdout; none if it is not a terminal.
#[derive(Clone, Copy)]
pub(crate) struct Palette {
    pub(crate) good: Style,
    pub(crate) bad: Style,
    pub(crate) busy: Style,
    pub(crate) strong: Style,
    pub(crate) quiet: Style,
}

impl Palette {
    pub(crate) fn for_output() -> Self {
        let colour = is_watched();
        Self {
            good: paint(AnsiColor::Green.on_default(), colour),
            bad: paint(AnsiColor::Red.on_default(), colour),
            busy: paint(AnsiColor::Yellow.on_default(), colour),
            strong: paint(Style::new().bold(), colour),
            quiet: paint(Style::new().dimmed(), colour),
        }
    }
}

/// Colours a unified diff.
pub(crate) fn painted(diff: &str) -> String {
    let Palette { good, bad, strong, quiet, .. } = Palette::for_output();
    let paint = |line: &str| {
        let style = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => strong,
            [b'+', ..] => good,
            [b'-', ..] => bad,
            [b'@', b'@', ..] => quiet,
            _ => Style::new(),
        };
        format!("{style}{line}{style:#}")
    };
    lines(diff).lines().map(paint).collect::<Vec<_>>().join("\n")
}

/// A sentence followed by a dimmed detail, which moves to the next line if it does not fit.
pub(crate) fn about(mark: &dyn Display, sentence: &str, what: &str) -> String {
    let (quiet, width) = (Palette::for_output().quiet, width());
    let room = sentence.chars().count() + what.chars().count() + 3 <= width;
    let sentence = indented(sentence, 2, width);
    let apart = match what {
        "" => "",
        _ if room => " ",
        _ => "\n  ",
    };
    format!("{mark} {}{apart}{quiet}{what}{quiet:#}", sentence.trim_start())
}

/// Whether colours are wanted at all.
pub(crate) fn wants_colour() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    !options().no_color && !is_set("NO_COLOR") && !dumb
}

fn paint(style: Style, terminal: bool) -> Style {
    if terminal && wants_colour() { style } else { Style::new() }
}
