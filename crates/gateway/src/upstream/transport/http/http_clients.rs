//! The HTTP clients of one connection: certificates, proxy, headers and redirects.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::redirect::{Attempt, Policy};
use url::Url;

use evermoor_core::config::{HttpOptions, ProxySetting};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::RetryClass;
use evermoor_core::security::secret_ref::Template;
use evermoor_platform::fs::foreign;
use evermoor_platform::paths;

use crate::config::secrets::Found;

/// Two clients that differ in how long they keep idle sockets. A call that must not be repeated only
/// reuses a socket that was active within the last second: if the server is just closing the socket,
/// it cannot be known whether the call was executed.
#[derive(Clone)]
pub(crate) struct HttpClients {
    repeatable: reqwest::Client,
    once: reqwest::Client,
    /// Whether the server is on this machine.
    pub(crate) local: bool,
}

/// The size limit of a `ca_file`.
const MAX_FILE: u64 = 4 << 20;
const MAX_REDIRECTS: usize = 3;

impl HttpClients {
    /// Reads the files that `reach` names each time, so that a corrected file is used at once.
    pub(crate) async fn new(
        url: &Url,
        local: bool,
        reach: &HttpOptions,
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
            // Traffic to a local server never goes through a proxy.
            let client = match &reach.proxy {
                _ if local => client.no_proxy(),
                ProxySetting::Never => client.no_proxy(),
                ProxySetting::System => client,
                ProxySetting::At(proxy) => client.proxy(reqwest::Proxy::all(proxy.clone())?),
            };
            // Plain HTTP needs no root certificates, which take memory.
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

    /// The client for requests that must not be repeated.
    pub(crate) fn once(&self) -> &reqwest::Client {
        &self.once
    }

    pub(super) fn of(&self, class: RetryClass) -> &reqwest::Client {
        match class {
            RetryClass::Repeatable => &self.repeatable,
            RetryClass::Once => &self.once,
        }
    }
}

/// Follows redirects within one origin only, as many servers send for a missing slash: no other server
/// may get our messages and headers. 301, 302 and 303 are not followed because they turn a POST into
/// a GET.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_method =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let origin = attempt.previous().first().map(Url::origin);
    if keeps_method
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
