//! `rmcp-repertoire LEDGER PORT`: the server of `peers/repertoire`, built with rmcp.

#![expect(deprecated, reason = "editors of older versions offer these")]

use std::path::PathBuf;
use std::sync::Arc;

use evermoor_tests::oracle::ledger::Ledger;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequest,
    InputRequests, InputRequiredResult, ListPromptsResult, ListResourcesResult, ListRootsRequest,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role, SamplingMessage,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

const NOTE: &str = "note://1";
const NAMES: [&str; 2] = ["Ada", "Grace"];
const TOOLS: [&str; 9] =
    ["ask", "echo", "log", "release", "roots", "sample", "steps", "touch", "wait"];

#[derive(Clone)]
struct Repertoire {
    ledger: Ledger,
    touched: broadcast::Sender<()>,
    /// The released nonces.
    released: watch::Sender<Vec<String>>,
}

type Context = RequestContext<RoleServer>;

impl Repertoire {
    /// The input request that a tool sends to the editor.
    fn question(tool: &str) -> InputRequest {
        match tool {
            "sample" => {
                let said = vec![SamplingMessage::user_text("Say something.")];
                let params = CreateMessageRequestParams::new(said, 10);
                InputRequest::CreateMessage(CreateMessageRequest::new(params))
            }
            "ask" => {
                let name = json!({ "name": { "type": "string" } });
                let form = json!({ "type": "object", "properties": name, "required": ["name"] });
                let params = ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message: "What is your name?".into(),
                    requested_schema: serde_json::from_value(form).expect("it is a form"),
                };
                InputRequest::Elicitation(ElicitRequest::new(params))
            }
            _ => InputRequest::ListRoots(ListRootsRequest::default()),
        }
    }

    async fn progress(context: &Context, step: u32) {
        let token = context.meta.get_progress_token().expect("the client wants progress");
        let step = ProgressNotificationParam::new(token, f64::from(step));
        context.peer.notify_progress(step).await.expect("the client is notified");
    }

    async fn answer(&self, tool: &str, nonce: &str, context: &Context) -> String {
        match tool {
            "echo" => self.ledger.record(nonce),
            "steps" => {
                for step in 1..=3 {
                    Self::progress(context, step).await;
                }
                let mut released = self.released.subscribe();
                let is_released = |all: &Vec<String>| all.iter().any(|one| one == nonce);
                released.wait_for(is_released).await.expect("it serves");
                return "stepped".to_owned();
            }
            "release" => self.released.send_modify(|all| all.push(nonce.to_owned())),
            "wait" => {
                Self::progress(context, 1).await;
                context.ct.cancelled().await;
                self.ledger.record(&format!("cancelled {nonce}"));
            }
            "log" => {
                let said = LoggingMessageNotificationParam::new(LoggingLevel::Info, nonce.into());
                context.peer.notify_logging_message(said).await.expect("the client is notified");
                return "logged".to_owned();
            }
            "touch" => {
                let _ = self.touched.send(());
                return "touched".to_owned();
            }
            other => panic!("there is no {other}"),
        }
        nonce.to_owned()
    }
}

fn said(words: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

impl ServerHandler for Repertoire {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder().enable_tools().enable_prompts();
        let able = able.enable_resources().enable_resources_subscribe();
        ServerConfig::new(able.enable_completions().enable_logging().build())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut touched = self.touched.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = touched.recv() => {
                    let _ = context.sink().notify_resource_updated(NOTE).await;
                }
            }
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let nonce = json!({ "nonce": { "type": "string" } });
        let schema = json!({ "type": "object", "properties": nonce });
        let schema = Arc::new(schema.as_object().expect("a schema is an object").clone());
        let tools = TOOLS.map(|name| Tool::new(name, name, Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let nonce = arguments.get("nonce").and_then(Value::as_str).unwrap_or_default();
        let tool = request.name.as_ref();
        if !matches!(tool, "sample" | "ask" | "roots") {
            return Ok(said(&self.answer(tool, nonce, &context).await));
        }
        let answers = request.input_responses.unwrap_or_default();
        let Some(answer) = answers.get("answer") else {
            let mut questions = InputRequests::new();
            questions.insert("answer".to_owned(), Self::question(tool));
            return Ok(InputRequiredResult::from_input_requests(questions).into());
        };
        let words = match tool {
            "sample" => &answer["content"]["text"],
            "ask" => &answer["content"]["name"],
            _ => &answer["roots"][0]["uri"],
        };
        Ok(said(words.as_str().unwrap_or_default()))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name");
        let greet = Prompt::new("greet", None::<String>, Some(vec![name]));
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.map(|all| json!(all)).unwrap_or_default();
        let greeting = format!("Hello, {}!", arguments["name"].as_str().unwrap_or_default());
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, greeting)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = &request.argument.value;
        let names = NAMES.into_iter().filter(|name| name.starts_with(begun.as_str()));
        let values = CompletionInfo::new(names.map(str::to_owned).collect());
        Ok(CompleteResult::new(values.expect("they are few")))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(NOTE, "note")]))
    }

    async fn read_resource(
        &self,
        _request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("a note", NOTE)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1);
    let ledger = Ledger::at(PathBuf::from(args.next().expect("LEDGER is missing")));
    let port = args.next().and_then(|port| port.into_string().ok()).expect("PORT is missing");
    let repertoire = Repertoire {
        ledger,
        touched: broadcast::Sender::new(16),
        released: watch::Sender::default(),
    };
    let service = StreamableHttpService::new(
        move || Ok(repertoire.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let app = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await;
    axum::serve(listener.expect("the port is free"), app).await.expect("it serves");
}
