//! The HTTP client of one connection: certificates, proxy, headers and redirects.
//!
//! - [`direct`]: plain HTTP to a server on this machine, the fastest way
//! - [`answer`]: the answer to a request, over either way; [`error`]: why there is none

mod answer;
mod direct;
mod error;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use reqwest::redirect::{Attempt, Policy};
use tokio_util::task::TaskTracker;
use url::{Position, Url};

use evermoor_core::config::{HttpOptions, ProxySetting};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::RetryClass;
use evermoor_core::security::secret_ref::Template;
use evermoor_platform::fs::foreign;
use evermoor_platform::paths;

use crate::config::secrets::Found;
use crate::system::message_body::MessageBody;
pub(crate) use answer::HttpAnswer;
use direct::{DirectAnswer, DirectClient};
pub(crate) use error::HttpError;

/// The HTTP client of one connection.
#[derive(Clone)]
pub(crate) struct HttpClients {
    way: Way,
    /// The headers of every request: what the configuration says, and the user agent.
    headers: HeaderMap,
    /// Whether the server is on this machine.
    pub(crate) local: bool,
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
pub(crate) struct HttpRequest<'a> {
    pub(crate) class: RetryClass,
    pub(crate) method: Method,
    pub(crate) place: &'a Place,
    pub(crate) headers: Cow<'a, HeaderMap>,
    pub(crate) body: MessageBody,
}

/// Where requests go, parsed once.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) url: Url,
    /// The path and query of the URL.
    path: Uri,
}

/// A call that must not be repeated only reuses a socket that was active this recently: if the server
/// is just closing the socket, it cannot be known whether the call was executed.
const FRESH_ONCE: Duration = Duration::from_secs(1);
const FRESH_REPEATABLE: Duration = Duration::from_secs(3);
/// The size limit of a `ca_file`.
const MAX_FILE: u64 = 4 << 20;
const MAX_REDIRECTS: usize = 3;
const USER_AGENT: &str = concat!("evermoor/", env!("CARGO_PKG_VERSION"));

impl HttpClients {
    /// Reads the files that `reach` names each time, so that a corrected file is used at once.
    pub(crate) async fn new(
        url: &Url,
        local: bool,
        reach: &HttpOptions,
        found: &Found,
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
            return Ok(Self { way, headers, local });
        }
        let files: Vec<PathBuf> = reach.ca_files.iter().map(|file| paths::expand(file)).collect();
        let reading = tokio::task::spawn_blocking(move || authorities(&files)).await;
        let authorities = reading.map_err(|panicked| no_client(&panicked))??;
        let build = |idle: Duration| {
            let connect = if local { Duration::from_secs(1) } else { Duration::from_secs(5) };
            let alive = if local { 5 } else { 15 };
            let client = reqwest::Client::builder()
                .redirect(Policy::custom(follow))
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .tcp_keepalive(Duration::from_secs(alive))
                .tcp_keepalive_interval(Duration::from_secs(alive))
                .connect_timeout(connect)
                .pool_idle_timeout(idle);
            // Traffic to a local server never goes through a proxy.
            let client = match &reach.proxy {
                _ if local => client.no_proxy(),
                ProxySetting::Never => client.no_proxy(),
                ProxySetting::System => client,
                ProxySetting::At(proxy) => client.proxy(reqwest::Proxy::all(proxy.clone())?),
            };
            client.tls_certs_merge(authorities.clone()).build()
        };
        let build = |idle| build(idle).map_err(|error| no_client(&error));
        let (repeatable, once) = (build(FRESH_REPEATABLE)?, build(FRESH_ONCE)?);
        Ok(Self { way: Way::Network { repeatable, once }, headers, local })
    }

    /// The headers of every request, for a copy that has more.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Sends a request and returns its answer as soon as its head has arrived.
    pub(crate) async fn send(&self, request: HttpRequest<'_>) -> Result<HttpAnswer, HttpError> {
        match &self.way {
            Way::Direct(client) => send_direct(client, request).await,
            Way::Network { repeatable, once } => {
                let client = match request.class {
                    RetryClass::Repeatable => repeatable,
                    RetryClass::Once => once,
                };
                let HttpRequest { method, place, headers, body, .. } = request;
                let sending =
                    client.request(method, place.url.clone()).headers(headers.into_owned());
                Ok(HttpAnswer::Network(sending.body(body.into_bytes()).send().await?))
            }
        }
    }
}

impl Place {
    pub(crate) fn new(url: Url) -> Self {
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let path = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
        Self { url, path }
    }
}

