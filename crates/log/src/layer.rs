//! Turns `tracing` events into log lines.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_platform::clock;

/// A `tracing` layer that passes each event as a log line to a function.
pub struct LogLayer<T> {
    sink: T,
}

impl<T: Fn(LogLine)> LogLayer<T> {
    pub fn new(sink: T) -> Self {
        Self { sink }
    }
}

/// Longer lines are truncated.
const MAX_LENGTH: usize = 4 << 10;

impl<S: Subscriber, T: Fn(LogLine) + 'static> tracing_subscriber::Layer<S> for LogLayer<T> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut event_text = EventText::default();
        event.record(&mut event_text);
        let mut text = event_text.message + &event_text.fields;
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

    #[test]
    fn a_line_has_its_upstream_separately_and_its_fields_at_the_end() {
        let lines: Arc<Mutex<Vec<LogLine>>> = Arc::default();
        let sink = Arc::clone(&lines);
        let layer = LogLayer::new(move |line| sink.lock().push(line));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(upstream = %"notes", attempt = 3, why = "refused", "upstream down");
            tracing::info!("{}", "x".repeat(MAX_LENGTH * 2));
        });
        let lines = lines.lock();
        assert_eq!(lines[0].text, "upstream down attempt=3 why=refused");
        assert_eq!((lines[0].level, lines[0].upstream.as_deref()), (LogLevel::Warn, Some("notes")));
        assert!(lines[1].text.len() < MAX_LENGTH + 10);
    }
}
