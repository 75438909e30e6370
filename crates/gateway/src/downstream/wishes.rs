//! What a session wants to hear of, and how an editor says so.

use std::collections::BTreeSet;
use std::sync::Arc;

use evermoor_core::envelope::{INVALID_PARAMS, Id, METHOD_NOT_FOUND, Outcome, Request, Response};
use evermoor_core::json::Raw;
use evermoor_core::level::Level;
use evermoor_core::name::UpstreamName;
use evermoor_core::protocol::method;

use super::session::Live;
use crate::interests::Interests;
use crate::router::{Router, View};
use crate::upstream::{Handle, Link, Reply};

/// What one session wants to hear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    pub resources: BTreeSet<(UpstreamName, String)>,
    pub level: Option<Level>,
}

impl Wishes {
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.level.is_none()
    }

    /// Adds them to everybody's. Says what upstreams must still be asked for: those that are connected
    /// already, and were not asked by anybody else.
    pub fn register(
        &self,
        session: u64,
        router: &Router,
        interests: &Interests,
    ) -> Vec<(Handle, Request)> {
        let mut owed = Vec::new();
        for (name, uri) in &self.resources {
            let first = interests.subscribe(name, session, uri);
            if let Some(upstream) = router.upstream(name.as_str()).filter(|_| first) {
                let params = Raw::of(&serde_json::json!({ "uri": uri }));
                owed.push((upstream, Request::new(Id::number(0), method::SUBSCRIBE, Some(params))));
            }
        }
        if let Some(level) = self.level {
            for upstream in router.upstreams(&View::All) {
                if !interests.listen_from(upstream.name(), session, level) {
                    continue;
                }
                let params = Some(quietest(interests, &upstream, level));
                owed.push((upstream, Request::new(Id::number(0), method::SET_LEVEL, params)));
            }
        }
        owed.retain(|(upstream, _)| !upstream.is_stateless() && is_there(upstream));
        owed
    }
}

/// Asks an upstream for what a session of an earlier life wants to hear of.
pub(super) async fn ask_again((upstream, request): (Handle, Request)) {
    if let Outcome::Error(error) = own_answer(&upstream, &request).await.outcome {
        tracing::debug!(upstream = %upstream.name(), ?error, "not asked for again");
    }
}

/// Whether a request is a wish.
pub(super) fn is_wish(called: &str) -> bool {
    matches!(called, method::SUBSCRIBE | method::UNSUBSCRIBE | method::SET_LEVEL)
}

/// Grants a wish, and answers it.
pub(super) async fn grant(
    router: &Router,
    interests: &Interests,
    view: &View,
    live: &Arc<Live>,
    request: &Request,
) -> Response {
    match request.method.as_str() {
        method::SET_LEVEL => set_level(router, interests, view, live, request).await,
        _ => subscribe(router, interests, view, live, request).await,
    }
}

async fn subscribe(
    router: &Router,
    interests: &Interests,
    view: &View,
    live: &Live,
    request: &Request,
) -> Response {
    let uri = request.params.as_ref().and_then(|params| params.text_member("uri"));
    let Some(uri) = uri else { return wrong(request, "`uri` is missing.") };
    let Some(upstream) = router.owner(view, &uri) else {
        return wrong(request, &format!("There is no resource `{uri}`. Ask for the list again."));
    };
    let (name, wanted) = (upstream.name().clone(), request.method == method::SUBSCRIBE);
    // An upstream is told by its supervisor that nobody has an interest any more.
    let decides = match wanted {
        true => interests.subscribe(&name, live.number, &uri),
        false => {
            interests.unsubscribe(&name, live.number, &uri);
            false
        }
    };
    // An upstream without sessions is listened to elsewhere; one that is away hears it later.
    let answer = match decides && !upstream.is_stateless() && is_there(&upstream) {
        true => own_answer(&upstream, request).await,
        false => granted(request),
    };
    if matches!(answer.outcome, Outcome::Error(_)) && wanted {
        interests.unsubscribe(&name, live.number, &uri);
        return answer;
    }
    let mut wishes = live.wishes.lock();
    match wanted {
        true => wishes.resources.insert((name, uri)),
        false => wishes.resources.remove(&(name, uri)),
    };
    answer
}

/// Adds an interest in a resource, and asks its upstream if nobody had.
pub(super) async fn ask_for(interests: &Interests, upstream: &Handle, session: u64, uri: &str) {
    if interests.subscribe(upstream.name(), session, uri)
        && !upstream.is_stateless()
        && is_there(upstream)
    {
        let params = Raw::of(&serde_json::json!({ "uri": uri }));
        own_answer(upstream, &Request::new(Id::number(0), method::SUBSCRIBE, Some(params))).await;
    }
}

async fn set_level(
    router: &Router,
    interests: &Interests,
    view: &View,
    live: &Live,
    request: &Request,
) -> Response {
    let named = request.params.as_ref().and_then(|params| params.text_member("level"));
    let Some(level) = named.as_deref().and_then(Level::parse) else {
        return wrong(
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
        let decides = interests.listen_from(upstream.name(), live.number, level);
        if decides && !upstream.is_stateless() && is_there(&upstream) {
            let params = quietest(interests, &upstream, level);
            let asked = Request { params: Some(params), ..request.clone() };
            own_answer(&upstream, &asked).await;
        }
    }
    if !offered {
        let why = "No upstream here offers logging.";
        return Response::error(Some(request.id.clone()), METHOD_NOT_FOUND, why);
    }
    live.wishes.lock().level = Some(level);
    granted(request)
}

/// The level that everybody who listens to an upstream needs, as a parameter.
fn quietest(interests: &Interests, upstream: &Handle, level: Level) -> Raw {
    let quietest = interests.in_upstream(upstream.name()).borrow().level.unwrap_or(level);
    Raw::of(&serde_json::json!({ "level": quietest.as_str() }))
}

fn is_there(upstream: &Handle) -> bool {
    matches!(upstream.state().link, Link::Ready(_))
}

async fn own_answer(upstream: &Handle, request: &Request) -> Response {
    let id = request.id.clone();
    match upstream.call(request, None).await {
        Reply::Whole(response) => response,
        Reply::Stream(messages) => {
            let gone = || Response::error(Some(id), -32603, "The upstream did not answer.");
            messages.answer().await.unwrap_or_else(gone)
        }
    }
}

fn granted(request: &Request) -> Response {
    Response::result(request.id.clone(), Raw::of(&serde_json::json!({})))
}

fn wrong(request: &Request, why: &str) -> Response {
    Response::error(Some(request.id.clone()), INVALID_PARAMS, why)
}
