//! Every editor version with every server version, each over every transport it has: the whole
//! repertoire, and the death of the server in the middle.
//!
//! - [`table`]: what is tried between which versions
//! - [`repertoire`]: the steps
//! - [`editor`], [`connection`]: an editor of one version, and its connection

mod connection;
mod editor;
mod repertoire;
mod table;

use std::any::Any;
use std::panic::AssertUnwindSafe;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::Scene;
use evermoor_tests::fakes::single_version::{FakeTransport, SingleVersionUpstream};
use evermoor_tests::gateway::Gateway;
use futures_util::FutureExt as _;
use futures_util::future::join_all;

use connection::MatrixRoute;
use editor::MatrixEditor;
use repertoire::Cell;
use table::{Feature, servers};

macro_rules! editors {
    ($($name:ident: $protocol_version:expr, $route:ident;)*) => {
        $(#[tokio::test]
        async fn $name() {
            Box::pin(run($protocol_version, MatrixRoute::$route)).await;
        })*
    };
}

editors! {
    an_editor_of_2024_11_05_over_sse_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2024_11_05), Sse;
    an_editor_of_2025_03_26_over_http_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_03_26), Http;
    an_editor_of_2025_06_18_over_http_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_06_18), Http;
    an_editor_of_2025_11_25_over_http_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_11_25), Http;
    an_editor_of_2026_07_28_over_http_works_with_every_server: ProtocolVersion::Stateless, Http;
    an_editor_of_2024_11_05_over_the_shim_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2024_11_05), Shim;
    an_editor_of_2025_03_26_over_the_shim_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_03_26), Shim;
    an_editor_of_2025_06_18_over_the_shim_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_06_18), Shim;
    an_editor_of_2025_11_25_over_the_shim_works_with_every_server: ProtocolVersion::Session(SessionVersion::V2025_11_25), Shim;
    an_editor_of_2026_07_28_over_the_shim_works_with_every_server: ProtocolVersion::Stateless, Shim;
}

/// One gateway with every server, and one editor for each.
async fn run(protocol_version: ProtocolVersion, route: MatrixRoute) {
    let scene = Scene::new();
    let mut upstreams = Vec::new();
    for (server, transport) in servers() {
        let name = format!("of-{}-{}", server.as_str(), over(transport));
        upstreams.push(SingleVersionUpstream::start(&scene, &name, server, transport).await);
    }
    let entries: String = upstreams.iter().map(SingleVersionUpstream::entry).collect();
    let gateway = scene.gateway_of("", &entries).await;
    let cells = upstreams
        .into_iter()
        .map(|upstream| cell(&gateway, upstream, protocol_version, route).boxed_local());
    let outcomes = join_all(cells).await;
    let tried: usize = outcomes.iter().map(|(tried, _)| tried).sum();
    let failed: Vec<String> = outcomes.into_iter().flat_map(|(_, failed)| failed).collect();
    let holds = tried - failed.len();
    assert!(failed.is_empty(), "{holds} of {tried} hold; not:\n{}", failed.join("\n"));
}

/// How many steps were tried with one server, and which failed.
async fn cell(
    gateway: &Gateway,
    upstream: SingleVersionUpstream,
    protocol_version: ProtocolVersion,
    route: MatrixRoute,
) -> (usize, Vec<String>) {
    let (server, transport) = (upstream.protocol_version, upstream.transport);
    gateway.until_connected(&upstream.name).await;
    let editor = MatrixEditor::open(gateway, &upstream.name, protocol_version, route).await;
    let mut cell = Cell { upstream, editor };
    let (mut tried, mut failed) = (0, Vec::new());
    for feature in Feature::ALL {
        if feature.left_out(protocol_version, server).is_some() {
            continue;
        }
        tried += 1;
        if let Err(panic) = AssertUnwindSafe(cell.has(feature)).catch_unwind().await {
            failed.push(format!(
                "{feature:?}: editor of {} ({route:?}), server of {} ({transport:?}): {}",
                protocol_version.as_str(),
                server.as_str(),
                words(&*panic),
            ));
        }
    }
    (tried, failed)
}

fn over(transport: FakeTransport) -> &'static str {
    match transport {
        FakeTransport::Http => "http",
        FakeTransport::Sse => "sse",
        FakeTransport::Stdio => "stdio",
    }
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[test]
fn the_matrix_has_the_expected_size() {
    let doors = 2;
    let mut tried = 0;
    for editor in ProtocolVersion::ALL {
        for (server, _) in servers() {
            let of = |feature: &Feature| feature.left_out(editor, server).is_none();
            tried += doors * Feature::ALL.iter().filter(|feature| of(feature)).count();
        }
    }
    assert_eq!(tried, 1068, "of {} in 100 cells", 100 * Feature::ALL.len());
}
