//! The editors of this machine: how they stand, what connecting one changes, doing and undoing it.
//!
//! A request names an editor of the table and nothing else. Which file is edited, and what is written
//! into it, is known here.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use evermoor_core::api::{Connection, Setup, SetupDone, SetupPreview};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::path::search_path;
use evermoor_setup::editors::Desk;
use evermoor_setup::editors::plan::without;
use evermoor_setup::entry::desired::{entry, snippet, usual};
use evermoor_setup::{Attached, Client, Door, Gate, Kind, Refused, Scope, Transport, Wish, client};

use super::{Control, refuse};
use crate::editors::setup::{tell, told};

/// Where this gateway is, for entries that lead to it.
pub struct Whereabouts {
    pub paths: Paths,
    pub origin: String,
}

/// What stands for a token in what is only shown.
const NO_TOKEN: &str = "<token>";

pub(super) async fn list(State(control): State<Arc<Control>>) -> Response {
    let found = with_desk(&control, move |desk, control| {
        desk.found(&attached(control), |client| control.gate(client))
    });
    match found.await {
        Ok(editors) => Json(Setup { editors }).into_response(),
        Err(failure) => refuse(StatusCode::INTERNAL_SERVER_ERROR, failure),
    }
}

pub(super) async fn preview(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    let shown = with_desk(&control, move |desk, control| {
        let gate = control.gate(client);
        let plan = (client.paste.is_none())
            .then(|| desk.plan(client, Scope::User, &wish(desk, client), &gate));
        let diff = match plan.transpose() {
            Ok(plan) => plan.filter(|plan| plan.changes()).map(|plan| plan.diff(&gate)),
            Err(refused) => return Err(told(&refused)),
        };
        let entries = [(Door::to_all().name, entry(client, &Door::to_all(), usual(client), &gate))];
        Ok(SetupPreview {
            path: shown_path(desk, client),
            diff: diff.unwrap_or_default(),
            snippet: without(&snippet(client, &entries), &gate.token),
            hint: client.paste.clone().unwrap_or_else(|| client.notices.clone()),
        })
    });
    answer(shown.await.and_then(|shown| shown))
}

pub(super) async fn connect(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    answer(connected(&control, client).await)
}

pub(super) async fn connected(
    control: &Arc<Control>,
    client: &'static Client,
) -> Result<SetupDone, Failure> {
    if control.editors.token_of(&client.id).is_none() && client.paste.is_none() {
        // A file that will be left alone must not cost a token.
        let tried = with_desk(control, move |desk, control| {
            desk.plan(client, Scope::User, &wish(desk, client), &control.gate(client)).map(drop)
        });
        tried.await?.map_err(|refused| told(&refused))?;
        let made = control.editors.add(client.id.clone()).await;
        made.map_err(|error| Failure::from(&error))?;
    }
    let command = with_desk(control, move |desk, control| {
        let gate = control.gate(client);
        let connected = desk.drift(client, Scope::User, &gate) == Connection::Connected;
        (desk.command(client, &[Door::to_all()], &gate), connected)
    });
    if let (Some(command), connected) = command.await? {
        if !connected {
            tell(client, &command).await?;
        }
        return with_desk(control, move |desk, _| {
            if !connected {
                desk.commanded(client, &[Door::to_all()]).map_err(|refused| told(&refused))?;
            }
            Ok(done(desk, client, !connected, None))
        })
        .await?;
    }
    with_desk(control, move |desk, control| {
        let plan = desk.plan(client, Scope::User, &wish(desk, client), &control.gate(client));
        let made = plan.and_then(|plan| desk.apply(&plan)).map_err(|refused| told(&refused))?;
        let backup = made.backup.map(|path| path.display().to_string());
        Ok(done(desk, client, made.changed, backup))
    })
    .await?
}

/// Puts an editor's new token into its own file, if it is one that we wrote to.
pub(super) async fn rewrite_token(control: &Arc<Control>, id: &str) {
    let Some(client) = client(id) else {
        return;
    };
    let done = with_desk(control, move |desk, control| {
        desk.rewrite_token(client, &control.gate(client)).map_err(|refused| told(&refused))
    });
    if let Err(failure) | Ok(Err(failure)) = done.await {
        tracing::warn!(editor = id, %failure, "the new token did not reach the editor's file");
    }
}

pub(super) async fn undo(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    answer(undone(&control, client).await)
}

