//! From an editor's request to whoever answers it.
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
use evermoor_core::introduction::Introduction;
use evermoor_core::json::Raw;
use evermoor_core::name::UpstreamName;
use evermoor_core::protocol::method;

use crate::status::Overview;
use crate::upstream::{Handle, Known, Link};

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

/// Who answers a request.
pub enum Addressee {
    /// The gateway, and this is what it says.
    Gateway(Response),
    /// An upstream, asked in its own words.
    Upstream(Handle, Request),
}

/// An upstream that has never been heard of gets this long before its editor hears of nothing.
const FIRST_WORD: Duration = Duration::from_secs(5);

impl View {
    /// Whether what this upstream says is part of the view.
    pub fn shows(&self, upstream: &UpstreamName) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one.name() == upstream,
        }
    }
}

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

    /// The upstreams in a view.
    pub fn upstreams(&self, view: &View) -> Vec<Handle> {
        match view {
            View::All => self.upstreams.borrow().to_vec(),
            View::One(upstream) => vec![upstream.clone()],
        }
    }

    /// How the gateway introduces itself, or the one upstream that is seen.
    pub async fn introduce(&self, view: &View) -> Introduction {
        match view {
            View::One(upstream) => match upstream.known(FIRST_WORD).await {
                Some(known) => Introduction::of_upstream(&known.handshake),
                None => Introduction::of_gateway(crate::VERSION, &[]),
            },
            View::All => {
                let upstreams = self.upstreams(view);
                let known: Vec<(String, Arc<Known>)> = upstreams
                    .iter()
                    .filter_map(|one| Some((one.config.title.clone(), one.state().known?)))
                    .collect();
                let said: Vec<_> =
                    known.iter().map(|(title, known)| (title.as_str(), &known.handshake)).collect();
                Introduction::of_gateway(crate::VERSION, &said)
            }
        }
    }

    /// Who answers a request.
    pub async fn addressee(&self, view: &View, request: &Request) -> Addressee {
        if request.method == method::PING {
            return answered(request, Raw::of(&serde_json::json!({})));
        }
        match view {
            View::One(upstream) => one(upstream, request).await,
            View::All => self.among_all(request).await,
        }
    }

    /// The upstream that a resource belongs to.
    pub fn owner(&self, view: &View, uri: &str) -> Option<Handle> {
        match view {
            View::One(upstream) => Some(upstream.clone()),
            View::All => self.merged().owner(uri).and_then(|name| self.upstream(name.as_str())),
        }
    }

    async fn among_all(&self, request: &Request) -> Addressee {
        if let Some(list) = List::asked_by(&request.method) {
            self.settled().await;
            return answered(request, list_result(list, self.merged().list(list)));
        }
        let mut found = self.find(request);
        if found.is_err() {
            // An editor that was here before a restart may ask before the upstream has spoken.
            self.settled().await;
            found = self.find(request);
        }
        match found {
            Ok((upstream, request)) => Addressee::Upstream(upstream, request),
            Err(response) => Addressee::Gateway(response),
        }
    }

    /// The upstream that a request names, and the request in that upstream's own words.
    fn find(&self, request: &Request) -> Result<(Handle, Request), Response> {
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
                let owner = merged.owner(&named("uri")).and_then(known);
                (owner.map(|upstream| (upstream, request.clone())), ("resource", named("uri")))
            }
            method::COMPLETE => {
                let found = merged.completes(request);
                let found = found.and_then(|(name, request)| Some((known(&name)?, request)));
                (found, ("prompt or template", String::new()))
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
async fn one(upstream: &Handle, request: &Request) -> Addressee {
    if let Some(list) = List::asked_by(&request.method) {
        let known = upstream.known(FIRST_WORD).await;
        let away = !matches!(upstream.state().link, Link::Ready(_));
        if let Some(known) = known.filter(|_| away) {
            return answered(request, list_result(list, known.catalog.list(list)));
        }
    }
    Addressee::Upstream(upstream.clone(), request.clone())
}

fn answered(request: &Request, result: Raw) -> Addressee {
    Addressee::Gateway(Response::result(request.id.clone(), result))
}
