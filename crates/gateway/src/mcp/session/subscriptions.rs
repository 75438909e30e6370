//! What a session subscribed to, and the requests that change it.

use std::collections::BTreeSet;
use std::sync::Arc;

use evermoor_core::catalog::List;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, Id, METHOD_NOT_FOUND, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::Level;
use evermoor_core::protocol::mcp::method;

use super::ActiveSession;
use crate::routing::router::{ResourceError, Router, View};
use crate::upstream::subscriptions::Interests;
use crate::upstream::{Handle, Lane, Link, Reply};

/// What one session subscribed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSubscriptions {
    pub resources: BTreeSet<(UpstreamName, String)>,
    pub level: Option<Level>,
}

impl SessionSubscriptions {
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.level.is_none()
    }

    /// Adds the subscriptions of a session that is back, as far as its editor may see them, and
    /// subscribes at the upstreams.
    pub async fn register(self, session: Arc<ActiveSession>, router: Router, interests: Interests) {
        let view = router.all(&session.claims().editor);
        for (name, uri) in &self.resources {
            let found = router.upstream(name.as_str());
            let hidden = found.as_ref().and_then(|found| view.hides(found, List::Resources, uri));
            match found {
                _ if !view.sees(name) || hidden.is_some() => {}
                Some(upstream) => {
                    let upstream = upstream.used_by(&session.owner());
                    subscribe_resource(&interests, &upstream, session.number, uri).await;
                }
                // The upstream may be configured again later.
                None => drop(interests.subscribe(&Lane::shared(name), session.number, uri)),
            }
        }
        for upstream in router.upstreams(&view) {
            if let Some(level) = self.level {
                let upstream = upstream.used_by(&session.owner());
                subscribe_logs(&interests, &upstream, session.number, level).await;
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
    pub(crate) interests: &'a Interests,
    pub(crate) view: &'a View,
    pub(crate) session: &'a ActiveSession,
    pub(crate) request: &'a Request,
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
        let Self { router, interests, view, session, request } = self;
        let uri = request.params.as_ref().and_then(|params| params.text_member("uri"));
        let Some(uri) = uri else { return invalid_params(request, "`uri` is missing.") };
        let upstream = match router.owner(view, &uri) {
            Ok(upstream) => upstream.used_by(&session.owner()),
            Err(ResourceError::Hidden(why) | ResourceError::Unknown(why)) => {
                return invalid_params(request, &why);
            }
        };
        let (lane, wanted) = (upstream.lane(), request.method == method::SUBSCRIBE);
        // The supervisor unsubscribes at the upstream when no session is left.
        let decides = match wanted {
            true => interests.subscribe(lane, session.number, &uri),
            false => {
                interests.unsubscribe(lane, session.number, &uri);
                false
            }
        };
        // A stateless upstream has its own listen stream; one that is down is told when it
        // reconnects.
        let ready = is_ready(&upstream);
        if ready && wanted && upstream.is_stateless() {
            interests.until_carried(lane, &uri).await;
        }
        let answer = match decides && !upstream.is_stateless() && ready {
            true => call_upstream(&upstream, request).await,
            false => empty_result(request),
        };
        if matches!(answer.outcome, Outcome::Error(_)) && wanted {
            interests.unsubscribe(lane, session.number, &uri);
            return answer;
        }
        let mut subscriptions = session.subscriptions.lock();
        let resource = (upstream.name().clone(), uri);
        match wanted {
            true => subscriptions.resources.insert(resource),
            false => subscriptions.resources.remove(&resource),
        };
        answer
    }

    async fn set_level(self) -> Response {
        let Self { router, interests, view, session, request } = self;
        let named = request.params.as_ref().and_then(|params| params.text_member("level"));
        let Some(level) = named.as_deref().and_then(Level::parse) else {
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
            let upstream = upstream.used_by(&session.owner());
            subscribe_logs(interests, &upstream, session.number, level).await;
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
    interests: &Interests,
    upstream: &Handle,
    session: u64,
    uri: &str,
) {
    let first = interests.subscribe(upstream.lane(), session, uri);
    if !is_ready(upstream) {
        return;
    }
    if upstream.is_stateless() {
        interests.until_carried(upstream.lane(), uri).await;
    } else if first {
        let params = Raw::of(&serde_json::json!({ "uri": uri }));
        call_upstream(upstream, &Request::new(Id::number(0), method::SUBSCRIBE, Some(params)))
            .await;
    }
}

/// Subscribes a session to log messages, and sets the upstream's level if it changes.
async fn subscribe_logs(interests: &Interests, upstream: &Handle, session: u64, level: Level) {
    if interests.listen_from(upstream.lane(), session, level)
        && !upstream.is_stateless()
        && is_ready(upstream)
    {
        let quietest = interests.on_lane(upstream.lane()).borrow().level.unwrap_or(level);
        let params = Raw::of(&serde_json::json!({ "level": quietest.as_str() }));
        call_upstream(upstream, &Request::new(Id::number(0), method::SET_LEVEL, Some(params)))
            .await;
    }
}

/// Makes an upstream with a session send log messages at this level, for editors that name the
/// level in each request.
pub(crate) async fn ensure_log_level(interests: &Interests, upstream: &Handle, level: Level) {
    /// No session has this number.
    const NO_SESSION: u64 = 0;
    let known = upstream.state().known;
    if upstream.is_stateless() || !known.is_some_and(|known| known.handshake.offers("logging")) {
        return;
    }
    let spoken = interests.on_lane(upstream.lane()).borrow().level;
    if spoken.is_none_or(|spoken| level < spoken) {
        subscribe_logs(interests, upstream, NO_SESSION, level).await;
    }
}

fn is_ready(upstream: &Handle) -> bool {
    matches!(upstream.state().link, Link::Ready(_))
}

async fn call_upstream(upstream: &Handle, request: &Request) -> Response {
    let id = request.id.clone();
    match upstream.call(request, None).await {
        Reply::Whole(response) => response,
        Reply::Stream(messages) => {
            let no_answer = || Response::error(Some(id), -32603, "The server did not answer.");
            messages.answer().await.unwrap_or_else(no_answer)
        }
    }
}

fn empty_result(request: &Request) -> Response {
    Response::result(request.id.clone(), Raw::of(&serde_json::json!({})))
}

fn invalid_params(request: &Request, why: &str) -> Response {
    Response::error(Some(request.id.clone()), INVALID_PARAMS, why)
}
