//! What an editor's entry contains: the gateway's address and the editor's token.

use std::path::PathBuf;

use evermoor_client::ControlClient;
use evermoor_core::api::{DetectedEditor, SetupState, Status};
use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::tokens::Tokens;
use evermoor_gateway::config::file;
use evermoor_gateway::system::keys;
use evermoor_platform::paths::Paths;
use evermoor_setup::{EditorSpec, GatewayAccess, LiveSession, UserEditors};

use crate::editors::tokens;
use crate::instance::Instance;

/// The address of the gateway, running or not, and the known tokens.
pub(crate) struct EditorAccess {
    instance: Instance,
    origin: String,
    program: PathBuf,
    tokens: Option<Tokens>,
}

/// Placeholder for a token that does not exist yet or must not be shown.
pub(super) const NO_TOKEN: &str = "<token>";

impl EditorAccess {
    pub(crate) fn find(instance: &Instance) -> Result<Self, Failure> {
        let origin = match ControlClient::find(&instance.paths) {
            Some(control) => control.runtime().origin.clone(),
            None => {
                let config: Config = file::read(&instance.paths.config)?.unwrap_or_default();
                format!("http://{}", config.gateway.listen)
            }
        };
        let program = std::env::current_exe().map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("Evermoor cannot find its own program: {error}."),
                "Reinstall Evermoor.",
            )
        })?;
        let tokens = keys::known_tokens(&instance.paths).ok().flatten();
        Ok(Self { instance: instance.clone(), origin, program, tokens })
    }

    pub(super) fn paths(&self) -> &Paths {
        &self.instance.paths
    }

    pub(super) fn gateway_runs(&self) -> bool {
        ControlClient::find(&self.instance.paths).is_some()
    }

    /// With the editor's token or a placeholder. Creates no token.
    pub(crate) fn of(&self, client: &EditorSpec) -> GatewayAccess {
        let token = self.tokens.as_ref().and_then(|tokens| tokens.of(&client.id));
        self.with(token.unwrap_or(NO_TOKEN))
    }

    /// Whether the editor already had a token.
    pub(crate) fn had_token(&self, id: &str) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.of(id).is_some())
    }

    /// With the editor's token, which is created if it has none.
    pub(crate) fn with_token_for(&self, client: &EditorSpec) -> Result<GatewayAccess, Failure> {
        // Read the tokens again: one may just have been created for another file of this editor.
        let known = keys::known_tokens(&self.instance.paths).ok().flatten();
        match known.as_ref().and_then(|tokens| tokens.of(&client.id)) {
            Some(token) => Ok(self.with(token)),
            None => Ok(self.with(&tokens::add(&self.instance.paths, &client.id)?.token)),
        }
    }

    fn with(&self, token: &str) -> GatewayAccess {
        let home = self
            .instance
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

/// Revokes the token of an editor that has no entry left.
pub(crate) fn revoke(user_editors: &UserEditors, paths: &Paths, client: &EditorSpec) {
    if user_editors.journal.records().iter().any(|record| record.client == client.id) {
        return;
    }
    let known = keys::known_tokens(paths).ok().flatten();
    if known.is_some_and(|tokens| tokens.of(&client.id).is_some()) {
        // If this fails, `evermoor tokens` still lists the token.
        let _ = tokens::revoke(paths, &client.id);
    }
}

/// Every editor, for `evermoor doctor`.
pub(crate) fn found(instance: &Instance) -> Vec<DetectedEditor> {
    match (UserEditors::here(&instance.paths), EditorAccess::find(instance)) {
        (Some(user_editors), Ok(access)) => user_editors.found(&[], |client| access.of(client)),
        (None, _) | (_, Err(_)) => Vec::new(),
    }
}

/// Every editor, and whether it has a session now.
pub(crate) fn attached(instance: &Instance, status: &Status) -> Vec<DetectedEditor> {
    let (Some(user_editors), Ok(access)) =
        (UserEditors::here(&instance.paths), EditorAccess::find(instance))
    else {
        return Vec::new();
    };
    let session = |one: &evermoor_core::api::ConnectedClient| LiveSession {
        editor: one.editor.clone(),
        client: one.client.clone().unwrap_or_default(),
    };
    let sessions: Vec<LiveSession> = status.attached.iter().map(session).collect();
    user_editors.found(&sessions, |client| access.of(client))
}

/// The editors that are connected or were changed, for `evermoor status`.
pub(crate) fn short(instance: &Instance, status: &Status) -> Vec<String> {
    let sentences =
        attached(instance, status).into_iter().filter_map(|editor| match editor.state {
            SetupState::Connected if editor.attached => {
                Some(format!("{} is connected and in use", editor.title))
            }
            SetupState::Connected => Some(format!("{} is connected", editor.title)),
            SetupState::Changed => Some(format!(
                "{} was changed outside Evermoor. To repair it, run `evermoor setup {}`",
                editor.title, editor.id
            )),
            SetupState::NotConnected | SetupState::Unreadable | SetupState::NotInstalled => None,
        });
    sentences.collect()
}
