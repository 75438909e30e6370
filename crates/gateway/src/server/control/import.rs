//! The servers that an editor has already, moved behind the gateway together with the editor.
//!
//! A request names an editor of the table and nothing else: what is taken over is what its own file
//! says.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use tokio::runtime::Handle;

use evermoor_core::api::{ImportPreview, Moves, SetupDone, Stays};
use evermoor_core::failure::Failure;
use evermoor_core::import::Adopted;
use evermoor_core::security::scrub::scrub;
use evermoor_platform::keychain::{Keychain, Manner};
use evermoor_setup::editors::plan::{unified, without};
use evermoor_setup::{Client, client};

use super::Control;
use super::setup::{answer, connected, done, shown_path, unknown, with_desk};
use crate::editors::import::{Import, Journal, redirect, undo};
use crate::editors::setup::told;

pub(super) async fn preview(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response {
    match client(&id) {
        Some(client) => answer(previewed(&control, client).await),
        None => unknown(&id),
    }
}

/// Connects an editor and takes its servers over, so that it reaches them through its one entry.
pub(super) async fn import(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response {
    match client(&id) {
        Some(client) => answer(imported(&control, client).await),
        None => unknown(&id),
    }
}

async fn previewed(
    control: &Arc<Control>,
    client: &'static Client,
) -> Result<ImportPreview, Failure> {
    let kept = kept(Manner::Quiet).await;
    with_desk(control, move |desk, control| {
        let paths = &control.here.paths;
        let import = Import::of(paths, desk, &[client], false, kept)?;
        let gate = control.gate(client);
        let entries = redirect::entries(desk, &import.plan);
        let diff = entries.first().map(|entries| {
            let plan = desk.plan_at(client, &entries.spot, &entries.wish(desk, true), &gate);
            plan.map(|plan| plan.diff(&gate)).map_err(|refused| told(&refused))
        });
        let (before, after) = import.config()?;
        let config_path = paths.config.display().to_string();
        let Import { plan, .. } = &import;
        let stays = plan
            .skipped
            .iter()
            .map(|one| Stays { name: one.origin.name.clone(), why: one.why.clone() });
        Ok(ImportPreview {
            path: shown_path(desk, client),
            diff: hidden(diff.transpose()?.unwrap_or_default(), &plan.adopted),
            config_diff: unified(&config_path, before, &after),
            config_path,
            moves: plan.adopted.iter().flat_map(moves).collect(),
            stays: stays.collect(),
            hint: client.notices.clone(),
        })
    })
    .await?
}

fn moves(adopted: &Adopted) -> impl Iterator<Item = Moves> {
    adopted.from.iter().map(|origin| Moves {
        name: origin.name.clone(),
        upstream: adopted.name.clone(),
        secrets: adopted.secrets.iter().map(|(name, _)| name.clone()).collect(),
    })
}

/// A text without the secrets that go to the keychain, nor what looks like one.
fn hidden(text: String, adopted: &[Adopted]) -> String {
    let secrets = adopted.iter().flat_map(|one| &one.secrets);
    let text = secrets.fold(text, |text, (_, secret)| without(&text, secret.reveal()));
    scrub(&text).into_owned()
}

async fn imported(control: &Arc<Control>, client: &'static Client) -> Result<SetupDone, Failure> {
    if previewed(control, client).await?.moves.is_empty() {
        return connected(control, client).await;
    }
    if control.editors.token_of(&client.id).is_none() {
        let made = control.editors.add(client.id.clone()).await;
        made.map_err(|error| Failure::from(&error))?;
    }
    let kept = kept(Manner::Asking).await;
    let work = with_desk(control, move |desk, control| {
        let paths = &control.here.paths;
        let mut import = Import::of(paths, desk, &[client], false, kept)?;
        let mut journal = Journal::open(paths)?;
        let keychain = Keychain::of_the_system(Manner::Asking);
        Handle::current().block_on(import.keep_secrets(&keychain, &mut journal))?;
        import.write(paths, &mut journal)?;
        let gate = &mut |client| Ok(control.gate(client));
        let led = redirect::all(paths, desk, &import.plan, true, gate, &mut journal)?;
        // Whatever could not be moved is left; an editor of whose servers none could is connected.
        match led.into_iter().next() {
            Some(redirect::Told { trouble: Some(refused), .. }) => Err(told(&refused)),
            Some(redirect::Told { backup, .. }) => {
                let backup = backup.map(|path| path.display().to_string());
                Ok(Some(done(desk, client, true, backup)))
            }
            None => Ok(None),
        }
    });
    match control.book.written_by(work).await?? {
        Some(done) => Ok(done),
        None => connected(control, client).await,
    }
}

/// Gives an editor its servers back, if they were taken over from it, and says whether.
pub(super) async fn put_back(
    control: &Arc<Control>,
    client: &'static Client,
) -> Result<bool, Failure> {
    let paths = control.here.paths.clone();
    let concerned = with_desk(control, move |_, _| {
        let journal = Journal::open(&paths);
        journal.is_ok_and(|journal| journal.record.editors.iter().any(|it| it.client == client.id))
    });
    if !concerned.await? {
        return Ok(false);
    }
    let work = with_desk(control, move |desk, control| {
        let paths = &control.here.paths;
        let mut journal = Journal::open(paths)?;
        let gate = &mut |client| Ok(control.gate(client));
        let (_, leftovers) = undo::editors(desk, &mut journal, Some(&client.id), gate)?;
        undo::configuration(paths, &mut journal, &leftovers)?;
        let keychain = Keychain::of_the_system(Manner::Asking);
        Handle::current().block_on(undo::secrets(&keychain, &mut journal, &leftovers)).map(|_| true)
    });
    control.book.written_by(work).await?
}

/// The names of what is in the keychain already; none if it cannot be asked.
async fn kept(manner: Manner) -> Vec<String> {
    Keychain::of_the_system(manner).list().await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::security::redact::Secret;

    #[test]
    fn no_secret_is_shown_with_the_change() {
        let secrets = vec![("github".to_owned(), Secret::new("hunter2 and more"))];
        let one = Adopted { name: "github".into(), way: None, secrets, from: Vec::new() };
        let text = "-  \"X-Key\": \"hunter2 and more\"\n".to_owned();
        assert_eq!(hidden(text, &[one]), "-  \"X-Key\": \"<token>\"\n");
    }
}
