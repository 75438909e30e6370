//! A call as it is handed to a connection, which encodes it for its server.
//!
//! A call may be held or repeated, and meanwhile the server may come back with another protocol version
//! or other tools. So nothing is encoded before a connection is about to send the call.

use evermoor_core::catalog::tool_traits::ToolTraits;
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::params::Params;
use evermoor_core::protocol::progress;
use evermoor_core::protocol::stateless::encode_header;
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::translate::param_headers::required_headers;
use evermoor_core::protocol::translate::request::for_version;
use evermoor_core::protocol::version::ProtocolVersion;

use crate::upstream::server_requests::Caller;

/// A call that is to be sent.
#[derive(Clone, Copy)]
pub(crate) struct OutboundCall<'a> {
    pub(crate) request: &'a Request,
    /// The editor that makes it; `None` for a request of the gateway itself.
    pub(crate) caller: Option<&'a Caller>,
    /// What is known about the server's tools.
    pub(crate) traits: Option<&'a ToolTraits>,
}

impl<'a> OutboundCall<'a> {
    /// A request of the gateway itself.
    pub(crate) fn of_gateway(request: &'a Request) -> Self {
        Self { request, caller: None, traits: None }
    }

    /// The request as a server of this version expects it, with `number` as its id and progress token,
    /// and the editor's own token. `gateway` is the metadata of the gateway, for a stateless server.
    pub(super) fn encode(
        &self,
        number: u64,
        version: ProtocolVersion,
        gateway: Option<&ClientMeta>,
    ) -> (Request, Option<Raw>) {
        let method = &self.request.method;
        let params = for_version(method, self.request.params.as_ref(), version);
        let (params, token) = progress::replace_token(params.as_deref(), number);
        let params = with_client_meta(params, self.caller, gateway);
        (Request { id: Id::number(number), method: method.clone(), params }, token)
    }

    /// The headers that repeat arguments for a stateless server, with encoded values.
    pub(super) fn param_headers(&self) -> Vec<(String, String)> {
        let Some(traits) = self.traits else { return Vec::new() };
        let headers = required_headers(self.request, traits).into_iter();
        headers.filter_map(|(name, value)| Some((name, encode_header(&value?)))).collect()
    }
}

/// Adds client metadata to a call's parameters for a stateless server, or removes it for one with
/// sessions.
fn with_client_meta(
    params: Option<Params>,
    caller: Option<&Caller>,
    stateless: Option<&ClientMeta>,
) -> Option<Params> {
    match (stateless, caller) {
        (Some(gateway), None) => Some(gateway.attach(params)),
        (Some(_), Some(Caller { client_meta: Some(editor), .. })) => Some(editor.attach(params)),
        (Some(_), Some(Caller { client_meta: None, .. })) => params,
        (None, Some(Caller { client_meta: None, .. })) => ClientMeta::strip(params),
        (None, _) => params,
    }
}
