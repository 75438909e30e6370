//! Makes a line of whatever is said with `tracing`.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_platform::clock;

/// Brings what is said to whoever takes it.
pub struct Layer<T> {
    take: T,
}

impl<T: Fn(LogLine)> Layer<T> {
    pub fn to(take: T) -> Self {
        Self { take }
    }
}

/// A longer line is cut.
const LONGEST: usize = 4 << 10;

impl<S: Subscriber, T: Fn(LogLine) + 'static> tracing_subscriber::Layer<S> for Layer<T> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        let mut text = words.message + &words.fields;
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push('…');
        }
        (self.take)(LogLine {
            at: clock::unix_millis(),
            level: level(*event.metadata().level()),
            upstream: words.upstream,
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

/// The message, then its fields as `name=value`; the upstream apart.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
    upstream: Option<String>,
}

impl Visit for Words {
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
    fn a_line_says_its_upstream_apart_and_its_fields_behind() {
        let said: Arc<Mutex<Vec<LogLine>>> = Arc::default();
        let heard = Arc::clone(&said);
        let layer = Layer::to(move |line| heard.lock().push(line));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(upstream = %"notes", attempt = 3, why = "refused", "upstream down");
            tracing::info!("{}", "x".repeat(LONGEST * 2));
        });
        let lines = said.lock();
        assert_eq!(lines[0].text, "upstream down attempt=3 why=refused");
        assert_eq!((lines[0].level, lines[0].upstream.as_deref()), (LogLevel::Warn, Some("notes")));
        assert!(lines[1].text.len() < LONGEST + 10);
    }
}
