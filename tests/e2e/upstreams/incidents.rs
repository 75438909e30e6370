//! Outages: how they are recorded and shown.

use std::path::Path;
use std::process::Output;

use evermoor_core::history::incident::Resolution;
use evermoor_platform::process::spawn::kill;
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::scene::programs;
use evermoor_tests::scene::wait::until_some;
use http::Method;
use serde_json::{Value, json};

async fn evermoor(home: &Path, arguments: &[&str]) -> Output {
    let mut command = programs::evermoor(home);
    command.args(arguments).env("USER", "ann").env("HOME", "/home/ann").output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn an_outage_is_shown_with_its_cause_duration_and_calls() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    assert_eq!(gateway.incidents("").await, [], "to be connected is no outage");
    let mut lost = gateway.editor("/mcp/notes").await;
    let losing = lost.attempt("hang", "lost");
    let killing = async {
        upstream.until_executed("lost").await;
        upstream.kill().await;
    };
    let (lost, ()) = tokio::join!(losing, killing);
    assert!(matches!(lost.verdict, Verdict::Unknown { .. }), "{lost:?}");
    gateway.until_down("notes").await;
    let lasts = gateway.until_incident(|one| one.calls.unknown == 1).await;
    assert_eq!((lasts.upstream.as_str(), lasts.end), ("notes", None));
    assert!(!lasts.sign.what.is_empty());
    let mut held = gateway.editor("/mcp/notes").await;
    let (held, ()) = tokio::join!(held.attempt("record", "held"), upstream.start_again());
    assert_eq!(held.verdict, Verdict::Done);
    let over = gateway.until_incident(|one| one.end.is_some() && one.calls.answered == 1).await;
    assert_eq!((over.id, over.end.unwrap().how), (lasts.id, Resolution::Reconnected));
    assert_eq!((over.calls.held, over.calls.unknown, over.calls.not_sent), (1, 1, 0));
    assert!(over.end.unwrap().at >= over.began);
}

#[tokio::test]
async fn a_call_that_was_returned_unsent_is_counted_as_such() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway_with("hold = 1", &[&upstream]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    let back = gateway.editor("/mcp/notes").await.attempt("record", "never").await;
    assert!(matches!(back.verdict, Verdict::NotSent { .. }), "{back:?}");
    let lasts = gateway.until_incident(|one| one.calls.not_sent == 1).await;
    assert_eq!((lasts.calls.held, lasts.calls.answered, lasts.calls.unknown), (1, 0, 0));
}

#[tokio::test]
async fn a_reconnect_that_a_person_requests_is_not_an_outage() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    gateway.control(Method::POST, "/api/upstreams/notes/restart").await;
    gateway.until_connected("notes").await;
    upstream
        .always("tools/list", evermoor_tests::fakes::upstream::script::Act::Wait { millis: 0 })
        .await;
    assert_eq!(gateway.incidents("").await, []);
}

#[tokio::test]
async fn removing_an_upstream_ends_its_outage() {
    let scene = Scene::new();
    let (mut upstream, other) = (scene.upstream("notes").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&upstream, &other]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    gateway.until_incident(|one| one.end.is_none()).await;
    scene.configure("", &[&other]);
    let over = gateway.until_incident(|one| one.end.is_some()).await;
    assert_eq!(over.end.unwrap().how, Resolution::Removed);
}

#[tokio::test]
async fn the_next_gateway_continues_the_record_of_a_killed_one() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway_with("hold = 1", &[&upstream]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    gateway.editor("/mcp/notes").await.attempt("record", "never").await;
    let before = gateway.until_incident(|one| one.calls.not_sent == 1).await;
    gateway.process.kill().await;
    let gateway = scene.gateway_with("hold = 1", &[&upstream]).await;
    gateway.until_down("notes").await;
    let lasts = gateway.incidents("").await.remove(0);
    assert_eq!((lasts.id, lasts.end, lasts.calls), (before.id, None, before.calls));
    assert!(lasts.unwatched > 0);
    assert!(lasts.events.iter().any(|event| event.what.starts_with("No gateway ran")), "{lasts:?}");
    gateway.editor("/mcp/notes").await.attempt("record", "never").await;
    gateway.until_incident(|one| one.calls.not_sent == 2).await;
    upstream.start_again().await;
    let over = gateway.until_incident(|one| one.end.is_some()).await;
    assert_eq!((over.id, over.end.unwrap().how), (before.id, Resolution::Reconnected));
}

#[tokio::test]
async fn incidents_are_printed_as_a_table_as_json_and_as_a_report() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let none = evermoor(&scene.home(), &["incidents"]).await;
    assert_eq!(text(&none.stdout), "No outages in the last 7 d.\n");
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again().await;
    gateway.until_incident(|one| one.end.is_some()).await;

    let table = text(&evermoor(&scene.home(), &["incidents", "notes"]).await.stdout);
    assert!(table.starts_with("1 outage in the last 7 d, "), "{table}");
    assert!(table.contains("  ● notes   20") && table.contains("no calls"), "{table}");

    let data = evermoor(&scene.home(), &["incidents", "--since", "1h", "--json"]).await;
    let data: Value = serde_json::from_slice(&data.stdout).unwrap();
    assert_eq!((&data["schema"], &data["incidents"][0]["upstream"]), (&json!(1), &json!("notes")));

    let report = evermoor(&scene.home(), &["incidents", "notes", "--markdown"]).await;
    let report = text(&report.stdout);
    assert!(report.starts_with("# Outages of notes\n"), "{report}");
    assert!(report.contains("- notes: fake 1\n"), "{report}");
    assert!(report.contains("**It reconnected.**"), "{report}");
    assert!(!report.contains("ann") && !report.contains("/home/"), "{report}");

    let unknown = evermoor(&scene.home(), &["incidents", "nobody"]).await;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("There is no server `nobody`."));
    let mistyped = evermoor(&scene.home(), &["incidents", "--since", "soon"]).await;
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(text(&mistyped.stderr).contains("such as 36h or 30d"));
}

