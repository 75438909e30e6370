//! `fake-pieces FOLDER [MILLIS]`: one process of the fake PiecesOS, which starts after MILLIS.
//!
//! The folder holds its settings (`settings.json`) and its `ledger`. Both outlive the process.

use std::path::PathBuf;

use evermoor_tests::fakes::pieces::process;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1);
    let folder = PathBuf::from(args.next().expect("a folder"));
    let after = args.next().map(|millis| millis.into_string().expect("a number"));
    let after = after.map_or(0, |millis| millis.parse().expect("a number"));
    process::run(&folder, after).await;
}
