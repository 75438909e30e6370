//! What people are told about signing in.

use rmcp::transport::auth::AuthError;
use url::Url;

use evermoor_core::failure::{Code, Failure};

use super::ProtectedServer;
use crate::system::redaction;

/// How much of an error that others wrote is shown.
const LONGEST_DETAIL: usize = 200;

/// The user must sign in.
pub(super) fn signed_out(server: &ProtectedServer) -> Failure {
    needs_sign_in(server, format!("{} wants you to sign in.", server.title))
}

/// The user must sign in again.
pub(super) fn sign_in_ended(server: &ProtectedServer) -> Failure {
    let title = &server.title;
    needs_sign_in(server, format!("Your sign-in to {title} has ended."))
}

/// The server names another authorization server than the one that issued the tokens.
pub(super) fn moved(server: &ProtectedServer) -> Failure {
    let what = format!("{} now uses another authorization server.", server.title);
    needs_sign_in(server, what)
}

/// The server refuses a token that was issued just now.
pub(super) fn token_refused(server: &ProtectedServer) -> Failure {
    let what = format!("{} rejects your sign-in.", server.title);
    let remedy = format!(
        "Check the permissions of your account there, or sign in again with `evermoor login {}`.",
        server.name
    );
    Failure::new(Code::AuthRequired, what, remedy)
}

/// The user must permit more.
pub(super) fn lacks_scope(server: &ProtectedServer, scopes: &str) -> Failure {
    let scopes = redaction::excerpt(scopes.as_bytes(), LONGEST_DETAIL);
    let asked = if scopes.is_empty() { String::new() } else { format!(": {scopes}") };
    needs_sign_in(server, format!("{} needs more permissions{asked}.", server.title))
}

/// The authorization server refuses the client that the user configured.
pub(super) fn client_refused(server: &ProtectedServer, code: &str) -> Failure {
    let code = redaction::excerpt(code.as_bytes(), LONGEST_DETAIL);
    let what = format!("The authorization server of {} refused Evermoor ({code}).", server.title);
    let remedy = match &server.oauth.client {
        Some(_) => "Check `client_id` and `client_secret` in its `oauth` table.".to_owned(),
        None => format!("Run `evermoor login {}`.", server.name),
    };
    Failure::new(Code::AuthRequired, what, remedy)
}

/// The tokens could not be renewed now; it is tried again.
pub(super) fn unavailable(server: &ProtectedServer, error: &AuthError) -> Failure {
    let what =
        format!("The authorization server of {} is unavailable ({}).", server.title, detail(error));
    Failure::new(Code::ConnectTimeout, what, "Evermoor retries automatically.")
}

/// There was no answer in time.
pub(super) fn stopped() -> Failure {
    let what = "Your sign-in could not be read or renewed in time.";
    Failure::new(Code::ConnectTimeout, what, "Evermoor retries automatically.")
}

/// Another gateway is taking over, and only it may renew tokens.
pub(super) fn taken_over(server: &ProtectedServer) -> Failure {
    let what = format!("Another gateway is taking over the sign-in to {}.", server.title);
    Failure::new(Code::ConnectionLost, what, "Evermoor retries automatically.")
}

/// The server has no way to register a client.
pub(super) fn no_registration(server: &ProtectedServer) -> Failure {
    let (title, name) = (&server.title, &server.name);
    let what = format!("{title} does not let programs register themselves.");
    let remedy = format!(
        "Register Evermoor there with the redirect address `/oauth/callback` of this gateway, and set \
         `client_id` in `[upstreams.{name}.oauth]`; or use a token of the server in `headers`."
    );
    Failure::new(Code::Refused, what, remedy)
}

pub(super) fn wrong_authorization_server(server: &ProtectedServer, expected: &Url) -> Failure {
    let what = format!(
        "{} names another authorization server than `authorization_server`, {expected}.",
        server.title
    );
    Failure::new(Code::Refused, what, "Correct `authorization_server`, or remove it.")
}

/// A sign-in failed.
pub(super) fn sign_in_failed(server: &ProtectedServer, error: &AuthError) -> Failure {
    let what = format!("The sign-in to {} failed: {}.", server.title, detail(error));
    let remedy = format!("Try again with `evermoor login {}`.", server.name);
    Failure::new(Code::Refused, what, remedy)
}

/// The authorization server does not let users sign in with a code.
pub(super) fn no_codes(server: &ProtectedServer) -> Failure {
    let (title, name) = (&server.title, &server.name);
    let what = format!("{title} offers no sign-in with a code.");
    let remedy = format!(
        "Remove `grant` from `[upstreams.{name}.oauth]`, then run `evermoor login {name}` to sign in in a \
         browser."
    );
    Failure::new(Code::Refused, what, remedy)
}

/// The user did not enter the code in time.
pub(super) fn code_expired(server: &ProtectedServer) -> Failure {
    let what = format!("The code for the sign-in to {} has expired.", server.title);
    let remedy = format!("Get another one with `evermoor login {}`.", server.name);
    Failure::new(Code::NotFound, what, remedy)
}

/// The user changed their mind.
pub(super) fn cancelled(server: &ProtectedServer) -> Failure {
    let what = format!("The sign-in to {} was cancelled.", server.title);
    let remedy = format!("Start it again with `evermoor login {}`.", server.name);
    Failure::new(Code::Refused, what, remedy)
}

/// A callback belongs to no sign-in.
pub(super) fn unknown_sign_in() -> Failure {
    let what = "This sign-in is no longer valid: it was already used, it expired, or Evermoor was restarted since.";
    Failure::new(Code::NotFound, what, "Start it again with `evermoor login NAME`.")
}

/// The user, or the authorization server, refused.
pub(super) fn declined(server: &ProtectedServer, code: &str) -> Failure {
    let code = redaction::excerpt(code.as_bytes(), LONGEST_DETAIL);
    let what = match code.as_str() {
        "access_denied" => format!("Access to {} was declined.", server.title),
        _ => format!("The authorization server of {} refused the sign-in ({code}).", server.title),
    };
    let remedy = format!("Try again with `evermoor login {}`.", server.name);
    Failure::new(Code::Refused, what, remedy)
}

fn needs_sign_in(server: &ProtectedServer, what: String) -> Failure {
    let remedy = match server.oauth.grant.needs_a_person() {
        true => format!(
            "Sign in from the tray menu or on its page in the dashboard, or run `evermoor login {}`.",
            server.name
        ),
        false => "Check `client_id` and `client_secret` in its `oauth` table.".to_owned(),
    };
    Failure::new(Code::AuthRequired, what, remedy)
}

fn detail(error: &AuthError) -> String {
    let text = error.to_string();
    redaction::excerpt(text.as_bytes(), LONGEST_DETAIL).trim_end_matches('.').to_owned()
}
