//! Asking an application something over HTTP: on its own port, without credentials, and not for
//! long.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use evermoor_core::preset::{Ask, Method};

/// Asks applications.
#[derive(Clone)]
pub(crate) struct Asker(reqwest::Client);

/// What came of a question.
pub(super) enum Said {
    Answer {
        status: u16,
        body: Bytes,
    },
    /// It was asked, and the answer did not come.
    Nothing,
    /// It could not even be asked.
    NotAsked,
}

/// Longer answers are none that anybody waits for here.
const LONGEST: usize = 64 << 10;
const CONNECTING: Duration = Duration::from_secs(1);

impl Asker {
    /// `None` if this machine cannot make a client at all.
    pub(super) fn new() -> Option<Self> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("evermoor/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .tls_certs_only([])
            .connect_timeout(CONNECTING)
            // An application that counts its connections finds none of ours at rest.
            .pool_max_idle_per_host(0);
        client.build().inspect_err(|error| tracing::error!(%error, "no client")).ok().map(Self)
    }

    pub(super) async fn ask(&self, port: u16, ask: &Ask, within: Duration) -> Said {
        let method = match ask.method {
            Method::Get => http::Method::GET,
            Method::Head => http::Method::HEAD,
            Method::Post => http::Method::POST,
        };
        let address = format!("http://127.0.0.1:{port}{}", ask.path);
        let request = self.0.request(method, address).timeout(within);
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => return Said::NotAsked,
            Err(_) => return Said::Nothing,
        };
        let status = answer.status().as_u16();
        body(answer).await.map_or(Said::Nothing, |body| Said::Answer { status, body })
    }

    /// Whether the answer is as expected.
    pub(super) async fn holds(&self, port: u16, ask: &Ask, within: Duration) -> bool {
        match self.ask(port, ask, within).await {
            Said::Answer { status, body } => ask.expect.holds(status, &body),
            Said::Nothing | Said::NotAsked => false,
        }
    }
}

/// The body, if it is of a length that answers have.
async fn body(mut answer: reqwest::Response) -> Option<Bytes> {
    let mut whole = BytesMut::new();
    while let Some(part) = answer.chunk().await.ok()? {
        whole.extend_from_slice(&part);
        if whole.len() > LONGEST {
            return None;
        }
    }
    Some(whole.freeze())
}
