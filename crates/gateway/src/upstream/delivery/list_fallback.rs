//! Answers a list from the cached catalog unless the upstream answers quickly.
//!
//! The last known lists are in the cache, so an editor that asks for one waits only for a connection
//! that is known to be good, and not for long. After that the supervisor reads the lists again, and
//! editors are told if they changed.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use evermoor_core::catalog::ListKind;
use evermoor_core::failure::outcome::Answer;
use evermoor_core::protocol::envelope::{Request, Response};
use evermoor_core::protocol::params::Params;

use crate::upstream::transport::connection::CallReply;
use crate::upstream::{Caller, LinkState, UpstreamHandle, UpstreamSnapshot};

/// How long an upstream may take to return a list that is cached.
const PATIENCE: Duration = Duration::from_secs(1);

/// The upstream's answer to a request, or the cached list if it does not return one quickly.
pub(crate) async fn answer(
    handle: &UpstreamHandle,
    request: &Request,
    caller: Option<&Caller>,
) -> CallReply {
    // The cache has the whole list, so it can only replace the first page.
    let later_page = |params: &Params| params.has("cursor");
    let list = ListKind::from_method(&request.method)
        .filter(|_| !request.params.as_ref().is_some_and(later_page));
    let Some(list) = list else { return handle.call(request, caller).await };
    let mut state = handle.watch();
    let mut calling = pin!(handle.call(request, caller));
    tokio::select! {
        biased;
        () = until_replaceable(&mut state) => {}
        reply = &mut calling => return reply,
        () = sleep(PATIENCE) => {}
    }
    let UpstreamSnapshot { link, known, .. } = handle.state();
    let Some(known) = known else { return calling.await };
    if let LinkState::Ready(ready) = link {
        ready.request_refresh();
    }
    let result = known.list_result(list);
    CallReply::Whole(Answer::from_gateway(Response::result(request.id.clone(), result)))
}

/// Waits until there is a cached list and no connection that is known to be good.
async fn until_replaceable(state: &mut watch::Receiver<UpstreamSnapshot>) {
    let replaceable = |state: &UpstreamSnapshot| state.known.is_some() && !is_good(&state.link);
    if state.wait_for(replaceable).await.is_err() {
        // The upstream was removed, and the call is answered accordingly.
        std::future::pending().await
    }
}

fn is_good(link: &LinkState) -> bool {
    match link {
        LinkState::Ready(ready) => ready.stalled().is_none(),
        LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => false,
    }
}
