//! The client that makes a request.

use std::sync::Arc;

use tokio::time::Instant;

use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::event_id::CallRef;
use evermoor_core::protocol::translate::client_capabilities::ClientCapabilities;
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;

use crate::mcp::endpoint::McpEndpoint;
use crate::monitoring::activity::CallRecorder;
use crate::routing::router::View;
use crate::upstream::ScopeOwner;

/// What an exchange needs to know about the client that makes the request.
pub struct Requester {
    pub session: u64,
    /// The editor's name in the token file.
    pub editor: String,
    pub protocol_version: ProtocolVersion,
    /// Whose upstream connection to use where connections are not shared.
    pub owner: ScopeOwner,
    pub client_capabilities: ClientCapabilities,
    /// Whether the client supports tasks.
    pub tasks: bool,
    /// Whether the client receives log messages with its call only.
    pub logs: bool,
    /// What to tell a stateless upstream about the client; `None` if the request already contains
    /// it.
    pub client_meta: Option<Arc<ClientMeta>>,
    /// The client's own name.
    pub client: Option<String>,
    /// Since when it has been connected.
    pub since: Instant,
}

impl Requester {
    /// Starts the entry in the list of recent calls.
    pub(super) fn record(
        &self,
        endpoint: &McpEndpoint,
        view: &View,
        request: &Request,
        call: &CallRef,
    ) -> CallRecorder {
        CallRecorder::begin(&endpoint.activity, view, self.client.as_deref(), request, call)
    }
}
