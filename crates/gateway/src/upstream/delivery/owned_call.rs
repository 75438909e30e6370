//! A call that may outlive the wait for its answer, and what becomes of it then.

use std::sync::Arc;

use evermoor_core::protocol::envelope::Request;

use crate::upstream::transport::connection::{CallError, CallReply};
use crate::upstream::transport::outbound::OutboundCall;
use crate::upstream::{Caller, KnownCatalog, LiveConnection};

/// A call that may outlive the wait for its answer.
pub(super) struct OwnedCall {
    pub(super) request: Request,
    pub(super) caller: Option<Caller>,
    pub(super) known: Option<Arc<KnownCatalog>>,
}

impl OwnedCall {
    pub(super) async fn send(self, ready: Arc<LiveConnection>) -> Result<CallReply, CallError> {
        let traits = self.known.as_ref().map(|known| &known.traits);
        let call = OutboundCall { request: &self.request, caller: self.caller.as_ref(), traits };
        ready.connection.call(call).await
    }
}

/// Waits for the reply to a call that was given up, and returns whether the upstream sent one.
pub(super) async fn is_answered(reply: impl Future<Output = Result<CallReply, CallError>>) -> bool {
    match reply.await {
        Ok(CallReply::Whole(_)) => true,
        Ok(CallReply::Stream(parts)) => parts.answer().await.is_some(),
        Err(_) => false,
    }
}
