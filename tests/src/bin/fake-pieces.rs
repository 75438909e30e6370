//! `fake-pieces FOLDER [MILLIS]`: one life of a fake PiecesOS, which begins after so long.
//!
//! The folder has what it is (`settings.json`) and what it did (`ledger`). It outlives the process.

use std::path::PathBuf;

use evermoor_tests::fakes::pieces::life;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1);
    let folder = PathBuf::from(args.next().expect("a folder"));
    let after = args.next().map(|millis| millis.into_string().expect("a number"));
    let after = after.map_or(0, |millis| millis.parse().expect("a number"));
    life::live(&folder, after).await;
}
