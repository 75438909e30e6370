//! Lists that an upstream does not give in time.
//!
//! One that hangs takes a request and says nothing, and may as well be busy. What it last said of
//! its lists is known, so an editor that asks for one need not wait until that is decided.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::catalog::{List, list_result};
use evermoor_core::protocol::envelope::{Request, Response};
use evermoor_core::protocol::json::Raw;

use crate::upstream::transport::connection::Reply;
use crate::upstream::{Caller, Handle};

/// How long an upstream may take to give a list that is known.
const PATIENCE: Duration = Duration::from_secs(5);

impl Handle {
    /// The upstream's answer to a request, or what it last said if it is slow to give a list.
    pub async fn answer(&self, request: &Request, caller: Option<&Caller>) -> Reply {
        let mut calling = pin!(self.call(request, caller));
        // What is known is the whole list: it stands for a first page, and for no other.
        let goes_on = |params: &Raw| params.member("cursor").is_some();
        let list = List::asked_by(&request.method)
            .filter(|_| !request.params.as_ref().is_some_and(goes_on));
        let Some(list) = list else { return calling.await };
        if let Ok(reply) = timeout(PATIENCE, &mut calling).await {
            return reply;
        }
        match self.state().known {
            Some(known) => {
                let result = list_result(list, known.catalog.list(list));
                Reply::Whole(Response::result(request.id.clone(), result))
            }
            None => calling.await,
        }
    }
}
