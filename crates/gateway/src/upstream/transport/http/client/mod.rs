//! The HTTP client of one connection: headers, authorization and redirects.
//!
//! - [`direct`]: plain HTTP to a server on this machine, the fastest way
//! - [`network`]: certificates and proxy for every other server
//! - [`answer`]: the answer to a request, over either way; [`error`]: why there is none

mod answer;
mod direct;
mod error;
pub(crate) mod network;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use tokio_util::task::TaskTracker;
use url::{Position, Url};

use evermoor_core::config::HttpOptions;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::RetryClass;
use evermoor_core::security::secret_ref::Template;

use crate::config::secrets::FoundSecrets;
use crate::system::budget::Budget;
use crate::system::message_body::MessageBody;
use crate::upstream::auth::{AccessToken, GrantHandle};
pub(crate) use answer::HttpAnswer;
use direct::{DirectAnswer, DirectClient};
pub(crate) use error::HttpCallError;
use network::{NetworkClients, no_client};

/// The HTTP client of one connection.
#[derive(Clone)]
pub(crate) struct HttpClients {
    way: Way,
    /// The headers of every request: what the configuration says, and the user agent.
    headers: HeaderMap,
    /// Whether the server is on this machine.
    pub(crate) local: bool,
    /// The grant whose token every request carries, if the server wants a sign-in.
    grant: Option<GrantHandle>,
    /// How much of what the server sends may be kept.
    pub(crate) buffers: Arc<Budget>,
}

/// How requests reach the server.
#[derive(Clone)]
enum Way {
    /// Plain HTTP to this machine.
    Direct(Arc<DirectClient>),
    /// Everything else. Two clients that differ in how long they keep idle sockets.
    Network { repeatable: reqwest::Client, once: reqwest::Client },
}

/// A request, with all its headers.
#[derive(Clone)]
pub(crate) struct HttpRequest<'a> {
    pub(crate) class: RetryClass,
    pub(crate) method: Method,
    pub(crate) target: &'a RequestTarget,
    pub(crate) headers: Cow<'a, HeaderMap>,
    pub(crate) body: MessageBody,
}

/// Where requests go, parsed once.
#[derive(Clone)]
pub(crate) struct RequestTarget {
    pub(crate) url: Url,
    /// The path and query of the URL.
    path: Uri,
}

/// A call that must not be repeated only reuses a socket that was active this recently: if the server
/// is just closing the socket, it cannot be known whether the call was executed.
const FRESH_ONCE: Duration = Duration::from_secs(1);
const FRESH_REPEATABLE: Duration = Duration::from_secs(3);
const MAX_REDIRECTS: usize = 3;
const USER_AGENT: &str = concat!("evermoor/", env!("CARGO_PKG_VERSION"));

impl HttpClients {
    /// Reads the files that `reach` names each time, so that a corrected file is used at once.
    pub(crate) async fn new(
        url: &Url,
        local: bool,
        reach: &HttpOptions,
        found: &FoundSecrets,
        buffers: &Arc<Budget>,
        tasks: &TaskTracker,
    ) -> Result<Self, Failure> {
        let mut headers = headers(reach, found)?;
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        let anonymous = url.username().is_empty() && url.password().is_none();
        if let (true, "http", Some(host)) = (local && anonymous, url.scheme(), url.host_str()) {
            let host = host.trim_matches(['[', ']']).to_owned();
            let port = url.port_or_known_default().unwrap_or(80);
            let way = Way::Direct(DirectClient::new(host, port, tasks.clone()));
            let authority = HeaderValue::try_from(&url[Position::BeforeHost..Position::AfterPort])
                .map_err(|error| no_client(&error))?;
            headers.entry(header::HOST).or_insert(authority);
            return Ok(Self { way, headers, local, grant: None, buffers: Arc::clone(buffers) });
        }
        let network = NetworkClients::new(local, reach).await?;
        let build = |idle: Duration| network.build(|client| client.pool_idle_timeout(idle));
        let (repeatable, once) = (build(FRESH_REPEATABLE)?, build(FRESH_ONCE)?);
        let way = Way::Network { repeatable, once };
        Ok(Self { way, headers, local, grant: None, buffers: Arc::clone(buffers) })
    }

    /// The headers of every request, for a copy that has more.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The configured header that says who asks: `Authorization`, or the first one with a secret.
    pub(crate) fn credential(&self) -> Option<&HeaderName> {
        let says_who = |(name, value): &(&HeaderName, &HeaderValue)| {
            **name == header::AUTHORIZATION || value.is_sensitive()
        };
        let mut configured = self.headers.iter().filter(|_| self.grant.is_none());
        configured.find(says_who).map(|(name, _)| name)
    }

    /// Adds the token of this grant to every request. The headers have a target for it from the start, so
    /// that a call copies no more than it would without one.
    pub(crate) fn with_grant(mut self, grant: Option<GrantHandle>) -> Self {
        if grant.is_some() {
            self.headers.insert(header::AUTHORIZATION, HeaderValue::from_static(""));
        }
        Self { grant, ..self }
    }

