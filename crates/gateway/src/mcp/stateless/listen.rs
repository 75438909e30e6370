//! `subscriptions/listen`: sends notifications for as long as the stream is open.
//!
//! When this gateway stops serving, the stream ends with the result of the request, as a server does
//! that ends a subscription on purpose. A stream that merely breaks would look like a fault.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response as HttpResponse;
use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use evermoor_core::protocol::envelope::{INVALID_PARAMS, Id, Notification, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{meta, method};
use evermoor_core::protocol::sse;
use evermoor_core::protocol::stateless::SUBSCRIPTIONS_ACKNOWLEDGED;

use crate::editors::Editor;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::event_stream;
use crate::mcp::event_stream::Events;
use crate::mcp::http_message::json;
use crate::mcp::notifications::{NotificationFilter, NotificationReader, updated_resource};
use crate::mcp::session::{subscription_limits, subscriptions};
use crate::monitoring::clients::ClientStream;
use crate::routing::router::{ResourceError, View};
use crate::system::budget::Charge;
use crate::upstream::notification_log::LoggedNotification;
use crate::upstream::subscriptions::Subscriptions;
use crate::upstream::{ScopeOwner, UpstreamHandle};

/// How long the acknowledgment waits for upstreams to confirm.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(2);

const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];

/// Opens the stream once the upstreams that are connected have confirmed the subscriptions.
pub(crate) async fn listen(
    endpoint: &McpEndpoint,
    view: View,
    request: Request,
    editor: &Editor,
    listening: ClientStream,
) -> HttpResponse {
    let wanted = request.params.as_ref().and_then(|params| params.member("notifications"));
    let Some(wanted) = wanted.filter(|wanted| wanted.entries().is_some()) else {
        let why = "`notifications` must be an object that names what to subscribe to.";
        return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
    };
    let flag = |name: &str| wanted.member(name).is_some_and(|flag| flag.as_str() == "true");
    let lists: Vec<_> = LISTS.into_iter().filter(|(name, _)| flag(name)).collect();
    let resources = wanted
        .member("resourceSubscriptions")
        .and_then(|all| all.first_elements(subscription_limits::MAX_RESOURCES + 1))
        .unwrap_or_default();
    let uris: Vec<String> = resources.iter().filter_map(|uri| uri.read().ok()).collect();
    let checked = subscription_limits::check(uris.iter().map(String::as_str));
    let mut resources: BTreeSet<String> = uris.into_iter().collect();
    let budget = endpoint.budgets.editor(&editor.name);
    let charged = checked
        .and_then(|()| subscription_limits::charge(&budget, resources.iter().map(String::as_str)));
    let charge = match charged {
        Ok(charge) => charge,
        Err(excessive) => {
            let why = excessive.to_string();
            return json(&Response::error(Some(request.id), INVALID_PARAMS, &why));
        }
    };
    let session = endpoint.sessions.number();
    let owner = ScopeOwner::Editor(editor.name.clone());
    let mut subscribing = Vec::new();
    resources.retain(|uri| match endpoint.router.owner(&view, uri) {
        Ok(upstream) if lacks_subscribe(&upstream) => false,
        Ok(upstream) => {
            let Ok(upstream) = upstream.used_by(&owner) else { return false };
            let (upstream_subscriptions, uri) =
                (endpoint.upstream_subscriptions.clone(), uri.clone());
            subscribing.push(endpoint.tasks.spawn(async move {
                subscriptions::subscribe_resource(
                    &upstream_subscriptions,
                    &upstream,
                    session,
                    &uri,
                )
                .await;
            }));
            true
        }
        // The resource may appear later.
        Err(ResourceError::Unknown(_)) => true,
        Err(ResourceError::Hidden(_)) => false,
    });
    let mut accepted = serde_json::Map::new();
    for (name, _) in &lists {
        accepted.insert((*name).to_owned(), true.into());
    }
    if !resources.is_empty() {
        accepted.insert("resourceSubscriptions".into(), serde_json::json!(resources));
    }
    let params = Raw::of(&serde_json::json!({ "notifications": accepted }));
    let acknowledged = Notification::new(SUBSCRIPTIONS_ACKNOWLEDGED, Some(params));
    let lists = lists.into_iter().map(|(_, method)| method).collect();
    let server_info = endpoint.router.server_info(&view);
    let reader = NotificationReader::new(
        endpoint.notification_log.clone(),
        ListenFilter { view, owner, lists, resources },
    );
    let guard = SubscriptionGuard {
        upstream_subscriptions: endpoint.upstream_subscriptions.clone(),
        session,
    };
    // No notification is missed after the acknowledgment. Slower upstreams are still subscribed,
    // only the acknowledgment does not wait for them.
    let _ = timeout(SUBSCRIBE_TIMEOUT, join_all(subscribing)).await;
    let events = SubscriptionEvents {
        id: request.id,
        first: Some(acknowledged),
        reader,
        moved: endpoint.moved.clone(),
        ended: false,
        server_info,
        _guard: guard,
        _listening: listening,
        _charge: charge,
    };
    event_stream::response(events)
}

