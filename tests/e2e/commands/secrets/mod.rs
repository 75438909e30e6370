//! Secrets: stored in a real session's keychain, used by upstreams, and never leaked.
//!
//! - [`states`]: a keychain that is open, locked, silent or missing
//! - [`import`]: servers with secrets, imported from editors
//! - [`canary`]: a search for leaked secrets

mod canary;
mod import;
mod states;

use std::path::Path;
use std::process::{Output, Stdio};

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Failure;
use evermoor_tests::Scene;
use evermoor_tests::desktop::Keyring;
use evermoor_tests::gateway::Gateway;
use tokio::io::AsyncWriteExt as _;

/// Runs a command in the session of a keyring, with this standard input.
async fn evermoor(home: &Path, keyring: &Keyring, arguments: &[&str], input: &str) -> Output {
    let mut command = evermoor_tests::scene::programs::evermoor(home);
    command.args(arguments).env("DBUS_SESSION_BUS_ADDRESS", keyring.address());
    command.stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that reads no input may have exited.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    child.wait_with_output().await.unwrap()
}

/// The output of a command, which must succeed.
async fn done(home: &Path, keyring: &Keyring, arguments: &[&str], input: &str) -> String {
    let output = evermoor(home, keyring, arguments, input).await;
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output.stderr));
    said(&output.stdout)
}

/// A gateway with these upstreams, in the session of a keyring.
async fn gateway(scene: &Scene, keyring: &Keyring, upstreams: &str) -> Gateway {
    scene.write("hold = 1", upstreams);
    Gateway::start_among(&scene.home(), &[("DBUS_SESSION_BUS_ADDRESS", keyring.address())]).await
}

fn failure(upstream: &UpstreamStatus) -> &Failure {
    match &upstream.link {
        UpstreamState::Down { failure, .. } => failure,
        UpstreamState::Off
        | UpstreamState::Connecting
        | UpstreamState::Connected { .. }
        | UpstreamState::Paused { .. } => {
            panic!("it is down: {upstream:?}")
        }
    }
}
