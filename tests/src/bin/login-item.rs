//! `login-item PROGRAM`: makes the system start a program at login, reads the setting back, and removes it.
//!
//! It changes the settings of the user who runs it, so only CI runs it.

use std::path::Path;

use evermoor_platform::startup::login;
use evermoor_platform::startup::login::LoginProgram;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let program = std::env::args_os().nth(1).expect("a program");
    let program = Path::new(&program);
    assert_eq!(login::find().await, None, "there is an entry already");
    let path = login::write(&LoginProgram { program, arguments: &["--hidden"] });
    let path = path.expect("the entry can be written");
    let entry = login::find().await.expect("the entry is found");
    let removed = login::remove().await.expect("the entry can be removed");
    assert_eq!(entry.program.as_deref(), Some(program));
    assert!(entry.is_on, "{entry:?}");
    assert_eq!(removed.as_deref(), path.to_str());
    assert_eq!(login::find().await, None);
}
