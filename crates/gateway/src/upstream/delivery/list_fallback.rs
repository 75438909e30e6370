//! Answers a list from the cached catalog if the upstream is slow.
//!
//! An upstream that does not answer may hang or be busy. Its last known lists are in the cache, so an
//! editor that asks for one does not wait until that is clear.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::catalog::{ListKind, list_result};
use evermoor_core::failure::outcome::Answer;
use evermoor_core::protocol::envelope::{Request, Response};
use evermoor_core::protocol::params::Params;

use crate::upstream::transport::connection::CallReply;
use crate::upstream::{Caller, UpstreamHandle};

/// How long an upstream may take to return a list that is cached.
const PATIENCE: Duration = Duration::from_secs(5);

/// The upstream's answer to a request, or the cached list if it is slow to return one.
pub(crate) async fn answer(
    handle: &UpstreamHandle,
    request: &Request,
    caller: Option<&Caller>,
) -> CallReply {
    let mut calling = pin!(handle.call(request, caller));
    // The cache has the whole list, so it can only replace the first page.
    let later_page = |params: &Params| params.has("cursor");
    let list = ListKind::from_method(&request.method)
        .filter(|_| !request.params.as_ref().is_some_and(later_page));
    let Some(list) = list else { return calling.await };
    if let Ok(reply) = timeout(PATIENCE, &mut calling).await {
        return reply;
    }
    match handle.state().known {
        Some(known) => {
            let result = list_result(list, known.catalog.list(list));
            CallReply::Whole(Answer::from_gateway(Response::result(request.id.clone(), result)))
        }
        None => calling.await,
    }
}
