//! What a session subscribed to, and the requests that change it.

use std::collections::BTreeSet;
use std::sync::Arc;

use evermoor_core::catalog::ListKind;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, Id, METHOD_NOT_FOUND, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::LoggingLevel;
use evermoor_core::protocol::mcp::method;

use super::subscription_limits::ExcessiveSubscription;
use super::{ActiveSession, subscription_limits};
use crate::routing::router::{ResourceError, Router, View};
use crate::system::budget::Budget;
use crate::upstream::subscriptions::Subscriptions;
use crate::upstream::{CallReply, ConnectionScope, LinkState, UpstreamHandle};

/// What one session subscribed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSubscriptions {
    pub resources: BTreeSet<(UpstreamName, String)>,
    pub level: Option<LoggingLevel>,
}

impl SessionSubscriptions {
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.level.is_none()
    }

    /// The URIs of the resources.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(|(_, uri)| uri.as_str())
    }

    /// Adds a resource, unless that is too much.
    pub(super) fn add(
        &mut self,
        upstream: &UpstreamName,
        uri: &str,
    ) -> Result<(), ExcessiveSubscription> {
        let resource = (upstream.clone(), uri.to_owned());
        if !self.resources.contains(&resource) {
            subscription_limits::check(self.uris().chain([uri]))?;
            self.resources.insert(resource);
        }
        Ok(())
    }

    /// Adds the subscriptions of a session that its editor may see, and subscribes at the
    /// upstreams. Those that it may no longer see are ended.
    pub async fn register(
        self,
        session: Arc<ActiveSession>,
        router: Router,
        upstream_subscriptions: Subscriptions,
    ) {
        let view = router.all(&session.claims().editor);
        for (name, uri) in &self.resources {
            let found = router.upstream(name.as_str());
            let hidden =
                found.as_ref().and_then(|found| view.hides(found, ListKind::Resources, uri));
            match found {
                _ if !view.sees(name) || hidden.is_some() => {
                    for owner in [None, Some(session.owner())] {
                        let scope = ConnectionScope { upstream: name.clone(), owner };
                        upstream_subscriptions.unsubscribe(&scope, session.number, uri);
                    }
                }
                Some(upstream) => {
                    let Ok(upstream) = upstream.used_by(&session.owner()) else { continue };
                    subscribe_resource(&upstream_subscriptions, &upstream, session.number, uri)
                        .await;
                }
                // The upstream may be configured again later.
                None => {
                    let scope = ConnectionScope::shared(name);
                    let _ = upstream_subscriptions.subscribe(&scope, session.number, uri);
                }
            }
        }
        for upstream in router.upstreams(&view) {
            if let Some(level) = self.level
                && let Ok(upstream) = upstream.used_by(&session.owner())
            {
                subscribe_logs(&upstream_subscriptions, &upstream, session.number, level).await;
            }
        }
    }
}

/// Whether a request changes subscriptions.
pub(crate) fn is_subscription_request(called: &str) -> bool {
    matches!(called, method::SUBSCRIBE | method::UNSUBSCRIBE | method::SET_LEVEL)
}

/// A request that changes a session's subscriptions, and what applying it needs.
pub(crate) struct SubscriptionRequest<'a> {
    pub(crate) router: &'a Router,
    pub(crate) upstream_subscriptions: &'a Subscriptions,
    pub(crate) view: &'a View,
    pub(crate) session: &'a ActiveSession,
    pub(crate) request: &'a Request,
    /// The editor, which is charged for its subscriptions.
    pub(crate) budget: &'a Arc<Budget>,
}

