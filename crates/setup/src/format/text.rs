//! Edits of text by position. Byte order mark and line endings stay, and so does everything that an
//! edit does not name.

use std::ops::Range;

/// The byte order mark that some Windows programs write before UTF-8.
const BOM: &str = "\u{feff}";

/// Splits a text into its byte order mark, if any, and the rest.
pub(crate) fn split_bom(text: &str) -> (&'static str, &str) {
    match text.strip_prefix(BOM) {
        Some(rest) => (BOM, rest),
        None => ("", text),
    }
}

/// The line ending of a text.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Replacements in a text. Everything else stays, byte for byte.
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

    /// The text with all replacements made. Those at the same position are made in the order in which
    /// they were added.
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

/// The start of the line that contains this position.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line that contains this position, before its line ending.
pub(crate) fn line_stop(text: &str, at: usize) -> usize {
    let stop = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..stop].ends_with('\r') { stop - 1 } else { stop }
}

/// The start of the next line; the end of the text if there is none.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The indentation before a position, if nothing else is before it on its line.
pub(crate) fn own_indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

/// Extends a range by the comma before it, or the one after it if it is the first.
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
    fn only_the_named_ranges_change() {
        let mut splices = Splices::default();
        splices.insert(3, "!");
        splices.replace(0..1, "A");
        splices.delete(1..2);
        assert_eq!(splices.apply("abc\r\n"), "Ac!\r\n");
    }

    #[test]
    fn byte_order_marks_and_line_endings_are_detected() {
        assert_eq!(split_bom("\u{feff}x"), ("\u{feff}", "x"));
        assert_eq!((line_end("a\r\nb\n"), line_end("a"), line_end("a\nb")), ("\r\n", "\n", "\n"));
        assert_eq!((own_indent("{\n\t\"a\"", 3), own_indent("{ \"a\"", 2)), (Some("\t"), None));
    }
}
