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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_file_of_0_1_0_is_unchanged() {
        let file = include_str!("../../../../tests/fixtures/0.1.0/home/run/gateway.json");
        let runtime: RuntimeFile = serde_json::from_str(file).unwrap();
        assert_eq!((runtime.pid, runtime.version.as_str()), (6084, "0.1.0"));
        assert_eq!(runtime.origin, "http://127.0.0.1:38749");
        assert_eq!(serde_json::to_string(&runtime).unwrap(), file);
    }
}
