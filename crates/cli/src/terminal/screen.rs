//! A live view that is redrawn in place, without flicker.
//!
//! It uses the terminal's alternate screen, so the user's scrollback stays intact. Each frame is
//! written at once over the one before. The last frame is printed to the main screen at the end.

use std::cell::RefCell;
use std::io::Write as _;

use super::{is_watched, options};

thread_local! {
    /// The lines of the frame that is being drawn.
    static FRAME: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Adds a line to the frame. Returns `false` if no frame is being drawn.
pub(super) fn capture(line: &dyn std::fmt::Display) -> bool {
    FRAME.with_borrow_mut(|frame| match frame {
        Some(frame) => {
            frame.push_str(&format!("{line}\n"));
            true
        }
        None => false,
    })
}

/// The live view. If stdout is not a terminal, frames are printed one after the other.
pub(crate) struct Screen {
    on: bool,
    last: String,
}

const ALTERNATE_SCREEN: &str = "\x1b[?1049h\x1b[?25l";
const MAIN_SCREEN: &str = "\x1b[?25h\x1b[?1049l";

impl Screen {
    pub(crate) fn open() -> Self {
        let on = is_watched() && !options().json;
        if on {
            show(ALTERNATE_SCREEN);
        }
        Self { on, last: String::new() }
    }

    /// Draws what `print` prints over the frame before.
    pub(crate) fn draw<T>(&mut self, print: impl FnOnce() -> T) -> T {
        if !self.on {
            return print();
        }
        FRAME.set(Some(String::new()));
        let printed = print();
        self.last = FRAME.take().unwrap_or_default();
        let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
        show(&over(&self.last, height.unwrap_or(usize::MAX)));
        printed
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.on {
            show(MAIN_SCREEN);
            show(&self.last);
        }
    }
}

fn show(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// The escape sequences that draw a frame over another, clearing the rest of each row.
fn over(frame: &str, height: usize) -> String {
    let lines: Vec<&str> = frame.lines().collect();
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
    fn a_frame_covers_the_one_before_and_never_scrolls() {
        assert_eq!(over("a\nb\n", 9), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
        assert_eq!(over("a\nb\n", 2), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
        assert_eq!(over("a\nb\nc\n", 2), "\x1b[Ha\x1b[K\r\n… 2 more lines\x1b[K\x1b[J");
    }

    #[test]
    fn output_is_captured_only_while_a_frame_is_drawn() {
        assert!(!capture(&"before"));
        FRAME.set(Some(String::new()));
        assert!(capture(&"inside"));
        assert_eq!(FRAME.take().as_deref(), Some("inside\n"));
        assert!(!capture(&"after"));
    }
}
