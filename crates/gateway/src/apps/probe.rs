//! HTTP requests to an application: on its own port, without credentials, with a short timeout.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use evermoor_core::preset::{Probe, ProbeMethod};

/// Sends probe requests to applications.
#[derive(Clone)]
pub(crate) struct ProbeClient(reqwest::Client);

/// The outcome of a request.
pub(super) enum ProbeReply {
    Answer {
        status: u16,
        body: Bytes,
    },
    /// It accepted the connection but did not answer.
    NoReply,
    NotConnected,
}

/// No expected response is longer.
const MAX_BODY: usize = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

impl ProbeClient {
    /// `None` if no HTTP client can be created.
    pub(super) fn new() -> Option<Self> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("evermoor/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .tls_certs_only([])
            .connect_timeout(CONNECT_TIMEOUT)
            // Keep no idle connections open: some applications limit or count them.
            .pool_max_idle_per_host(0);
        client
            .build()
            .inspect_err(|error| tracing::error!(%error, "cannot create an HTTP client"))
            .ok()
            .map(Self)
    }

    pub(super) async fn send(&self, port: u16, ask: &Probe, within: Duration) -> ProbeReply {
        let method = match ask.method {
            ProbeMethod::Get => http::Method::GET,
            ProbeMethod::Head => http::Method::HEAD,
            ProbeMethod::Post => http::Method::POST,
        };
        let address = format!("http://127.0.0.1:{port}{}", ask.path);
        let request = self.0.request(method, address).timeout(within);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return ProbeReply::NotConnected,
            Err(_) => return ProbeReply::NoReply,
        };
        let status = response.status().as_u16();
        body(response).await.map_or(ProbeReply::NoReply, |body| ProbeReply::Answer { status, body })
    }

    /// Whether the response is the expected one.
    pub(super) async fn matches(&self, port: u16, ask: &Probe, within: Duration) -> bool {
        match self.send(port, ask, within).await {
            ProbeReply::Answer { status, body } => ask.expect.holds(status, &body),
            ProbeReply::NoReply | ProbeReply::NotConnected => false,
        }
    }
}

/// The body, unless it is too long.
async fn body(mut response: reqwest::Response) -> Option<Bytes> {
    let mut collected = BytesMut::new();
    while let Some(part) = response.chunk().await.ok()? {
        collected.extend_from_slice(&part);
        if collected.len() > MAX_BODY {
            return None;
        }
    }
    Some(collected.freeze())
}
