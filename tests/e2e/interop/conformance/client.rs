//! The suite as the server and Evermoor as its client, on behalf of an editor that only supports
//! sessions.

use evermoor_tests::conformance::{Client, try_client};

async fn conforms(scenario: &str) {
    let found = try_client(Client::Evermoor, scenario).await;
    let failed: Vec<_> = found.failed().map(|check| (check, found.complaint(check))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(found.passed().next().is_some(), "nothing was checked");
}

#[tokio::test]
async fn the_handshake_with_a_session_server_conforms() {
    conforms("initialize").await;
}

#[tokio::test]
async fn a_call_to_a_session_server_conforms() {
    conforms("tools_call").await;
}

#[tokio::test]
async fn a_stream_that_the_server_ended_is_resumed_after_the_requested_time() {
    conforms("sse-retry").await;
}

#[tokio::test]
async fn a_request_names_the_client_and_the_protocol_version() {
    conforms("request-metadata").await;
}

#[tokio::test]
async fn a_request_names_its_method_and_target_in_headers() {
    conforms("http-standard-headers").await;
}

#[tokio::test]
async fn parameters_are_repeated_in_the_headers_that_a_tool_names() {
    conforms("http-custom-headers").await;
}

#[tokio::test]
async fn required_input_is_sent_with_the_servers_state() {
    conforms("sep-2322-client-request-state").await;
}

#[tokio::test]
async fn a_schema_reaches_the_editor_unchanged() {
    conforms("json-schema-2020-12-preservation").await;
}
