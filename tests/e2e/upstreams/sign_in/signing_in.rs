//! How a user signs in.

use std::process::Stdio;

use evermoor_core::api::{SignInStatus, UpstreamStatus};
use evermoor_tests::Scene;
use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::peers::authorization::{Protected, begin, follow, sign_in, visit};
use evermoor_tests::scene::programs::Process;
use http::Method;
use reqwest::Url;
use serde_json::{Value, json};

use super::{Signed, settings};

/// Up to the address that the browser would open last, on the gateway.
async fn callback(gateway: &Gateway, page: &str) -> String {
    let own = format!("{}/oauth/callback", gateway.origin);
    follow(page, |url| url.starts_with(&own)).await.unwrap()
}

#[tokio::test]
async fn a_person_signs_in_once_and_every_editor_can_call() {
    let signed = Signed::out(&json!({})).await;
    let failure = signed.until_signed_out().await;
    assert_eq!(failure.what, "linear wants you to sign in.");
    assert!(failure.remedy.contains("evermoor login linear"), "{failure}");
    let page = sign_in(&signed.gateway, "linear").await;
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.text.contains("You are signed in to linear."), "{}", page.text);
    signed.gateway.until_connected("linear").await;
    for (number, editor) in ["one", "two", "three"].iter().enumerate() {
        let token = signed.gateway.add_editor(editor).await;
        let mut editor =
            evermoor_tests::editor::Editor::over_http(&signed.gateway.origin, "/mcp", &token).await;
        let nonce = format!("nonce-{number}");
        let result = editor.call("linear__record", &json!({ "nonce": nonce })).await;
        assert_eq!(result["content"][0]["text"], *nonce);
    }
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["authorization_code"], 1);
    assert_eq!(happened.registrations, 1);
}

#[tokio::test]
async fn a_server_without_auth_in_its_entry_gets_it_when_a_person_signs_in() {
    let (scene, server) = (Scene::new(), Protected::start(&json!({})).await);
    let entry = format!("\n[upstreams.linear]\nurl = {:?} # mine\n", server.url);
    let gateway = scene.gateway_of(&settings(&scene), &entry).await;
    gateway.until_down("linear").await;
    let page = sign_in(&gateway, "linear").await;
    assert_eq!(page.status, 200, "{page:?}");
    gateway.until_connected("linear").await;
    let config = gateway.config();
    assert!(config.contains("auth = \"oauth\"") && config.contains("# mine"), "{config}");
}

#[tokio::test]
async fn a_sign_in_survives_a_restart_of_the_gateway() {
    let mut signed = Signed::in_(&json!({})).await;
    signed.gateway.process.kill().await;
    let gateway = Gateway::start(&signed.scene.home()).await;
    gateway.until_connected("linear").await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued.get("authorization_code"), Some(&1));
    assert_eq!(happened.issued.get("refresh_token"), None);
}

#[tokio::test]
async fn a_person_who_declines_is_told_so_and_can_try_again() {
    let signed = Signed::out(&json!({ "person": "decline" })).await;
    let page = sign_in(&signed.gateway, "linear").await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.text.contains("declined"), "{}", page.text);
    signed.server.control(&json!({ "person": "allow" })).await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn the_address_of_the_browser_can_be_pasted() {
    let signed = Signed::out(&json!({})).await;
    let page = begin(&signed.gateway, "linear").await;
    let address = callback(&signed.gateway, &page).await;
    let path = "/api/sign-ins/callback";
    let (status, answer) =
        signed.gateway.command(Method::POST, path, &json!({ "address": address })).await;
    assert_eq!(status, 200, "{answer}");
    signed.gateway.until_connected("linear").await;
    let state = signed.gateway.control(Method::GET, "/api/upstreams/linear/sign-in").await;
    assert_eq!(state, json!({ "state": "done" }));
}

#[tokio::test]
async fn sign_ins_to_two_servers_at_once_do_not_mix() {
    let scene = Scene::new();
    let alike = json!({});
    let (one, other) = tokio::join!(Protected::start(&alike), Protected::start(&alike));
    let entries = format!("{}{}", one.entry("one"), other.entry("other"));
    let gateway = scene.gateway_of(&settings(&scene), &entries).await;
    let (first, second) = tokio::join!(begin(&gateway, "one"), begin(&gateway, "other"));
    let (second, first) = tokio::join!(visit(&second), visit(&first));
    assert!(first.text.contains("You are signed in to one."), "{}", first.text);
    assert!(second.text.contains("You are signed in to other."), "{}", second.text);
    for (name, server) in [("one", &one), ("other", &other)] {
        gateway.until_connected(name).await;
        let mut editor = gateway.editor(&format!("/mcp/{name}")).await;
        editor.call("record", &json!({ "nonce": name })).await;
        assert_eq!(server.happened().await.executions[name], 1);
    }
}