async fn undone(control: &Arc<Control>, client: &'static Client) -> Result<SetupDone, Failure> {
    let given_back = super::import::put_back(control, client).await?;
    let command = with_desk(control, move |desk, _| desk.undo_command(client)).await?;
    let changed = match command {
        Some(command) => {
            tell(client, &command).await?;
            with_desk(control, move |desk, _| desk.uncommanded(client)).await?.map(|()| true)
        }
        None => {
            let undone = with_desk(control, move |desk, _| desk.undo(client, Scope::User)).await?;
            undone.map(|done| done.changed)
        }
    };
    let changed = match changed {
        Ok(changed) => changed,
        Err(Refused::NotConnected { .. } | Refused::NoFile { .. }) => false,
        Err(refused) => return Err(told(&refused)),
    };
    let elsewhere = with_desk(control, move |desk, _| {
        desk.journal.records().iter().any(|record| record.client == client.id)
    });
    if !elsewhere.await? && control.editors.token_of(&client.id).is_some() {
        // One that cannot be taken back now is still in the list of editors.
        let _ = control.editors.revoke(client.id.clone()).await;
    }
    with_desk(control, move |desk, _| done(desk, client, changed || given_back, None)).await
}

/// The entry that is there keeps its transport; a new one gets what suits the editor.
fn wish(desk: &Desk, client: &Client) -> Wish {
    let door = Door::to_all();
    let entries = desk.existing(client, Scope::User).unwrap_or_default();
    let over_stdio = |entry: &evermoor_setup::Entry| {
        entry.name == door.name && matches!(entry.kind, Kind::Stdio { .. })
    };
    let transport = if entries.iter().any(over_stdio) { Transport::Stdio } else { usual(client) };
    Wish { doors: vec![door], transport, take_over: false, drop: Vec::new() }
}

pub(super) fn done(
    desk: &Desk,
    client: &Client,
    changed: bool,
    backup: Option<String>,
) -> SetupDone {
    SetupDone { path: shown_path(desk, client), changed, backup, hint: client.notices.clone() }
}

pub(super) fn shown_path(desk: &Desk, client: &Client) -> Option<String> {
    desk.path(client, Scope::User).map(|path| path.display().to_string())
}

impl Control {
    /// What an editor's entry leads to, with the token that it has.
    pub(super) fn gate(&self, client: &Client) -> Gate {
        let token = self.editors.token_of(&client.id);
        Gate {
            origin: self.here.origin.clone(),
            token: token.unwrap_or_else(|| NO_TOKEN.to_owned()),
            program: std::env::current_exe().unwrap_or_else(|_| "evermoor".into()),
            home: self.here.paths.given_home().map(std::path::Path::to_owned),
        }
    }
}

/// Who is connected now.
fn attached(control: &Control) -> Vec<Attached> {
    let overview = control.router.overview();
    let status = &overview.borrow().status;
    let session = |one: &evermoor_core::api::Attached| Attached {
        editor: one.editor.clone(),
        client: one.client.clone().unwrap_or_default(),
    };
    status.attached.iter().map(session).collect()
}

/// Does something with editors' files, where it may block.
pub(super) async fn with_desk<T: Send + 'static>(
    control: &Arc<Control>,
    work: impl FnOnce(&Desk, &Control) -> T + Send + 'static,
) -> Result<T, Failure> {
    let nobody = || {
        let what = "There is no home folder, so no editor can be found.";
        Failure::new(Code::Internal, what, "Set HOME and start Evermoor again.")
    };
    let mut desk = Desk::here(&control.here.paths).ok_or_else(nobody)?;
    desk.places = desk.places.with_search_path(search_path().await);
    let control = Arc::clone(control);
    let worked = tokio::task::spawn_blocking(move || work(&desk, &control)).await;
    worked.map_err(|_| Failure::new(Code::Internal, "The gateway ends.", "Try again."))
}

pub(super) fn answer<T: serde::Serialize>(done: Result<T, Failure>) -> Response {
    match done {
        Ok(done) => ([(header::CACHE_CONTROL, "no-store")], Json(done)).into_response(),
        Err(failure) => refuse(StatusCode::CONFLICT, failure),
    }
}

pub(super) fn unknown(id: &str) -> Response {
    let what = format!("There is no editor `{id}`.");
    refuse(StatusCode::NOT_FOUND, Failure::new(Code::NotFound, what, "See `evermoor setup`."))
}
