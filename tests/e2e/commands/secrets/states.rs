//! What people see of a keychain that is locked, silent or missing.

use super::*;
use evermoor_core::failure::Code;
use evermoor_tests::gateway::runtime;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::{built, command};
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::time::Instant;

#[tokio::test]
async fn a_locked_keychain_is_reported_delays_no_other_upstream_and_is_used_once_unlocked() {
    let (scene, mut keyring) = (Scene::new(), Keyring::start().await);
    let (needs, needs_not) = (scene.upstream("needs").await, scene.upstream("free").await);
    done(&scene.home(), &keyring, &["secret", "set", "key"], "value-of-key").await;
    keyring.lock().await;
    let entry = format!(
        "{}headers.X-Api-Key = \"${{keyring:key}}\"\n{}\
         \n[upstreams.other]\nurl = {:?}\nheaders.X-Api-Key = \"${{keyring:never_set}}\"\n",
        entry::at("needs", &needs.url),
        entry::at("free", &needs_not.url),
        needs.url,
    );
    let began = Instant::now();
    let gateway = gateway(&scene, &keyring, &entry).await;
    gateway.until_connected("free").await;
    for name in ["needs", "other"] {
        let down = gateway.until_down(name).await;
        let reason = failure(&down);
        assert_eq!(reason.code, Code::KeychainLocked, "{reason}");
        assert!(reason.what.starts_with("The keychain is locked") && !reason.remedy.is_empty());
    }
    println!("a locked keychain is said {:?} after the start", began.elapsed());
    let status = gateway.status().await;
    assert_eq!(status.upstreams.len(), 3);

    keyring.unlock().await;
    gateway.until_connected("needs").await;
    let missing = |it: &UpstreamStatus| matches!(&it.link, UpstreamState::Down { failure, .. } if failure.code == Code::SecretMissing);
    gateway.until("other", missing).await;
}

#[tokio::test]
async fn unlocking_reads_what_servers_need_and_reconnects_them() {
    let (scene, keyring) = (Scene::new(), Keyring::start().await);
    let upstream = scene.upstream("notes").await;
    let home = scene.home();
    done(&home, &keyring, &["secret", "set", "key"], "value-of-key").await;
    let entry = format!(
        "{}headers.X-Api-Key = \"${{keyring:key}}\"\n\
         \n[upstreams.other]\nurl = {:?}\nheaders.X-Api-Key = \"${{keyring:never_set}}\"\n",
        entry::at("notes", &upstream.url),
        upstream.url,
    );
    let gateway = gateway(&scene, &keyring, &entry).await;
    gateway.until_connected("notes").await;
    let said = done(&home, &keyring, &["--json", "secret", "unlock"], "").await;
    let said: Value = serde_json::from_str(&said).unwrap();
    let wanted = json!({
        "schema": 1, "readable": ["key"], "missing": ["never_set"], "reconnected": ["notes"],
    });
    assert_eq!(said, wanted);
    let said = done(&home, &keyring, &["secret", "unlock"], "").await;
    assert_eq!(said, "The keychain is unlocked; Evermoor can read the secret that is needed.\n");
}

#[tokio::test]
async fn a_keychain_that_nobody_unlocks_stays_locked_and_the_command_says_so() {
    let (scene, mut keyring) = (Scene::new(), Keyring::start().await);
    let home = scene.home();
    done(&home, &keyring, &["secret", "set", "key"], "value-of-key").await;
    keyring.lock().await;
    // This session has no program that could show the dialog.
    let refused = evermoor(&home, &keyring, &["secret", "unlock"], "").await;
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("keychain is locked") || said.contains("was declined"), "{said}");
}

