//! Catalogs: what each editor is shown, according to allow and deny lists.
//!
//! - [`views`], [`calls`]: what an editor sees, and what it can call
//! - [`names`]: names for clients that refuse the usual ones
//! - [`changes`]: lists that change while editors are connected
//! - [`cache`]: what survives a restart of the gateway
//! - [`at_once`]: known lists while an upstream is away
//! - [`never_seen`]: upstreams that were never connected
//! - [`counts`]: the number of tools per editor

mod at_once;
pub(crate) mod cache;
mod calls;
mod changes;
mod counts;
mod names;
mod never_seen;
mod views;

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::entry;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const LATEST: &str = "2025-11-25";

/// Two upstreams with prompts and resources, and a gateway with allow and deny lists.
struct Library {
    scene: Scene,
    notes: Upstream,
    files: Upstream,
    gateway: Gateway,
}

impl Library {
    /// With `of_notes` in the entry of `notes`, and `editors` as the editors' entries.
    async fn open(of_notes: &str, editors: &str) -> Self {
        let scene = Scene::new();
        let (notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
        for upstream in [&notes, &files] {
            upstream.stock(2).await;
        }
        let upstreams = entries(&notes, &files, of_notes, editors);
        let gateway = scene.gateway_of("", &upstreams).await;
        for name in ["notes", "files"] {
            gateway.until_connected(name).await;
        }
        Self { scene, notes, files, gateway }
    }

    /// Writes another configuration.
    fn change(&self, of_notes: &str, editors: &str) {
        self.scene.write("", &entries(&self.notes, &self.files, of_notes, editors));
    }

    fn wire(&self, path: &str, token: &str) -> Wire {
        Wire::to(&self.gateway, path).with_token(token)
    }

    async fn session(&self, path: &str, token: &str) -> Wire {
        self.wire(path, token).initialized(LATEST, json!({})).await
    }
}

fn entries(notes: &Upstream, files: &Upstream, of_notes: &str, editors: &str) -> String {
    let (notes, files) = (entry::at("notes", &notes.url), entry::at("files", &files.url));
    format!("{notes}{of_notes}\n{files}\n{editors}\n")
}

/// The names or URIs of the items in a list.
fn items(result: &Value) -> Vec<String> {
    let lists = ["tools", "prompts", "resources", "resourceTemplates"];
    let list = lists.iter().find_map(|list| result[list].as_array()).expect("a list");
    let keys = ["uri", "uriTemplate", "name"];
    let item = |item: &Value| keys.iter().find_map(|key| item[key].as_str()).map(str::to_owned);
    list.iter().map(|one| item(one).expect("an item has a name")).collect()
}

/// All pages of a list, in a session.
async fn listed(wire: &Wire, method: &str) -> Vec<String> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let answer = wire.post(&request(1, method, params)).await;
        let result = &answer.last()["result"];
        all.extend(items(result));
        match result["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return all,
        }
    }
}

/// All pages of a list, with stateless requests.
async fn listed_newer(wire: &Wire, method: &str) -> Vec<String> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let answer = wire.newer(1, method, params).await;
        let result = &answer.last()["result"];
        all.extend(items(result));
        match result["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return all,
        }
    }
}

/// A 2024-11-05 stream, and a client for its post address.
async fn open_events(library: &Library, path: &str, token: &str) -> (WireEvents, Wire) {
    let answer = library.wire(path, token).send(Method::GET, None, "text/event-stream").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let mut events = WireEvents::of(answer);
    let (_, address) = events.next_text().await.unwrap();
    let wire = library.wire(&address, token);
    (events, wire)
}

/// A 2026-07-28 subscription to all lists.
async fn listen_newer(library: &Library, path: &str, token: &str) -> WireEvents {
    let wanted = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
    let wanted: Value = wanted.map(|list| (list.to_owned(), json!(true))).into_iter().collect();
    let params = json!({ "notifications": wanted });
    let (wire, message) = library.wire(path, token).stating(5, "subscriptions/listen", params);
    let both = "application/json, text/event-stream";
    let mut notifications = WireEvents::of(wire.send(Method::POST, Some(&message), both).await);
    notifications.next().await.expect("it is acknowledged");
    notifications
}

/// The method of the next notification.
async fn next_method(notifications: &mut WireEvents) -> String {
    let (_, notification) = notifications.next().await.expect("the stream goes on");
    notification["method"].as_str().expect("a notification has a method").to_owned()
}
