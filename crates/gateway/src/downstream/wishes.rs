//! What a session wants to hear of, and how an editor says so.

use std::collections::BTreeSet;
use std::sync::Arc;

use evermoor_core::catalog::List;
use evermoor_core::envelope::{INVALID_PARAMS, Id, METHOD_NOT_FOUND, Outcome, Request, Response};
use evermoor_core::json::Raw;
use evermoor_core::level::Level;
use evermoor_core::name::UpstreamName;
use evermoor_core::protocol::method;

use super::session::Live;
use crate::interests::Interests;
use crate::router::{NoOwner, Router, View};
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

    /// Adds them to everybody's, as far as they are of what the session's editor sees.
    pub fn register(&self, session: u64, editor: &str, router: &Router, interests: &Interests) {
        let view = router.all(editor);
        for (upstream, uri) in &self.resources {
            let found = router.upstream(upstream.as_str());
            let hidden = found.and_then(|found| view.hides(&found, List::Resources, uri));
            if view.sees(upstream) && hidden.is_none() {
                interests.subscribe(upstream, session, uri);
            }
        }
        if let Some(level) = self.level {
            for upstream in router.upstreams(&view) {
                interests.listen_from(upstream.name(), session, level);
            }
        }
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
    let upstream = match router.owner(view, &uri) {
        Ok(upstream) => upstream,
        Err(NoOwner::Hidden(why) | NoOwner::Unknown(why)) => return wrong(request, &why),
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
            let quietest = interests.in_upstream(upstream.name()).borrow().level.unwrap_or(level);
            let params = Raw::of(&serde_json::json!({ "level": quietest.as_str() }));
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
