//! How much of what servers and editors send may be kept in memory.

use toml::Spanned;

use super::{ConfigError, line, memory_size};

/// How many bytes of messages the gateway keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Of all servers and editors together.
    pub all: usize,
    /// Of each editor: its requests, and the answers that it has not read.
    pub editor: usize,
}

/// How much is kept of one server or editor, if its entry does not say otherwise.
pub const DEFAULT_BUFFER_LIMIT: usize = 64_000_000;
const DEFAULT_ALL: usize = 256_000_000;
/// With less, an answer of the largest size might never fit.
const SMALLEST: usize = 32_000_000;

impl Default for BufferLimits {
    fn default() -> Self {
        Self { all: DEFAULT_ALL, editor: DEFAULT_BUFFER_LIMIT }
    }
}

impl BufferLimits {
    pub(super) fn read(
        text: &str,
        all: Option<&Spanned<String>>,
        editor: Option<&Spanned<String>>,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            all: limit(text, all, DEFAULT_ALL)?,
            editor: limit(text, editor, DEFAULT_BUFFER_LIMIT)?,
        })
    }
}

/// Reads a limit, which is `default` if it is not set.
pub(super) fn limit(
    text: &str,
    found: Option<&Spanned<String>>,
    default: usize,
) -> Result<usize, ConfigError> {
    let Some(found) = found else { return Ok(default) };
    let wrong = |what: String, remedy: String| ConfigError {
        line: Some(line(text, found.span().start)),
        what,
        remedy,
    };
    let written = found.get_ref();
    let bytes = memory_size::parse_bytes(written).ok_or_else(|| {
        wrong(format!("`{written}` is not a size."), "Write \"128 MB\", for example.".into())
    })?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 4);
    if bytes < SMALLEST {
        let smallest = memory_size::format_bytes(SMALLEST as u64);
        let what = format!("`{written}` is too small to pass on every message.");
        return Err(wrong(what, format!("Write \"{smallest}\" or more.")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn the_limits_can_be_raised_and_not_made_useless() {
        let limits = |setting: &str| {
            let text = format!("[gateway]\n{setting}\n");
            Config::parse(&text).map(|config| config.gateway.buffer_limits)
        };
        assert_eq!(limits(""), Ok(BufferLimits { all: 256_000_000, editor: 64_000_000 }));
        assert_eq!(limits("buffer_limit = \"1 GB\"").unwrap().all, 1_000_000_000);
        assert_eq!(limits("editor_buffer_limit = \"128 MB\"").unwrap().editor, 128_000_000);
        let much = limits("buffer_limit = \"much\"").unwrap_err();
        assert_eq!((much.line, much.what.as_str()), (Some(2), "`much` is not a size."));
        assert!(limits("editor_buffer_limit = \"1 MB\"").unwrap_err().remedy.contains("32 MB"));
    }

    #[test]
    fn a_server_has_a_limit_of_its_own() {
        let limit = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).map(|config| config.upstreams[0].buffer_limit)
        };
        assert_eq!(limit(""), Ok(64_000_000));
        assert_eq!(limit("buffer_limit = \"128 MB\""), Ok(128_000_000));
        assert_eq!(limit("buffer_limit = \"1 KB\"").unwrap_err().line, Some(3));
    }
}
