//! A file's text as it is edited: its mark and its line ends stay, and an edit touches only what it names.

use std::ops::Range;

/// The mark that some Windows programs put before UTF-8.
const MARK: &str = "\u{feff}";

/// A text without its byte order mark, which is put back.
pub(crate) fn marked(text: &str) -> (&'static str, &str) {
    match text.strip_prefix(MARK) {
        Some(rest) => (MARK, rest),
        None => ("", text),
    }
}

/// How this text ends its lines.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Pieces of a text that are replaced. Everything else stays, byte for byte.
#[derive(Debug, Default)]
pub(crate) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at..at, text.into()));
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    pub(crate) fn delete(&mut self, range: Range<usize>) {
        self.0.push((range, String::new()));
    }

    /// The text with its pieces replaced. Pieces at the same place come in the order they were told.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut done = String::with_capacity(text.len() + 256);
        let mut at = 0;
        for (range, new) in self.0 {
            done.push_str(&text[at..range.start]);
            done.push_str(&new);
            at = range.end;
        }
        done.push_str(&text[at..]);
        done
    }
}

/// Where the line begins that this place is on.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line ends that this place is on, before its line end.
pub(crate) fn line_stop(text: &str, at: usize) -> usize {
    let stop = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..stop].ends_with('\r') { stop - 1 } else { stop }
}

/// Where the next line begins; the end of the text if there is none.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The blanks before a place, if there is nothing else before it on its line.
pub(crate) fn own_indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

/// With the comma before it, or the one after it if it is the first.
pub(crate) fn with_comma(text: &str, range: Range<usize>) -> Range<usize> {
    let before = text[..range.start].trim_end();
    if before.ends_with(',') {
        return before.len() - 1..range.end;
    }
    let after = text[range.end..].trim_start();
    match after.strip_prefix(',') {
        Some(rest) => range.start..text.len() - rest.trim_start().len(),
        None => range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_pieces_change() {
        let mut splices = Splices::default();
        splices.insert(3, "!");
        splices.replace(0..1, "A");
        splices.delete(1..2);
        assert_eq!(splices.apply("abc\r\n"), "Ac!\r\n");
    }

    #[test]
    fn marks_and_line_ends_are_seen() {
        assert_eq!(marked("\u{feff}x"), ("\u{feff}", "x"));
        assert_eq!((line_end("a\r\nb\n"), line_end("a"), line_end("a\nb")), ("\r\n", "\n", "\n"));
        assert_eq!((own_indent("{\n\t\"a\"", 3), own_indent("{ \"a\"", 2)), (Some("\t"), None));
    }
}
