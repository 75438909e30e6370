//! Remote servers: certificates, proxies, headers, and redirects to other hosts.

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Failure;
use evermoor_tests::Scene;
use evermoor_tests::fakes::upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::connect_proxy::Tunnel;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::network::tls::{Authority, Front};
use serde_json::json;
use tokio::net::TcpListener;

/// A name that no resolver knows, so that only a proxy can reach it.
const FAR_AWAY: &str = "notes.evermoor.invalid";

/// An upstream over TLS, with a certificate from the authority in the file `ca.pem`.
struct Remote {
    scene: Scene,
    upstream: upstream::Upstream,
    front: Front,
    ca: String,
    pem: String,
}

impl Remote {
    async fn new() -> Self {
        let (scene, authority) = (Scene::new(), Authority::new());
        let upstream = scene.upstream("notes").await;
        let front = authority.front(FAR_AWAY, &upstream.url).await;
        let ca = scene.path("ca.pem");
        std::fs::write(&ca, authority.pem()).unwrap();
        let ca = ca.to_str().unwrap().to_owned();
        Self { scene, upstream, front, ca, pem: authority.pem() }
    }

    /// The entry of an upstream with the unresolvable name.
    fn far_away(&self, more: &str) -> String {
        let ca = &self.ca;
        format!("\n[upstreams.notes]\nurl = \"https://{FAR_AWAY}/mcp\"\nca_file = {ca:?}\n{more}\n")
    }

    /// A gateway with these upstreams and environment variables.
    async fn gateway(&self, upstreams: &str, variables: &[(&str, &str)]) -> Gateway {
        self.scene.write("hold = 1", upstreams);
        let mut all = vec![("NO_PROXY", ""), ("HTTPS_PROXY", ""), ("HTTP_PROXY", "")];
        all.extend([("no_proxy", ""), ("https_proxy", ""), ("http_proxy", ""), ("all_proxy", "")]);
        all.extend(variables);
        Gateway::start_among(&self.scene.home(), &all).await
    }

    async fn works(&self, gateway: &Gateway, nonce: &str) {
        let mut editor = gateway.editor("/mcp/notes").await;
        editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(self.upstream.ledger.executions(nonce), 1);
    }
}

