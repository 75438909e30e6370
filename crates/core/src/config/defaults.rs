//! What holds if `config.toml` does not say otherwise. `schema.json` repeats these values; a test compares
//! the two. The times between pings, which depend on the transport, are in `policy/silence`.

use std::time::Duration;

/// The address that the gateway listens at.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7420";
/// How long a call waits for an upstream that is down.
pub const DEFAULT_HOLD: Duration = Duration::from_secs(25);
/// How long a program may take to start.
pub(super) const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a call may take.
pub(super) const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(600);
