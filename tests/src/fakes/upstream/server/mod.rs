//! The process of the fake upstream: sessions, a ledger, and orders posted to `/orders`.
//!
//! - [`orders`]: the orders in force
//! - [`replies`]: malformed and unusual replies
//! - [`tools`]: normal answers
//! - [`lists`]: prompts, resources and pages

mod lists;
mod orders;
mod replies;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response as HttpResponse};
use axum::routing::{any, get, post};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, initialize_result, method};

use crate::fakes::upstream::script::{Act, Forgotten};
use crate::oracle::ledger::Ledger;
use orders::SharedOrders;

struct Fake {
    ledger: Ledger,
    orders: SharedOrders,
    /// Tools besides the default ones.
    extra: Vec<String>,
    given: AtomicU64,
    forgotten: AtomicU64,
}

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// Serves until the process is killed.
pub async fn serve(address: &str, ledger: Ledger, extra: Vec<String>) {
    let (given, forgotten) = (AtomicU64::new(0), AtomicU64::new(0));
    let fake = Arc::new(Fake { ledger, orders: SharedOrders::default(), extra, given, forgotten });
    let listener = tokio::net::TcpListener::bind(address).await.expect("the address is free");
    let address = listener.local_addr().expect("it listens");
    say(&format!("http://{address}/mcp"));
    let app = Router::new()
        .route("/mcp", post(answer).get(resume))
        .route("/stream", post(answer).get(resume))
        .route("/moved", any(|| async { Redirect::temporary("/mcp") }))
        .route("/away/{port}", any(away))
        .route("/orders", post(take_order))
        .route("/counts", get(counts))
        .with_state(fake);
    axum::serve(listener, app).await.expect("it serves until it is killed");
}

#[expect(clippy::print_stdout, reason = "the test that started it reads what it says")]
fn say(line: &str) {
    println!("{line}");
}

/// Redirects to another server on this machine.
async fn away(Path(port): Path<u16>) -> Redirect {
    Redirect::temporary(&format!("http://127.0.0.1:{port}/mcp"))
}

async fn take_order(State(fake): State<Arc<Fake>>, body: Bytes) -> StatusCode {
    let order = serde_json::from_slice(&body).expect("an order is one of ours");
    if fake.orders.take(order) {
        fake.forgotten.store(fake.given.load(Ordering::SeqCst), Ordering::SeqCst);
    }
    StatusCode::NO_CONTENT
}

async fn counts(State(fake): State<Arc<Fake>>) -> axum::Json<serde_json::Value> {
    axum::Json(fake.orders.counts())
}

async fn answer(State(fake): State<Arc<Fake>>, headers: HeaderMap, body: Bytes) -> HttpResponse {
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(rejected) => return json(StatusCode::BAD_REQUEST, &rejected.into()),
    };
    match message {
        Message::Request(request) if request.method == method::INITIALIZE => {
            fake.perform(&request, fake.initialize(&request)).await
        }
        _ if !fake.knows(&headers) => unknown_session(fake.orders.forgotten()),
        Message::Request(request) => fake.perform(&request, fake.respond(&request)).await,
        Message::Notification(_) | Message::Response(_) => StatusCode::ACCEPTED.into_response(),
    }
}

/// The rest of an interrupted stream.
async fn resume(State(fake): State<Arc<Fake>>, headers: HeaderMap) -> HttpResponse {
    if !fake.knows(&headers) {
        return unknown_session(fake.orders.forgotten());
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    match last.and_then(|last| fake.orders.rest_of(last)) {
        Some(event) => replies::events(event),
        None => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

impl Fake {
    /// Sessions of an earlier process are unknown.
    fn session(number: u64) -> HeaderValue {
        let id = format!("{}-{number}", std::process::id());
        HeaderValue::from_str(&id).expect("digits make a header")
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let (given, forgotten) =
            (self.given.load(Ordering::SeqCst), self.forgotten.load(Ordering::SeqCst));
        headers.get("mcp-session-id").is_some_and(|id| {
            (forgotten + 1..=given).rev().any(|number| Self::session(number) == id)
        })
    }

    /// Answers as ordered, or with the normal `answer`.
    async fn perform(
        &self,
        request: &Request,
        answer: impl Future<Output = HttpResponse>,
    ) -> HttpResponse {
        match self.orders.act(&request.method) {
            None => answer.await,
            Some(Act::Wait { millis }) => {
                sleep(Duration::from_millis(millis)).await;
                answer.await
            }
            Some(Act::Hang) => {
                self.execute_named(request);
                sleep(FOR_EVER).await;
                answer.await
            }
            Some(Act::Refuse { status, retry_after }) => {
                // Only an intermediary's status leaves open whether the call reached the server.
                if status >= 500 && status != 503 {
                    self.execute_named(request);
                }
                refusal(status, retry_after.as_deref())
            }
            Some(Act::Reply(reply)) => {
                self.execute_named(request);
                replies::unusual(reply, request, &self.orders)
            }
        }
    }

    /// Records the request in the ledger under the nonce it carries.
    fn execute_named(&self, request: &Request) {
        if let Some(nonce) = tools::nonce(request) {
            self.execute(&nonce);
        }
    }

    fn execute(&self, nonce: &str) {
        self.ledger.record(nonce);
        say(&format!("executed {nonce}"));
    }

    async fn initialize(&self, request: &Request) -> HttpResponse {
        let session = self.given.fetch_add(1, Ordering::SeqCst) + 1;
        let stocked = self.orders.stock().is_some();
        let capabilities = match stocked {
            true => lists::capabilities(),
            false => serde_json::json!({ "tools": {} }),
        };
        let result = initialize_result(
            SessionVersion::LATEST,
            &Raw::of(&capabilities),
            &Raw::of(&serde_json::json!({ "name": "fake", "version": "1" })),
            stocked.then_some("Ask the librarian."),
        );
        let mut response = json(StatusCode::OK, &Response::result(request.id.clone(), result));
        response.headers_mut().insert("mcp-session-id", Self::session(session));
        response
    }
}

fn unknown_session(style: Forgotten) -> HttpResponse {
    match style {
        Forgotten::NotFound => StatusCode::NOT_FOUND.into_response(),
        Forgotten::Gone => StatusCode::GONE.into_response(),
        Forgotten::Unauthorized => {
            (StatusCode::UNAUTHORIZED, "Unauthorized: Session not found").into_response()
        }
        Forgotten::BadRequest => {
            let body = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
            let kind = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, kind, body).into_response()
        }
    }
}

fn refusal(status: u16, retry_after: Option<&str>) -> HttpResponse {
    let status = StatusCode::from_u16(status).expect("a status of HTTP");
    let mut response = (status, format!("refused with {status}")).into_response();
    if let Some(wait) = retry_after {
        let wait = HeaderValue::from_str(wait).expect("a header");
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}

fn json(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
