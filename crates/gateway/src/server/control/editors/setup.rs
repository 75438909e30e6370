//! The editors on this machine: their state, and setting one up, with a preview and undo.
//!
//! A request only names a known editor. Which file is edited and what is written is decided here.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use evermoor_core::api::{Setup, SetupPreview, SetupResult, SetupState};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::path::search_path;
use evermoor_setup::entry::desired::{desired_entry, snippet};
use evermoor_setup::user_editors::UserEditors;
use evermoor_setup::user_editors::plan::without_token;
use evermoor_setup::{
    DesiredEntries, EditorSpec, GatewayAccess, GatewayEntry, LiveSession, SetupError, SetupScope,
    client,
};

use crate::editors::setup::{check_location, setup_failure, tell};
use crate::server::control::{ControlApi, refuse};

/// The address and the paths of this gateway, for editor entries.
pub struct GatewayLocation {
    pub paths: Paths,
    pub origin: String,
}

/// Stands for a token in a preview.
const TOKEN_PLACEHOLDER: &str = "<token>";

pub(crate) async fn list(State(control): State<Arc<ControlApi>>) -> Response {
    let found = with_editor_files(&control, move |user_editors, control| {
        user_editors.found(&connected_clients(control), |client| control.gateway_access(client))
    });
    match found.await {
        Ok(editors) => Json(Setup { editors }).into_response(),
        Err(failure) => refuse(StatusCode::INTERNAL_SERVER_ERROR, failure),
    }
}

pub(crate) async fn preview(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    let shown = with_editor_files(&control, move |user_editors, control| {
        let access = control.gateway_access(client);
        let plan = (client.paste.is_none()).then(|| {
            user_editors.plan(
                client,
                SetupScope::User,
                &desired_entries(user_editors, client),
                &access,
            )
        });
        let diff = match plan.transpose() {
            Ok(plan) => plan.filter(|plan| plan.changes()).map(|plan| plan.diff(&access)),
            Err(refused) => return Err(setup_failure(&refused)),
        };
        let entries = [(
            GatewayEntry::for_all().name,
            desired_entry(client, &GatewayEntry::for_all(), client.transport, &access),
        )];
        Ok(SetupPreview {
            path: shown_path(user_editors, client),
            diff: diff.unwrap_or_default(),
            snippet: without_token(&snippet(client, &entries), &access.token),
            hint: client.paste.clone().unwrap_or_else(|| client.notices.clone()),
        })
    });
    answer(shown.await.and_then(|shown| shown))
}

pub(crate) async fn connect(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    answer(connect_editor(&control, client).await)
}

pub(crate) async fn connect_editor(
    control: &Arc<ControlApi>,
    client: &'static EditorSpec,
) -> Result<SetupResult, Failure> {
    check_location()?;
    if control.editors.token_of(&client.id).is_none() && client.paste.is_none() {
        // Do not create a token if the file would not be changed.
        let tried = with_editor_files(control, move |user_editors, control| {
            user_editors
                .plan(
                    client,
                    SetupScope::User,
                    &desired_entries(user_editors, client),
                    &control.gateway_access(client),
                )
                .map(drop)
        });
        tried.await?.map_err(|refused| setup_failure(&refused))?;
        let created = control.editors.add(client.id.clone()).await;
        created.map_err(|error| Failure::from(&error))?;
    }
    let command = with_editor_files(control, move |user_editors, control| {
        let access = control.gateway_access(client);
        let connected =
            user_editors.drift(client, SetupScope::User, &access) == SetupState::Connected;
        (user_editors.command(client, &[GatewayEntry::for_all()], &access), connected)
    });
    if let (Some(command), connected) = command.await? {
        if !connected {
            tell(client, &command).await?;
        }
        return with_editor_files(control, move |user_editors, _| {
            if !connected {
                user_editors
                    .record_command(client, &[GatewayEntry::for_all()])
                    .map_err(|refused| setup_failure(&refused))?;
            }
            Ok(done(user_editors, client, !connected, None))
        })
        .await?;
    }
    with_editor_files(control, move |user_editors, control| {
        let plan = user_editors.plan(
            client,
            SetupScope::User,
            &desired_entries(user_editors, client),
            &control.gateway_access(client),
        );
        let applied = plan
            .and_then(|plan| user_editors.apply(&plan))
            .map_err(|refused| setup_failure(&refused))?;
        let backup = applied.backup.map(|path| path.display().to_string());
        Ok(done(user_editors, client, applied.changed, backup))
    })
    .await?
}

/// Writes an editor's new token into its file, if Evermoor set it up there.
pub(crate) async fn rewrite_token(control: &Arc<ControlApi>, id: &str) {
    let Some(client) = client(id) else {
        return;
    };
    let done = with_editor_files(control, move |user_editors, control| {
        user_editors
            .rewrite_token(client, &control.gateway_access(client))
            .map_err(|refused| setup_failure(&refused))
    });
    if let Err(failure) | Ok(Err(failure)) = done.await {
        tracing::warn!(editor = id, %failure, "cannot write the new token into the editor's file");
    }
}

