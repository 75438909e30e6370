//! Finds who answers an editor's request.
//!
//! The gateway itself answers `initialize`, `ping` and the lists, whatever state the upstreams are
//! in: an editor that starts while everything is down must still see its tools. Every other request
//! goes to the upstream that it names.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::catalog::list_results::list_result;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::catalog::visibility::{Hidden, asked_for};
use evermoor_core::catalog::{ItemOrigin, ListKind};
use evermoor_core::failure::outcome::Answer;
use evermoor_core::policy::first_list::Outlook;
use evermoor_core::protocol::envelope::{INVALID_PARAMS, METHOD_NOT_FOUND, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{gateway_info, method};
use evermoor_core::protocol::params::Params;
use evermoor_core::protocol::translate::server_info::ServerDescription;

use crate::monitoring::status::Overview;
pub use crate::routing::editor_view::View;
use crate::routing::editor_view::{NoView, ViewScope};
use crate::upstream::{KnownCatalog, LinkState, UpstreamHandle};

/// Finds the upstream for a request.
#[derive(Clone)]
pub struct Router {
    upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
    overview: watch::Receiver<Overview>,
}

/// Who answers a request.
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for each request")]
pub enum Destination {
    /// The gateway, with this answer.
    Gateway(Answer),
    /// An upstream, with the request under its own names.
    Upstream(UpstreamHandle, Request),
}

/// Why no upstream has a resource, and what to do about it.
pub enum ResourceError {
    Hidden(String),
    Unknown(String),
}

/// How long a call waits for the catalog of an upstream that has never connected.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the description of such an upstream waits for it. Lists may wait longer.
const DESCRIPTION_TIMEOUT: Duration = Duration::from_secs(1);
/// What to do about an upstream that is turned off.
pub const ENABLE_REMEDY: &str = "Remove `enabled = false` from its entry in config.toml.";

impl Router {
    pub fn new(
        upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
        overview: watch::Receiver<Overview>,
    ) -> Self {
        Self { upstreams, overview }
    }

    pub fn overview(&self) -> watch::Receiver<Overview> {
        self.overview.clone()
    }

    pub fn upstream(&self, name: &str) -> Option<UpstreamHandle> {
        let upstreams = self.upstreams.borrow();
        upstreams.iter().find(|upstream| upstream.name().as_str() == name).cloned()
    }

    /// Every upstream, whether or not an editor may see it.
    pub fn all_upstreams(&self) -> Arc<[UpstreamHandle]> {
        Arc::clone(&self.upstreams.borrow())
    }

    /// The merged view of all upstreams that an editor may see.
    pub fn all(&self, editor: &str) -> View {
        View::new(ViewScope::All, editor, self.overview())
    }

    /// The view of one upstream, if the editor may see it. Otherwise says why not and what to do.
    pub fn one(&self, editor: &str, name: &str) -> Result<View, NoView> {
        let all = self.all(editor);
        if let Some(upstream) = self.upstream(name).filter(|found| all.sees(found.name())) {
            return Ok(all.of_one(upstream));
        }
        if UpstreamName::parse(name).is_ok_and(|name| self.is_off(&name) && all.sees(&name)) {
            return Err(NoView::Off { name: name.to_owned() });
        }
        Err(NoView::Unknown { name: name.to_owned(), hidden_hint: all.hidden_hint() })
    }

    /// Whether the upstream is turned off in the configuration.
    pub fn is_off(&self, name: &UpstreamName) -> bool {
        let overview = self.overview.borrow();
        overview.status.upstreams.iter().any(|one| one.name == name.as_str() && one.is_off())
    }

    /// The upstreams in a view.
    pub fn upstreams(&self, view: &View) -> Vec<UpstreamHandle> {
        match &view.scope {
            ViewScope::All => {
                let all = Arc::clone(&self.upstreams.borrow());
                all.iter().filter(|one| view.sees(one.name())).cloned().collect()
            }
            ViewScope::One(upstream) => vec![upstream.clone()],
        }
    }

    /// The `initialize` or `server/discover` answer for a view.
    pub async fn server_description(&self, view: &View) -> ServerDescription {
        match &view.scope {
            ViewScope::One(upstream) => match upstream.known(DESCRIPTION_TIMEOUT).await {
                Some(known) => {
                    ServerDescription::of_upstream(&known.handshake, known.protocol_version())
                }
                None => ServerDescription::of_gateway(crate::VERSION, &[]),
            }
            .with_absent(&absent(std::slice::from_ref(upstream))),
            ViewScope::All => {
                let upstreams = self.upstreams(view);
                let known: Vec<(String, Arc<KnownCatalog>)> = upstreams
                    .iter()
                    .filter_map(|one| Some((one.config.title.clone(), one.state().known?)))
                    .collect();
                let handshakes: Vec<_> =
                    known.iter().map(|(title, known)| (title.as_str(), &known.handshake)).collect();
                ServerDescription::of_gateway(crate::VERSION, &handshakes)
                    .with_absent(&absent(&upstreams))
            }
        }
    }

    /// The `serverInfo` for a view, as known at this moment.
    pub fn server_info(&self, view: &View) -> Raw {
        let known = match &view.scope {
            ViewScope::One(upstream) => upstream.state().known,
            ViewScope::All => None,
        };
        match known {
            Some(known) => known.handshake.server_info.clone(),
            None => gateway_info(crate::VERSION),
        }
    }

    /// Finds who answers a request.
    pub async fn route(&self, view: &View, request: &Request) -> Destination {
        if request.method == method::PING {
            return answered(request, Raw::of(&serde_json::json!({})));
        }
        match &view.scope {
            ViewScope::One(upstream) => match view.refuses(upstream, request, request) {
                Some(refusal) => Destination::Gateway(refusal),
                None => one(view, upstream, request).await,
            },
            ViewScope::All => self.route_merged(view, request).await,
        }
    }

    /// The upstream that has a resource. Otherwise says why none has it and what to do.
    pub fn owner(&self, view: &View, uri: &str) -> Result<UpstreamHandle, ResourceError> {
        let owner = match &view.scope {
            ViewScope::One(upstream) => Some(upstream.clone()),
            ViewScope::All => self.by_name(view.merged().owner(uri)),
        };
        let hiding = match owner {
            Some(owner) => match view.hides(&owner, ListKind::Resources, uri) {
                Some(hidden) => Some((owner, hidden)),
                None => return Ok(owner),
            },
            None => self.hidden_by(view, ListKind::Resources, uri),
        };
        Err(match hiding {
            Some((upstream, hidden)) => {
                ResourceError::Hidden(view.hidden_message(&upstream, uri, hidden))
            }
            None => ResourceError::Unknown(not_found(view, ListKind::Resources, uri)),
        })
    }

    async fn route_merged(&self, view: &View, request: &Request) -> Destination {
        if let Some(list) = ListKind::from_method(&request.method) {
            let upstreams = self.upstreams(view);
            // Editors that start soon show their tools: those of the others do not wait for one that is down.
            let any_known = upstreams.iter().any(|one| one.state().known.is_some());
            let wait = move |why| match why {
                Outlook::Down if any_known => Duration::ZERO,
                Outlook::Starting | Outlook::Down | Outlook::NeedsPerson => view.longest_wait(why),
            };
            join_all(upstreams.iter().map(|one| one.first_known(wait))).await;
            self.catalogs_covered().await;
            return answered(request, view.merged().list_result(list));
        }
        let asked = asked_for(request).filter(|_| request.method != method::SUBSCRIBE);
        let Some((list, name)) = asked else {
            let other = &request.method;
            let why = format!("`{other}` needs one server: use the endpoint /mcp/<server>.");
            return rejected(request, METHOD_NOT_FOUND, &why);
        };
        let mut found = self.find(view, request, list, &name);
        if found.is_none() && self.hidden_by(view, list, &name).is_none() {
            // After a restart, an editor may send a call before its upstream has connected.
            self.catalogs_loaded(view).await;
            found = self.find(view, request, list, &name);
        }
        match found {
            Some((upstream, own)) => match view.refuses(&upstream, request, &own) {
                Some(refusal) => Destination::Gateway(refusal),
                None => Destination::Upstream(upstream, own),
            },
            None => match self.hidden_by(view, list, &name) {
                Some((upstream, hidden)) => {
                    Destination::Gateway(view.refusal(&upstream, request, hidden))
                }
                None => rejected(request, INVALID_PARAMS, &not_found(view, list, &name)),
            },
        }
    }

    /// The upstream that a request names, and the request under that upstream's own names.
    fn find(
        &self,
        view: &View,
        request: &Request,
        list: ListKind,
        name: &str,
    ) -> Option<(UpstreamHandle, Request)> {
        let merged = view.merged();
        let renamed = |origin: &ItemOrigin| {
            let named = |params: &Params| params.with("name", &Raw::of(&origin.name));
            let params = request.params.as_ref().map(named);
            let upstream = self.by_name(Some(&origin.upstream))?;
            Some((upstream, Request { params, ..request.clone() }))
        };
        if request.method == method::COMPLETE {
            let (upstream, own) = merged.completes(request)?;
            return Some((self.by_name(Some(&upstream))?, own));
        }
        match list {
            ListKind::Tools => merged.tool(name).and_then(renamed),
            ListKind::Prompts => merged.prompt(name).and_then(renamed),
            ListKind::Resources | ListKind::Templates => {
                Some((self.by_name(merged.owner(name))?, request.clone()))
            }
        }
    }

    /// The upstream that has an item of this name which is hidden from the view.
    fn hidden_by(
        &self,
        view: &View,
        list: ListKind,
        name: &str,
    ) -> Option<(UpstreamHandle, Hidden)> {
        let catalog = view.catalog();
        self.upstreams(view).into_iter().find_map(|upstream| {
            let visibility = catalog
                .visibility(&upstream.config)
                .filter(|visibility| !visibility.hides_nothing())?;
            let known = upstream.state().known?;
            let shown = |own: &str| match list {
                ListKind::Tools | ListKind::Prompts => {
                    view.merged_name(upstream.name(), own) == name
                }
                ListKind::Resources | ListKind::Templates => own == name,
            };
            let items = known.catalog.list(list).iter();
            let mut names = items.filter_map(|item| item.text_member(list.key()));
            let hidden = visibility.hides(list, &names.find(|own| shown(own))?)?;
            Some((upstream.clone(), hidden))
        })
    }

    fn by_name(&self, name: Option<&UpstreamName>) -> Option<UpstreamHandle> {
        name.and_then(|name| self.upstream(name.as_str()))
    }

    /// Waits a little for upstreams that have never connected.
    async fn catalogs_loaded(&self, view: &View) {
        let upstreams = self.upstreams(view);
        join_all(upstreams.iter().map(|upstream| upstream.known(DISCOVERY_TIMEOUT))).await;
        self.catalogs_covered().await;
    }

    /// Waits until the merged catalog includes every known catalog.
    async fn catalogs_covered(&self) {
        let mut overview = self.overview.clone();
        let covered = overview.wait_for(|overview| {
            self.upstreams.borrow().iter().all(|one| overview.editor_catalogs.covers(one))
        });
        let _ = timeout(DISCOVERY_TIMEOUT, covered).await;
    }
}

/// Sends a request to its upstream. While that is down, its lists come from the cached catalog. If it
/// was never connected, they are empty.
async fn one(view: &View, upstream: &UpstreamHandle, request: &Request) -> Destination {
    if let Some(list) = ListKind::from_method(&request.method) {
        let known = upstream.first_known(|outlook| view.longest_wait(outlook)).await;
        match (known, upstream.state().link) {
            (Some(_), LinkState::Ready(_)) => {}
            (Some(known), _) => {
                return answered(request, known.list_result(list));
            }
            (None, _) => return answered(request, list_result(list, &[])),
        }
    }
    Destination::Upstream(upstream.clone(), request.clone())
}

/// The upstreams that were never connected, although the tools of some are presumed: their titles, and why they
/// are away.
fn absent(upstreams: &[UpstreamHandle]) -> Vec<(&str, String)> {
    let absent = upstreams.iter().filter_map(|upstream| {
        let state = upstream.state();
        if state.known.is_some_and(|known| !known.presumed) {
            return None;
        }
        let why = match state.link {
            LinkState::Connecting | LinkState::Ready(_) => "It is starting.".to_owned(),
            LinkState::Paused { .. } => "It is paused.".to_owned(),
            LinkState::Down { failure, .. } => failure.to_string(),
        };
        Some((upstream.config.title.as_str(), why))
    });
    absent.collect()
}

fn answered(request: &Request, result: Raw) -> Destination {
    Destination::Gateway(Answer::from_gateway(Response::result(request.id.clone(), result)))
}

fn rejected(request: &Request, code: i32, why: &str) -> Destination {
    let refusal = Response::error(Some(request.id.clone()), code, why);
    Destination::Gateway(Answer::from_gateway(refusal))
}

/// Says that something was not found, and what to do.
fn not_found(view: &View, list: ListKind, name: &str) -> String {
    let what = match list {
        ListKind::Tools => "tool",
        ListKind::Prompts => "prompt",
        ListKind::Resources => "resource",
        ListKind::Templates => "resource template",
    };
    format!("There is no {what} `{name}`. Request the list again.{}", view.hidden_hint())
}