async fn send_direct(
    client: &Arc<DirectClient>,
    request: HttpRequest<'_>,
) -> Result<HttpAnswer, HttpError> {
    let HttpRequest { class, method, place, headers, body } = request;
    let fresh = match class {
        RetryClass::Repeatable => FRESH_REPEATABLE,
        RetryClass::Once => FRESH_ONCE,
    };
    let mut redirected = None;
    for _ in 0..MAX_REDIRECTS {
        let place = redirected.as_ref().unwrap_or(place);
        let answer = client.send(direct_request(&method, place, &headers, &body), fresh).await?;
        match same_origin_redirect(place, &answer) {
            Some(named) => redirected = Some(named),
            None => return Ok(HttpAnswer::Direct(answer)),
        }
    }
    let place = redirected.as_ref().unwrap_or(place);
    let last = client.send(direct_request(&method, place, &headers, &body), fresh).await?;
    Ok(HttpAnswer::Direct(last))
}

fn direct_request(
    method: &Method,
    place: &Place,
    headers: &HeaderMap,
    body: &MessageBody,
) -> Request<MessageBody> {
    let mut request = Request::new(body.clone());
    *request.method_mut() = method.clone();
    *request.uri_mut() = place.path.clone();
    *request.headers_mut() = headers.clone();
    request
}

/// Where a redirect goes that is followed; see [`follow`].
fn same_origin_redirect(place: &Place, answer: &DirectAnswer) -> Option<Place> {
    if !keeps_method(answer.status()) {
        return None;
    }
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let named = place.url.join(location).ok()?;
    (named.origin() == place.url.origin()).then(|| Place::new(named))
}

/// 301, 302 and 303 turn a POST into a GET.
fn keeps_method(status: StatusCode) -> bool {
    matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
}

/// Follows redirects within one origin only, as many servers send for a missing slash: no other server
/// may get our messages and headers.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let origin = attempt.previous().first().map(Url::origin);
    if keeps_method(attempt.status())
        && origin == Some(attempt.url().origin())
        && attempt.previous().len() <= MAX_REDIRECTS
    {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// The configured headers, with their secrets filled in.
fn headers(reach: &HttpOptions, found: &Found) -> Result<HeaderMap, Failure> {
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

/// The certificates in these files.
fn authorities(files: &[PathBuf]) -> Result<Vec<reqwest::Certificate>, Failure> {
    let mut found = Vec::new();
    for file in files {
        let content = read(file).map_err(|error| {
            let what = format!("Its `ca_file` {} cannot be read: {error}.", file.display());
            Failure::new(
                Code::Configuration,
                what,
                "Set it to the full path of a file that you can read.",
            )
        })?;
        let certificates = reqwest::Certificate::from_pem_bundle(&content).unwrap_or_default();
        // The parser accepts broken certificates; only building a client rejects them.
        if certificates.is_empty() || !usable(&certificates) {
            let what =
                format!("Its `ca_file` {} has no certificate in PEM format.", file.display());
            let remedy = "Use a file that contains -----BEGIN CERTIFICATE-----.";
            return Err(Failure::new(Code::Configuration, what, remedy));
        }
        found.extend(certificates);
    }
    Ok(found)
}

fn usable(certificates: &[reqwest::Certificate]) -> bool {
    reqwest::Client::builder().no_proxy().tls_certs_only(certificates.to_vec()).build().is_ok()
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    if !file.is_absolute() {
        return Err(std::io::Error::other("the path is not absolute"));
    }
    foreign::read(file, MAX_FILE)
}

fn no_client(error: &dyn std::error::Error) -> Failure {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let what = format!("Evermoor cannot set up TLS: {cause}.");
    Failure::new(Code::Tls, what, "Check this computer's certificates and `ca_file`.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(file: &str, content: &[u8]) -> Failure {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        if !content.is_empty() {
            std::fs::write(&path, content).unwrap();
        }
        authorities(&[path]).unwrap_err()
    }

    #[test]
    fn a_file_without_a_certificate_is_named_with_a_remedy() {
        let broken = b"-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
        for (content, says) in [
            (&b""[..], "cannot be read"),
            (b"\x30\x82\x01", "no certificate"),
            (b"hello", "no certificate"),
            (broken, "no certificate"),
        ] {
            let failure = failure("ca.pem", content);
            assert_eq!(failure.code, Code::Configuration);
            assert!(failure.what.contains("ca.pem") && failure.what.contains(says), "{failure}");
        }
    }

    #[test]
    fn a_relative_path_is_refused() {
        let failure = authorities(&["ca.pem".into()]).unwrap_err();
        assert!(failure.what.contains("not absolute"), "{failure}");
    }
}
