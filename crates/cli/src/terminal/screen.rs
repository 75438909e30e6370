//! A picture that is drawn again and again in the same place, without flicker.
//!
//! It has the other screen of the terminal for itself, so nothing of what a person did before is
//! scrolled away. Each picture is written at once, over the one before. The last one stays in view
//! when it is over.

use std::cell::RefCell;
use std::io::Write as _;

use super::{is_watched, manner};

thread_local! {
    /// What was printed of the picture so far, while one is drawn.
    static PICTURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Takes a line into the picture; `false` if none is being drawn.
pub(super) fn takes(line: &dyn std::fmt::Display) -> bool {
    PICTURE.with_borrow_mut(|picture| match picture {
        Some(picture) => {
            picture.push_str(&format!("{line}\n"));
            true
        }
        None => false,
    })
}

/// The place where pictures are drawn. Where nobody looks, they follow each other.
pub(crate) struct Screen {
    on: bool,
    last: String,
}

const OTHER_SCREEN: &str = "\x1b[?1049h\x1b[?25l";
const USUAL_SCREEN: &str = "\x1b[?25h\x1b[?1049l";

impl Screen {
    pub(crate) fn open() -> Self {
        let on = is_watched() && !manner().json;
        if on {
            show(OTHER_SCREEN);
        }
        Self { on, last: String::new() }
    }

    /// Draws what this prints in the place of what was there.
    pub(crate) fn draw<T>(&mut self, print: impl FnOnce() -> T) -> T {
        if !self.on {
            return print();
        }
        PICTURE.set(Some(String::new()));
        let printed = print();
        self.last = PICTURE.take().unwrap_or_default();
        let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
        show(&over(&self.last, height.unwrap_or(usize::MAX)));
        printed
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.on {
            show(USUAL_SCREEN);
            show(&self.last);
        }
    }
}

fn show(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// A picture that is drawn over another: every line takes the rest of its row with it.
fn over(picture: &str, height: usize) -> String {
    let lines: Vec<&str> = picture.lines().collect();
    let hidden = lines.len().saturating_sub(height);
    let shown = if hidden > 0 { height.saturating_sub(1) } else { lines.len() };
    let more = (hidden > 0).then(|| format!("… {} more lines", lines.len() - shown));
    let shown = lines[..shown].iter().map(|line| (*line).to_owned()).chain(more);
    let shown: Vec<String> = shown.map(|line| format!("{line}\x1b[K")).collect();
    format!("\x1b[H{}\x1b[J", shown.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_covers_the_one_before_and_never_scrolls() {
        assert_eq!(over("a\nb\n", 9), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
        assert_eq!(over("a\nb\n", 2), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
        assert_eq!(over("a\nb\nc\n", 2), "\x1b[Ha\x1b[K\r\n… 2 more lines\x1b[K\x1b[J");
    }

    #[test]
    fn what_is_printed_is_taken_only_while_a_picture_is_drawn() {
        assert!(!takes(&"before"));
        PICTURE.set(Some(String::new()));
        assert!(takes(&"inside"));
        assert_eq!(PICTURE.take().as_deref(), Some("inside\n"));
        assert!(!takes(&"after"));
    }
}
