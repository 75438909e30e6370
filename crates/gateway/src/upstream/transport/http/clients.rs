//! The HTTP clients of one connection: whom they trust, through what they go, and what they follow.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::redirect::{Attempt, Policy};
use url::Url;

use evermoor_core::config::{Proxy, Reach};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::Class;
use evermoor_core::security::secret_ref::Template;
use evermoor_platform::paths;

use crate::config::secrets::Found;

/// The same client twice: a call that must not be repeated only reuses a socket that was active
/// within the last second, because a socket that the server is just closing makes it unknowable
/// whether a call ran.
#[derive(Clone)]
pub(crate) struct Clients {
    repeatable: reqwest::Client,
    once: reqwest::Client,
    /// Whether the server is on this machine.
    pub(crate) local: bool,
}

/// A file of certificates is not larger than this.
const LARGEST_FILE: u64 = 4 << 20;
/// How often a server may point to another of its own addresses.
const MOST_REDIRECTS: usize = 3;

impl Clients {
    /// Reads the files that `reach` names, each time: one that was repaired counts at once.
    pub(crate) async fn new(
        url: &Url,
        local: bool,
        reach: &Reach,
        found: &Found,
    ) -> Result<Self, Failure> {
        let headers = headers(reach, found)?;
        let files: Vec<PathBuf> = reach.ca_files.iter().map(|file| paths::expand(file)).collect();
        let reading = tokio::task::spawn_blocking(move || authorities(&files)).await;
        let authorities = reading.map_err(|panicked| no_client(&panicked))??;
        let build = |idle: Duration| {
            let connect = if local { Duration::from_secs(1) } else { Duration::from_secs(5) };
            let alive = if local { 5 } else { 15 };
            let client = reqwest::Client::builder()
                .user_agent(concat!("evermoor/", env!("CARGO_PKG_VERSION")))
                .default_headers(headers.clone())
                .redirect(Policy::custom(follow))
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .tcp_keepalive(Duration::from_secs(alive))
                .tcp_keepalive_interval(Duration::from_secs(alive))
                .connect_timeout(connect)
                .pool_idle_timeout(idle);
            // What is said to a server on this machine does not leave it.
            let client = match &reach.proxy {
                _ if local => client.no_proxy(),
                Proxy::Never => client.no_proxy(),
                Proxy::System => client,
                Proxy::At(proxy) => client.proxy(reqwest::Proxy::all(proxy.clone())?),
            };
            // No certificates need to be in memory where none are looked at.
            let plain = local && url.scheme() == "http";
            let client = match plain {
                true => client.tls_certs_only([]),
                false => client.tls_certs_merge(authorities.clone()),
            };
            client.build()
        };
        let build = |idle| build(idle).map_err(|error| no_client(&error));
        let (repeatable, once) = (build(Duration::from_secs(3))?, build(Duration::from_secs(1))?);
        Ok(Self { repeatable, once, local })
    }

    /// The client for requests that may be repeated.
    pub(crate) fn repeatable(&self) -> &reqwest::Client {
        &self.repeatable
    }

    /// The client for requests that may not.
    pub(crate) fn once(&self) -> &reqwest::Client {
        &self.once
    }

    pub(super) fn of(&self, class: Class) -> &reqwest::Client {
        match class {
            Class::Repeatable => &self.repeatable,
            Class::Once => &self.once,
        }
    }
}

/// A server may point to another of its own addresses, as many do for a missing slash. What we say
/// to it is for no other server, so nothing else is followed; the older kinds of redirect would
/// turn a call into a question.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let kept =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let home = attempt.previous().first().map(Url::origin);
    if kept && home == Some(attempt.url().origin()) && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// The headers that are sent with every request, with their secrets in them.
fn headers(reach: &Reach, found: &Found) -> Result<HeaderMap, Failure> {
    let read = |(name, template): (&String, &Template)| {
        let value = template.fill(|reference| found.value(reference))?;
        let unsendable = |_| {
            let what = format!("The secret in its header `{name}` holds what a header cannot.");
            let remedy = "Set the secret again, on one line and in plain characters.";
            Failure::new(Code::Configuration, what, remedy)
        };
        let mut value = HeaderValue::try_from(value.reveal()).map_err(unsendable)?;
        value.set_sensitive(!template.is_plain());
        let unnamed = |_| Failure::new(Code::Configuration, "It has no name.", "Name the header.");
        Ok((HeaderName::try_from(name).map_err(unnamed)?, value))
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
                "Write the whole path of a file that you can read.",
            )
        })?;
        let certificates = reqwest::Certificate::from_pem_bundle(&content).unwrap_or_default();
        // A certificate that cannot be read is found out when it is used, together with the others.
        if certificates.is_empty() || !usable(&certificates) {
            let what =
                format!("Its `ca_file` {} holds no certificate in PEM form.", file.display());
            let remedy = "Name a file with a block that starts with -----BEGIN CERTIFICATE-----.";
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
    let mut content = Vec::new();
    if !file.is_absolute() {
        return Err(std::io::Error::other("it does not say in which folder it is"));
    }
    std::fs::File::open(file)?.take(LARGEST_FILE).read_to_end(&mut content)?;
    Ok(content)
}

fn no_client(error: &dyn std::error::Error) -> Failure {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let what = format!("It cannot be connected to safely: {cause}.");
    Failure::new(Code::Tls, what, "Check the certificates of this machine, and `ca_file`.")
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
    fn a_file_that_holds_no_certificate_is_named_with_what_to_do() {
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
    fn a_path_that_starts_nowhere_is_refused() {
        let failure = authorities(&["ca.pem".into()]).unwrap_err();
        assert!(failure.what.contains("which folder"), "{failure}");
    }
}
