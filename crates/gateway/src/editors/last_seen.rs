//! When each editor last sent a request, kept across gateways.

use std::collections::BTreeMap;

use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// When each editor was last seen, in Unix milliseconds. A file that cannot be read says nothing.
pub fn read(paths: &Paths) -> BTreeMap<String, u64> {
    let content = private::read_private(&paths.last_seen_file()).ok().flatten();
    content.and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_default()
}

pub(super) fn write(paths: &Paths, seen: &BTreeMap<String, u64>) -> std::io::Result<()> {
    private::write_private(&paths.last_seen_file(), &serde_json::to_vec(seen)?)
}
