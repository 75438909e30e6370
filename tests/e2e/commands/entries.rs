//! Configuration entries that commands add, remove and turn off.

use evermoor_tests::Scene;

use super::{evermoor, json, text};

fn config(scene: &Scene) -> String {
    std::fs::read_to_string(scene.home().join("config.toml")).unwrap()
}

#[tokio::test]
async fn an_upstream_is_added_turned_off_turned_on_and_removed() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway_of("# mine\n", "").await;
    let words =
        ["add", "notes", "--url", &upstream.url, "--header", "X-Team: blue", "--title", "Notes"];
    let added = evermoor(&scene.home(), &words).await;
    let said = text(&added.stdout);
    assert_eq!(added.status.code(), Some(0), "{said}{}", text(&added.stderr));
    assert!(said.contains("Notes is connected: "), "{said}");
    assert!(config(&scene).contains("# mine"), "{}", config(&scene));
    assert!(config(&scene).contains("X-Team"));

    let off = json(&evermoor(&scene.home(), &["disable", "notes", "--json"]).await);
    assert_eq!(off["upstream"]["link"]["state"], "off");
    assert_eq!(evermoor(&scene.home(), &["enable", "notes"]).await.status.code(), Some(0));
    gateway.until_connected("notes").await;
    let twice = evermoor(&scene.home(), &["add", "notes", "--", "npx"]).await;
    assert!(text(&twice.stderr).contains("A server named `notes` already exists"));
    let removed = evermoor(&scene.home(), &["remove", "notes"]).await;
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert!(!config(&scene).contains("upstreams.notes"));
}

#[tokio::test]
async fn an_entry_that_would_be_a_mistake_is_refused_and_the_file_is_left_alone() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let before = config(&scene);
    for (arguments, why) in [
        (vec!["add", "Bad Name", "--url", "http://x"], "Bad Name"),
        (vec!["add", "notes", "--url", "ftp://x"], "http or https"),
        (vec!["disable", "nobody"], "There is no server `nobody`"),
    ] {
        let refused = evermoor(&scene.home(), &arguments).await;
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
        assert_eq!(config(&scene), before);
    }
    let program = ["add", "files", "--env", "LEVEL=2", "--", "npx", "-y", "server"];
    let added = evermoor(&scene.home(), &program).await;
    assert!(text(&added.stderr).contains("not running"), "{}", text(&added.stderr));
    assert!(config(&scene).contains("command = \"npx\""), "{}", config(&scene));
}
