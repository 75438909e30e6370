//! Secrets: stored in a real session's keychain, used by upstreams, and never leaked.
//!
//! - [`stored`]: a secret that is set, used, changed and removed
//! - [`states`]: a keychain that is locked, silent or missing
//! - [`import`]: servers with secrets, imported from editors
//! - [`canary`]: a search for leaked secrets
//!
//! On Linux the keychain is that of a private session. On Windows it is the Credential Manager of the person who
//! runs the tests, so each secret has a name of its own. On macOS, `scripts/package/test-app.mjs` tries a secret:
//! for a keychain of its own, it must change a setting of this user.

#[cfg(target_os = "linux")]
mod canary;
mod import;
#[cfg(target_os = "linux")]
mod states;
mod stored;

use std::path::Path;
use std::process::{Output, Stdio};

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Failure;
use evermoor_tests::Scene;
#[cfg(target_os = "linux")]
use evermoor_tests::desktop::Keyring;
use evermoor_tests::gateway::Gateway;
use tokio::io::AsyncWriteExt as _;

/// The session of a user, with a keychain.
trait Session {
    /// The variables by which programs find the keychain.
    fn variables(&self) -> Vec<(&'static str, &str)>;
}

#[cfg(target_os = "linux")]
impl Session for Keyring {
    fn variables(&self) -> Vec<(&'static str, &str)> {
        vec![("DBUS_SESSION_BUS_ADDRESS", self.address())]
    }
}

#[cfg(target_os = "linux")]
async fn session() -> Keyring {
    Keyring::start().await
}

/// The session of the person who runs the tests.
#[cfg(windows)]
struct OwnSession;

#[cfg(windows)]
impl Session for OwnSession {
    fn variables(&self) -> Vec<(&'static str, &str)> {
        Vec::new()
    }
}

#[cfg(windows)]
async fn session() -> OwnSession {
    OwnSession
}

/// A name that no other test uses.
fn own_name(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// Runs a command in a session, with this standard input.
async fn evermoor(home: &Path, session: &impl Session, arguments: &[&str], input: &str) -> Output {
    let mut command = evermoor_tests::scene::programs::evermoor(home);
    command.args(arguments).envs(session.variables());
    command.stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that reads no input may have exited.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    child.wait_with_output().await.unwrap()
}

/// The output of a command, which must succeed.
async fn done(home: &Path, session: &impl Session, arguments: &[&str], input: &str) -> String {
    let output = evermoor(home, session, arguments, input).await;
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output.stderr));
    said(&output.stdout)
}

/// A gateway with these upstreams, in a session.
async fn gateway(scene: &Scene, session: &impl Session, upstreams: &str) -> Gateway {
    scene.write("hold = 1", upstreams);
    Gateway::start_among(&scene.home(), &session.variables()).await
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
