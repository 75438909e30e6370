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
async fn a_server_with_sessions_is_greeted_as_it_wants() {
    conforms("initialize").await;
}

#[tokio::test]
async fn a_tool_is_called_as_a_server_with_sessions_wants() {
    conforms("tools_call").await;
}

#[tokio::test]
async fn a_stream_that_a_server_ended_is_taken_up_again_when_it_says() {
    conforms("sse-retry").await;
}

#[tokio::test]
async fn a_request_says_who_asks_and_in_which_revision() {
    conforms("request-metadata").await;
}

#[tokio::test]
async fn a_request_says_in_its_headers_what_it_is_about() {
    conforms("http-standard-headers").await;
}

#[tokio::test]
async fn parameters_are_repeated_in_headers_as_a_tool_wants() {
    conforms("http-custom-headers").await;
}

#[tokio::test]
async fn what_a_server_needs_is_brought_with_its_own_state() {
    conforms("sep-2322-client-request-state").await;
}

#[tokio::test]
async fn a_schema_reaches_the_editor_as_it_is() {
    conforms("json-schema-2020-12-preservation").await;
}
