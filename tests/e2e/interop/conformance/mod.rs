//! The conformance suite, directly against a server and through the gateway: the gateway may lose
//! nothing. `npm run conformance` prints the same comparison.
//!
//! - [`client`]: the gateway as a client of the suite
//! - [`known_losses`]: the accepted losses

mod client;
mod known_losses;

use std::collections::BTreeSet;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::conformance::{
    Comparison, Findings, Requirements, ServerVersions, directly, through_a_gateway,
};

use known_losses::LOST;

const OLDER: [SessionVersion; 3] =
    [SessionVersion::V2025_06_18, SessionVersion::V2025_03_26, SessionVersion::V2024_11_05];

#[tokio::test]
async fn what_conforms_to_2025_11_25_directly_does_so_through_the_gateway() {
    compare("2025-11-25 ", Requirements::Sessions, ServerVersions::Both).await;
}

#[tokio::test]
async fn what_conforms_to_2026_07_28_directly_does_so_through_the_gateway() {
    compare("2026-07-28 ", Requirements::Stateless, ServerVersions::Both).await;
}

#[tokio::test]
async fn a_server_that_knows_sessions_alone_loses_nothing_through_the_gateway() {
    compare("legacy ", Requirements::Sessions, ServerVersions::SESSIONS).await;
}

#[tokio::test]
async fn a_server_that_knows_sessions_alone_conforms_to_2026_07_28_as_far_as_it_can() {
    compare("bridged ", Requirements::Stateless, ServerVersions::SESSIONS).await;
}

#[tokio::test]
async fn a_server_that_speaks_2026_07_28_alone_loses_nothing_through_the_gateway() {
    compare(
        "2026-07-28 ",
        Requirements::Stateless,
        ServerVersions::Only(ProtocolVersion::Stateless),
    )
    .await;
}

#[tokio::test]
async fn a_server_that_speaks_2026_07_28_alone_conforms_to_2025_11_25_as_far_as_it_can() {
    compare(
        "2025-11-25 ",
        Requirements::Sessions,
        ServerVersions::Only(ProtocolVersion::Stateless),
    )
    .await;
}

#[tokio::test]
async fn a_server_of_any_older_revision_does_as_well_with_sessions_as_one_of_the_last() {
    let direct = directly(Requirements::Sessions).await;
    for revision in OLDER {
        let through = through_a_gateway(Requirements::Sessions, session(revision)).await;
        judge("legacy ", &direct, &through);
    }
}

#[tokio::test]
async fn a_server_of_any_older_revision_does_as_well_with_2026_07_28_as_one_of_the_last() {
    let direct = directly(Requirements::Stateless).await;
    for revision in OLDER {
        let through = through_a_gateway(Requirements::Stateless, session(revision)).await;
        judge("bridged ", &direct, &through);
    }
}

fn session(revision: SessionVersion) -> ServerVersions {
    ServerVersions::Only(ProtocolVersion::Session(revision))
}

/// The suite waits a fixed time for this notification and misses it on a busy machine, even without
/// a gateway.
const UNSURE: &str = "server-stateless sep-2575-server-sends-prompts-list-changed-on-subscription";

async fn compare(case: &str, requirements: Requirements, versions: ServerVersions) {
    let Comparison { direct, through } = Comparison::make(requirements, versions).await;
    judge(case, &direct, &through);
}

#[expect(clippy::print_stdout, reason = "the counts are worth a look when the test has failed")]
fn judge(case: &str, direct: &Findings, through: &Findings) {
    println!("{case}directly: {}", direct.count());
    println!("{case}through the gateway: {}", through.count());
    // The fixture has no tasks extension, which no version requires.
    let counts = |check: &&str| !check.starts_with("tasks-") && *check != UNSURE;
    let lacking: Vec<_> = direct.failed().filter(counts).collect();
    assert!(lacking.is_empty(), "the fixture itself is at fault: {lacking:?}");
    let mut lost = direct.lost_in(through);
    lost.remove(UNSURE);
    let known: BTreeSet<&str> = LOST.iter().filter_map(|check| check.strip_prefix(case)).collect();
    let new: Vec<_> = lost.iter().filter(|(check, _)| !known.contains(**check)).collect();
    assert!(new.is_empty(), "these pass directly and not through the gateway: {new:#?}");
    let back: Vec<_> = known.iter().filter(|check| !lost.contains_key(**check)).collect();
    assert!(back.is_empty(), "these are not lost any more, so they must leave the list: {back:#?}");
}
