//! The gateway that the shim is attached to. It is found or started when needed.
//!
//! The shim uses the gateway's private socket. A gateway that has none, or refuses the shim there, gets
//! HTTP requests; one that refuses says why in its HTTP response.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::shim_frames::Hello;

use crate::gateway_stream::GatewayStream;
use crate::http::{HttpClient, HttpError, HttpResponse};
use crate::launch::Launcher;
use crate::token;

/// The pause before starting a gateway again that exited at once.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Tells the gateway that this editor connects over stdio.
const AGENT: &str = concat!("evermoor-connect/", env!("CARGO_PKG_VERSION"));

pub(super) struct Attachment {
    launcher: Launcher,
    /// The path of the endpoint.
    path: String,
    gateway: Mutex<Option<GatewayLink>>,
    /// Held while the gateway is found or started, so that this happens once.
    turn: tokio::sync::Mutex<()>,
    /// The tasks of private streams.
    tasks: TaskTracker,
    /// When and why the last start failed.
    failed: Mutex<Option<(Instant, Failure)>>,
}

impl Attachment {
    pub(super) fn new(launcher: Launcher, path: String) -> Self {
        let (gateway, failed) = (Mutex::default(), Mutex::default());
        let (turn, tasks) = (tokio::sync::Mutex::default(), TaskTracker::new());
        Self { launcher, path, gateway, turn, tasks, failed }
    }

    /// Sends a message to the gateway. `headers` are those that differ from message to message.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<HttpResponse, HttpError> {
        match self.gateway().await? {
            GatewayLink::Stream(stream) => stream.send(&method, headers, body).await,
            GatewayLink::Http(client) => {
                let json = HeaderValue::from_static("application/json");
                let both = HeaderValue::from_static("application/json, text/event-stream");
                let mut all = vec![
                    (http::header::CONTENT_TYPE, json),
                    (http::header::ACCEPT, both),
                    (http::header::USER_AGENT, HeaderValue::from_static(AGENT)),
                ];
                all.extend_from_slice(headers);
                client.send(method, &self.path, &all, body).await
            }
        }
    }

    /// The gateway, started if none is running. After a failed start, messages that follow within
    /// [`RETRY_DELAY`] do not start another one.
    async fn gateway(&self) -> Result<GatewayLink, HttpError> {
        if let Some(gateway) = self.known() {
            return Ok(gateway);
        }
        let _turn = self.turn.lock().await;
        if let Some(gateway) = self.known() {
            return Ok(gateway);
        }
        let failed = self.failed.lock().clone();
        let attached = match failed.filter(|(at, _)| at.elapsed() < RETRY_DELAY) {
            Some((_, failure)) => self.launcher.running().await.ok_or(failure),
            None => self.launcher.attach().await.inspect_err(|failure| {
                *self.failed.lock() = Some((Instant::now(), failure.clone()));
            }),
        };
        let control = attached.map_err(HttpError::NoGateway)?;
        let token = token::of(self.launcher.paths(), self.launcher.editor())
            .map_err(HttpError::NoGateway)?;
        let hello = Hello { token, path: self.path.clone(), agent: AGENT.to_owned() };
        let socket = self.launcher.paths().shim_socket();
        let gateway = match GatewayStream::connect(&socket, &hello, &self.tasks).await {
            Ok(stream) => GatewayLink::Stream(stream),
            Err(error) => {
                tracing::debug!(%error, "no private stream; using HTTP");
                GatewayLink::Http(HttpClient::new(&control.runtime().origin, &hello.token))
            }
        };
        *self.gateway.lock() = Some(gateway.clone());
        Ok(gateway)
    }

    fn known(&self) -> Option<GatewayLink> {
        self.gateway.lock().clone().filter(GatewayLink::is_open)
    }

    /// Forgets the gateway, so that the next message finds or starts one.
    pub(super) fn lost(&self) {
        *self.gateway.lock() = None;
    }
}

/// How the shim reaches the gateway.
#[derive(Clone)]
enum GatewayLink {
    Stream(GatewayStream),
    Http(HttpClient),
}

impl GatewayLink {
    fn is_open(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_open(),
            Self::Http(_) => true,
        }
    }
}

/// Whether retrying is pointless until the user has fixed something.
pub(super) fn needs_user_action(error: &HttpError) -> bool {
    let permanent = |failure: &Failure| {
        matches!(failure.code, Code::Configuration | Code::PortTaken | Code::Forbidden)
    };
    matches!(error, HttpError::NoGateway(failure) if permanent(failure))
}
