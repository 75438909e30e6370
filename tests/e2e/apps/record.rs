//! What a user can read about an application: samples, reports, and the output of commands.

use std::process::Output;

use evermoor_core::history::samples::ResourceSample;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::programs;
use evermoor_tests::scene::wait::until_some;
use http::Method;

use super::{connected, ended, gateway, gateway_among, until_app};

/// A command run by the user whose home is the scene.
async fn evermoor(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = programs::evermoor(&scene.home());
    command.args(arguments).env("HOME", scene.path("")).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn samples(gateway: &Gateway) -> Vec<ResourceSample> {
    let output = gateway.control(Method::GET, "/api/upstreams/pieces/samples").await;
    serde_json::from_value(output["samples"].clone()).unwrap()
}

#[tokio::test]
async fn its_resource_usage_is_sampled() {
    let scene = Scene::new();
    let (_pieces, gateway) = connected(&scene, "").await;
    // Samples are written with a short delay.
    let sample = until_some("a sample", async || samples(&gateway).await.first().copied()).await;
    assert!(sample.memory > 1_000_000, "{sample:?}");
}

#[tokio::test]
async fn a_report_explains_the_crash_and_the_restart_without_personal_data() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let home = scene.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    let gateway = gateway_among(&scene, &pieces, "", &[("HOME", home)]).await;
    until_app(&gateway, |app| app.memory.is_some()).await;
    pieces.newest().tell_last(Fault::Abort).await;
    ended(&gateway, 1).await;
    gateway.until_connected("pieces").await;
    let report = evermoor(&scene, &["incidents", "pieces", "--markdown"]).await;
    let report = text(&report.stdout);
    for wanted in [
        "# Outages of PiecesOS",
        "PiecesOS crashed (SIGABRT).",
        "Its process was killed by signal 6",
        "Starting PiecesOS again because it exited.",
        "Starting PiecesOS",
        "PiecesOS is back after ",
    ] {
        assert!(report.contains(wanted), "{wanted}\n{report}");
    }
    assert!(!report.contains(home), "{report}");
}

#[tokio::test]
async fn a_restart_prints_each_step_and_succeeds() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    let output = evermoor(&scene, &["restart", "pieces"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = text(&output.stdout);
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].ends_with(" s  A restart of PiecesOS was requested."), "{output}");
    assert!(lines[1].ends_with(" s  Asking PiecesOS to restart itself."), "{output}");
    assert!(lines.last().unwrap().contains(" s  PiecesOS is back after "), "{output}");
    assert_eq!(pieces.starts(), 2);
}

#[tokio::test]
async fn a_failed_restart_exits_with_1_and_says_what_to_do() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    pieces.uninstall();
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_down("pieces").await;
    let output = evermoor(&scene, &["restart", "pieces"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(said.contains("Start PiecesOS yourself"), "{said}");
}

#[tokio::test]
async fn the_status_shows_its_resource_usage() {
    let scene = Scene::new();
    let (_pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.trend.is_some()).await;
    let status = evermoor(&scene, &["status"]).await;
    let said = text(&status.stdout);
    assert_eq!(status.status.code(), Some(0), "{said}");
    assert!(said.lines().any(|line| line.trim().starts_with("Memory: ")), "{said}");
}
