//! Checks whether the editors on this machine still use Evermoor.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::api::{Check, Connection, Found};

use crate::editors::setup;
use crate::instance::Instance;

/// How long reading the editors' files may take.
const READ_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Every editor that is on this machine.
pub(super) async fn all(instance: &Instance) -> Vec<Check> {
    let instance = instance.clone();
    let looking = tokio::task::spawn_blocking(move || setup::found(&instance));
    let found = timeout(READ_TIMEOUT, looking).await.ok().and_then(Result::ok).unwrap_or_default();
    found.iter().filter_map(check).collect()
}

/// The check of an editor; none if it is not installed.
fn check(editor: &Found) -> Option<Check> {
    let (id, title) = (format!("editor.{}", editor.id), editor.title.clone());
    let path = editor.path.as_deref().unwrap_or("its settings");
    let again = format!("Run `evermoor setup {}`.", editor.id);
    Some(match editor.state {
        Connection::NotInstalled => return None,
        Connection::Connected => Check::good(id, title, "Connected."),
        Connection::NotConnected => {
            let detail =
                format!("Not connected. To connect it, run `evermoor setup {}`.", editor.id);
            Check::skipped(id, title, detail)
        }
        Connection::Changed => {
            let detail = format!("Evermoor's entry in {path} was changed.");
            Check::bad(id, title, detail, again)
        }
        Connection::Unreadable => {
            let detail = format!("Evermoor cannot read {path}.");
            Check::bad(
                id,
                title,
                detail,
                "Correct the file. Evermoor does not change it until then.",
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_that_is_not_installed_is_skipped_and_a_changed_one_is_reported() {
        let editor = |state| Found {
            id: "cursor".into(),
            title: "Cursor".into(),
            path: Some("/h/.cursor/mcp.json".into()),
            state,
            entries: Vec::new(),
            attached: false,
            hint: String::new(),
            link: None,
        };
        assert_eq!(check(&editor(Connection::NotInstalled)), None);
        assert!(!check(&editor(Connection::Connected)).unwrap().is_bad());
        let changed = check(&editor(Connection::Changed)).unwrap();
        assert_eq!(changed.remedy.as_deref(), Some("Run `evermoor setup cursor`."));
    }
}
