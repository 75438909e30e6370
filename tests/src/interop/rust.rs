//! The editor of the repertoire, built with rmcp.

#![expect(deprecated, reason = "servers of older versions ask for these")]

use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    GetPromptRequestParams, Implementation, ListRootsResult, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, RequestMetaObject, Root, SamplingMessage, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{EditorRoute, RepertoireReport};
use crate::PATIENCE;
use crate::gateway::{Gateway, http};
use crate::scene::programs::evermoor;

type Client = RunningService<RoleClient, Editor>;

/// Answers the server's requests and forwards notifications.
struct Editor {
    progress: mpsc::UnboundedSender<f64>,
    logged: mpsc::UnboundedSender<Value>,
}

impl ClientHandler for Editor {
    fn get_info(&self) -> ClientConfig {
        let able = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
        let able: ClientCapabilities = serde_json::from_value(able).expect("they are abilities");
        ClientConfig::new(able, Implementation::new("repertoire", "1"))
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("Something."), "m".into()))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///here")]))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        // The receiver may be gone.
        let _ = self.progress.send(params.progress);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.logged.send(params.data);
    }
}

pub(super) async fn look(
    route: EditorRoute,
    gateway: &Gateway,
    url: &str,
    nonce: &str,
) -> RepertoireReport {
    let (progress, stepped) = mpsc::unbounded_channel();
    let (logged, log_messages) = mpsc::unbounded_channel();
    let editor = Editor { progress, logged };
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: None,
    };
    let looking = async {
        match route {
            EditorRoute::Http => {
                let config = StreamableHttpClientTransportConfig::with_uri(url);
                let config = config.auth_header(gateway.token());
                let transport = StreamableHttpClientTransport::with_client(http(), config);
                let client = editor.serve_with_lifecycle(transport, mode).await;
                look_around(client.expect("it is understood"), stepped, log_messages, nonce).await
            }
            EditorRoute::Shim => {
                let mut command = evermoor(&gateway.home);
                command.args(["connect", "peer", "--home"]).arg(&gateway.home);
                command.stdin(Stdio::piped()).stderr(Stdio::null());
                let mut shim = command.spawn().expect("evermoor connect starts");
                let output = shim.stdout.take().expect("it is piped");
                let pipes = (output, shim.stdin.take().expect("it is piped"));
                let client = editor.serve_with_lifecycle(pipes, mode).await;
                look_around(client.expect("it is understood"), stepped, log_messages, nonce).await
            }
        }
    };
    timeout(PATIENCE, looking).await.expect("it is served in time")
}

fn params(tool: &'static str, nonce: &str) -> CallToolRequestParams {
    let arguments = serde_json::Map::from_iter([("nonce".to_owned(), nonce.into())]);
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn call(client: &Client, params: CallToolRequestParams) -> String {
    let result = client.call_tool(params).await.expect("a tool answers");
    let text = result.content.first().and_then(|content| content.as_text());
    text.expect("it answers with text").text.clone()
}

async fn look_around(
    client: Client,
    mut stepped: mpsc::UnboundedReceiver<f64>,
    mut log_messages: mpsc::UnboundedReceiver<Value>,
    nonce: &str,
) -> RepertoireReport {
    let tools = client.list_all_tools().await.expect("tools are listed");
    let mut tools: Vec<_> = tools.into_iter().map(|tool| tool.name.into_owned()).collect();
    tools.sort_unstable();
    let prompts = client.list_all_prompts().await.expect("prompts are listed");
    let resources = client.list_all_resources().await.expect("resources are listed");
    let read = client.read_resource(ReadResourceRequestParams::new("note://1")).await;
    let read = json!(read.expect("it is read").contents[0]);
    let who = serde_json::Map::from_iter([("name".to_owned(), "Ada".into())]);
    let greet = GetPromptRequestParams::new("greet").with_arguments(who);
    let greeted = client.get_prompt(greet).await.expect("there is a prompt");
    let prompt = json!(greeted.messages[0])["content"]["text"].clone();
    let completed = client.complete_prompt_simple("greet", "name", "A").await;
    let called = call(&client, params("echo", nonce)).await;

    let mut progress = Vec::new();
    let hearing = async {
        for _ in 0..3 {
            progress.push(stepped.recv().await.expect("the client listens"));
        }
        call(&client, params("release", nonce)).await;
    };
    tokio::join!(call(&client, params("steps", nonce)), hearing);
    // rmcp handles each message in its own task, so the order is not guaranteed.
    progress.sort_by(f64::total_cmp);

    let mut logging = params("log", "told");
    let mut meta = RequestMetaObject::default();
    meta.set_log_level(LoggingLevel::Info);
    logging.meta = Some(meta);
    call(&client, logging).await;
    let logged = log_messages.recv().await.expect("the client listens");

    let filter = json!({ "resourceSubscriptions": ["note://1"] });
    let filter: SubscriptionFilter = serde_json::from_value(filter).expect("it is a filter");
    let mut notifications = client.listen(filter).await.expect("it may listen");
    call(&client, params("touch", nonce)).await;
    let updated = match notifications.next().await.expect("the notification is understood") {
        Some(ServerNotification::ResourceUpdatedNotification(notification)) => {
            notification.params.uri
        }
        other => panic!("{other:?}"),
    };
    notifications.cancel().await.expect("it may stop listening");

    let cancelled = tokio::select! {
        _ = call(&client, params("wait", nonce)) => false,
        step = stepped.recv() => step.is_some(),
    };
    let text = |value: Value| value.as_str().expect("it is text").to_owned();
    let seen = RepertoireReport {
        tools,
        prompts: prompts.into_iter().map(|prompt| prompt.name).collect(),
        resources: resources.into_iter().map(|resource| resource.uri.clone()).collect(),
        read: text(read["text"].clone()),
        prompt: text(prompt),
        completed: completed.expect("it is completed"),
        called,
        progress,
        logged: Some(text(logged)),
        updated,
        sampled: call(&client, params("sample", nonce)).await,
        asked: call(&client, params("ask", nonce)).await,
        roots: call(&client, params("roots", nonce)).await,
        cancelled,
    };
    client.cancel().await.expect("it ends");
    seen
}
