//! Tests of grants without a network. `tests/e2e/upstreams/sign_in` has a real authorization server.

use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::Code;
use evermoor_platform::keychain::Keychain;

use super::grant_store::GrantStore;
use super::stored_grant::{GrantKey, StoredGrant};
use super::{GrantContext, Grants, ProtectedServer};
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

fn context(store: GrantStore) -> GrantContext {
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

fn server(entry: &str) -> ProtectedServer {
    let text =
        format!("[upstreams.linear]\nurl = \"https://a.example/mcp\"\nauth = \"oauth\"\n{entry}\n");
    ProtectedServer::of(&Config::parse(&text).unwrap().upstreams[0]).unwrap()
}

fn grant(token: &str) -> StoredGrant {
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
fn file_store(folder: &tempfile::TempDir) -> GrantStore {
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
    handle.signed_in(grant("canary-signed-in")).await.unwrap();
    assert!(store.load(&key).await.unwrap().is_some());
    assert!(grants.of(server("")).sign_out().await.unwrap().is_some());
    assert!(store.load(&key).await.unwrap().is_none());
    assert_eq!(handle.token().await.err().unwrap().code, Code::AuthRequired);
}
