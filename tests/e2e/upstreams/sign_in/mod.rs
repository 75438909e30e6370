//! Servers that want a sign-in, with a real authorization server.
//!
//! - [`signing_in`]: how a user signs in, and what cannot be used to do so
//! - [`with_code`]: how a user signs in with a code, in a browser on another device
//! - [`in_editor`]: how an editor lets its user sign in during a call
//! - [`renewing`]: what happens when tokens expire or are revoked
//! - [`scopes`]: which access is asked for, and what happens if it is too little
//! - [`storing`]: where tokens are, and where they are not
//! - [`keychain`]: what happens if the keychain cannot be used

pub(crate) mod in_editor;
#[cfg(target_os = "linux")]
mod keychain;
pub(crate) mod renewing;
pub(crate) mod scopes;
pub(crate) mod signing_in;
pub(crate) mod storing;
pub(crate) mod with_code;

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::{Code, Failure};
use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::{Protected, sign_in};
use serde_json::Value;

/// A protected server, and a gateway that keeps its sign-ins in a file.
struct Signed {
    scene: Scene,
    server: Protected,
    gateway: Gateway,
}

impl Signed {
    /// Nobody has signed in.
    async fn out(options: &Value) -> Self {
        Self::with(options, "").await
    }

    /// Like [`Signed::out`], with more lines in the entry of the upstream.
    async fn with(options: &Value, more: &str) -> Self {
        let (scene, server) = (Scene::new(), Protected::start(options).await);
        let entry = format!("{}{more}\n", server.entry("linear"));
        let gateway = scene.gateway_of(&settings(&scene), &entry).await;
        Self { scene, server, gateway }
    }

    /// Like [`Signed::out`]; the user signs in with a code.
    async fn with_codes(options: &Value) -> Self {
        Self::with(options, "oauth.grant = \"device-code\"").await
    }

    /// The user has signed in, and the server is connected.
    async fn in_(options: &Value) -> Self {
        let signed = Self::out(options).await;
        let page = sign_in(&signed.gateway, "linear").await;
        assert_eq!(page.status, 200, "{page:?}");
        signed.gateway.until_connected("linear").await;
        signed
    }

    /// Waits until the upstream says that a user must sign in.
    async fn until_signed_out(&self) -> Failure {
        let wants = |upstream: &UpstreamStatus| matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.code == Code::AuthRequired);
        match self.gateway.until("linear", wants).await.link {
            UpstreamState::Down { failure, .. } => failure,
            other @ (UpstreamState::Off
            | UpstreamState::Connecting
            | UpstreamState::Connected { .. }
            | UpstreamState::Paused { .. }) => panic!("it is down: {other:?}"),
        }
    }
}

/// Settings of a gateway that keeps its sign-ins in a file of the scene.
fn settings(scene: &Scene) -> String {
    format!("sign_ins_file = {:?}\nhold = 5", scene.path("sign-ins.json"))
}
