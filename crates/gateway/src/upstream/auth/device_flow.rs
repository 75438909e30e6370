//! A sign-in with a code: the user enters it in a browser on any device (RFC 8628), and Evermoor asks
//! the authorization server until it has tokens, or until the code has expired. The protocol is that of
//! the crate `oauth2`; the requests go through [`OAuthHttp`].

use std::fmt::Display;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
};
use oauth2::{
    AuthType, ClientId, ClientSecret, DeviceAuthorizationUrl, EndpointNotSet, EndpointSet,
    ErrorResponseType, HttpRequest, HttpResponse, RequestTokenError, Scope,
    StandardDeviceAuthorizationResponse, StandardErrorResponse, StandardRevocableToken,
    TokenResponse as _, TokenUrl,
};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthTokenResponse, StoredCredentials,
};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use url::Url;

use evermoor_core::api::SignInPage;
use evermoor_core::failure::Failure;
use evermoor_core::policy::device_poll;
use evermoor_core::security::foreign_text;

use super::account::AccountSource;
use super::client_identity::{self, ClientIdentity};
use super::oauth_http::{self, OAuthHttp};
use super::pending_secrets::PendingSecrets;
use super::stored_grant::StoredGrant;
use super::{GrantContext, ProtectedServer, failures};

/// A sign-in whose code the user has not entered yet.
pub(super) struct DeviceSignIn {
    server: ProtectedServer,
    identity: ClientIdentity,
    client: DeviceClient,
    http: Arc<OAuthHttp>,
    issuer: Option<String>,
    scopes: Vec<String>,
    account: AccountSource,
    code: StandardDeviceAuthorizationResponse,
    _hidden: PendingSecrets,
}

type DeviceClient = oauth2::Client<
    BasicErrorResponse,
    OAuthTokenResponse,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointNotSet,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// The authorization server did not answer, or has an error of its own. It is asked again.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoAnswer(String);

type PostedForm = BoxFuture<'static, Result<HttpResponse, NoAnswer>>;

/// A longer code is none that a user could enter.
const LONGEST_CODE: usize = 64;
const OFFLINE: &str = "offline_access";

/// Whether the authorization server lets users sign in with a code.
pub(super) fn is_offered(metadata: &AuthorizationMetadata) -> bool {
    endpoint(metadata).is_some()
}

impl DeviceSignIn {
    /// Asks the authorization server for a code.
    pub(super) async fn begin(
        server: &ProtectedServer,
        manager: &AuthorizationManager,
        metadata: &AuthorizationMetadata,
        http: Arc<OAuthHttp>,
        context: &GrantContext,
    ) -> Result<Self, Failure> {
        let failed = |error: &AuthError| failures::sign_in_failed(server, error);
        let place = endpoint(metadata).ok_or_else(|| failures::no_codes(server))?;
        let token_endpoint = oauth_http::private_address(&metadata.token_endpoint)
            .ok_or_else(|| failed(&AuthError::NoAuthorizationSupport))?;
        let mut scopes = client_identity::scopes(manager, server).await;
        let known = metadata.scopes_supported.iter().flatten();
        if !scopes.is_empty()
            && known.clone().any(|scope| scope == OFFLINE)
            && !scopes.iter().any(|scope| scope == OFFLINE)
        {
            scopes.push(OFFLINE.to_owned());
        }
        let identity =
            client_identity::for_code(metadata, server, &scopes, &context.secrets, &http).await?;
        let mut client = oauth2::Client::new(ClientId::new(identity.id.clone()))
            .set_device_authorization_url(DeviceAuthorizationUrl::from_url(place))
            .set_token_uri(TokenUrl::from_url(token_endpoint));
        if let Some(secret) = &identity.secret {
            client = client.set_client_secret(ClientSecret::new(secret.clone()));
            if wants_secret_in_body(metadata) {
                client = client.set_auth_type(AuthType::RequestBody);
            }
        }
        let post = posting(&http);
        let asked = client
            .exchange_device_code()
            .add_scopes(scopes.iter().cloned().map(Scope::new))
            .add_extra_param("resource", server.url.as_str())
            .request_async(&post);
        let code: StandardDeviceAuthorizationResponse =
            asked.await.map_err(|error| refused(server, &error))?;
        let hidden = PendingSecrets::default();
        hidden.hide(code.device_code().secret());
        let (server, issuer) = (server.clone(), metadata.issuer.clone());
        let account = AccountSource::new(Arc::clone(&http), metadata);
        Ok(Self { server, identity, client, http, issuer, scopes, account, code, _hidden: hidden })
    }

