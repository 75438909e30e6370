//! `fake-upstream ADDRESS LEDGER [TOOL...]`: an MCP server that keeps a ledger of what it executed.
//!
//! It prints its address once it listens, and then each execution. It is as strict as the protocol:
//! it rejects requests without a session that it issued. It misbehaves when ordered to.

use std::path::PathBuf;

use evermoor_tests::fakes::upstream::server;
use evermoor_tests::oracle::ledger::Ledger;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1).map(|arg| arg.into_string().expect("text"));
    let address = args.next().expect("an address");
    let ledger = Ledger::at(PathBuf::from(args.next().expect("a ledger")));
    server::serve(&address, ledger, args.collect()).await;
}
