//! Tests of grants without a network. `tests/e2e/upstreams/sign_in` has a real authorization server.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use oauth2::{CsrfToken, PkceCodeVerifier};
use rmcp::transport::auth::{StateStore as _, StoredAuthorizationState};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::Config;
use evermoor_core::failure::Code;
use evermoor_platform::keychain::Keychain;

use super::grant_store::GrantStore;
use super::pending_secrets::PendingSecrets;
use super::sign_in::SignIns;
use super::stored_grant::{GrantKey, StoredGrant};
use super::{GrantContext, GrantHandle, Grants, ProtectedServer};
use crate::config::secrets::Secrets;
use crate::system::clock::ClockAndRandom;
use crate::system::redaction;
use crate::system::write_lease::WriteLease;

impl Grants {
    /// For upstreams that want no sign-in.
    pub(crate) fn unused() -> Self {
        let secrets = Secrets::system_default();
        Self::new(context(GrantStore::new(secrets.keychain())))
    }
}

impl SignIns {
    /// For upstreams that want no sign-in.
    pub(crate) fn unused() -> Self {
        Self::new(Grants::unused(), "http://127.0.0.1:1").0
    }
}

/// A grant with a token that does not expire. It is forgotten with the folder.
pub(crate) async fn signed_in() -> (GrantHandle, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let handle = Grants::new(context(file_store(&folder))).of(server(""));
    handle.signed_in(lasting_grant("canary-of-a-call")).await.unwrap();
    (handle, folder)
}

/// A grant with a token that does not expire, so nothing renews it.
fn lasting_grant(token: &str) -> StoredGrant {
    let mut lasting = serde_json::to_value(grant(token)).unwrap();
    lasting["credentials"]["token_response"].as_object_mut().unwrap().remove("expires_in");
    serde_json::from_value(lasting).unwrap()
}

pub(super) fn context(store: GrantStore) -> GrantContext {
    GrantContext {
        store,
        secrets: Secrets::system_default(),
        lease: WriteLease::new(true),
        clock: ClockAndRandom::real(),
        wakes: watch::channel(0).1,
        tasks: TaskTracker::new(),
        stop: CancellationToken::new(),
    }
}

pub(super) fn server(entry: &str) -> ProtectedServer {
    let text =
        format!("[upstreams.linear]\nurl = \"https://a.example/mcp\"\nauth = \"oauth\"\n{entry}\n");
    ProtectedServer::of(&Config::parse(&text).unwrap().upstreams[0]).unwrap()
}

pub(super) fn grant(token: &str) -> StoredGrant {
    let grant = json!({
        "resource": "https://a.example/mcp",
        "credentials": {
            "client_id": "evermoor",
            "issuer": "https://login.example",
            "token_received_at": 1_000,
            "token_response": {
                "access_token": token, "refresh_token": format!("{token}-refresh"),
                "token_type": "bearer", "expires_in": 3600, "id_token": format!("{token}-id"),
            },
        },
    });
    serde_json::from_value(grant).unwrap()
}

/// A store without a keychain, in a file of this folder.
pub(super) fn file_store(folder: &tempfile::TempDir) -> GrantStore {
    let none = || Err(evermoor_platform::keychain::KeychainError::Unavailable("none".into()));
    let store = GrantStore::new(Keychain::with_store(none, Duration::from_secs(4)));
    store.keep_in(Some(folder.path().join("sign-ins.json").to_str().unwrap()));
    store
}

#[test]
fn a_grant_is_for_one_server_one_client_and_one_authorization_server() {
    let all = [
        server(""),
        server("oauth.client_id = \"mine\""),
        server("oauth.authorization_server = \"https://login.example\""),
        ProtectedServer { url: "https://b.example/mcp".parse().unwrap(), ..server("") },
    ];
    for (number, one) in all.iter().enumerate() {
        let same = all.iter().filter(|other| one.shares_grant(other)).count();
        assert_eq!(same, 1, "{number}");
    }
    let renamed = ProtectedServer { name: "other".into(), title: "Other".into(), ..server("") };
    assert!(renamed.shares_grant(&server("oauth.scopes = [\"read\"]")));
    assert!(!GrantKey::of(&server("")).as_str().contains("example"));
}

#[test]
fn every_token_of_a_grant_is_hidden_until_it_is_replaced() {
    let (old, new) = (grant("canary-old-token"), grant("canary-new-token"));
    old.hide();
    new.hide();
    let text = "canary-old-token canary-old-token-refresh canary-old-token-id canary-new-token-id";
    assert_eq!(redaction::scrub(text), "[secret] [secret] [secret] [secret]");
    old.replaced_by(&new);
    assert_eq!(redaction::scrub("canary-old-token canary-new-token"), "canary-old-token [secret]");
}