pub(crate) async fn undo(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    let Some(client) = client(&id) else {
        return unknown(&id);
    };
    answer(undo_setup(&control, client).await)
}

async fn undo_setup(
    control: &Arc<ControlApi>,
    client: &'static EditorSpec,
) -> Result<SetupResult, Failure> {
    let given_back = super::import::undo_import(control, client).await?;
    let command =
        with_editor_files(control, move |user_editors, _| user_editors.undo_command(client))
            .await?;
    let changed = match command {
        Some(command) => {
            tell(client, &command).await?;
            with_editor_files(control, move |user_editors, _| user_editors.forget_command(client))
                .await?
                .map(|()| true)
        }
        None => {
            let undo_setup = with_editor_files(control, move |user_editors, _| {
                user_editors.undo(client, SetupScope::User)
            })
            .await?;
            undo_setup.map(|done| done.changed)
        }
    };
    let changed = match changed {
        Ok(changed) => changed,
        Err(SetupError::NotConnected { .. } | SetupError::NoFile { .. }) => false,
        Err(refused) => return Err(setup_failure(&refused)),
    };
    let elsewhere = with_editor_files(control, move |user_editors, _| {
        user_editors.journal.records().iter().any(|record| record.client == client.id)
    });
    if !elsewhere.await? && control.editors.token_of(&client.id).is_some() {
        // A token that cannot be revoked now stays in the list of editors.
        let _ = control.editors.revoke(client.id.clone()).await;
    }
    with_editor_files(control, move |user_editors, _| {
        done(user_editors, client, changed || given_back, None)
    })
    .await
}

/// An existing entry keeps its transport; a new one gets the editor's usual one.
fn desired_entries(user_editors: &UserEditors, client: &EditorSpec) -> DesiredEntries {
    let gateway_entry = GatewayEntry::for_all();
    let gateway_entries = vec![gateway_entry];
    DesiredEntries {
        transport: user_editors.transport(client, SetupScope::User, &gateway_entries),
        gateway_entries,
        take_over: false,
        drop: Vec::new(),
    }
}

pub(crate) fn done(
    user_editors: &UserEditors,
    client: &EditorSpec,
    changed: bool,
    backup: Option<String>,
) -> SetupResult {
    SetupResult {
        path: shown_path(user_editors, client),
        changed,
        backup,
        hint: client.notices.clone(),
    }
}

pub(crate) fn shown_path(user_editors: &UserEditors, client: &EditorSpec) -> Option<String> {
    user_editors.path(client, SetupScope::User).map(|path| path.display().to_string())
}

impl ControlApi {
    /// How an editor's entry reaches the gateway, with the editor's token.
    pub(crate) fn gateway_access(&self, client: &EditorSpec) -> GatewayAccess {
        let token = self.editors.token_of(&client.id);
        GatewayAccess {
            origin: self.here.origin.clone(),
            token: token.unwrap_or_else(|| TOKEN_PLACEHOLDER.to_owned()),
            program: std::env::current_exe().unwrap_or_else(|_| "evermoor".into()),
            home: self.here.paths.given_home().map(std::path::Path::to_owned),
        }
    }
}

/// The connected clients.
fn connected_clients(control: &ControlApi) -> Vec<LiveSession> {
    let overview = control.router.overview();
    let status = &overview.borrow().status;
    let session = |one: &evermoor_core::api::ConnectedClient| LiveSession {
        editor: one.editor.clone(),
        client: one.client.clone().unwrap_or_default(),
    };
    status.attached.iter().map(session).collect()
}

/// Runs work on editors' files on a blocking thread.
pub(crate) async fn with_editor_files<T: Send + 'static>(
    control: &Arc<ControlApi>,
    work: impl FnOnce(&UserEditors, &ControlApi) -> T + Send + 'static,
) -> Result<T, Failure> {
    let no_home = || {
        let what = "There is no home folder, so no editor can be found.";
        Failure::new(Code::Internal, what, "Set HOME and start Evermoor again.")
    };
    let mut user_editors = UserEditors::here(&control.here.paths).ok_or_else(no_home)?;
    user_editors.folders = user_editors.folders.with_search_path(search_path().await);
    let control = Arc::clone(control);
    let worked = tokio::task::spawn_blocking(move || work(&user_editors, &control)).await;
    worked.map_err(|_| Failure::new(Code::Internal, "The gateway is shutting down.", "Try again."))
}

pub(crate) fn answer<T: serde::Serialize>(done: Result<T, Failure>) -> Response {
    match done {
        Ok(done) => ([(header::CACHE_CONTROL, "no-store")], Json(done)).into_response(),
        Err(failure) => refuse(StatusCode::CONFLICT, failure),
    }
}

pub(crate) fn unknown(id: &str) -> Response {
    let what = format!("There is no editor `{id}`.");
    refuse(
        StatusCode::NOT_FOUND,
        Failure::new(Code::NotFound, what, "Run `evermoor setup` to list them."),
    )
}
