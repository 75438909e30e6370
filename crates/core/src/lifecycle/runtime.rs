//! What a running gateway leaves for its own tools: how to reach its control API.
//!
//! It lies in a file that only its owner can read, beside a lock that is held for as long as the
//! gateway lives. The token in it never goes to an editor.

use serde::{Deserialize, Serialize};

/// The content of the runtime file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    pub pid: u32,
    pub version: String,
    /// Where the gateway listens, such as `http://127.0.0.1:7420`.
    pub origin: String,
    pub control_token: String,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Runtime {{ pid: {}, version: {}, origin: {} }}",
            self.pid, self.version, self.origin
        )
    }
}