    /// What the user opens and enters. The authorization server chose both.
    pub(super) fn page(&self) -> Result<SignInPage, Failure> {
        let code = foreign_text::line(self.code.user_code().secret()).into_owned();
        let url = web_page(self.code.verification_uri());
        let (Some(url), true) = (url, (1..=LONGEST_CODE).contains(&code.chars().count())) else {
            let why = AuthError::AuthorizationFailed("the code cannot be shown".to_owned());
            return Err(failures::sign_in_failed(&self.server, &why));
        };
        let filled_in = self.code.verification_uri_complete();
        let filled_in = filled_in.and_then(|url| web_page(url.secret()));
        Ok(SignInPage { url, code: Some(code), url_with_code: filled_in })
    }

    /// Waits until the user has entered the code. `now` is called when the tokens arrive.
    pub(super) async fn wait(&self, now: impl Fn() -> SystemTime) -> Result<StoredGrant, Failure> {
        let tokens = poll(&self.client, &self.code, &self.server, &posting(&self.http)).await?;
        let granted = tokens.scopes().map(|granted| granted.iter().map(|one| one.to_string()));
        let granted = granted.map_or_else(|| self.scopes.clone(), Iterator::collect);
        let received = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let id = self.identity.id.clone();
        let credentials =
            StoredCredentials::new(id, Some(tokens), granted, Some(received.as_secs()));
        let credentials = credentials.with_issuer(self.issuer.clone());
        let is_configured = self.server.oauth.client.is_some();
        Ok(StoredGrant {
            resource: self.server.url.to_string(),
            client_secret: self.identity.secret.clone().filter(|_| !is_configured),
            account: self.account.of(&credentials).await,
            credentials,
        })
    }
}

/// Asks for the tokens of a code, as often as the authorization server wants, until there is an answer.
async fn poll(
    client: &DeviceClient,
    code: &StandardDeviceAuthorizationResponse,
    server: &ProtectedServer,
    http: &(impl Fn(HttpRequest) -> PostedForm + Sync),
) -> Result<OAuthTokenResponse, Failure> {
    let lifetime = device_poll::lifetime(code.expires_in());
    let pause = |asked| sleep(device_poll::wait(asked));
    let polling = async {
        // Nobody enters a code at once.
        pause(code.interval()).await;
        let asking = client
            .exchange_device_access_token(code)
            .add_extra_param("resource", server.url.as_str())
            .set_max_backoff_interval(device_poll::LONGEST_WAIT);
        asking.request_async(http, pause, Some(lifetime)).await
    };
    match timeout(lifetime, polling).await {
        Ok(tokens) => tokens.map_err(|error| refused(server, &error)),
        Err(_) => Err(failures::code_expired(server)),
    }
}

/// Sends requests of `oauth2`, which asks again after a [`NoAnswer`].
fn posting(http: &Arc<OAuthHttp>) -> impl Fn(HttpRequest) -> PostedForm + Sync + use<> {
    let http = Arc::clone(http);
    move |request| {
        let http = Arc::clone(&http);
        async move {
            let answer = http.post(request).await;
            let answer = answer.map_err(|error| NoAnswer(error.to_string()))?;
            match answer.status().is_server_error() {
                true => Err(NoAnswer(format!("HTTP {}", answer.status()))),
                false => Ok(answer),
            }
        }
        .boxed()
    }
}

/// Where to ask for a code.
fn endpoint(metadata: &AuthorizationMetadata) -> Option<Url> {
    let place = metadata.additional_fields.get("device_authorization_endpoint")?;
    oauth_http::private_address(place.as_str()?)
}

/// As rmcp decides it for other requests.
fn wants_secret_in_body(metadata: &AuthorizationMetadata) -> bool {
    let methods = metadata.additional_fields.get("token_endpoint_auth_methods_supported");
    let methods = methods.and_then(Value::as_array);
    let has =
        |name| methods.is_some_and(|methods| methods.iter().any(|one| one.as_str() == Some(name)));
    has("client_secret_post") && !has("client_secret_basic")
}

/// The address of a page that a browser may open.
fn web_page(text: &str) -> Option<String> {
    oauth_http::private_address(text).map(|url| url.to_string())
}

