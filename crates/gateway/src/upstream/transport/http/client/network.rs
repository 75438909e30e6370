//! Clients for servers that are reached over the network: certificates, proxy and redirects.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::ClientBuilder;
use reqwest::redirect::{Attempt, Policy};
use url::Url;

use evermoor_core::config::{HttpOptions, ProxySetting};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::foreign;
use evermoor_platform::paths;

use super::{MAX_REDIRECTS, keeps_method};

/// What clients for one server have in common.
pub(crate) struct NetworkClients {
    local: bool,
    proxy: ProxySetting,
    authorities: Vec<reqwest::Certificate>,
}

/// The size limit of a `ca_file`.
const MAX_FILE: u64 = 4 << 20;

impl NetworkClients {
    /// Reads the files that `reach` names.
    pub(crate) async fn new(local: bool, reach: &HttpOptions) -> Result<Self, Failure> {
        let files: Vec<PathBuf> = reach.ca_files.iter().map(|file| paths::expand(file)).collect();
        let reading = tokio::task::spawn_blocking(move || authorities(&files)).await;
        let authorities = reading.map_err(|panicked| no_client(&panicked))??;
        Ok(Self { local, proxy: reach.proxy.clone(), authorities })
    }

    /// A new client, with its own sockets.
    pub(crate) fn build(
        &self,
        more: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<reqwest::Client, Failure> {
        let connect = if self.local { Duration::from_secs(1) } else { Duration::from_secs(5) };
        let alive = if self.local { 5 } else { 15 };
        let client = reqwest::Client::builder()
            .redirect(Policy::custom(follow))
            .retry(reqwest::retry::never())
            .tcp_nodelay(true)
            .tcp_keepalive(Duration::from_secs(alive))
            .tcp_keepalive_interval(Duration::from_secs(alive))
            .connect_timeout(connect);
        // Traffic to a local server never goes through a proxy.
        let client = match &self.proxy {
            _ if self.local => client.no_proxy(),
            ProxySetting::Never => client.no_proxy(),
            ProxySetting::System => client,
            ProxySetting::At(proxy) => {
                client.proxy(reqwest::Proxy::all(proxy.clone()).map_err(|error| no_client(&error))?)
            }
        };
        let client = more(client.tls_certs_merge(self.authorities.clone()));
        client.build().map_err(|error| no_client(&error))
    }
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

pub(super) fn no_client(error: &dyn std::error::Error) -> Failure {
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
