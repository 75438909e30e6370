//! The other presets, each against a server with the properties of the real application: a process
//! of that name that serves MCP at that path. Only ports and process names differ, so that tests
//! can run in parallel and next to the real applications.

use evermoor_platform::process::info;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::pieces::Pieces;
use evermoor_tests::fakes::pieces::ports::Range;
use evermoor_tests::fakes::sse_server::EventsServer;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::oracle::ledger::Ledger;
use evermoor_tests::scene::programs::{Process, built};
use evermoor_tests::{PATIENCE, Scene};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::until_app;

/// A gateway that uses this preset to find an application, with one port and one process name.
async fn gateway(scene: &Scene, preset: &str, port: u16, process: &str) -> Gateway {
    let mut text =
        format!("extends = \"{preset}\"\n[find]\nports = \"{port}-{}\"\nowner = true\n", port + 2);
    for system in ["linux", "macos", "windows"] {
        text += &format!("[{system}]\nprocesses = [{process:?}]\n");
    }
    let folder = scene.home().join("presets");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{preset}.toml")), text).unwrap();
    scene.gateway_of("", &format!("[upstreams.pieces]\npreset = \"{preset}\"\n")).await
}

/// An MCP server under a given process name.
async fn host(scene: &Scene, name: &str, port: u16) -> (Process, Ledger) {
    let program = scene.path(name);
    if std::fs::hard_link(built("fake-upstream"), &program).is_err() {
        std::fs::copy(built("fake-upstream"), &program).unwrap();
    }
    let ledger = Ledger::at(scene.path("ledger"));
    let mut process = Process::start(&program, |command| {
        command.arg(format!("127.0.0.1:{port}")).arg(ledger.path());
    });
    process.line().await;
    (process, ledger)
}

/// A foreign process at an application's port that records what it receives: one text per
/// connection.
async fn foreign_process(tasks: &mut JoinSet<()>, port: u16) -> watch::Receiver<Vec<String>> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let (show, sent) = watch::channel(Vec::new());
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => request.push(byte),
                    Err(_) => break,
                }
            }
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
            let _ = stream.write_all(answer).await;
            show.send_modify(|sent| sent.push(String::from_utf8_lossy(&request).into_owned()));
        }
    });
    sent
}

async fn is_found_by_its_process_and_used(preset: &str, title: &str) {
    let (scene, range) = (Scene::new(), Range::claim());
    let name = format!("app-{}{}", range.first, std::env::consts::EXE_SUFFIX);
    let (process, ledger) = host(&scene, &name, range.first).await;
    let gateway = gateway(&scene, preset, range.first, &name).await;
    let seen = gateway.until_connected("pieces").await;
    assert_eq!(seen.title, title);
    let app = until_app(&gateway, |app| app.pid.is_some()).await;
    assert_eq!((app.pid, app.port), (Some(process.pid()), Some(range.first)));
    let called = gateway.editor("/mcp/pieces").await.attempt("record", "a").await;
    assert_eq!((called.verdict, ledger.executions("a")), (Verdict::Done, 1));
}

async fn a_stranger_is_sent_nothing(preset: &str) {
    let (scene, range, mut tasks) = (Scene::new(), Range::claim(), JoinSet::new());
    let mut sent = foreign_process(&mut tasks, range.first).await;
    let _gateway = gateway(&scene, preset, range.first, "nobody").await;
    let looks = timeout(PATIENCE, sent.wait_for(|sent| sent.len() >= 3)).await.unwrap();
    let looks = looks.unwrap();
    assert!(looks.iter().all(String::is_empty), "{looks:?}");
}

#[tokio::test]
async fn figma_is_found_by_its_process_and_used() {
    is_found_by_its_process_and_used("figma", "Figma").await;
}

#[tokio::test]
async fn sketch_is_found_by_its_process_and_used() {
    is_found_by_its_process_and_used("sketch", "Sketch").await;
}

#[tokio::test]
async fn intellij_idea_is_found_by_its_process_and_used() {
    is_found_by_its_process_and_used("intellij-idea", "IntelliJ IDEA").await;
}

#[tokio::test]
async fn an_older_intellij_idea_is_used_over_its_older_transport() {
    let (scene, range) = (Scene::new(), Range::claim());
    let _server = EventsServer::at(&format!("127.0.0.1:{}", range.first + 1), "/sse").await;
    let this = info::of(std::process::id()).unwrap();
    let gateway = gateway(&scene, "intellij-idea", range.first, &this.name).await;
    let called = gateway.editor("/mcp/pieces").await.attempt("record", "a").await;
    assert_eq!(called.verdict, Verdict::Done);
}

#[tokio::test]
async fn a_foreign_process_at_the_port_of_figma_gets_no_request() {
    a_stranger_is_sent_nothing("figma").await;
}

#[tokio::test]
async fn a_foreign_process_at_the_port_of_sketch_gets_no_request() {
    a_stranger_is_sent_nothing("sketch").await;
}

#[tokio::test]
async fn a_foreign_process_at_the_port_of_intellij_idea_gets_no_request() {
    a_stranger_is_sent_nothing("intellij-idea").await;
}

#[tokio::test]
async fn a_foreign_process_at_the_port_of_pieces_os_gets_only_the_identity_check() {
    let (scene, mut tasks) = (Scene::new(), JoinSet::new());
    let mut pieces = Pieces::install(&scene).await;
    let mut sent = foreign_process(&mut tasks, pieces.range.first).await;
    let gateway = super::gateway(&scene, &pieces, "").await;
    let asked = |sent: &Vec<String>| sent.iter().filter(|text| !text.is_empty()).count();
    let twice = timeout(PATIENCE, sent.wait_for(|sent| asked(sent) >= 2)).await;
    drop(twice.unwrap().unwrap());
    let life = pieces.launch().await;
    let app = until_app(&gateway, |app| app.pid == Some(life.pid)).await;
    assert_eq!(app.port, Some(pieces.range.first + 1), "it is found beside the stranger");
    for text in sent.borrow().iter().filter(|text| !text.is_empty()) {
        assert!(text.starts_with("GET /.well-known/version HTTP/1.1\r\n"), "{text}");
        let head = text.to_ascii_lowercase();
        assert!(!head.contains("authorization") && !head.contains("cookie"), "{text}");
    }
}
