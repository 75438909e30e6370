//! The first run: offered once, and completed by a real request to the endpoint.

use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use http::Method;

#[tokio::test]
async fn the_first_run_is_offered_once_and_only_without_a_configuration() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let status = gateway.status().await;
    assert!(!status.first_run && !status.supervised);
    gateway.control(Method::POST, "/api/welcome").await;
    assert!(scene.home().join("data/welcomed").exists());
}

#[tokio::test]
async fn a_gateway_that_the_system_runs_says_so() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let gateway = Gateway::start_among(&scene.home(), &[("EVERMOOR_SUPERVISED", "1")]).await;
    assert!(gateway.status().await.supervised);
}

#[tokio::test]
async fn the_gateway_tests_itself_as_an_editor_would() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let test = gateway.control(Method::POST, "/api/selftest").await;
    assert_eq!((&test["ok"], &test["tools"]), (&true.into(), &4.into()), "{test}");
    assert_eq!(gateway.status().await.attached, [], "it was nobody's editor");
}
