//! A server that wants a sign-in: `oidc-provider` as its authorization server, and an MCP server on the
//! TypeScript SDK. The user is played without a browser: opening a page means following where it leads.

use std::collections::BTreeMap;
use std::time::Duration;

use http::header;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{folder, node};
use crate::PATIENCE;
use crate::gateway::{Gateway, http};
use crate::scene::programs::Process;

/// The two servers.
pub struct Protected {
    pub issuer: String,
    pub url: String,
    process: Process,
}

/// What happened at the two servers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Happened {
    /// How often tokens were issued, by grant type.
    pub issued: BTreeMap<String, usize>,
    /// The scopes of each authorization request.
    pub asked: Vec<String>,
    /// The error codes of refused token requests.
    pub refused: Vec<String>,
    /// How many token requests were held.
    pub held: usize,
    pub registrations: usize,
    /// How many requests had a token that was not accepted.
    pub unauthorized: usize,
    /// How often each nonce was recorded.
    pub executions: BTreeMap<String, usize>,
    /// Every code, code verifier, token and client secret that there was.
    pub secrets: Vec<String>,
    /// When tokens were asked for, in milliseconds.
    pub token_requests: Vec<u64>,
}

impl Protected {
    /// Starts both, with the options of `tests/peers/authorization/main.mjs`.
    pub async fn start(options: &Value) -> Self {
        #[derive(Deserialize)]
        struct Places {
            issuer: String,
            resource: String,
        }
        let script = folder().join("authorization/main.mjs");
        let mut process = Process::start(&node(), |command| {
            command.arg(script).arg(options.to_string());
        });
        let line = process.line_with("{\"issuer\"").await;
        let places: Places = serde_json::from_str(&line).expect("it prints its addresses");
        Self { issuer: places.issuer, url: places.resource, process }
    }

    /// The entry of an upstream that is this server.
    pub fn entry(&self, name: &str) -> String {
        format!("\n[upstreams.{name}]\nurl = {:?}\nauth = \"oauth\"\n", self.url)
    }

    /// Changes what happens next, and tells what has happened.
    pub async fn control(&self, change: &Value) -> Happened {
        let place = self.url.replace("/mcp", "/control");
        let answer = http().post(place).body(change.to_string()).send().await;
        let answer = answer.expect("the server answers").bytes().await.expect("completely");
        serde_json::from_slice(&answer).expect("it tells what has happened")
    }

    pub async fn happened(&self) -> Happened {
        self.control(&json!({})).await
    }

    /// Waits until this has happened.
    pub async fn until(&self, what: &str, has: impl Fn(&Happened) -> bool) {
        let looking = async {
            while !has(&self.happened().await) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("not seen in time: {what}"));
    }

    /// Lets the access token that was used last expire.
    pub async fn expire(&self) {
        self.control(&json!({ "expire": true })).await;
    }

    /// Ends it.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }
}

/// A page that a user sees at the end.
#[derive(Debug)]
pub struct ConsentPage {
    /// Its address.
    pub url: String,
    pub status: http::StatusCode,
    pub text: String,
}

/// Begins a sign-in as the dashboard does. Returns the page of the authorization server.
pub async fn begin(gateway: &Gateway, upstream: &str) -> String {
    let path = format!("/api/upstreams/{upstream}/sign-in");
    let begun = gateway.control(http::Method::POST, &path).await;
    begun["url"].as_str().expect("there is a page").to_owned()
}

/// A browser of its own, with the cookies of one user.
struct Browser {
    client: reqwest::Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let client = client.tls_certs_only([]).build().expect("a client can be made");
        Self { client, cookies: BTreeMap::new() }
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> reqwest::Response {
        let sent: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = request.header(header::COOKIE, sent.join("; ")).send().await;
        let answer = answer.expect("the page is there");
        for cookie in answer.headers().get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
            if let Some((name, value)) = cookie.split_once('=') {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    /// Opens a page and follows where it leads, up to the address that satisfies `stop`.
    async fn follow(
        &mut self,
        url: &str,
        stop: impl Fn(&str) -> bool,
    ) -> Result<String, ConsentPage> {
        let mut url = url.to_owned();
        loop {
            if stop(&url) {
                return Ok(url);
            }
            let answer = self.send(self.client.get(&url)).await;
            match next(&url, &answer) {
                Some(next) => url = next,
                None => return Err(ConsentPage::of(url, answer).await),
            }
        }
    }

    /// Sends a form of a page and follows where it leads.
    async fn submit(&mut self, url: &str, fields: &[(&str, &str)]) -> ConsentPage {
        let mut form = Url::parse(url).expect("it is an address");
        form.query_pairs_mut().clear().extend_pairs(fields);
        let form = form.query().unwrap_or_default().to_owned();
        let post = self.client.post(url).body(form);
        let post = post.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = self.send(post).await;
        match next(url, &answer) {
            Some(next) => self.follow(&next, |_| false).await.expect_err("nothing stops it"),
            None => ConsentPage::of(url.to_owned(), answer).await,
        }
    }
}

impl ConsentPage {
    async fn of(url: String, answer: reqwest::Response) -> Self {
        let status = answer.status();
        let text = answer.text().await.expect("the page is complete");
        Self { url, status, text }
    }
}

/// Where a redirect leads.
fn next(url: &str, answer: &reqwest::Response) -> Option<String> {
    let next = answer.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
    Some(Url::parse(url).ok()?.join(next?).ok()?.to_string())
}

/// Opens a page and follows where it leads, up to the address that satisfies `stop`, which is not
/// opened.
pub async fn follow(url: &str, stop: impl Fn(&str) -> bool) -> Result<String, ConsentPage> {
    Browser::new().follow(url, stop).await
}

/// Enters the code of a sign-in on the page for it. Returns the last page.
pub async fn enter_code(url: &str, code: &str) -> ConsentPage {
    let mut browser = Browser::new();
    let page = browser.follow(url, |_| false).await.expect_err("nothing stops it");
    let (_, rest) = page.text.split_once("name=\"xsrf\" value=\"").expect("there is a form");
    let (proof, _) = rest.split_once('"').expect("the attribute ends");
    let fields = [("xsrf", proof), ("user_code", code), ("confirm", "yes")];
    browser.submit(&page.url, &fields).await
}

/// Opens the page of a sign-in and follows where it leads. Returns the last page.
pub async fn visit(url: &str) -> ConsentPage {
    follow(url, |_| false).await.expect_err("nothing stops it")
}

/// Signs in to an upstream. Returns the last page.
pub async fn sign_in(gateway: &Gateway, upstream: &str) -> ConsentPage {
    visit(&begin(gateway, upstream).await).await
}
