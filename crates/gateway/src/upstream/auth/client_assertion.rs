//! A client that proves who it is with its private key: `private_key_jwt` of RFC 7523. rmcp has it too,
//! but with a second C library for cryptography.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{Method, header};
use oauth2::TokenResponse as _;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rmcp::transport::auth::{
    AuthError, AuthorizationMetadata, OAuthTokenResponse, StoredCredentials,
};
use serde_json::{Value, json};
use url::Url;
use url::form_urlencoded::Serializer;

use evermoor_core::security::redaction::known::Secret;

use super::ProtectedServer;
use super::oauth_http::{self, OAuthHttp};

/// A client with a private key, at its authorization server.
pub(super) struct KeyedClient {
    id: String,
    key: SigningKey,
    issuer: String,
    token_endpoint: Url,
    scopes: Vec<String>,
    resource: String,
}

/// A private key, by the signatures it makes.
enum SigningKey {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

/// How long an assertion can be used.
const LIFETIME: Duration = Duration::from_secs(300);
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Whether the secret of a client is a private key in PEM.
pub(super) fn is_private_key(secret: &str) -> bool {
    secret.trim_start().starts_with(BEGIN)
}

impl KeyedClient {
    pub(super) fn new(
        server: &ProtectedServer,
        metadata: &AuthorizationMetadata,
        id: &str,
        key: &Secret,
    ) -> Result<Self, AuthError> {
        let refused = |why: &str| AuthError::ClientCredentialsError(why.to_owned());
        let key = SigningKey::read(key.reveal());
        let key = key.ok_or_else(|| refused("its `client_secret` is no key for ES256 or RS256"))?;
        if !names(metadata, "token_endpoint_auth_methods_supported", "private_key_jwt") {
            return Err(refused("it accepts no signed assertions"));
        }
        let algorithms = "token_endpoint_auth_signing_alg_values_supported";
        if !names(metadata, algorithms, key.algorithm()) {
            return Err(refused("it accepts no signatures of this key"));
        }
        let issuer = metadata.issuer.clone().ok_or_else(|| refused("it has no name"))?;
        let token_endpoint = oauth_http::private_address(&metadata.token_endpoint)
            .ok_or_else(|| refused("its address is not private"))?;
        let (scopes, resource) = (server.oauth.scopes.clone(), server.url.to_string());
        Ok(Self { id: id.to_owned(), key, issuer, token_endpoint, scopes, resource })
    }

    /// Asks for an access token.
    pub(super) async fn exchange(
        &self,
        http: &OAuthHttp,
        now: SystemTime,
    ) -> Result<StoredCredentials, AuthError> {
        let failed = |why: String| AuthError::ClientCredentialsError(why);
        let request = self.request(now).ok_or_else(|| failed("nothing was signed".into()))?;
        let answer = http.post(request).await.map_err(|error| failed(error.to_string()))?;
        if !answer.status().is_success() {
            return Err(failed(format!("HTTP {}", answer.status())));
        }
        let tokens: OAuthTokenResponse = serde_json::from_slice(answer.body())
            .map_err(|_| failed("the answer has no token".into()))?;
        let granted = tokens.scopes().into_iter().flatten().map(|scope| scope.to_string());
        let granted = granted.collect();
        let received = seconds(now);
        let stored = StoredCredentials::new(self.id.clone(), Some(tokens), granted, Some(received));
        Ok(stored.with_issuer(Some(self.issuer.clone())))
    }

    fn request(&self, now: SystemTime) -> Option<http::Request<Vec<u8>>> {
        let assertion = self.assertion(now)?;
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        form.append_pair("client_assertion_type", ASSERTION);
        form.append_pair("client_assertion", &assertion);
        form.append_pair("resource", &self.resource);
        if !self.scopes.is_empty() {
            form.append_pair("scope", &self.scopes.join(" "));
        }
        let request = http::Request::builder()
            .method(Method::POST)
            .uri(self.token_endpoint.as_str())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json");
        request.body(form.finish().into_bytes()).ok()
    }

    /// Says who asks, and for whom the answer is.
    fn assertion(&self, now: SystemTime) -> Option<String> {
        let mut number = [0; 16];
        SystemRandom::new().fill(&mut number).ok()?;
        let header = json!({ "alg": self.key.algorithm(), "typ": "client-authentication+jwt" });
        let claims = json!({
            "iss": self.id, "sub": self.id, "aud": self.issuer,
            "iat": seconds(now), "exp": seconds(now + LIFETIME),
            "jti": URL_SAFE_NO_PAD.encode(number),
        });
        let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let signature = self.key.sign(signed.as_bytes())?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl SigningKey {
    fn read(pem: &str) -> Option<Self> {
        let (_, rest) = pem.split_once(BEGIN)?;
        let (body, _) = rest.split_once(END)?;
        let body: String = body.split_whitespace().collect();
        let document = STANDARD.decode(body).ok()?;
        let random = SystemRandom::new();
        match EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &document, &random) {
            Ok(key) => Some(Self::Es256(key)),
            Err(_) => RsaKeyPair::from_pkcs8(&document).ok().map(Self::Rs256),
        }
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => Some(key.sign(&random, message).ok()?.as_ref().to_vec()),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

/// Whether an authorization server lists a value. One without the list may accept anything.
fn names(metadata: &AuthorizationMetadata, list: &str, value: &str) -> bool {
    let listed = metadata.additional_fields.get(list).and_then(Value::as_array);
    listed.is_none_or(|listed| listed.iter().any(|one| one.as_str() == Some(value)))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair as _, UnparsedPublicKey};

    #[test]
    fn an_assertion_is_signed_and_says_who_asks_whom_and_until_when() {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pem = format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(made.as_ref()));
        assert!(is_private_key(&pem) && !is_private_key("a secret"));
        let server = super::super::tests::server("");
        let metadata: AuthorizationMetadata = serde_json::from_value(json!({
            "issuer": "https://login.example",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://login.example/token",
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        }))
        .unwrap();
        let client =
            |key: &str| KeyedClient::new(&server, &metadata, "robot", &Secret::new(key.to_owned()));
        let keyed = client(&pem).ok().unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let assertion = keyed.assertion(now).unwrap();
        assert_ne!(assertion, keyed.assertion(now).unwrap(), "each has a number of its own");
        let (signed, signature) = assertion.rsplit_once('.').unwrap();
        let SigningKey::Es256(pair) = &keyed.key else { panic!("it is a key for ES256") };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        public.verify(signed.as_bytes(), &signature).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        for (name, value) in [("iss", "robot"), ("sub", "robot"), ("aud", "https://login.example")]
        {
            assert_eq!(claims[name], value);
        }
        assert_eq!((&claims["iat"], &claims["exp"]), (&json!(1_000), &json!(1_300)));
        assert!(client(&format!("{BEGIN}\nbm90IGEga2V5\n{END}")).is_err());
    }
}
