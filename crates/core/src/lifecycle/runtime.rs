//! The runtime file: how Evermoor's own programs reach the control API of the running gateway.
//!
//! Only the file's owner can read it. It is next to a lock that the gateway holds while it runs. The
//! control token in it is never given to an editor.

use serde::{Deserialize, Serialize};

/// The content of the runtime file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeFile {
    pub pid: u32,
    pub version: String,
    /// Where the gateway listens, such as `http://127.0.0.1:7420`.
    pub origin: String,
    pub control_token: String,
}

impl std::fmt::Debug for RuntimeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Runtime {{ pid: {}, version: {}, origin: {} }}",
            self.pid, self.version, self.origin
        )
    }
}
