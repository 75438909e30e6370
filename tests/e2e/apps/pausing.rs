//! The gateway leaves a paused application alone.

use std::net::Ipv4Addr;
use std::time::Duration;

use evermoor_core::api::UpstreamState;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Area, Fault};
use evermoor_tests::gateway::{Gateway, http};
use http::{Method, StatusCode};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::{connected, editor, incidents, remember, until_app};

/// Long enough for several checks, if there were any.
const A_WHILE: Duration = Duration::from_secs(2);

async fn pause(gateway: &Gateway) {
    gateway.control(Method::POST, "/api/upstreams/pieces/pause").await;
    let left_alone = |upstream: &evermoor_core::api::UpstreamStatus| {
        matches!(upstream.link, UpstreamState::Paused { .. }) && upstream.app.is_none()
    };
    gateway.until("pieces", left_alone).await;
}

#[tokio::test]
async fn a_paused_application_gets_no_requests() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pause(&gateway).await;
    // The next health request is refused, and only that one.
    pieces.tell(Fault::Refuse { area: Area::Health, status: 418, times: Some(1) }).await;
    pieces.tell(Fault::Refuse { area: Area::Mcp, status: 418, times: Some(1) }).await;
    let mut looking = gateway.look("pieces").await;
    looking.next().await;
    assert!(timeout(A_WHILE, looking.next()).await.is_err(), "something is seen of it");
    for path in ["/.well-known/version", "/model_context_protocol/schema_versions"] {
        let answer = http().get(pieces.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::IM_A_TEAPOT, "{path} was asked before");
    }
}

#[tokio::test]
async fn an_application_that_dies_while_paused_is_restarted_only_when_it_is_resumed() {
    let scene = Scene::new();
    let (mut pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pause(&gateway).await;
    pieces.newest().tell_last(Fault::Abort).await;
    let in_its_place = TcpListener::bind((Ipv4Addr::LOCALHOST, pieces.port())).await.unwrap();
    assert!(timeout(A_WHILE, in_its_place.accept()).await.is_err(), "somebody looks for it");
    assert_eq!((pieces.starts(), incidents(&gateway).await), (1, vec![]));
    drop(in_its_place);
    let life = pieces.launch().await;
    gateway.control(Method::POST, "/api/upstreams/pieces/resume").await;
    until_app(&gateway, |app| app.pid == Some(life.pid)).await;
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "a").await, "a");
}