#[tokio::test]
async fn a_callback_works_once_and_only_for_a_sign_in_that_was_begun_here() {
    let signed = Signed::out(&json!({})).await;
    let page = begin(&signed.gateway, "linear").await;
    let address = callback(&signed.gateway, &page).await;
    let stolen = address.replace("state=", "state=x");
    assert_eq!(visit(&stolen).await.status, 400);
    let first = visit(&address).await;
    assert_eq!(first.status, 200, "{first:?}");
    let again = visit(&address).await;
    assert_eq!(again.status, 400);
    assert!(again.text.contains("already used"), "{}", again.text);
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn a_code_of_an_attacker_is_refused_even_with_the_state_of_a_user() {
    let signed = Signed::out(&json!({})).await;
    let users = begin(&signed.gateway, "linear").await;
    // The attacker has seen the page of the user, and signs in there too. The code verifier never left
    // the gateway, so the attacker needs a challenge of their own.
    let mut attackers = Url::parse(&users).unwrap();
    let pairs: Vec<(String, String)> = attackers.query_pairs().into_owned().collect();
    let own = pairs.into_iter().map(|(name, value)| match name.as_str() {
        "code_challenge" => (name, "A".repeat(value.len())),
        _ => (name, value),
    });
    let own: Vec<(String, String)> = own.collect();
    attackers.query_pairs_mut().clear().extend_pairs(own);
    let address = callback(&signed.gateway, attackers.as_str()).await;
    let state = |address: &str| {
        let url = Url::parse(address).unwrap();
        url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned()
    };
    assert_eq!(state(&address), state(&users), "the user's browser is sent there");
    let page = visit(&address).await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.text.contains("You are not signed in"), "{}", page.text);
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued.get("authorization_code"), None);
    assert_eq!(happened.refused, ["invalid_grant"]);
    signed.until_signed_out().await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn the_account_that_is_signed_in_is_shown_until_the_user_signs_out() {
    let options = json!({ "namesAccounts": true });
    let scopes = "oauth.scopes = [\"openid\", \"email\", \"mcp:use\"]";
    let mut signed = Signed::with(&options, scopes).await;
    let needs = |upstream: &UpstreamStatus| upstream.needs_sign_in();
    signed.gateway.until("linear", needs).await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    let shown = |upstream: &UpstreamStatus| {
        let alice = Some("alice@example.com".to_owned());
        upstream.sign_in == Some(SignInStatus { is_needed: false, account: alice })
    };
    signed.gateway.until("linear", shown).await;
    signed.gateway.process.kill().await;
    signed.gateway = Gateway::start(&signed.scene.home()).await;
    signed.gateway.until("linear", shown).await;
    let mut status = Process::evermoor(&signed.scene.home(), |command| {
        command.args(["status", "linear"]);
    });
    status.line_with("alice@example.com").await;
    signed.gateway.control(Method::POST, "/api/upstreams/linear/sign-out").await;
    signed.gateway.until("linear", needs).await;
}

#[tokio::test]
async fn a_callback_of_another_issuer_is_refused_and_the_right_one_still_works() {
    let signed = Signed::out(&json!({})).await;
    let page = begin(&signed.gateway, "linear").await;
    let address = callback(&signed.gateway, &page).await;
    let (start, _) = address.split_once("&iss=").unwrap();
    let forged = visit(&format!("{start}&iss=https%3A%2F%2Fevil.example")).await;
    assert_eq!(forged.status, 400, "{forged:?}");
    assert_eq!(signed.server.happened().await.issued.get("authorization_code"), None);
    assert_eq!(visit(&address).await.status, 200);
}