#[tokio::test]
async fn the_report_about_one_upstream_has_nothing_of_another() {
    let scene = Scene::new();
    let (mut notes, mut other) = (scene.upstream("notes").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&notes, &other]).await;
    for (name, upstream) in [("notes", &mut notes), ("other", &mut other)] {
        gateway.until_connected(name).await;
        upstream.kill().await;
        gateway.until_down(name).await;
    }
    until_some("both outages", async || (gateway.incidents("").await.len() == 2).then_some(()))
        .await;
    for arguments in [&["incidents", "notes", "--markdown"][..], &["incidents", "notes"]] {
        let report = text(&evermoor(&scene.home(), arguments).await.stdout);
        assert!(report.contains("notes") && !report.contains("other"), "{report}");
    }
}

#[tokio::test]
async fn incidents_can_be_filtered_by_upstream_and_time() {
    let scene = Scene::new();
    let (gateway, mut upstream) = scene.gateway_in_outage("notes").await;
    upstream.start_again().await;
    let over = gateway.until_incident(|one| one.end.is_some()).await;
    let after = over.end.unwrap().at + 1;
    assert_eq!(gateway.incidents("?upstream=notes").await.len(), 1);
    assert_eq!(gateway.incidents("?upstream=other").await, []);
    assert_eq!(gateway.incidents(&format!("?since={}", over.began)).await.len(), 1);
    assert_eq!(gateway.incidents(&format!("?since={after}")).await, []);
}

#[tokio::test]
async fn a_corrupt_history_is_set_aside_and_a_new_one_begins() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    assert_eq!(gateway.incidents("").await, [], "there is a file to answer from");
    gateway.process.kill().await;
    let file = scene.home().join("data/history.sqlite");
    let damage = vec![b'?'; 10_000];
    // SQLite would repair the file from its write-ahead log.
    std::fs::remove_file(file.with_extension("sqlite-wal")).unwrap();
    std::fs::write(&file, &damage).unwrap();
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    gateway.until_incident(|one| one.upstream == "notes").await;
    assert_eq!(std::fs::read(file.with_extension("sqlite.damaged")).unwrap(), damage);
}

#[tokio::test]
async fn an_unwritable_folder_loses_the_history_but_no_call() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    std::fs::create_dir_all(scene.home().join("data/history.sqlite")).unwrap();
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let (held, ()) = tokio::join!(editor.attempt("record", "a"), upstream.start_again());
    assert_eq!((held.verdict, upstream.ledger.executions("a")), (Verdict::Done, 1));
    let asked = evermoor(&scene.home(), &["incidents"]).await;
    assert_eq!(asked.status.code(), Some(1));
    assert!(text(&asked.stderr).contains("The history cannot be read"), "{}", text(&asked.stderr));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_costs_the_history_and_no_call() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let started = evermoor_tests::scene::small_disk::SmallDisk::start(&scene.home(), 512).await;
    let Some((gateway, disk)) = started else {
        return println!("this machine lets nobody make a small disk");
    };
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again().await;
    let first = gateway.until_incident(|one| one.end.is_some()).await;
    disk.fill();
    for nonce in ["a", "b", "c"] {
        upstream.kill().await;
        gateway.until_down("notes").await;
        let mut editor = gateway.editor("/mcp/notes").await;
        let (held, ()) = tokio::join!(editor.attempt("record", nonce), upstream.start_again());
        assert_eq!((held.verdict, upstream.ledger.executions(nonce)), (Verdict::Done, 1));
    }
    disk.empty();
    upstream.kill().await;
    gateway.until_down("notes").await;
    let next = gateway.until_incident(|one| one.id != first.id && one.end.is_none()).await;
    assert!(next.began > first.began);
}

#[tokio::test]
async fn an_outage_of_a_connection_that_one_editor_has_to_itself_is_recorded() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let entry = format!("{}sharing = \"per-client\"\n", program.entry());
    let gateway = scene.gateway_of("", &entry).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let losing = async {
        program.until_executed("lost").await;
        // The first process has the shared connection, and this one belongs to the editor.
        kill(program.instance(2).await).unwrap();
    };
    let (lost, ()) = tokio::join!(editor.attempt("hang", "lost"), losing);
    assert!(matches!(lost.verdict, Verdict::Unknown { .. }), "{lost:?}");
    let outage = gateway.until_incident(|one| one.end.is_some()).await;
    assert_eq!(outage.calls.unknown, 1, "{outage:?}");
    assert!(outage.sign.what.starts_with("On the connection of one editor: "), "{outage:?}");
}
