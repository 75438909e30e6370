//! Turns `tracing` events into log lines.
//!
//! What others wrote may be in an event, so a line loses its secrets, then its control characters and
//! line breaks, and is cut last.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_core::security::foreign_text;
use evermoor_platform::clock;

/// A `tracing` layer that passes each event as a log line to a function.
pub struct LogLayer<C, T> {
    scrub: C,
    sink: T,
}

impl<C: Fn(&str) -> String, T: Fn(LogLine)> LogLayer<C, T> {
    /// `scrub` removes secrets from a text.
    pub fn new(scrub: C, sink: T) -> Self {
        Self { scrub, sink }
    }
}

/// Longer lines are truncated.
const MAX_LENGTH: usize = 4 << 10;

impl<S, C, T> tracing_subscriber::Layer<S> for LogLayer<C, T>
where
    S: Subscriber,
    C: Fn(&str) -> String + 'static,
    T: Fn(LogLine) + 'static,
{
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut event_text = EventText::default();
        event.record(&mut event_text);
        let text = (self.scrub)(&(event_text.message + &event_text.fields));
        let mut text = foreign_text::line(&text).into_owned();
        if text.len() > MAX_LENGTH {
            text.truncate(text.floor_char_boundary(MAX_LENGTH));
            text.push('…');
        }
        (self.sink)(LogLine {
            at: clock::unix_millis(),
            level: level(*event.metadata().level()),
            upstream: event_text.upstream,
            text,
        });
    }
}

fn level(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

/// The message, its fields as `name=value`, and the upstream separately.
#[derive(Default)]
struct EventText {
    message: String,
    fields: String,
    upstream: Option<String>,
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "upstream" => {
                self.upstream = Some(format!("{value:?}"));
                Ok(())
            }
            name => write!(self.fields, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt as _;

    fn logged(log: impl FnOnce()) -> Vec<LogLine> {
        let lines: Arc<Mutex<Vec<LogLine>>> = Arc::default();
        let sink = Arc::clone(&lines);
        let scrub = |text: &str| text.replace(SECRET, "[secret]");
        let layer = LogLayer::new(scrub, move |line| sink.lock().push(line));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        std::mem::take(&mut *lines.lock())
    }

    const SECRET: &str = "canary-of-the-layer";

    #[test]
    fn a_line_has_its_upstream_separately_and_its_fields_at_the_end() {
        let lines = logged(|| {
            tracing::warn!(upstream = %"notes", attempt = 3, why = "refused", "upstream down");
            tracing::info!("{}", "x".repeat(MAX_LENGTH * 2));
        });
        assert_eq!(lines[0].text, "upstream down attempt=3 why=refused");
        assert_eq!((lines[0].level, lines[0].upstream.as_deref()), (LogLevel::Warn, Some("notes")));
        assert!(lines[1].text.len() < MAX_LENGTH + 10);
    }

    #[test]
    fn a_line_is_scrubbed_before_it_is_cut_and_stays_one_line() {
        let lines = logged(|| {
            tracing::warn!("{}{SECRET}", "x".repeat(MAX_LENGTH - 8));
            tracing::warn!(why = %"a\nWARN forged \x1b[2J\x1b]0;t\x07", "said");
        });
        assert!(!lines[0].text.contains("canary"), "no half of a secret");
        assert_eq!(lines[1].text, "said why=a WARN forged \u{fffd}]0;t\u{fffd}");
    }
}
