//! `single-version-upstream PROTOCOL_VERSION TRANSPORT LEDGER [ADDRESS]`: an MCP server that speaks one
//! protocol version.
//!
//! TRANSPORT is `stdio`, `http` or `sse`. The server prints its address once it listens. Each
//! process appends its id to LEDGER.lives.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;

use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::fakes::single_version::server::SingleVersionServer;
use evermoor_tests::fakes::single_version::{http, sse, stdio};
use evermoor_tests::oracle::ledger::Ledger;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let revision = args.next().expect("an MCP version");
    let protocol_version = ProtocolVersion::ALL
        .into_iter()
        .find(|protocol_version| protocol_version.as_str() == revision);
    let transport = args.next().expect("a transport");
    let ledger = PathBuf::from(args.next().expect("a ledger"));
    Ledger::at(ledger.with_extension("lives")).record(&std::process::id().to_string());
    let server =
        SingleVersionServer::new(protocol_version.expect("an MCP version"), Ledger::at(ledger));
    if transport == "stdio" {
        return stdio::serve(server).await;
    }
    let address = args.next().expect("an address");
    let listener = tokio::net::TcpListener::bind(address).await.expect("the address is free");
    let address = listener.local_addr().expect("it listens");
    let (place, app) = match transport.as_str() {
        "sse" => ("sse", sse_router(server)),
        _ => {
            ("mcp", Router::new().route("/mcp", post(http::post).get(http::get)).with_state(server))
        }
    };
    say(&format!("http://{address}/{place}"));
    // An answer is a few small writes. Without TCP_NODELAY they wait for each other and distort the
    // measurement.
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, app).await.expect("it serves until it is killed");
}

fn sse_router(server: Arc<SingleVersionServer>) -> Router {
    let state = sse::SseState { server, messages: Arc::default(), tasks: Default::default() };
    Router::new()
        .route("/sse", get(sse::open))
        .route("/messages", post(sse::post))
        .with_state(state)
}

#[expect(clippy::print_stdout, reason = "the test that started it reads what it says")]
fn say(line: &str) {
    println!("{line}");
}
