//! Checks whether the editors on this machine still use Evermoor.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::api::{Check, DetectedEditor, SetupState};

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
fn check(editor: &DetectedEditor) -> Option<Check> {
    let (id, title) = (format!("editor.{}", editor.id), editor.title.clone());
    let path = editor.path.as_deref().unwrap_or("its settings");
    let again = format!("Run `evermoor setup {}`.", editor.id);
    Some(match editor.state {
        SetupState::NotInstalled => return None,
        SetupState::Connected => Check::good(id, title, "Connected."),
        SetupState::NotConnected => {
            let detail =
                format!("Not connected. To connect it, run `evermoor setup {}`.", editor.id);
            Check::skipped(id, title, detail)
        }
        SetupState::Changed => {
            let detail = format!("Evermoor's entry in {path} was changed.");
            Check::bad(id, title, detail, again)
        }
        SetupState::Unreadable => {
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
        let editor = |state| DetectedEditor {
            id: "cursor".into(),
            title: "Cursor".into(),
            path: Some("/h/.cursor/mcp.json".into()),
            state,
            entries: Vec::new(),
            attached: false,
            hint: String::new(),
            link: None,
        };
        assert_eq!(check(&editor(SetupState::NotInstalled)), None);
        assert!(!check(&editor(SetupState::Connected)).unwrap().is_bad());
        let changed = check(&editor(SetupState::Changed)).unwrap();
        assert_eq!(changed.remedy.as_deref(), Some("Run `evermoor setup cursor`."));
    }
}
