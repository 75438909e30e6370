//! Whether the editors of this machine still lead to Evermoor.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::api::{Check, DetectedEditor, SetupState};

use crate::editors::setup;
use crate::gateway::serve::Place;

/// How long reading the editors' files may take.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Every editor that is on this machine.
pub(super) async fn all(place: &Place) -> Vec<Check> {
    let place = place.clone();
    let looking = tokio::task::spawn_blocking(move || setup::found(&place));
    let found = timeout(PATIENCE, looking).await.ok().and_then(Result::ok).unwrap_or_default();
    found.iter().filter_map(check).collect()
}

/// What there is to say of an editor; nothing of one that is not here.
fn check(editor: &DetectedEditor) -> Option<Check> {
    let (id, title) = (format!("editor.{}", editor.id), editor.title.clone());
    let path = editor.path.as_deref().unwrap_or("its settings");
    let again = format!("Run `evermoor setup {}`.", editor.id);
    Some(match editor.state {
        SetupState::NotInstalled => return None,
        SetupState::Connected => Check::good(id, title, "It is connected."),
        SetupState::NotConnected => {
            let detail = format!("It is not connected. `evermoor setup {}` does it.", editor.id);
            Check::skipped(id, title, detail)
        }
        SetupState::Changed => {
            let detail = format!("Somebody changed Evermoor's entry in {path}.");
            Check::bad(id, title, detail, again)
        }
        SetupState::Unreadable => {
            let detail = format!("{path} cannot be read or understood.");
            Check::bad(id, title, detail, "Correct it; Evermoor leaves it alone until then.")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_that_is_not_here_is_not_missed_and_one_that_was_changed_is() {
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
