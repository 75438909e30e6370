//! Editors and servers built with each SDK, in every combination, through the gateway.
//!
//! One SDK only supports sessions; the others speak 2026-07-28 when asked to. So both kinds occur
//! on either side, and none of them was written with Evermoor in mind.

use evermoor_tests::Scene;
use evermoor_tests::interop::{EditorRoute, RepertoireReport, RepertoireServer, Sdk, look};

async fn meet(editor: Sdk, sdk: Sdk) {
    let scene = Scene::new();
    let server = RepertoireServer::start(&scene, sdk);
    let gateway = scene.gateway_of("", &server.entry()).await;
    gateway.until_connected("peer").await;
    for (route, nonce) in [(EditorRoute::Http, "over http"), (EditorRoute::Shim, "over the shim")] {
        let mut wanted = RepertoireReport::wanted(nonce);
        // The Python package no longer declares logging, so a session cannot set a level.
        if (editor, sdk) == (Sdk::FirstTypeScript, Sdk::Python) {
            wanted.logged = None;
        }
        assert_eq!(look(editor, route, &gateway, nonce).await, wanted, "{route:?}");
        assert_eq!(server.ledger.executions(nonce), 1, "{route:?}");
        server.ledger.until_executed(&format!("cancelled {nonce}")).await;
    }
}

macro_rules! pairs {
    ($($name:ident: $editor:ident, $server:ident;)*) => {
        $(#[tokio::test]
        async fn $name() {
            Box::pin(meet(Sdk::$editor, Sdk::$server)).await;
        })*
    };
}

pairs! {
    an_editor_of_the_first_typescript_sdk_with_a_server_of_the_same: FirstTypeScript, FirstTypeScript;
    an_editor_of_the_first_typescript_sdk_with_a_server_of_the_second: FirstTypeScript, SecondTypeScript;
    an_editor_of_the_first_typescript_sdk_with_a_server_in_python: FirstTypeScript, Python;
    an_editor_of_the_first_typescript_sdk_with_a_server_in_rust: FirstTypeScript, Rust;
    an_editor_of_the_second_typescript_sdk_with_a_server_of_the_first: SecondTypeScript, FirstTypeScript;
    an_editor_of_the_second_typescript_sdk_with_a_server_of_the_same: SecondTypeScript, SecondTypeScript;
    an_editor_of_the_second_typescript_sdk_with_a_server_in_python: SecondTypeScript, Python;
    an_editor_of_the_second_typescript_sdk_with_a_server_in_rust: SecondTypeScript, Rust;
    an_editor_in_python_with_a_server_of_the_first_typescript_sdk: Python, FirstTypeScript;
    an_editor_in_python_with_a_server_of_the_second_typescript_sdk: Python, SecondTypeScript;
    an_editor_in_python_with_a_server_in_python: Python, Python;
    an_editor_in_python_with_a_server_in_rust: Python, Rust;
    an_editor_in_rust_with_a_server_of_the_first_typescript_sdk: Rust, FirstTypeScript;
    an_editor_in_rust_with_a_server_of_the_second_typescript_sdk: Rust, SecondTypeScript;
    an_editor_in_rust_with_a_server_in_python: Rust, Python;
    an_editor_in_rust_with_a_server_in_rust: Rust, Rust;
}
