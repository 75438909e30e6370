//! Finds the running gateway of this user by its lock and its runtime file.

use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// The runtime file of the running gateway.
///
/// Checks the lock first. If no process holds it, the runtime file is stale, and its token must not be sent
/// to whatever program uses the port now.
pub(crate) fn find(paths: &Paths) -> Option<RuntimeFile> {
    if !matches!(InstanceLock::take(&paths.lock_file()), Ok(None)) {
        return None;
    }
    let content = private::read_private(&paths.runtime_file()).ok()??;
    serde_json::from_slice(&content).ok()
}
