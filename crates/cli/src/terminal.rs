//! What goes to the terminal: data to standard output, words about it to standard error.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};

/// Prints a line of data. A reader that went away is no failure.
pub(crate) fn print(line: &dyn Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints what a person should know about the data.
pub(crate) fn remark(text: &dyn Display) {
    let style = paint(Style::new().dimmed(), std::io::stderr().is_terminal());
    let _ = writeln!(std::io::stderr(), "{style}{text}{style:#}");
}

/// Prints what went wrong.
pub(crate) fn complain(why: &dyn Display) {
    let style = paint(AnsiColor::Red.on_default(), std::io::stderr().is_terminal());
    let _ = writeln!(std::io::stderr(), "{style}error:{style:#} {why}");
}

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
        let colour = std::io::stdout().is_terminal();
        Self {
            good: paint(AnsiColor::Green.on_default(), colour),
            bad: paint(AnsiColor::Red.on_default(), colour),
            busy: paint(AnsiColor::Yellow.on_default(), colour),
            strong: paint(Style::new().bold(), colour),
            quiet: paint(Style::new().dimmed(), colour),
        }
    }
}

fn paint(style: Style, terminal: bool) -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if terminal && wanted { style } else { Style::new() }
}

/// Lays out rows as columns, each as wide as its widest cell.
pub(crate) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("   ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Breaks a text into lines of at most `width` characters, between words.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_broken_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "Connected".into()], vec!["long".into(), "Down".into()]];
        assert_eq!(columns(&rows), ["a      Connected", "long   Down"]);
    }
}
