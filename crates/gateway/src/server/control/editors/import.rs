//! Moves the servers that an editor already has behind the gateway, when the editor is set up.
//!
//! A request only names a known editor. What is imported comes from that editor's own file.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use tokio::runtime::Handle;

use evermoor_core::api::{ImportPreview, KeptServer, MovedServer, SetupResult};
use evermoor_core::failure::Failure;
use evermoor_core::import::ImportedServer;
use evermoor_core::security::redaction::patterns::scrub;
use evermoor_platform::keychain::{Keychain, Prompting};
use evermoor_setup::user_editors::plan::{unified_diff, without_token};
use evermoor_setup::{EditorSpec, client};

use super::setup::{answer, connect_editor, done, shown_path, unknown, with_editor_files};
use crate::editors::import::{Import, ImportJournal, redirect, undo};
use crate::editors::setup::{check_location, setup_failure};
use crate::server::control::ControlApi;

pub(crate) async fn preview(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    match client(&id) {
        Some(client) => answer(preview_import(&control, client).await),
        None => unknown(&id),
    }
}

/// Sets an editor up and imports its servers, so that it reaches them through its one entry.
pub(crate) async fn import(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    match client(&id) {
        Some(client) => answer(import_servers(&control, client).await),
        None => unknown(&id),
    }
}

async fn preview_import(
    control: &Arc<ControlApi>,
    client: &'static EditorSpec,
) -> Result<ImportPreview, Failure> {
    let existing_secrets = existing_secrets(Prompting::Never).await;
    with_editor_files(control, move |user_editors, control| {
        let paths = &control.here.paths;
        let import = Import::of(paths, user_editors, &[client], false, existing_secrets)?;
        let access = control.gateway_access(client);
        let entries = redirect::entries(user_editors, &import.plan);
        let diff = entries.first().map(|entries| {
            let plan = user_editors.plan_at(
                client,
                &entries.location,
                &entries.desired(user_editors, true),
                &access,
            );
            plan.map(|plan| plan.diff(&access)).map_err(|refused| setup_failure(&refused))
        });
        let (before, after) = import.config()?;
        let config_path = paths.config.display().to_string();
        let Import { plan, .. } = &import;
        let stays = plan
            .skipped
            .iter()
            .map(|one| KeptServer { name: one.origin.name.clone(), why: one.why.clone() });
        Ok(ImportPreview {
            path: shown_path(user_editors, client),
            diff: without_secrets(diff.transpose()?.unwrap_or_default(), &plan.adopted),
            config_diff: unified_diff(&config_path, before, &after),
            config_path,
            moves: plan.adopted.iter().flat_map(moves).collect(),
            stays: stays.collect(),
            hint: client.notices.clone(),
        })
    })
    .await?
}

fn moves(adopted: &ImportedServer) -> impl Iterator<Item = MovedServer> {
    adopted.from.iter().map(|origin| MovedServer {
        name: origin.name.clone(),
        upstream: adopted.name.clone(),
        secrets: adopted.secrets.iter().map(|(name, _)| name.clone()).collect(),
    })
}

/// The text without the secrets that go to the keychain and anything that looks like one.
fn without_secrets(text: String, adopted: &[ImportedServer]) -> String {
    let secrets = adopted.iter().flat_map(|one| &one.secrets);
    let text = secrets.fold(text, |text, (_, secret)| without_token(&text, secret.reveal()));
    scrub(&text).into_owned()
}

async fn import_servers(
    control: &Arc<ControlApi>,
    client: &'static EditorSpec,
) -> Result<SetupResult, Failure> {
    if preview_import(control, client).await?.moves.is_empty() {
        return connect_editor(control, client).await;
    }
    check_location()?;
    if control.editors.token_of(&client.id).is_none() {
        let created = control.editors.add(client.id.clone()).await;
        created.map_err(|error| Failure::from(&error))?;
    }
    let existing_secrets = existing_secrets(Prompting::Allowed).await;
    let work = with_editor_files(control, move |user_editors, control| {
        let paths = &control.here.paths;
        let mut import = Import::of(paths, user_editors, &[client], false, existing_secrets)?;
        let mut journal = ImportJournal::open(paths)?;
        let keychain = Keychain::system_default(Prompting::Allowed);
        Handle::current().block_on(import.keep_secrets(&keychain, &mut journal))?;
        import.write(paths, &mut journal)?;
        let access = &mut |client| Ok(control.gateway_access(client));
        let redirected =
            redirect::all(paths, user_editors, &import.plan, true, access, &mut journal)?;
        // Servers that cannot be imported stay. If none can, the editor is only set up.
        match redirected.into_iter().next() {
            Some(redirect::RedirectReport { trouble: Some(refused), .. }) => {
                Err(setup_failure(&refused))
            }
            Some(redirect::RedirectReport { backup, .. }) => {
                let backup = backup.map(|path| path.display().to_string());
                Ok(Some(done(user_editors, client, true, backup)))
            }
            None => Ok(None),
        }
    });
    match control.config_editor.write_exclusively(work).await?? {
        Some(done) => Ok(done),
        None => connect_editor(control, client).await,
    }
}

/// Gives an editor its imported servers back. Returns whether there were any.
pub(crate) async fn undo_import(
    control: &Arc<ControlApi>,
    client: &'static EditorSpec,
) -> Result<bool, Failure> {
    let paths = control.here.paths.clone();
    let imported = with_editor_files(control, move |_, _| {
        let journal = ImportJournal::open(&paths);
        journal.is_ok_and(|journal| journal.record.editors.iter().any(|it| it.client == client.id))
    });
    if !imported.await? {
        return Ok(false);
    }
    let work = with_editor_files(control, move |user_editors, control| {
        let paths = &control.here.paths;
        let mut journal = ImportJournal::open(paths)?;
        let access = &mut |client| Ok(control.gateway_access(client));
        let (_, leftovers) = undo::editors(user_editors, &mut journal, Some(&client.id), access)?;
        undo::configuration(paths, &mut journal, &leftovers)?;
        let keychain = Keychain::system_default(Prompting::Allowed);
        Handle::current().block_on(undo::secrets(&keychain, &mut journal, &leftovers)).map(|_| true)
    });
    control.config_editor.write_exclusively(work).await?
}

/// The names of existing keychain entries; none if the keychain cannot be read.
async fn existing_secrets(manner: Prompting) -> Vec<String> {
    Keychain::system_default(manner).list().await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::security::redaction::known::Secret;

    #[test]
    fn the_preview_shows_no_secret() {
        let secrets = vec![("github".to_owned(), Secret::new("hunter2 and more"))];
        let one = ImportedServer { name: "github".into(), way: None, secrets, from: Vec::new() };
        let text = "-  \"X-Key\": \"hunter2 and more\"\n".to_owned();
        assert_eq!(without_secrets(text, &[one]), "-  \"X-Key\": \"<token>\"\n");
    }
}
