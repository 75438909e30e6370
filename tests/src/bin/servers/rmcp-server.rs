//! `rmcp-server LEDGER stdio|http PORT NEWEST`: an MCP server built with rmcp that speaks protocol
//! versions up to `NEWEST`.
//!
//! Its only tool writes a nonce to the ledger, so that a test can count the executions. Over HTTP
//! it prints the id of each session it creates.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use evermoor_tests::oracle::ledger::Ledger;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};

#[derive(Clone)]
struct Recorder {
    ledger: Ledger,
    revisions: &'static [ProtocolVersion],
}

impl ServerHandler for Recorder {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.revisions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let nonce = serde_json::json!({ "nonce": { "type": "string" } });
        let schema = serde_json::json!({ "type": "object", "properties": nonce });
        let schema = schema.as_object().expect("a schema is an object").clone();
        let record = Tool::new("record", "Writes a nonce into the ledger.", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![record]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let nonce = arguments.get("nonce").and_then(|nonce| nonce.as_str()).expect("a nonce");
        self.ledger.record(nonce);
        Ok(CallToolResult::success(vec![ContentBlock::text(nonce)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1).map(|arg| arg.into_string().expect("text"));
    let mut next = |what| args.next().unwrap_or_else(|| panic!("{what} is missing"));
    let ledger = Ledger::at(PathBuf::from(next("LEDGER")));
    let (mode, port, newest) = (next("stdio or http"), next("PORT"), next("NEWEST"));
    let is_newest = |revision: &&ProtocolVersion| revision.as_str() == newest;
    let newest = ProtocolVersion::KNOWN_VERSIONS.iter().find(is_newest).expect("an MCP version");
    let recorder = Recorder { ledger, revisions: ProtocolVersion::known_up_to(newest) };
    if mode == "stdio" {
        let service = recorder.serve(rmcp::transport::stdio()).await.expect("hands are shaken");
        service.waiting().await.expect("it ends well");
        return;
    }
    let service = StreamableHttpService::new(
        move || Ok(recorder.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let app = axum::Router::new().route_service("/mcp", service);
    let app = app.layer(axum::middleware::from_fn(tell_sessions));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await;
    axum::serve(listener.expect("the port is free"), app).await.expect("it serves");
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
async fn tell_sessions(request: Request, next: Next) -> Response {
    const SESSION: &str = "mcp-session-id";
    let has_one = request.headers().contains_key(SESSION);
    let answer = next.run(request).await;
    if let (false, Some(made)) = (has_one, answer.headers().get(SESSION)) {
        println!("Session initialized with ID: {}", made.to_str().expect("it is text"));
    }
    answer
}