impl SubscriptionRequest<'_> {
    /// Applies the request and answers it.
    pub(crate) async fn apply(self) -> Response {
        match self.request.method.as_str() {
            method::SET_LEVEL => self.set_level().await,
            _ => self.subscribe().await,
        }
    }

    async fn subscribe(self) -> Response {
        let Self { router, upstream_subscriptions, view, session, request, budget } = self;
        let uri = request.params.as_ref().and_then(|params| params.text_member("uri"));
        let Some(uri) = uri else { return invalid_params(request, "`uri` is missing.") };
        let upstream = match router.owner(view, &uri) {
            Ok(upstream) => match upstream.used_by(&session.owner()) {
                Ok(upstream) => upstream,
                Err(too_many) => {
                    let why = format!("{} is not available: {too_many}.", upstream.config.title);
                    return invalid_params(request, &why);
                }
            },
            Err(ResourceError::Hidden(why) | ResourceError::Unknown(why)) => {
                return invalid_params(request, &why);
            }
        };
        let scope = upstream.scope();
        if request.method != method::SUBSCRIBE {
            // The supervisor unsubscribes at the upstream when no session is left.
            upstream_subscriptions.unsubscribe(scope, session.number, &uri);
            session.remove_subscription(upstream.name(), &uri, budget);
            return empty_result(request);
        }
        if let Err(excessive) = session.add_subscription(upstream.name(), &uri, budget) {
            return invalid_params(request, &excessive.to_string());
        }
        let first = match upstream_subscriptions.subscribe(scope, session.number, &uri) {
            Ok(first) => first,
            Err(too_many) => {
                session.remove_subscription(upstream.name(), &uri, budget);
                return invalid_params(request, &too_many.to_string());
            }
        };
        // A stateless upstream has its own listen stream; one that is down is told when it
        // reconnects.
        let ready = is_ready(&upstream);
        if ready && upstream.is_stateless() {
            upstream_subscriptions.until_acknowledged(scope, &uri).await;
        }
        let answer = match first && !upstream.is_stateless() && ready {
            true => call_upstream(&upstream, request).await,
            false => empty_result(request),
        };
        if matches!(answer.outcome, Outcome::Error(_)) {
            upstream_subscriptions.unsubscribe(scope, session.number, &uri);
            session.remove_subscription(upstream.name(), &uri, budget);
        }
        answer
    }

    async fn set_level(self) -> Response {
        let Self { router, upstream_subscriptions, view, session, request, .. } = self;
        let named = request.params.as_ref().and_then(|params| params.text_member("level"));
        let Some(level) = named.as_deref().and_then(LoggingLevel::parse) else {
            return invalid_params(
                request,
                "`level` must be one of debug, info, notice, warning, error, critical, alert, emergency.",
            );
        };
        let mut offered = false;
        for upstream in router.upstreams(view) {
            let known = upstream.state().known;
            if !known.is_some_and(|known| known.handshake.offers("logging")) {
                continue;
            }
            offered = true;
            let Ok(upstream) = upstream.used_by(&session.owner()) else { continue };
            subscribe_logs(upstream_subscriptions, &upstream, session.number, level).await;
        }
        if !offered {
            let why = "No server here supports logging.";
            return Response::error(Some(request.id.clone()), METHOD_NOT_FOUND, why);
        }
        session.subscriptions.lock().level = Some(level);
        empty_result(request)
    }
}

/// Subscribes a session to a resource, and its upstream with it if this is the first subscription.
/// Waits until the upstream has confirmed.
pub(crate) async fn subscribe_resource(
    upstream_subscriptions: &Subscriptions,
    upstream: &UpstreamHandle,
    session: u64,
    uri: &str,
) {
    let Ok(first) = upstream_subscriptions.subscribe(upstream.scope(), session, uri) else {
        return;
    };
    if !is_ready(upstream) {
        return;
    }
    if upstream.is_stateless() {
        upstream_subscriptions.until_acknowledged(upstream.scope(), uri).await;
    } else if first {
        let params = Raw::of(&serde_json::json!({ "uri": uri }));
        call_upstream(upstream, &Request::new(Id::number(0), method::SUBSCRIBE, Some(params)))
            .await;
    }
}

/// Subscribes a session to log messages, and sets the upstream's level if it changes.
async fn subscribe_logs(
    upstream_subscriptions: &Subscriptions,
    upstream: &UpstreamHandle,
    session: u64,
    level: LoggingLevel,
) {
    if upstream_subscriptions.set_log_level(upstream.scope(), session, level)
        && !upstream.is_stateless()
        && is_ready(upstream)
    {
        let quietest =
            upstream_subscriptions.in_scope(upstream.scope()).borrow().level.unwrap_or(level);
        let params = Raw::of(&serde_json::json!({ "level": quietest.as_str() }));
        call_upstream(upstream, &Request::new(Id::number(0), method::SET_LEVEL, Some(params)))
            .await;
    }
}

/// Makes an upstream with a session send log messages at this level, for editors that name the
/// level in each request.
pub(crate) async fn ensure_log_level(
    upstream_subscriptions: &Subscriptions,
    upstream: &UpstreamHandle,
    level: LoggingLevel,
) {
    /// No session has this number.
    const NO_SESSION: u64 = 0;
    let known = upstream.state().known;
    if upstream.is_stateless() || !known.is_some_and(|known| known.handshake.offers("logging")) {
        return;
    }
    let protocol_version = upstream_subscriptions.in_scope(upstream.scope()).borrow().level;
    if protocol_version.is_none_or(|protocol_version| level < protocol_version) {
        subscribe_logs(upstream_subscriptions, upstream, NO_SESSION, level).await;
    }
}

fn is_ready(upstream: &UpstreamHandle) -> bool {
    matches!(upstream.state().link, LinkState::Ready(_))
}

async fn call_upstream(upstream: &UpstreamHandle, request: &Request) -> Response {
    let id = request.id.clone();
    match upstream.call(request, None).await {
        CallReply::Whole(answer) => answer.response,
        CallReply::Stream(parts) => {
            let no_answer = || Response::error(Some(id), -32603, "The server did not answer.");
            parts.answer().await.map_or_else(no_answer, |answer| answer.response)
        }
    }
}

fn empty_result(request: &Request) -> Response {
    Response::result(request.id.clone(), Raw::of(&serde_json::json!({})))
}

fn invalid_params(request: &Request, why: &str) -> Response {
    Response::error(Some(request.id.clone()), INVALID_PARAMS, why)
}
