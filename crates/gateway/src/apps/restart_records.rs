//! The automatic restarts of each application, kept across gateways, so that a gateway that is
//! restarted does not restart an application without end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::policy::app::auto_restart::RestartRecord;
use evermoor_platform::fs::private;

/// The records, and the file that keeps them.
pub struct RestartRecords {
    by_upstream: Mutex<BTreeMap<String, RestartRecord>>,
    file: PathBuf,
    tasks: TaskTracker,
}

impl RestartRecords {
    /// Reads the file. If it cannot be read, nothing was restarted.
    pub fn read(file: PathBuf, tasks: TaskTracker) -> Self {
        let content = private::read_private(&file).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read which applications were restarted");
            None
        });
        let records = content.and_then(|content| serde_json::from_slice(&content).ok());
        Self { by_upstream: Mutex::new(records.unwrap_or_default()), file, tasks }
    }

    pub(super) fn of(&self, upstream: &UpstreamName) -> RestartRecord {
        self.by_upstream.lock().get(upstream.as_str()).cloned().unwrap_or_default()
    }

    /// Replaces the record of an application, at once and for later gateways.
    pub(super) async fn set(&self, upstream: &UpstreamName, record: RestartRecord) {
        let content = {
            let mut records = self.by_upstream.lock();
            let before = records.insert(upstream.to_string(), record.clone());
            if before.unwrap_or_default() == record {
                return;
            }
            records.retain(|_, record| *record != RestartRecord::default());
            serde_json::to_vec(&*records).expect("names and numbers are serializable")
        };
        let file = self.file.clone();
        let writing =
            self.tasks.spawn_blocking(move || private::write_private(&file, &content)).await;
        if let Ok(Err(error)) = writing {
            tracing::warn!(%error, "cannot record the restart of an application");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn records_survive_a_gateway_and_a_corrupt_file_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("restarts.json");
        let read = || RestartRecords::read(file.clone(), TaskTracker::new());
        let name = UpstreamName::parse("a").unwrap();
        let record: RestartRecord =
            serde_json::from_str(r#"{ "restarts": [5], "stopped": true }"#).unwrap();
        read().set(&name, record.clone()).await;
        assert_eq!(read().of(&name), record);
        read().set(&name, RestartRecord::default()).await;
        assert_eq!(std::fs::read(&file).unwrap(), b"{}");
        std::fs::write(&file, "not JSON").unwrap();
        assert_eq!(read().of(&name), RestartRecord::default());
    }
}
