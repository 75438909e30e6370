//! A client built with rmcp, the Rust SDK.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::gateway::{Gateway, http};
use crate::peers::client_reports::ClientReport;
use crate::scene::programs::evermoor;

/// How it connects.
#[derive(Clone, Copy, Debug)]
pub enum ClientHandshake {
    /// With `initialize`.
    Initialize,
    /// By asking whether the server supports the newest protocol version.
    Ask,
}

impl ClientHandshake {
    fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Ask => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: None,
            },
        }
    }
}

/// rmcp over Streamable HTTP, with the editor's token.
pub async fn rust_over_http(handshake: ClientHandshake, gateway: &Gateway) -> ClientReport {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", gateway.origin))
        .auth_header(gateway.token());
    let transport = StreamableHttpClientTransport::with_client(http(), config);
    let (listener, progress) = Listener::new();
    let client =
        timeout(PATIENCE, listener.serve_with_lifecycle(transport, handshake.mode())).await;
    look(client.expect("it is answered in time").expect("it is understood"), progress, "http").await
}

/// rmcp over `evermoor connect`.
pub async fn rust_over_stdio(handshake: ClientHandshake, gateway: &Gateway) -> ClientReport {
    let mut command = evermoor(&gateway.home);
    command.arg("connect").arg("--home").arg(&gateway.home);
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut shim = command.spawn().expect("evermoor connect starts");
    let pipes = (shim.stdout.take().expect("it is piped"), shim.stdin.take().expect("it is piped"));
    let (listener, progress) = Listener::new();
    let client = timeout(PATIENCE, listener.serve_with_lifecycle(pipes, handshake.mode())).await;
    look(client.expect("it is answered in time").expect("it is understood"), progress, "stdio")
        .await
}

/// Receives the progress of calls.
struct Listener(mpsc::UnboundedSender<f64>);

impl Listener {
    fn new() -> (Self, mpsc::UnboundedReceiver<f64>) {
        let (send, receive) = mpsc::unbounded_channel();
        (Self(send), receive)
    }
}

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        // The receiver may be gone.
        let _ = self.0.send(params.progress);
    }
}

/// Lists and calls tools. `nonce` releases the call whose progress is followed.
async fn look(
    client: RunningService<RoleClient, Listener>,
    mut steps: mpsc::UnboundedReceiver<f64>,
    nonce: &str,
) -> ClientReport {
    let call = async |tool: &'static str, nonce: &str| {
        let arguments = serde_json::Map::from_iter([("nonce".to_owned(), nonce.into())]);
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = client.call_tool(call).await.expect("a tool answers");
        let text = result.content.first().and_then(|content| content.as_text());
        text.expect("it answers with text").text.clone()
    };
    let three = async {
        let mut progress = Vec::new();
        for _ in 0..3 {
            let step = steps.recv().await.expect("the client listens");
            progress.push(format!("{step}").parse().expect("a step is a whole number"));
        }
        call("notes__record", &format!("released {nonce}")).await;
        // rmcp handles each message in its own task, so the order is not guaranteed.
        progress.sort_unstable();
        progress
    };
    let looking = async {
        let tools = client.list_all_tools().await.expect("tools are listed");
        let recorded = call("notes__record", "third party").await;
        let (stepped, progress) = tokio::join!(call("notes__steps", nonce), three);
        let tools = tools.into_iter().map(|tool| tool.name.into_owned()).collect();
        ClientReport { tools, said: vec![recorded, stepped], progress }
    };
    let seen = timeout(PATIENCE, looking).await.expect("it is served in time");
    client.cancel().await.expect("it ends");
    seen
}
