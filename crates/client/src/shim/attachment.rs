//! The gateway that the shim is attached to. It is found or started when needed.
//!
//! The shim uses the gateway's private socket. A gateway that has none, or refuses the shim there, gets
//! HTTP requests if the program can send them; one that refuses says why in its HTTP response. Since the
//! socket may appear later, the shim tries it again now and then.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::protocol::shim_frames::Hello;

use super::http_fallback::{HttpFallback, HttpLink};
use crate::gateway_files::{runtime_file, stop_marker, token};
use crate::gateway_stream::GatewayStream;
use crate::http::{HttpError, HttpResponse};
use crate::launch::Launcher;

/// The pause before starting a gateway again that exited at once.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long HTTP is used before the private socket is tried again.
const SOCKET_RETRY: Duration = Duration::from_secs(30);

/// How often it is looked whether a stopped gateway was started.
const STOPPED_INTERVAL: Duration = Duration::from_millis(250);

/// Tells the gateway that this editor connects over stdio.
const AGENT: &str = concat!("evermoor-connect/", env!("CARGO_PKG_VERSION"));

pub(super) struct Attachment {
    launcher: Launcher,
    /// The path of the endpoint.
    path: String,
    /// `None` if this program only uses the private socket.
    http: Option<Box<dyn HttpFallback>>,
    gateway: Mutex<Option<GatewayLink>>,
    /// Held while the gateway is found or started, so that this happens once.
    turn: tokio::sync::Mutex<()>,
    /// The tasks of private streams.
    tasks: TaskTracker,
    /// When and why the last start failed.
    failed: Mutex<Option<(Instant, Failure)>>,
}

impl Attachment {
    pub(super) fn new(
        launcher: Launcher,
        path: String,
        http: Option<Box<dyn HttpFallback>>,
    ) -> Self {
        let (gateway, failed) = (Mutex::default(), Mutex::default());
        let (turn, tasks) = (tokio::sync::Mutex::default(), TaskTracker::new());
        Self { launcher, path, http, gateway, turn, tasks, failed }
    }

    /// Sends a message to the gateway. `headers` are those that differ from message to message.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<HttpResponse, HttpError> {
        match self.gateway().await.map_err(HttpError::NoGateway)? {
            GatewayLink::Stream(stream) => stream.send(&method, headers, body).await,
            GatewayLink::Http { client, .. } => {
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

    /// Finds or starts a gateway before the first message needs it. Fails at once if there is one that cannot be
    /// reached: a gateway opens its private socket before it is found.
    pub(super) async fn attach(&self) -> Result<(), Failure> {
        let reach = |runtime: RuntimeFile| async move {
            let reached = self.reach(runtime).await?;
            reached.map(Some).ok_or_else(no_socket)
        };
        let gateway = self.launcher.find_or_start_with(reach).await?;
        *self.gateway.lock() = Some(gateway);
        Ok(())
    }

    /// The gateway, started if none is running. After a failed start, messages that follow within
    /// [`RETRY_DELAY`] do not start another one.
    async fn gateway(&self) -> Result<GatewayLink, Failure> {
        if let Some(gateway) = self.known() {
            return Ok(gateway);
        }
        let _turn = self.turn.lock().await;
        if let Some(gateway) = self.known() {
            return Ok(gateway);
        }
        let failed = self.failed.lock().clone();
        let gateway = match failed.filter(|(at, _)| at.elapsed() < RETRY_DELAY) {
            Some((_, failure)) => match runtime_file::find(self.launcher.paths()) {
                Some(runtime) => self.reach(runtime).await?.ok_or(failure)?,
                None => return Err(failure),
            },
            None => {
                let found = self.launcher.find_or_start_with(|runtime| self.reach(runtime)).await;
                found.inspect_err(|failure| {
                    *self.failed.lock() = Some((Instant::now(), failure.clone()));
                })?
            }
        };
        *self.gateway.lock() = Some(gateway.clone());
        Ok(gateway)
    }

    /// Connects to a gateway. `None` if it does not answer. A welcome on the private socket proves as much
    /// as an answer over HTTP.
    async fn reach(&self, runtime: RuntimeFile) -> Result<Option<GatewayLink>, Failure> {
        let token = token::of(self.launcher.paths(), self.launcher.editor())?;
        let hello = Hello { token, path: self.path.clone(), agent: AGENT.to_owned() };
        let socket = self.launcher.paths().shim_socket();
        let link = match GatewayStream::connect(&socket, &hello, &self.tasks).await {
            Ok(stream) => Some(GatewayLink::Stream(stream)),
            Err(error) => {
                tracing::debug!(%error, "no private stream");
                let http = self.http.as_ref();
                let client = match http.map(|http| http.reach(runtime.clone(), &hello.token)) {
                    Some(reaching) => reaching.await,
                    // HTTP would say why.
                    None if error.kind() == std::io::ErrorKind::PermissionDenied => {
                        return Err(refused(self.launcher.editor()));
                    }
                    None => None,
                };
                client.map(|client| GatewayLink::Http { client, since: Instant::now() })
            }
        };
        if link.is_some() {
            self.launcher.replace_if_older_than_this(&runtime);
        }
        Ok(link)
    }

    fn known(&self) -> Option<GatewayLink> {
        self.gateway.lock().clone().filter(GatewayLink::is_open)
    }

    /// Waits while the user has stopped the gateway, unless a call has started it.
    pub(super) async fn until_wanted(&self) {
        while stop_marker::exists(self.launcher.paths()) {
            sleep(STOPPED_INTERVAL).await;
        }
    }

    /// Forgets the gateway, so that the next message finds or starts one.
    pub(super) fn lost(&self) {
        *self.gateway.lock() = None;
    }

    /// A stream of the gateway has ended, perhaps because another one took over. That one may have a private
    /// socket.
    pub(super) fn stream_ended(&self) {
        let is_http = |gateway: &mut GatewayLink| matches!(gateway, GatewayLink::Http { .. });
        drop(self.gateway.lock().take_if(is_http));
    }
}

/// How the shim reaches the gateway.
#[derive(Clone)]
enum GatewayLink {
    Stream(GatewayStream),
    Http { client: HttpLink, since: Instant },
}

impl GatewayLink {
    fn is_open(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_open(),
            Self::Http { since, .. } => since.elapsed() < SOCKET_RETRY,
        }
    }
}

fn no_socket() -> Failure {
    let what = "The running gateway has no private socket.";
    Failure::new(Code::Timeout, what, "Run `evermoor restart --gateway`.")
}

fn refused(editor: &str) -> Failure {
    let what = format!("The gateway refused the token of the editor `{editor}`.");
    Failure::new(Code::Forbidden, what, "Connect the editor again with `evermoor setup`.")
}

/// Whether retrying is pointless until the user has fixed something.
pub(super) fn needs_user_action(error: &HttpError) -> bool {
    let permanent = |failure: &Failure| {
        matches!(failure.code, Code::Configuration | Code::PortTaken | Code::Forbidden)
    };
    matches!(error, HttpError::NoGateway(failure) if permanent(failure))
}