    /// Sends a request and returns its answer as soon as its head has arrived. A server that refuses
    /// the access token has not executed the request, so it is sent once more with another one.
    pub(crate) async fn send(&self, request: HttpRequest<'_>) -> Result<HttpAnswer, HttpCallError> {
        let Some(grant) = &self.grant else { return self.send_once(&request, None).await };
        let token = grant.token().await.map_err(HttpCallError::NoToken)?;
        let answer = self.send_once(&request, Some(&token)).await?;
        if answer.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let token = grant.another(&token).await.map_err(HttpCallError::NoToken)?;
        self.send_once(&request, Some(&token)).await
    }

    /// Why a request was refused, if the user must permit more for it.
    pub(crate) fn lacks_scope(&self, answer: &HttpAnswer) -> Option<Failure> {
        let grant = self.grant.as_ref().filter(|_| answer.status() == StatusCode::FORBIDDEN)?;
        grant.lacks_scope(answer.headers())
    }

    async fn send_once(
        &self,
        request: &HttpRequest<'_>,
        token: Option<&AccessToken>,
    ) -> Result<HttpAnswer, HttpCallError> {
        match &self.way {
            Way::Direct(client) => send_direct(client, request, token).await,
            Way::Network { repeatable, once } => {
                let client = match request.class {
                    RetryClass::Repeatable => repeatable,
                    RetryClass::Once => once,
                };
                let mut sent =
                    reqwest::Request::new(request.method.clone(), request.target.url.clone());
                *sent.headers_mut() = request.headers_with(token);
                *sent.body_mut() = Some(request.body.clone().into_bytes().into());
                Ok(HttpAnswer::Network(client.execute(sent).await?))
            }
        }
    }
}

impl HttpRequest<'_> {
    /// A copy of the headers, with this token.
    fn headers_with(&self, token: Option<&AccessToken>) -> HeaderMap {
        let mut headers = HeaderMap::clone(&self.headers);
        if let Some(token) = token {
            headers.insert(header::AUTHORIZATION, token.header.clone());
        }
        headers
    }
}

impl RequestTarget {
    pub(crate) fn new(url: Url) -> Self {
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let path = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
        Self { url, path }
    }
}

async fn send_direct(
    client: &Arc<DirectClient>,
    request: &HttpRequest<'_>,
    token: Option<&AccessToken>,
) -> Result<HttpAnswer, HttpCallError> {
    let fresh = match request.class {
        RetryClass::Repeatable => FRESH_REPEATABLE,
        RetryClass::Once => FRESH_ONCE,
    };
    let mut redirected = None;
    for _ in 0..MAX_REDIRECTS {
        let target = redirected.as_ref().unwrap_or(request.target);
        let answer = client.send(direct_request(request, target, token), fresh).await?;
        match same_origin_redirect(target, &answer) {
            Some(named) => redirected = Some(named),
            None => return Ok(HttpAnswer::Direct(answer)),
        }
    }
    let target = redirected.as_ref().unwrap_or(request.target);
    let last = client.send(direct_request(request, target, token), fresh).await?;
    Ok(HttpAnswer::Direct(last))
}

fn direct_request(
    request: &HttpRequest<'_>,
    target: &RequestTarget,
    token: Option<&AccessToken>,
) -> Request<MessageBody> {
    let mut sent = Request::new(request.body.clone());
    *sent.method_mut() = request.method.clone();
    *sent.uri_mut() = target.path.clone();
    *sent.headers_mut() = request.headers_with(token);
    sent
}

/// Where a redirect goes that is followed; see [`follow`].
fn same_origin_redirect(target: &RequestTarget, answer: &DirectAnswer) -> Option<RequestTarget> {
    if !keeps_method(answer.status()) {
        return None;
    }
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let named = target.url.join(location).ok()?;
    (named.origin() == target.url.origin()).then(|| RequestTarget::new(named))
}

/// 301, 302 and 303 turn a POST into a GET.
fn keeps_method(status: StatusCode) -> bool {
    matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
}

/// The configured headers, with their secrets filled in.
fn headers(reach: &HttpOptions, found: &FoundSecrets) -> Result<HeaderMap, Failure> {
    let read = |(name, template): (&String, &Template)| {
        let value = template.fill(|reference| found.value(reference))?;
        let unsendable = |_| {
            let what =
                format!("The secret for the header `{name}` has characters that a header cannot.");
            let remedy = "Set the secret again, on one line and without special characters.";
            Failure::new(Code::Configuration, what, remedy)
        };
        let mut value = HeaderValue::try_from(value.reveal()).map_err(unsendable)?;
        value.set_sensitive(!template.is_plain());
        let invalid = |_| {
            let what = format!("`{name}` is not a valid header name.");
            Failure::new(Code::Configuration, what, "Correct it in `headers`.")
        };
        Ok((HeaderName::try_from(name).map_err(invalid)?, value))
    };
    reach.headers.iter().map(read).collect()
}