#[tokio::test]
async fn a_web_page_cannot_open_the_callback_in_the_background() {
    let signed = Signed::out(&json!({})).await;
    let page = begin(&signed.gateway, "linear").await;
    let address = callback(&signed.gateway, &page).await;
    for (name, value) in [
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-mode", "cors"),
        ("sec-fetch-dest", "iframe"),
        ("sec-fetch-dest", "image"),
        ("origin", "https://evil.example"),
        ("host", "evil.example"),
    ] {
        let answer = http().get(&address).header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{name}: {value}");
    }
    let answer = http().get(&address).header("sec-fetch-site", "cross-site");
    let answer = answer.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
    assert_eq!(answer.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_server_that_refuses_registration_is_explained() {
    let signed = Signed::out(&json!({ "registration": false })).await;
    let path = "/api/upstreams/linear/sign-in";
    let (status, answer) = signed.gateway.command(Method::POST, path, &Value::Null).await;
    assert_eq!(status, 502);
    let remedy = answer["error"]["remedy"].as_str().unwrap();
    assert!(remedy.contains("client_id") && remedy.contains("headers"), "{answer}");
}

#[tokio::test]
async fn a_client_of_ones_own_is_used_instead_of_registering() {
    // The redirect address has the port of the gateway, which is not known before it starts. A native
    // client may use any port of this machine.
    let client = json!({
        "client_id": "mine", "token_endpoint_auth_method": "none", "application_type": "native",
        "redirect_uris": ["http://127.0.0.1/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    });
    let options = json!({ "registration": false, "clients": [client] });
    let signed = Signed::with(&options, "oauth.client_id = \"mine\"").await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn a_client_with_a_secret_needs_no_person() {
    let client = json!({
        "client_id": "robot", "client_secret": "canary-client-secret", "redirect_uris": [],
        "token_endpoint_auth_method": "client_secret_post",
        "grant_types": ["client_credentials"], "response_types": [],
    });
    let (scene, server) = (Scene::new(), Protected::start(&json!({ "clients": [client] })).await);
    std::fs::write(scene.path("secret"), "canary-client-secret\n").unwrap();
    let secret = format!("${{file:{}}}", scene.path("secret").display());
    let entry = format!(
        "{}[upstreams.linear.oauth]\ngrant = \"client-credentials\"\nclient_id = \"robot\"\nclient_secret = {secret:?}\n",
        server.entry("linear")
    );
    let gateway = scene.gateway_of(&settings(&scene), &entry).await;
    gateway.until_connected("linear").await;
    server.expire().await;
    let mut editor = gateway.editor("/mcp/linear").await;
    editor.call("record", &json!({ "nonce": "after" })).await;
    let happened = server.happened().await;
    assert_eq!((happened.executions["after"], happened.issued["client_credentials"]), (1, 2));
}

#[tokio::test]
async fn a_person_signs_out_and_the_server_is_told() {
    let signed = Signed::in_(&json!({})).await;
    let path = "/api/upstreams/linear/sign-out";
    let ended = signed.gateway.control(Method::POST, path).await;
    assert_eq!(ended, json!({ "wasSignedIn": true, "revoked": true }));
    signed.until_signed_out().await;
    let again = signed.gateway.control(Method::POST, path).await;
    assert_eq!(again, json!({ "wasSignedIn": false, "revoked": false }));
    let kept = std::fs::read_to_string(signed.scene.path("sign-ins.json")).unwrap();
    assert_eq!(kept.trim(), "{}");
}

#[tokio::test]
async fn the_command_line_prints_the_page_and_waits_for_the_sign_in() {
    let signed = Signed::out(&json!({ "codes": false })).await;
    let mut login = Process::evermoor(&signed.scene.home(), |command| {
        command.args(["login", "linear", "--no-browser"]).stdin(Stdio::null());
    });
    let page = login.line_with("http://").await;
    assert_eq!(visit(page.trim()).await.status, 200);
    login.line_with("Signed in to `linear`.").await;
    assert!(login.ended().await.success());
    signed.gateway.until_connected("linear").await;
    let mut logout = Process::evermoor(&signed.scene.home(), |command| {
        command.args(["logout", "linear"]);
    });
    logout.line_with("Signed out of `linear`.").await;
    assert!(logout.ended().await.success());
    signed.until_signed_out().await;
}

#[tokio::test]
async fn a_gateway_with_another_port_registers_anew() {
    let mut signed = Signed::in_(&json!({})).await;
    let before = signed.gateway.origin.clone();
    signed.gateway.process.kill().await;
    signed.gateway = Gateway::start(&signed.scene.home()).await;
    assert_ne!(signed.gateway.origin, before, "each start gets a free port");
    signed.gateway.until_connected("linear").await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    let happened = signed.server.happened().await;
    assert_eq!((happened.registrations, happened.issued["authorization_code"]), (2, 2));
}

#[tokio::test]
async fn a_sign_in_that_a_takeover_interrupts_is_explained_and_can_be_begun_again() {
    let signed = Signed::out(&json!({})).await;
    let page = begin(&signed.gateway, "linear").await;
    let address = callback(&signed.gateway, &page).await;
    let next = Gateway::take_over(&signed.scene.home()).await;
    let interrupted = visit(&address).await;
    assert_eq!(interrupted.status, 400, "{interrupted:?}");
    assert!(interrupted.text.contains("restarted"), "{}", interrupted.text);
    assert_eq!(sign_in(&next, "linear").await.status, 200);
    next.until_connected("linear").await;
}

#[tokio::test]
async fn a_server_with_another_name_shares_the_sign_in_and_is_called_by_its_own_name() {
    let signed = Signed::in_(&json!({})).await;
    let entry = signed.server.entry("tracker");
    signed.scene.write(&settings(&signed.scene), &entry);
    signed.gateway.until_connected("tracker").await;
    let mut editor = signed.gateway.editor("/mcp/tracker").await;
    let answer = editor.call("write", &json!({ "nonce": "lacking" })).await;
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("tracker") && !text.contains("linear"), "{text}");
    assert_eq!(signed.server.happened().await.issued["authorization_code"], 1);
}