fn refused<E, T>(
    server: &ProtectedServer,
    error: &RequestTokenError<E, StandardErrorResponse<T>>,
) -> Failure
where
    E: std::error::Error + 'static,
    T: ErrorResponseType + AsRef<str> + Display + 'static,
{
    match error {
        RequestTokenError::ServerResponse(answer) => match answer.error().as_ref() {
            "expired_token" => failures::code_expired(server),
            code => failures::declined(server, code),
        },
        RequestTokenError::Request(no_answer) => {
            failures::sign_in_failed(server, &AuthError::OAuthError(no_answer.to_string()))
        }
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            failures::sign_in_failed(server, &AuthError::OAuthError(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;
    use parking_lot::Mutex;
    use serde_json::json;
    use std::time::Duration;
    use tokio::time::Instant;

    /// Plays an authorization server that answers like this, and repeats the last answer. Returns when it
    /// was asked, in seconds, and the result.
    async fn polled(
        interval: u64,
        lives: u64,
        answers: &[(u16, serde_json::Value)],
    ) -> (Vec<u64>, Result<OAuthTokenResponse, Failure>) {
        let server = super::super::tests::server("");
        let client = oauth2::Client::new(ClientId::new("evermoor".into()))
            .set_device_authorization_url(DeviceAuthorizationUrl::from_url(server.url.clone()))
            .set_token_uri(TokenUrl::from_url(server.url.clone()));
        let code = json!({
            "device_code": "canary-device-code", "user_code": "AB-CD", "expires_in": lives,
            "verification_uri": "https://login.example/device", "interval": interval,
        });
        let code = serde_json::from_value(code).unwrap();
        let (began, asked) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let (seen, answers) = (Arc::clone(&asked), answers.to_vec());
        let http = move |request: HttpRequest| {
            let form = String::from_utf8(request.into_body()).unwrap();
            assert!(form.contains("resource=https%3A%2F%2Fa.example%2Fmcp"), "{form}");
            assert!(form.contains("device_code=canary-device-code"), "{form}");
            let mut seen = seen.lock();
            let (status, body) = answers[seen.len().min(answers.len() - 1)].clone();
            seen.push(began.elapsed().as_secs());
            let answer = http::Response::builder().status(StatusCode::from_u16(status).unwrap());
            let answer = answer.body(body.to_string().into_bytes()).unwrap();
            let answer = match status {
                503 => Err(NoAnswer("busy".into())),
                _ => Ok(answer),
            };
            std::future::ready(answer).boxed()
        };
        let result = poll(&client, &code, &server, &http).await;
        let asked = asked.lock().clone();
        (asked, result)
    }

    fn error(code: &str) -> (u16, serde_json::Value) {
        (400, json!({ "error": code }))
    }

    fn tokens() -> (u16, serde_json::Value) {
        (200, json!({ "access_token": "canary-token", "token_type": "bearer" }))
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_is_asked_in_the_interval_that_it_names_and_more_slowly_if_it_wants() {
        let answers =
            [error("authorization_pending"), error("slow_down"), error("slow_down"), tokens()];
        let (asked, result) = polled(5, 600, &answers).await;
        assert_eq!(asked, [5, 10, 20, 35]);
        assert_eq!(result.unwrap().access_token().secret(), "canary-token");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_is_asked_again_more_and_more_slowly() {
        let busy = || (503, json!({}));
        let (asked, result) = polled(30, 600, &[busy(), busy(), busy(), tokens()]).await;
        assert_eq!(asked, [30, 90, 150, 210]);
        assert!(result.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_names_no_interval_is_not_asked_without_a_pause() {
        let (asked, _) = polled(0, 3, &[error("authorization_pending")]).await;
        // The third question and the end of the code come at the same time.
        assert_eq!(asked[..2], [1, 2]);
        assert!(asked.len() <= 3, "{asked:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_code_that_nobody_enters_expires() {
        let began = Instant::now();
        for (lives, answer) in [(12, "authorization_pending"), (600, "expired_token")] {
            let (_, result) = polled(5, lives, &[error(answer)]).await;
            let failure = result.unwrap_err();
            assert!(failure.what.contains("has expired"), "{failure}");
            assert!(failure.remedy.contains("evermoor login linear"), "{failure}");
        }
        assert_eq!(began.elapsed(), Duration::from_secs(12 + 5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_ends_it_at_once_and_is_explained() {
        let (asked, result) = polled(5, 600, &[error("access_denied")]).await;
        assert_eq!(asked, [5]);
        assert_eq!(result.unwrap_err().what, "Access to linear was declined.");
        let (_, result) = polled(5, 600, &[error("bad\u{1b}[31m\nthing")]).await;
        let failure = result.unwrap_err();
        assert!(!failure.what.contains(['\u{1b}', '\n']), "{failure:?}");
    }
}
