//! A secret in the keychain, from the first value to the last.

use super::*;
use evermoor_core::failure::Code;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::scene::entry;
use serde_json::{Value, json};

/// A line of `evermoor secret list`.
fn is_listed(list: &str, line: &str) -> bool {
    list.lines().any(|listed| listed == line)
}

#[tokio::test]
async fn a_secret_is_set_used_changed_and_removed() {
    let (scene, session) = (Scene::new(), session().await);
    let name = own_name("canny");
    let name = name.as_str();
    let upstream = scene.upstream("notes").await;
    let proxy = Proxy::to(&upstream.url).await;
    let home = scene.home();
    let entry = format!(
        "{}headers = {{ Authorization = \"Bearer ${{keyring:{name}}}\" }}\n",
        entry::at("notes", &proxy.url)
    );
    let gateway = gateway(&scene, &session, &entry).await;
    let down = gateway.until_down("notes").await;
    let reason = failure(&down);
    assert_eq!(reason.code, Code::SecretMissing);
    assert_eq!(reason.remedy, format!("Run `evermoor secret set {name}`."));
    assert_eq!(proxy.forwarded("HTTP/1.1"), 0, "nothing is said without the secret");

    let said = done(&home, &session, &["secret", "set", name], "first-value\n").await;
    assert_eq!(said, format!("Stored `{name}` in the keychain.\n"));
    gateway.until_connected("notes").await;
    let (all, marked) =
        (proxy.forwarded("HTTP/1.1"), proxy.forwarded("authorization: Bearer first-value"));
    assert!(all > 0 && all == marked, "{marked} of {all}");

    let said = done(&home, &session, &["--json", "secret", "set", name], "second-value").await;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        said,
        json!({ "schema": 1, "name": name, "reconnected": ["notes"], "hiddenInLogs": true })
    );
    gateway.until("notes", |_| proxy.forwarded("Bearer second-value") > 0).await;

    let listed = done(&home, &session, &["secret", "list"], "").await;
    assert!(is_listed(&listed, &format!("{name}   set   used by notes")), "{listed}");
    done(&home, &session, &["secret", "remove", name], "").await;
    let listed = done(&home, &session, &["secret", "list"], "").await;
    assert!(is_listed(&listed, &format!("{name}   not set   used by notes")), "{listed}");
    let again = evermoor(&home, &session, &["secret", "remove", name], "").await;
    assert_eq!(again.status.code(), Some(1));
}
