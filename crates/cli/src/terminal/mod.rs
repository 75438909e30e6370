//! What goes to the terminal: data to standard output, words about it to standard error.

#![expect(clippy::disallowed_methods, reason = "this is the place that prints")]

mod progress;
mod screen;
mod table;

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

pub(crate) use progress::Progress;
pub(crate) use screen::Screen;
pub(crate) use table::{columns, fit, indented, wrap};

/// How a person wants to be spoken to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Data and failures only.
    pub(crate) quiet: bool,
    /// Data for programs: failures too.
    pub(crate) json: bool,
    pub(crate) no_color: bool,
    /// Every question is answered with yes.
    pub(crate) yes: bool,
    /// How the program works goes to standard error.
    pub(crate) verbose: bool,
}

static MANNER: OnceLock<Manner> = OnceLock::new();

/// Says how a person wants to be spoken to, once and for all.
pub(crate) fn behave(manner: Manner) {
    let _ = MANNER.set(manner);
}

pub(crate) fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Prints a line of data. A reader that went away is no failure.
pub(crate) fn print(line: &dyn Display) {
    if !screen::takes(line) {
        progress::make_way();
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// Prints bytes as they are. A reader that went away is no failure.
pub(crate) fn print_raw(bytes: &[u8]) {
    let _ = std::io::stdout().write_all(bytes);
}

/// Prints data for a program, as an object that says which form it has.
pub(crate) fn print_json(mut data: serde_json::Value) {
    data["schema"] = 1.into();
    print(&data);
}

/// Prints what was done: for a person, not for a program.
pub(crate) fn say(text: &dyn Display) {
    if !manner().quiet && !manner().json {
        print(text);
    }
}

/// Prints what a person should know about the data.
pub(crate) fn remark(text: &dyn Display) {
    if manner().quiet {
        return;
    }
    let style = paint(Style::new().dimmed(), std::io::stderr().is_terminal());
    progress::make_way();
    let text = for_stderr(&text.to_string());
    let _ = writeln!(std::io::stderr(), "{style}{text}{style:#}");
}

/// Prints what went wrong.
pub(crate) fn complain(why: &dyn Display) {
    let style = paint(AnsiColor::Red.on_default(), std::io::stderr().is_terminal());
    progress::make_way();
    let text = for_stderr(&format!("error: {why}"));
    let text = text.strip_prefix("error:").unwrap_or(&text);
    let _ = writeln!(std::io::stderr(), "{style}error:{style:#}{text}");
}

/// Sentences broken between words, where a terminal would break them anywhere. What is indented is
/// no sentence.
fn for_stderr(text: &str) -> String {
    let seen = terminal_size::terminal_size_of(std::io::stderr());
    let Some((width, _)) = seen else { return text.to_owned() };
    let width = usize::from(width.0).max(NARROWEST);
    let fits = |line: &str| line.chars().count() <= width || line.starts_with(' ');
    let lines = text.lines().map(|line| match fits(line) {
        true => line.to_owned(),
        false => wrap(line, width).join("\n"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Asks a question that is answered with yes or no. Where nobody can answer, the answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    if manner().yes {
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

/// Whether somebody looks at what is printed.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// How many characters fit into a line of standard output; no limit where nobody looks at it.
pub(crate) fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let seen = || is_watched().then(seen).flatten();
    told.or_else(seen).filter(|width| *width > 0).map_or(usize::MAX, |width| width.max(NARROWEST))
}

/// A narrower terminal breaks the lines itself.
const NARROWEST: usize = 30;

/// Colours for standard output, or none where they would be noise.
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

/// A unified diff: what comes, what goes, and where.
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
    diff.lines().map(paint).collect::<Vec<_>>().join("\n")
}

/// A sentence, and quietly behind it or, where there is no room, under it, what it is about.
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
    let silent = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    !manner().no_color && !silent("NO_COLOR") && !dumb
}

fn paint(style: Style, terminal: bool) -> Style {
    if terminal && wants_colour() { style } else { Style::new() }
}
