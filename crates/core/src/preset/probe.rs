//! A probe: an HTTP request to an app and the expected answer.

use serde_json::Value;

use super::AppVersion;

/// A request and the expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub method: ProbeMethod,
    /// An absolute path on the app's own port.
    pub path: String,
    pub expect: Expectation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMethod {
    Get,
    Head,
    Post,
}

/// The expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The expected status; any 2xx status if `None`.
    pub status: Option<u16>,
    pub body: ExpectedBody,
}

/// The expected body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedBody {
    Anything,
    Starts(String),
    /// Only a version, or one of these words.
    Version {
        also: Vec<String>,
    },
    /// JSON whose value at this pointer (RFC 6901) matches.
    Json {
        at: String,
        is: ValueCheck,
    },
}

/// What a JSON value must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueCheck {
    /// Present and not null.
    Present,
    /// Absent or null.
    Absent,
    Equal(String),
}

impl ProbeMethod {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

impl Expectation {
    /// Whether the status counts as an answer; a 500, for example, does not.
    pub fn answers(&self, status: u16) -> bool {
        match self.status {
            Some(wanted) => status == wanted,
            None => (200..300).contains(&status),
        }
    }

    /// Whether an answer is as expected. An unreadable one is not.
    pub fn holds(&self, status: u16, body: &[u8]) -> bool {
        self.answers(status) && self.body.holds(body)
    }

    /// Whether the condition holds according to the answer; `None` if it does not say.
    pub fn says(&self, status: u16, body: &[u8]) -> Option<bool> {
        let readable = match &self.body {
            ExpectedBody::Json { .. } => json(body).is_some(),
            ExpectedBody::Anything | ExpectedBody::Starts(_) | ExpectedBody::Version { .. } => true,
        };
        (self.answers(status) && readable).then(|| self.body.holds(body))
    }
}

impl ExpectedBody {
    fn holds(&self, body: &[u8]) -> bool {
        let text = || std::str::from_utf8(body).ok().map(str::trim);
        match self {
            Self::Anything => true,
            Self::Starts(start) => text().is_some_and(|text| text.starts_with(start)),
            Self::Version { also } => text().is_some_and(|text| {
                AppVersion::parse(text).is_some() || also.iter().any(|word| word == text)
            }),
            Self::Json { at, is } => json(body).is_some_and(|value| is.holds(value.pointer(at))),
        }
    }
}

impl ValueCheck {
    fn holds(&self, found: Option<&Value>) -> bool {
        let found = found.filter(|value| !value.is_null());
        match self {
            Self::Present => found.is_some(),
            Self::Absent => found.is_none(),
            Self::Equal(wanted) => found.is_some_and(|value| match value {
                Value::String(text) => text == wanted,
                Value::Null | Value::Bool(_) | Value::Number(_) => {
                    let written = value.to_string();
                    written == *wanted
                }
                Value::Array(_) | Value::Object(_) => false,
            }),
        }
    }
}

/// The JSON value of a body; some servers send an empty body for null.
pub(super) fn json(body: &[u8]) -> Option<Value> {
    if body.trim_ascii().is_empty() {
        return Some(Value::Null);
    }
    serde_json::from_slice(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expect(body: ExpectedBody) -> Expectation {
        Expectation { status: None, body }
    }

    #[test]
    fn a_page_of_another_server_is_not_a_version() {
        let version = expect(ExpectedBody::Version { also: vec!["debug".into()] });
        assert!(version.holds(200, b"12.3.10\n"));
        assert!(version.holds(200, b"debug"));
        assert!(!version.holds(200, b"<!doctype html><title>Vite</title>"));
        assert!(!version.holds(404, b"12.3.10"));
        assert!(!version.holds(200, b""));
        assert!(!version.holds(200, &[0xff, 0xfe]));
    }

    #[test]
    fn a_condition_holds_does_not_hold_or_is_unknown() {
        let absent =
            expect(ExpectedBody::Json { at: "/vision/activation".into(), is: ValueCheck::Absent });
        assert_eq!(absent.says(200, br#"{"vision":{"activation":null}}"#), Some(true));
        assert_eq!(absent.says(200, br#"{"vision":{}}"#), Some(true));
        assert_eq!(absent.says(200, br#"{"vision":{"activation":{"at":1}}}"#), Some(false));
        assert_eq!(absent.says(200, b""), Some(true), "an empty body means null");
        assert_eq!(absent.says(500, br#"{"vision":{}}"#), None, "unknown");
        assert_eq!(absent.says(200, b"<html>"), None, "unknown");
    }

    #[test]
    fn a_value_is_compared_as_text() {
        let equal = |wanted: &str| {
            expect(ExpectedBody::Json { at: "/a".into(), is: ValueCheck::Equal(wanted.into()) })
                .holds(200, br#"{"a":"x"}"#)
        };
        assert!(equal("x") && !equal("y"));
        let number =
            expect(ExpectedBody::Json { at: "/a".into(), is: ValueCheck::Equal("7".into()) });
        assert!(number.holds(200, br#"{"a":7}"#) && !number.holds(200, br#"{"a":[7]}"#));
    }

    proptest! {
        #[test]
        fn an_answer_matches_if_and_only_if_the_condition_holds(
            status in 100_u16..600,
            body in prop::collection::vec(any::<u8>(), 0..40),
            at in "(/[a-z]{1,3}){0,2}",
        ) {
            for is in [ValueCheck::Present, ValueCheck::Absent, ValueCheck::Equal("x".into())] {
                let expect = expect(ExpectedBody::Json { at: at.clone(), is });
                prop_assert_eq!(expect.holds(status, &body), expect.says(status, &body) == Some(true));
            }
        }
    }
}
