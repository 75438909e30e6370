//! The suite as the server and Evermoor as its client, on behalf of an editor that only supports
//! sessions: every scenario that the suite has for clients, in every version that it applies to.
//! [`LEFT_OUT`] says which extensions are missing, and why.

use evermoor_tests::conformance::{
    ClientScenario, ConformanceClient, LEFT_OUT, client_scenarios, try_client,
};

/// The parts of the list, which run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Calls,
    Discovery,
    Identity,
    Authentication,
    Scopes,
    MoreScopes,
    Issuers,
    Binding,
}

impl Part {
    fn of(scenario: &ClientScenario) -> Self {
        let starts = |words: &[&str]| words.iter().any(|word| scenario.name.starts_with(word));
        if !scenario.has_sign_in() {
            Self::Calls
        } else if starts(&["auth/scope-step-up", "auth/scope-retry"]) {
            Self::MoreScopes
        } else if starts(&["auth/scope", "auth/offline"]) {
            Self::Scopes
        } else if starts(&["auth/iss-"]) {
            Self::Issuers
        } else if starts(&["auth/resource", "auth/metadata-issuer", "auth/auth"]) {
            Self::Binding
        } else if starts(&["auth/token-endpoint-auth"]) {
            Self::Authentication
        } else if starts(&["auth/metadata", "auth/2025-03-26"]) {
            Self::Discovery
        } else {
            Self::Identity
        }
    }
}

async fn conforms(part: Part) {
    let scenarios = client_scenarios().await.into_iter();
    let mut tried = 0;
    for scenario in scenarios.filter(|one| one.is_supported() && Part::of(one) == part) {
        let found = try_client(ConformanceClient::Evermoor, &scenario).await;
        let failed: Vec<_> = found.failed().map(|check| (check, found.complaint(check))).collect();
        assert!(failed.is_empty(), "{scenario:?}: {failed:#?}");
        assert!(found.passed().next().is_some(), "{scenario:?}: nothing was checked");
        tried += 1;
    }
    assert!(tried > 1, "the suite has no such scenarios");
}

#[tokio::test]
async fn only_extensions_of_the_suite_are_left_out_each_for_a_reason() {
    let known = client_scenarios().await;
    let versions = |name: &str| known.iter().filter(|scenario| scenario.name == name).count();
    for (name, why) in LEFT_OUT {
        assert_eq!(versions(name), 1, "{name} is in the list, and in no version of MCP");
        assert!(!why.is_empty(), "{name}");
    }
    let supported: Vec<_> = known.iter().filter(|scenario| scenario.is_supported()).collect();
    let sign_ins = supported.iter().filter(|scenario| scenario.has_sign_in()).count();
    let calls = supported.len() - sign_ins;
    let page = include_str!("../../../../docs/how-it-works.md");
    for said in [
        format!("has {} scenarios for clients", known.len()),
        format!(
            "{} pass without a warning: {calls} about calls and {sign_ins} about",
            supported.len()
        ),
    ] {
        assert!(page.contains(&said), "docs/how-it-works.md does not say: {said}");
    }
}

#[tokio::test]
async fn calls_conform_in_every_version() {
    conforms(Part::Calls).await;
}

#[tokio::test]
async fn the_authorization_server_is_found_wherever_it_describes_itself() {
    conforms(Part::Discovery).await;
}

#[tokio::test]
async fn the_client_identifies_itself_as_the_server_wants() {
    conforms(Part::Identity).await;
}

#[tokio::test]
async fn the_client_authenticates_as_the_token_endpoint_wants() {
    conforms(Part::Authentication).await;
}

#[tokio::test]
async fn the_scopes_are_those_that_the_server_names() {
    conforms(Part::Scopes).await;
}

#[tokio::test]
async fn a_call_that_lacked_scopes_adds_them_to_the_next_sign_in() {
    conforms(Part::MoreScopes).await;
}

#[tokio::test]
async fn a_callback_of_another_issuer_gets_no_token() {
    conforms(Part::Issuers).await;
}

#[tokio::test]
async fn tokens_are_bound_to_their_authorization_server_and_their_resource() {
    conforms(Part::Binding).await;
}
