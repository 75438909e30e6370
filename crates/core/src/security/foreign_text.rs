//! Makes text that others wrote safe to show.
//!
//! Servers, editors and files choose names, descriptions and error messages. In a terminal, their
//! control characters move the cursor or set the title; in a log, a line break forges a line; in a
//! report, Markdown loads an image or notifies a stranger; anywhere, bidirectional characters
//! reorder what a user reads. Control sequences are removed, and every other character that is not
//! shown as itself becomes [`REPLACEMENT`].

use std::borrow::Cow;
use std::fmt::Write as _;

/// Stands for a character that must not be shown.
pub const REPLACEMENT: char = '\u{fffd}';

/// One line: line breaks and tabs become spaces.
pub fn line(text: &str) -> Cow<'_, str> {
    clean(text, Allowed { lines: false, styles: false })
}

/// Several lines: line breaks and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    clean(text, Allowed { lines: true, styles: false })
}

/// Several lines with colours that Evermoor added, for a terminal. Only plain colours pass.
pub fn styled_lines(text: &str) -> Cow<'_, str> {
    clean(text, Allowed { lines: true, styles: true })
}

/// One line with colours that Evermoor added, for a terminal.
pub fn styled_line(text: &str) -> Cow<'_, str> {
    clean(text, Allowed { lines: false, styles: true })
}

/// One line of Markdown that shows the text itself: no markup, image, link or mention of a person.
pub fn markdown(text: &str) -> String {
    let text = line(text);
    let mut made = String::with_capacity(text.len());
    let (mut before, mut rest) = (None, text.chars().peekable());
    while let Some(letter) = rest.next() {
        let next = rest.peek().copied();
        match letter {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '$' => {
                let _ = write!(made, "\\{letter}");
            }
            '_' if !(is_word(before) && is_word(next)) => made.push_str("\\_"),
            '&' => made.push_str("&amp;"),
            // Trackers link what follows these even if they are escaped.
            '@' => made.push_str("@&#8203;"),
            '#' if next.is_some_and(|next| next.is_ascii_digit()) => made.push_str("#&#8203;"),
            ':' if next == Some('/') => made.push_str("\\:"),
            '.' if ends_with_www(&made) => made.push_str("\\."),
            _ => made.push(letter),
        }
        before = Some(letter);
    }
    made
}

/// Trackers link what follows `www.`.
fn ends_with_www(text: &str) -> bool {
    let end = text.as_bytes().last_chunk::<3>();
    end.is_some_and(|end| end.eq_ignore_ascii_case(b"www"))
}

fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(char::is_alphanumeric)
}

/// What [`clean`] keeps besides ordinary characters.
#[derive(Clone, Copy)]
struct Allowed {
    lines: bool,
    styles: bool,
}

fn clean(text: &str, kept: Allowed) -> Cow<'_, str> {
    let ordinary = |letter: char| !is_break(letter) && !is_hidden(letter);
    let Some(first) = text.find(|letter| !ordinary(letter)) else { return Cow::Borrowed(text) };
    let mut made = String::with_capacity(text.len());
    made.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(letter) = rest.chars().next() {
        let sequence = control_sequence(rest);
        if let Some(length) = sequence {
            let (sequence, tail) = rest.split_at(length);
            if kept.styles && is_plain_style(sequence) {
                made.push_str(sequence);
            }
            rest = tail;
            continue;
        }
        match letter {
            '\n' | '\t' if kept.lines => made.push(letter),
            // A line may end as Windows ends it.
            '\r' if kept.lines && rest.starts_with("\r\n") => {}
            _ if is_break(letter) => made.push(' '),
            _ if is_hidden(letter) => made.push(REPLACEMENT),
            _ => made.push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    Cow::Owned(made)
}

/// A longer control sequence is not one that a program writes.
const LONGEST_SEQUENCE: usize = 32;

/// The length of the control sequence (ECMA-48) at the start of a text.
fn control_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end =
        parameters.bytes().take(LONGEST_SEQUENCE).position(|byte| !matches!(byte, 0x20..=0x3f))?;
    matches!(parameters.as_bytes()[end], 0x40..=0x7e).then_some(end + 3)
}

/// Whether a control sequence only sets a colour or a weight.
fn is_plain_style(sequence: &str) -> bool {
    let codes = sequence.strip_prefix("\x1b[").and_then(|rest| rest.strip_suffix('m'));
    codes.is_some_and(|code| matches!(code.parse(), Ok(0_u8..=3 | 30..=37)))
}

/// Line breaks and tabs, which become spaces.
fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that are not shown as themselves: control characters, bidirectional formatting,
/// invisible characters and tags.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["", "Grüße, 世界 👩\u{200d}🚀!", "a_b *c* [d](e)"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_terminal_gets_no_command() {
        assert_eq!(line("a\x1b]0;title\x07b"), "a\u{fffd}]0;title\u{fffd}b");
        assert_eq!(line("a\x1b[2J\x1b[1;31mb\x1b[0m"), "ab");
        assert_eq!(line("a\u{9b}2Jb\x08\x7f"), "a\u{fffd}2Jb\u{fffd}\u{fffd}");
        assert_eq!(line("\x1b[\u{1b}[2Jx"), "\u{fffd}[x");
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(line("one\r\ntwo\tthree\u{2028}four\u{85}"), "one  two three four ");
        assert_eq!(lines("one\r\ntwo\tthree\rfour"), "one\ntwo\tthree four");
    }

    #[test]
    fn text_is_read_in_the_order_in_which_it_is_shown() {
        assert_eq!(
            line("user\u{202e}gnp.exe\u{2066}\u{200b}"),
            "user\u{fffd}gnp.exe\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn only_plain_colours_pass_with_styles() {
        assert_eq!(styled_lines("\x1b[31mred\x1b[0m\n"), "\x1b[31mred\x1b[0m\n");
        assert_eq!(styled_lines("\x1b[8mhidden\x1b[2J\x1b[?1049h"), "hidden");
        assert_eq!(styled_line("\x1b[2mone\ntwo"), "\x1b[2mone two");
    }

    #[test]
    fn markdown_shows_the_text_itself() {
        assert_eq!(
            markdown("![](http://x/y.png) @team `a`\n# <b> | $x$ #12 www.x.y"),
            "!\\[\\](http\\://x/y.png) @&#8203;team \\`a\\` # \\<b\\> \\| \\$x\\$ #&#8203;12 www\\.x.y"
        );
        assert_eq!(
            markdown("create_memory failed (exit code 1)."),
            "create_memory failed (exit code 1)."
        );
        assert_eq!(markdown("_really_"), "\\_really\\_");
    }

    proptest! {
        #[test]
        fn what_is_left_is_shown_as_itself(text in any::<String>()) {
            let one = line(&text).into_owned();
            prop_assert!(!one.chars().any(|letter| is_break(letter) || is_hidden(letter)));
            prop_assert_eq!(line(&one), one.as_str(), "again");
            let several = lines(&text).into_owned();
            let bad = |letter: char| is_hidden(letter) && !matches!(letter, '\n' | '\t');
            prop_assert!(!several.chars().any(bad));
        }

        #[test]
        fn markdown_has_no_active_markup(text in "[\\[\\]!()<>@`a-z:/ .]{0,40}") {
            let shown = markdown(&text);
            let bytes = shown.as_bytes();
            for (at, letter) in shown.char_indices() {
                if matches!(letter, '[' | ']' | '<' | '>' | '`') {
                    prop_assert!(at > 0 && bytes[at - 1] == b'\\', "{}", shown);
                }
            }
            prop_assert!(!shown.contains("://") || shown.contains("\\://"));
        }
    }
}
