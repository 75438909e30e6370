//! Checks whether the editors on this machine still use Evermoor.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::api::{Check, DetectedEditor, EditorServerEntry, SetupState};
use evermoor_gateway::server::doctor::starts_at_login;

use crate::editors::setup;
use crate::instance::Instance;

/// How long reading the editors' files may take.
const READ_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Every editor that is on this machine, and whether those that use HTTP have a gateway after a login.
pub(super) async fn all(instance: &Instance) -> Vec<Check> {
    let instance = instance.clone();
    let looking = tokio::task::spawn_blocking(move || setup::found(&instance));
    let found = timeout(READ_TIMEOUT, looking).await.ok().and_then(Result::ok).unwrap_or_default();
    let mut checks: Vec<Check> = found.iter().filter_map(check).collect();
    if let Some(title) = found.iter().find(|editor| uses_http(editor)).map(|editor| &editor.title)
        && let Ok(false) = timeout(READ_TIMEOUT, starts_at_login()).await
    {
        let detail = format!(
            "{title} uses HTTP, which cannot start Evermoor, and nothing starts it at login."
        );
        let remedy = "Run `evermoor service install`, or turn on launch at login in the tray.";
        checks.push(Check::bad("editors.login", "Editors after a login", detail, remedy));
    }
    checks
}

fn uses_http(editor: &DetectedEditor) -> bool {
    let over_http = |entry: &EditorServerEntry| entry.ours && entry.kind == "http";
    editor.state == SetupState::Connected && editor.entries.iter().any(over_http)
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
