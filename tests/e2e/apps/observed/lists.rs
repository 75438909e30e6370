//! Tool lists: never empty without reason, never stale, and changes are announced.

use evermoor_tests::fakes::pieces::Area;

use super::*;
use crate::apps::restart;

#[tokio::test]
async fn changed_tools_are_announced_and_nothing_hangs() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let (mut notifications, mut editor) = (notifications(&gateway).await, editor(&gateway).await);
    assert_eq!(tools(&mut editor).await, ITS_OWN);
    pieces.alter(|settings| settings.tools = vec!["new".into()]);
    announce_until_told(&pieces, &mut notifications).await;
    assert_eq!(tools(&mut editor).await[2], "new");
    assert_eq!(editor.attempt("new", "a").await.text, "a");
    let merged = tools(&mut gateway.editor("/mcp").await).await;
    assert_eq!(merged[2], "pieces__new");
}

#[tokio::test]
async fn a_tool_added_by_an_upgrade_is_announced_and_listed() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    let (mut notifications, mut editor) = (notifications(&gateway).await, editor(&gateway).await);
    pieces.alter(|settings| {
        (settings.version, settings.tools) = ("12.4.0".into(), vec!["new".into()]);
    });
    assert_eq!(restart(&gateway).await.end.unwrap().failure, None);
    until_told(&mut notifications).await;
    assert_eq!(tools(&mut editor).await[2], "new");
    until_app(&gateway, |app| app.version.as_deref() == Some("12.4.0")).await;
}

#[tokio::test]
async fn a_list_that_is_slow_after_a_new_connection_is_never_seen_empty() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let (mut one, mut all) = (editor(&gateway).await, gateway.editor("/mcp").await);
    pieces.tell(Fault::Slow { area: Area::Lists, millis: 1000 }).await;
    pieces.tell(Fault::Forget).await;
    assert_eq!(remember(&mut one, "in a new session").await, "in a new session");
    let (in_all, in_one) = tokio::join!(tools(&mut all), tools(&mut one));
    assert_eq!((in_all.len(), in_one.as_slice()), (2, &ITS_OWN.map(str::to_owned)[..]));
}

#[tokio::test]
async fn tools_of_an_application_launched_after_the_gateway_are_announced() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    let mut notifications = notifications(&gateway).await;
    gateway.until_down("pieces").await;
    pieces.launch().await;
    until_told(&mut notifications).await;
    assert_eq!(tools(&mut editor(&gateway).await).await, ITS_OWN);
}