#[tokio::test]
async fn grants_in_a_file_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = file_store(&folder);
    let (one, other) =
        (GrantKey::of(&server("")), GrantKey::of(&server("oauth.client_id = \"mine\"")));
    assert!(store.load(&one).await.unwrap().is_none());
    store.save(&one, &grant("canary-first-token")).await.unwrap();
    store.save(&other, &grant("canary-other-token")).await.unwrap();
    store.save(&one, &grant("canary-second-token")).await.unwrap();
    let found = store.load(&one).await.unwrap().unwrap();
    assert!(found.has_token_of(&grant("canary-second-token")));
    store.remove(&one).await.unwrap();
    assert!(store.load(&one).await.unwrap().is_none());
    assert!(store.load(&other).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_a_failure_and_not_a_missing_grant() {
    let folder = tempfile::tempdir().unwrap();
    let store = file_store(&folder);
    evermoor_platform::fs::private::write_private(
        &folder.path().join("sign-ins.json"),
        b"{ broken",
    )
    .unwrap();
    let failure = store.load(&GrantKey::of(&server(""))).await.err().unwrap();
    assert_eq!(failure.code, Code::SecretMissing);
    assert!(failure.what.contains("sign-ins.json"), "{failure}");
    assert!(store.save(&GrantKey::of(&server("")), &grant("canary-token")).await.is_err());
}

#[tokio::test]
async fn a_missing_keychain_is_reported_as_such_and_nobody_has_to_sign_in() {
    let none = || Err(evermoor_platform::keychain::KeychainError::Locked);
    let store = GrantStore::new(Keychain::with_store(none, Duration::from_secs(4)));
    let handle = Grants::new(context(store)).of(server(""));
    let failure = handle.token().await.err().unwrap();
    assert_eq!(failure.code, Code::KeychainLocked);
}

#[tokio::test]
async fn a_sign_in_is_stored_before_it_is_used_and_a_sign_out_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, key) = (file_store(&folder), GrantKey::of(&server("")));
    let grants = Grants::new(context(store.clone()));
    let handle = grants.of(server(""));
    assert_eq!(handle.token().await.err().unwrap().code, Code::AuthRequired);
    handle.signed_in(lasting_grant("canary-signed-in")).await.unwrap();
    assert!(store.load(&key).await.unwrap().is_some());
    assert!(grants.of(server("")).sign_out().await.unwrap().is_some());
    assert!(store.load(&key).await.unwrap().is_none());
    assert_eq!(handle.token().await.err().unwrap().code, Code::AuthRequired);
}

/// A server that is its own authorization server, and ends no sign-in.
async fn authorization_server(tasks: &TaskTracker) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let own = origin.clone();
    let answer = move |request: Request| async move { described(&own, request.uri().path()) };
    tasks.spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    origin
}

fn described(origin: &str, path: &str) -> Response {
    let document = match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] })
        }
        "/.well-known/oauth-authorization-server" => json!({
            "issuer": origin, "response_types_supported": ["code"],
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "code_challenge_methods_supported": ["S256"],
        }),
        "/register" => json!({ "client_id": "registered", "redirect_uris": [] }),
        _ => return StatusCode::UNAUTHORIZED.into_response(),
    };
    axum::Json(document).into_response()
}

#[tokio::test]
async fn a_sign_in_that_nobody_completes_expires_after_ten_minutes() {
    let (tasks, folder) = (TaskTracker::new(), tempfile::tempdir().unwrap());
    let url: Url = format!("{}/mcp", authorization_server(&tasks).await).parse().unwrap();
    let grants = Grants::new(context(file_store(&folder)));
    let (sign_ins, _changes) = SignIns::new(grants, "http://127.0.0.1:1");
    let mut callbacks = Vec::new();
    for name in ["early", "late"] {
        let server = ProtectedServer { name: name.into(), url: url.clone(), ..server("") };
        let page: Url = sign_ins.begin(server, true).await.unwrap().url.parse().unwrap();
        let state = page.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        // The answer of the user who declines.
        callbacks
            .push(format!("http://127.0.0.1:1/oauth/callback?error=access_denied&state={state}"));
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(595)).await;
    assert_eq!(sign_ins.complete(&callbacks[0]).await.server.unwrap().name, "early");
    tokio::time::advance(Duration::from_secs(6)).await;
    let late = sign_ins.complete(&callbacks[1]).await;
    assert!(late.server.is_none(), "nobody may complete it any more");
    assert_eq!(late.result.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn a_code_and_its_verifier_are_hidden_until_the_sign_in_has_ended() {
    let hidden = PendingSecrets::default();
    let store = hidden.state_store();
    let verifier = PkceCodeVerifier::new("canary-verifier-of-a-sign-in-with-43-letters".into());
    let state = StoredAuthorizationState::new(&verifier, &CsrfToken::new("state".into()));
    store.save("state", state).await.unwrap();
    hidden.hide("canary-code");
    let text = "canary-verifier-of-a-sign-in-with-43-letters canary-code state";
    assert_eq!(redaction::scrub(text), "[secret] [secret] state");
    drop(store);
    assert_eq!(redaction::scrub(text), "[secret] [secret] state");
    drop(hidden);
    assert_eq!(redaction::scrub(text), text);
}

#[tokio::test]
async fn an_upstream_that_is_renamed_is_called_by_its_new_name_even_if_the_task_is_busy() {
    let (handle, _folder) = signed_in().await;
    let mut headers = http::HeaderMap::new();
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"files:write\"";
    headers.insert(http::header::WWW_AUTHENTICATE, challenge.parse().unwrap());
    for number in 0..1_000 {
        let title = format!("Title {number}");
        // No await in between, so the task handles none of the changes.
        handle.reach_by(ProtectedServer { title: title.clone(), ..server("") });
        let failure = handle.lacks_scope(&headers).unwrap();
        assert_eq!(failure.what, format!("{title} needs more permissions: files:write."));
    }
    assert_eq!(handle.lacking(), ["files:write"]);
    let last = ProtectedServer { title: "Last".into(), ..server("") };
    handle.reach_by(last);
    handle.sign_out().await.unwrap();
    let failure = handle.token().await.err().unwrap();
    assert_eq!(failure.what, "Last wants you to sign in.");
}
