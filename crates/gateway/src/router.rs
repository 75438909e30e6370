//! From an editor's request to the upstream that answers it.
//!
//! What the gateway knows it answers itself, whatever the upstreams do: the handshake, `ping`, and
//! the lists. An editor that starts while everything is down must see its tools. Everything else
//! goes to the upstream that it names.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::catalog::{List, Merged, Origin, list_result};
use evermoor_core::envelope::{INVALID_PARAMS, METHOD_NOT_FOUND, Request, Response};
use evermoor_core::json::Raw;
use evermoor_core::name::UpstreamName;
use evermoor_core::protocol::{self, Revision, method};

use crate::status::Overview;
use crate::upstream::{Handle, Link, Reply};

/// Finds the upstream for a request.
#[derive(Clone)]
pub struct Router {
    upstreams: watch::Receiver<Arc<[Handle]>>,
    overview: watch::Receiver<Overview>,
}

/// What an editor sees: one upstream as it is, or all of them in one.
#[derive(Clone)]
pub enum View {
    All,
    One(Handle),
}

/// An upstream that has never been heard of gets this long before its editor hears of nothing.
const FIRST_WORD: Duration = Duration::from_secs(5);

impl Router {
    pub fn new(
        upstreams: watch::Receiver<Arc<[Handle]>>,
        overview: watch::Receiver<Overview>,
    ) -> Self {
        Self { upstreams, overview }
    }

    pub fn overview(&self) -> watch::Receiver<Overview> {
        self.overview.clone()
    }

    pub fn upstream(&self, name: &str) -> Option<Handle> {
        let upstreams = self.upstreams.borrow();
        upstreams.iter().find(|upstream| upstream.name().as_str() == name).cloned()
    }

    /// The result of an editor's `initialize`.
    pub async fn introduce(&self, view: &View, revision: Revision) -> Raw {
        if let View::One(upstream) = view
            && let Some(known) = upstream.known(FIRST_WORD).await
        {
            let handshake = &known.handshake;
            let instructions = handshake.instructions.as_deref();
            let offered = &handshake.capabilities;
            return protocol::initialize_result(
                revision,
                offered,
                &handshake.server_info,
                instructions,
            );
        }
        let capabilities = protocol::gateway_capabilities();
        let info = protocol::gateway_info(crate::VERSION);
        protocol::initialize_result(revision, &capabilities, &info, None)
    }

    /// The answer to any other request.
    pub async fn answer(&self, view: &View, request: &Request) -> Reply {
        if request.method == method::PING {
            return result(request, Raw::of(&serde_json::json!({})));
        }
        match view {
            View::One(upstream) => one(upstream, request).await,
            View::All => self.all(request).await,
        }
    }

    async fn all(&self, request: &Request) -> Reply {
        if let Some(list) = List::asked_by(&request.method) {
            self.settled().await;
            let merged = self.merged();
            return result(request, list_result(list, merged.list(list)));
        }
        let mut found = self.addressee(request);
        if found.is_err() {
            // An editor that was here before a restart may ask before the upstream has spoken.
            self.settled().await;
            found = self.addressee(request);
        }
        match found {
            Ok((upstream, request)) => upstream.call(&request).await,
            Err(response) => Reply::Whole(response),
        }
    }

    /// The upstream that a request names, and the request in that upstream's own words.
    fn addressee(&self, request: &Request) -> Result<(Handle, Request), Response> {
        let merged = self.merged();
        let params = request.params.as_ref();
        let named =
            |member: &str| params.and_then(|params| params.text_member(member)).unwrap_or_default();
        let known = |upstream: &UpstreamName| self.upstream(upstream.as_str());
        let renamed = |origin: &Origin| {
            let params = params.map(|params| params.with("name", &Raw::of(&origin.name)));
            known(&origin.upstream)
                .map(|upstream| (upstream, Request { params, ..request.clone() }))
        };
        let (found, what) = match request.method.as_str() {
            method::TOOLS_CALL => {
                (merged.tool(&named("name")).and_then(renamed), ("tool", named("name")))
            }
            method::PROMPTS_GET => {
                (merged.prompt(&named("name")).and_then(renamed), ("prompt", named("name")))
            }
            method::RESOURCES_READ => {
                let owner = merged.resource(&named("uri")).and_then(known);
                (owner.map(|upstream| (upstream, request.clone())), ("resource", named("uri")))
            }
            other => {
                let why = format!(
                    "`{other}` needs to know the upstream: use the endpoint /mcp/<upstream>."
                );
                return Err(Response::error(Some(request.id.clone()), METHOD_NOT_FOUND, &why));
            }
        };
        found.ok_or_else(|| {
            let why = format!("There is no {} `{}`. Ask for the list again.", what.0, what.1);
            Response::error(Some(request.id.clone()), INVALID_PARAMS, &why)
        })
    }

    /// Waits a little for upstreams that have never been heard of, and for the merged view to hold
    /// what they said, so that the first list an editor sees is neither empty nor partial.
    async fn settled(&self) {
        let upstreams = Arc::clone(&self.upstreams.borrow());
        join_all(upstreams.iter().map(|upstream| upstream.known(FIRST_WORD))).await;
        let mut overview = self.overview.clone();
        let covered = overview
            .wait_for(|overview| self.upstreams.borrow().iter().all(|one| overview.covers(one)));
        let _ = timeout(FIRST_WORD, covered).await;
    }

    fn merged(&self) -> Arc<Merged> {
        Arc::clone(&self.overview.borrow().merged)
    }
}

/// One upstream answers for itself; while it is away, its lists come from what it last said.
async fn one(upstream: &Handle, request: &Request) -> Reply {
    if let Some(list) = List::asked_by(&request.method) {
        let known = upstream.known(FIRST_WORD).await;
        if let (Some(known), Link::Down { .. } | Link::Connecting) = (known, &upstream.state().link)
        {
            return result(request, list_result(list, known.catalog.list(list)));
        }
    }
    upstream.call(request).await
}

fn result(request: &Request, result: Raw) -> Reply {
    Reply::Whole(Response::result(request.id.clone(), result))
}