#[tokio::test]
async fn a_missing_keychain_is_reported_and_secrets_are_stored_nowhere_else() {
    let (scene, mut keyring) = (Scene::new(), Keyring::absent().await);
    let upstream = scene.upstream("notes").await;
    let home = scene.home();
    std::fs::create_dir_all(&home).unwrap();
    let refused = evermoor(&home, &keyring, &["secret", "set", "key"], "value-of-key").await;
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("This session has no keychain"), "{said}");
    assert!(std::fs::read_dir(&home).unwrap().next().is_none(), "nothing was written");

    let entry =
        format!("{}headers.X-Key = \"${{keyring:key}}\"\n", entry::at("notes", &upstream.url));
    let gateway = gateway(&scene, &keyring, &entry).await;
    let down = gateway.until_down("notes").await;
    assert_eq!(failure(&down).code, Code::KeychainMissing);
    // The gateway notices a secret service that starts after it.
    keyring.unlock().await;
    done(&home, &keyring, &["secret", "set", "key"], "value-of-key").await;
    gateway.until_connected("notes").await;
}

#[tokio::test]
async fn a_keychain_that_does_not_answer_is_reported_within_its_time_limit() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let socket = scene.path("bus");
    // Connections are accepted by the system and never answered.
    let _silent = UnixListener::bind(&socket).unwrap();
    let address = format!("unix:path={}", socket.display());
    scene.write(
        "",
        &format!(
            "{}headers.X-Key = \"${{keyring:key}}\"\n{}",
            entry::at("notes", &upstream.url),
            entry::at("free", &upstream.url)
        ),
    );
    let variables = [("DBUS_SESSION_BUS_ADDRESS", address.as_str())];
    let began = Instant::now();
    let gateway = Gateway::start_among(&scene.home(), &variables).await;
    gateway.until_connected("free").await;
    let down = gateway.until_down("notes").await;
    println!("a silent keychain is said {:?} after the start", began.elapsed());
    let reason = failure(&down);
    assert_eq!(reason.code, Code::KeychainMissing);
    assert!(reason.what.contains("did not answer within 4 s"), "{reason}");
    assert_eq!(runtime(&gateway.home).origin, gateway.origin);
}

#[tokio::test]
async fn a_machine_without_a_desktop_takes_secrets_from_files_and_variables() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let proxy = Proxy::to(&upstream.url).await;
    let file = scene.path("token");
    std::fs::write(&file, "value-of-file\n").unwrap();
    let url = format!("{}?key=${{env:SCENE_KEY}}", proxy.url);
    let entry = format!(
        "{}headers.Authorization = \"Bearer ${{file:{}}}\"\n",
        entry::at("notes", &url),
        file.display()
    );
    scene.write("", &entry);
    let variables = [("SCENE_KEY", "a&b c"), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")];
    let gateway = Gateway::start_among(&scene.home(), &variables).await;
    let notes = gateway.until_connected("notes").await;
    assert!(!notes.target.contains("key="), "{}", notes.target);
    assert!(proxy.forwarded("?key=a%26b%20c") > 0);
    assert!(proxy.forwarded("Bearer value-of-file") > 0);
}

#[tokio::test]
async fn a_value_too_short_to_redact_is_reported() {
    let (scene, keyring) = (Scene::new(), Keyring::start().await);
    let set = evermoor(&scene.home(), &keyring, &["secret", "set", "pin"], "1234\n").await;
    let said = String::from_utf8(set.stderr).unwrap();
    assert!(set.status.success() && said.contains("shorter than 6 characters"), "{said}");
}

#[tokio::test]
async fn uninstalling_takes_secrets_out_of_the_keychain_unless_the_data_is_kept() {
    let (scene, keyring) = (Scene::new(), Keyring::start().await);
    let home = scene.path("person");
    std::fs::create_dir_all(&home).unwrap();
    // The user's default Evermoor, without `EVERMOOR_HOME`.
    let typed = async |arguments: &[&str], input: &str| {
        let mut command = command(built("evermoor"));
        command.env("HOME", &home).args(arguments).kill_on_drop(true);
        command.env("DBUS_SESSION_BUS_ADDRESS", keyring.address());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes()).await;
        let output = child.wait_with_output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    typed(&["secret", "set", "key"], "value-of-key").await;
    typed(&["uninstall", "--yes", "--keep-data"], "").await;
    assert!(typed(&["secret", "list"], "").await.starts_with("key "));
    let said = typed(&["uninstall", "--yes"], "").await;
    assert!(said.contains("Removed 1 secret from the keychain."), "{said}");
    assert_eq!(typed(&["secret", "list"], "").await, "");
}