fn failure(upstream: &UpstreamStatus) -> &Failure {
    match &upstream.link {
        UpstreamState::Down { failure, .. } => failure,
        UpstreamState::Off
        | UpstreamState::Connecting
        | UpstreamState::Connected { .. }
        | UpstreamState::Paused { .. } => {
            panic!("it is down: {upstream:?}")
        }
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused_until_the_authority_is_named() {
    let remote = Remote::new().await;
    let url = format!("https://{}/mcp", remote.front.address);
    let (ca, missing) = (&remote.ca, remote.scene.path("missing.pem"));
    let no_pem = remote.scene.path("no.pem");
    std::fs::write(&no_pem, "hello").unwrap();
    let entries = format!(
        "[upstreams.unknown]\nurl = \"{url}\"\n\
         [upstreams.missing]\nurl = \"{url}\"\nca_file = {missing:?}\n\
         [upstreams.nonsense]\nurl = \"{url}\"\nca_file = [{ca:?}, {no_pem:?}]\n\
         [upstreams.notes]\nurl = \"{url}\"\nca_file = {ca:?}\n"
    );
    let gateway = remote.gateway(&entries, &[]).await;
    gateway.until_connected("notes").await;
    remote.works(&gateway, "trusted").await;
    let unknown = gateway.until_down("unknown").await;
    assert_eq!(unknown.word(), "Not trusted");
    let reason = failure(&unknown);
    assert!(reason.what.contains("certificate") && reason.remedy.contains("`ca_file`"), "{reason}");
    for (name, file, says) in
        [("missing", &missing, "cannot be read"), ("nonsense", &no_pem, "no certificate")]
    {
        let down = gateway.until_down(name).await;
        assert_eq!(down.word(), "Misconfigured");
        let reason = failure(&down);
        assert!(
            reason.what.contains(file.to_str().unwrap()) && reason.what.contains(says),
            "{reason}"
        );
    }
    std::fs::write(&missing, &remote.pem).unwrap();
    gateway.until_connected("missing").await;
}

#[tokio::test]
async fn a_configured_proxy_is_used() {
    let remote = Remote::new().await;
    let tunnel = Tunnel::to(remote.front.address).await;
    let named = format!("proxy = \"{}\"", tunnel.url);
    let gateway = remote.gateway(&remote.far_away(&named), &[]).await;
    gateway.until_connected("notes").await;
    remote.works(&gateway, "through the proxy").await;
    let connect = format!("CONNECT {FAR_AWAY}:443 HTTP/1.1");
    assert!(tunnel.seen().iter().all(|seen| *seen == connect), "{:?}", tunnel.seen());
}

#[tokio::test]
async fn the_proxy_of_the_environment_is_the_default() {
    let remote = Remote::new().await;
    let tunnel = Tunnel::to(remote.front.address).await;
    let variables = [("HTTPS_PROXY", tunnel.url.as_str())];
    let gateway = remote.gateway(&remote.far_away(""), &variables).await;
    gateway.until_connected("notes").await;
    remote.works(&gateway, "through the proxy").await;
    assert!(!tunnel.seen().is_empty());
}

#[tokio::test]
async fn the_proxy_can_be_turned_off() {
    let remote = Remote::new().await;
    let tunnel = Tunnel::to(remote.front.address).await;
    let proxy = ("HTTPS_PROXY", tunnel.url.as_str());
    let gateway = remote.gateway(&remote.far_away("proxy = \"none\""), &[proxy]).await;
    gateway.until_down("notes").await;
    drop(gateway);
    let gateway = remote.gateway(&remote.far_away(""), &[proxy, ("NO_PROXY", FAR_AWAY)]).await;
    gateway.until_down("notes").await;
    assert_eq!(tunnel.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn a_local_server_is_reached_without_a_proxy_whatever_is_configured() {
    let remote = Remote::new().await;
    let tunnel = Tunnel::to(remote.front.address).await;
    let (proxy, ca) = (tunnel.url.as_str(), &remote.ca);
    let entries = format!(
        "[upstreams.notes]\nurl = \"{}\"\nproxy = \"{proxy}\"\n\
         [upstreams.safe]\nurl = \"https://{}/mcp\"\nca_file = {ca:?}\n",
        remote.upstream.url, remote.front.address
    );
    let variables = [("HTTPS_PROXY", proxy), ("HTTP_PROXY", proxy), ("ALL_PROXY", proxy)];
    let gateway = remote.gateway(&entries, &variables).await;
    gateway.until_connected("notes").await;
    gateway.until_connected("safe").await;
    assert_eq!(tunnel.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn an_unreachable_proxy_is_named_as_the_cause() {
    let remote = Remote::new().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let named = format!("proxy = \"http://{closed}\"");
    let gateway = remote.gateway(&remote.far_away(&named), &[]).await;
    let down = gateway.until_down("notes").await;
    let reason = failure(&down);
    assert!(reason.what.contains("proxy") && reason.remedy.contains("`proxy`"), "{reason}");
}

#[tokio::test]
async fn headers_are_sent_with_every_request() {
    let remote = Remote::new().await;
    let proxy = Proxy::to(&remote.upstream.url).await;
    let entry = format!("[upstreams.notes]\nurl = \"{}\"\nheaders.X-Team = \"blue\"\n", proxy.url);
    let gateway = remote.gateway(&entry, &[]).await;
    gateway.until_connected("notes").await;
    remote.works(&gateway, "with headers").await;
    let (all, marked) = (proxy.forwarded("HTTP/1.1"), proxy.forwarded("x-team: blue"));
    assert_eq!(all, marked, "of {all} requests");
}

#[tokio::test]
async fn a_redirect_is_followed_only_to_the_same_server() {
    let remote = Remote::new().await;
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = other.local_addr().unwrap().port();
    let home = remote.upstream.url.trim_end_matches("/mcp");
    let entries = format!(
        "[upstreams.away]\nurl = \"{home}/away/{port}\"\nheaders.X-Team = \"blue\"\n\
         [upstreams.notes]\nurl = \"{home}/moved\"\n"
    );
    let gateway = remote.gateway(&entries, &[]).await;
    gateway.until_connected("notes").await;
    remote.works(&gateway, "moved").await;
    let down = gateway.until_down("away").await;
    let reason = failure(&down);
    assert!(reason.what.contains(&format!("redirects to 127.0.0.1:{port}")), "{reason}");
    let nobody = std::future::poll_fn(|context| match other.poll_accept(context) {
        std::task::Poll::Ready(_) => std::task::Poll::Ready(false),
        std::task::Poll::Pending => std::task::Poll::Ready(true),
    });
    assert!(nobody.await, "what was said to one server was said to another");
}
