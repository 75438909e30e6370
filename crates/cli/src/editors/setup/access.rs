//! What an editor's entry leads to: the gateway's address, and a token for the editor.

use std::path::PathBuf;

use evermoor_client::Control;
use evermoor_core::api::{DetectedEditor, SetupState, Status};
use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::tokens::Tokens;
use evermoor_gateway::config::file;
use evermoor_gateway::system::keys;
use evermoor_platform::paths::Paths;
use evermoor_setup::{EditorSpec, GatewayAccess, LiveSession, UserEditors};

use crate::editors::tokens;
use crate::gateway::serve::Place;

/// The gateway of this place, whether it runs or not.
pub(crate) struct Gates {
    place: Place,
    origin: String,
    program: PathBuf,
    tokens: Option<Tokens>,
}

/// What stands for a token that is not made yet, or not to be shown.
pub(super) const NO_TOKEN: &str = "<token>";

impl Gates {
    pub(crate) fn find(place: &Place) -> Result<Self, Failure> {
        let origin = match Control::find(&place.paths) {
            Some(control) => control.runtime().origin.clone(),
            None => {
                let config: Config = file::read(&place.paths.config)?.unwrap_or_default();
                format!("http://{}", config.gateway.listen)
            }
        };
        let program = std::env::current_exe().map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("This program cannot be found: {error}."),
                "Install Evermoor again.",
            )
        })?;
        let tokens = keys::known_tokens(&place.paths).ok().flatten();
        Ok(Self { place: place.clone(), origin, program, tokens })
    }

    /// As it is, without making a token.
    pub(crate) fn of(&self, client: &EditorSpec) -> GatewayAccess {
        let token = self.tokens.as_ref().and_then(|tokens| tokens.of(&client.id));
        self.with(token.unwrap_or(NO_TOKEN))
    }

    /// Whether the editor had a token when we looked.
    pub(crate) fn had_token(&self, id: &str) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.of(id).is_some())
    }

    /// With a token of the editor's own, which is made if it has none.
    pub(crate) fn made_for(&self, client: &EditorSpec) -> Result<GatewayAccess, Failure> {
        // One that was made a moment ago, for another file of the editor, is its token too.
        let known = keys::known_tokens(&self.place.paths).ok().flatten();
        match known.as_ref().and_then(|tokens| tokens.of(&client.id)) {
            Some(token) => Ok(self.with(token)),
            None => Ok(self.with(&tokens::add(&self.place.paths, &client.id)?.token)),
        }
    }

    fn with(&self, token: &str) -> GatewayAccess {
        let home = self
            .place
            .home
            .as_ref()
            .map(|home| std::path::absolute(home).unwrap_or_else(|_| home.clone()));
        GatewayAccess {
            origin: self.origin.clone(),
            token: token.to_owned(),
            program: self.program.clone(),
            home,
        }
    }
}

/// Takes the token of an editor away that has no entry any more, so that it is worth nothing.
pub(crate) fn revoke(user_editors: &UserEditors, paths: &Paths, client: &EditorSpec) {
    if user_editors.journal.records().iter().any(|record| record.client == client.id) {
        return;
    }
    let known = keys::known_tokens(paths).ok().flatten();
    if known.is_some_and(|tokens| tokens.of(&client.id).is_some()) {
        // What cannot be revoked now is still listed by `evermoor tokens`.
        let _ = tokens::revoke(paths, &client.id);
    }
}

/// Every editor, for `evermoor doctor`.
pub(crate) fn found(place: &Place) -> Vec<DetectedEditor> {
    match (UserEditors::here(&place.paths), Gates::find(place)) {
        (Some(user_editors), Ok(gates)) => user_editors.found(&[], |client| gates.of(client)),
        (None, _) | (_, Err(_)) => Vec::new(),
    }
}

/// Every editor, with those that are attached at this moment.
pub(crate) fn attached(place: &Place, status: &Status) -> Vec<DetectedEditor> {
    let (Some(user_editors), Ok(gates)) = (UserEditors::here(&place.paths), Gates::find(place))
    else {
        return Vec::new();
    };
    let session = |one: &evermoor_core::api::ConnectedClient| LiveSession {
        editor: one.editor.clone(),
        client: one.client.clone().unwrap_or_default(),
    };
    let sessions: Vec<LiveSession> = status.attached.iter().map(session).collect();
    user_editors.found(&sessions, |client| gates.of(client))
}

/// The editors that are connected, and those that somebody changed, for `evermoor status`.
pub(crate) fn short(place: &Place, status: &Status) -> Vec<String> {
    let said = attached(place, status).into_iter().filter_map(|editor| match editor.state {
        SetupState::Connected if editor.attached => {
            Some(format!("{} is connected and attached now", editor.title))
        }
        SetupState::Connected => Some(format!("{} is connected", editor.title)),
        SetupState::Changed => Some(format!(
            "{} was changed by someone else: repair it with `evermoor setup {}`",
            editor.title, editor.id
        )),
        SetupState::NotConnected | SetupState::Unreadable | SetupState::NotInstalled => None,
    });
    said.collect()
}