/// Whether an upstream is known not to support resource subscriptions.
fn lacks_subscribe(upstream: &UpstreamHandle) -> bool {
    upstream.state().known.is_some_and(|known| !known.handshake.supports_subscribe())
}

/// What the client subscribed to.
struct ListenFilter {
    view: View,
    owner: ScopeOwner,
    lists: Vec<&'static str>,
    resources: BTreeSet<String>,
}

impl NotificationFilter for ListenFilter {
    fn accepts(&self, published: &LoggedNotification) -> bool {
        let method = published.notification.method.as_str();
        let wanted = self.lists.contains(&method)
            || updated_resource(&published.notification)
                .is_some_and(|uri| self.resources.contains(&uri));
        wanted && self.view.accepts(published) && published.scope.is_for(&self.owner)
    }

    fn resync(&self) -> Vec<Notification> {
        let lists = self.lists.iter().map(|list| Notification::new(list, None));
        let resources = self.resources.iter().map(|uri| {
            let params = Raw::of(&serde_json::json!({ "uri": uri }));
            Notification::new(method::RESOURCE_UPDATED, Some(params))
        });
        lists.chain(resources).collect()
    }
}

/// Subscriptions that end with their stream.
struct SubscriptionGuard {
    upstream_subscriptions: Subscriptions,
    session: u64,
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        self.upstream_subscriptions.forget(self.session);
    }
}

struct SubscriptionEvents {
    id: Id,
    first: Option<Notification>,
    reader: NotificationReader<ListenFilter>,
    /// Cancelled when this gateway stops serving, so that the client opens another stream.
    moved: CancellationToken,
    ended: bool,
    server_info: Raw,
    _guard: SubscriptionGuard,
    _listening: ClientStream,
    /// What its editor is charged for the subscriptions.
    _charge: Charge,
}

impl SubscriptionEvents {
    /// The result that ends a subscription, with its id.
    fn result(&self) -> Response {
        let meta = Raw::of(&serde_json::json!({})).with(meta::SUBSCRIPTION, self.id.raw());
        let meta = meta.with(meta::SERVER, &self.server_info);
        let result = Raw::of(&serde_json::json!({ "resultType": "complete" }));
        Response::result(self.id.clone(), result.with("_meta", &meta))
    }
}

impl Events for SubscriptionEvents {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let notification = match self.first.take() {
            Some(first) => Some(first),
            None => {
                self.moved.run_until_cancelled(self.reader.next()).await.flatten().map(|it| it.1)
            }
        };
        let Some(notification) = notification else {
            self.ended = true;
            return Some(sse::write(None, None, &self.result().to_bytes()));
        };
        let nothing = || Raw::of(&serde_json::json!({}));
        let params = notification.params.clone().unwrap_or_else(nothing);
        let meta_member = params.member("_meta").unwrap_or_else(nothing);
        let params = params.with("_meta", &meta_member.with(meta::SUBSCRIPTION, self.id.raw()));
        let notification = Notification { params: Some(params), ..notification };
        Some(sse::write(None, None, &notification.to_bytes()))
    }
}
