//! The scopes that calls lacked since the last sign-in. The next one asks for them.

use std::collections::BTreeSet;

use http::{HeaderMap, header};
use parking_lot::Mutex;
use rmcp::transport::auth::WWWAuthenticateParams;
use url::Url;

/// The scopes that calls lacked.
#[derive(Default)]
pub(super) struct LackingScopes(Mutex<BTreeSet<String>>);

/// More or longer scopes than these are not asked for.
const MOST_SCOPES: usize = 64;
const LONGEST_SCOPE: usize = 256;

impl LackingScopes {
    /// The scopes that the answer of the server at `url` asks for, if it refuses a call that lacks some.
    pub(super) fn add_from(&self, headers: &HeaderMap, url: &Url) -> Option<String> {
        let challenges = headers.get_all(header::WWW_AUTHENTICATE).iter();
        let lacking = challenges
            .filter_map(|value| value.to_str().ok())
            .map(|value| WWWAuthenticateParams::parse(value, url))
            .find(WWWAuthenticateParams::is_insufficient_scope)?;
        let scopes = lacking.scope.unwrap_or_default();
        let mut known = self.0.lock();
        for scope in scopes.split_whitespace().filter(|scope| scope.len() <= LONGEST_SCOPE) {
            if known.len() < MOST_SCOPES {
                known.insert(scope.to_owned());
            }
        }
        Some(scopes)
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_makes_a_sign_in_ask_for_endless_scopes() {
        let (lacking, url) = (LackingScopes::default(), Url::parse("https://a.example").unwrap());
        let add = |scopes: &str| {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\"");
            let mut headers = HeaderMap::new();
            headers.insert(header::WWW_AUTHENTICATE, challenge.parse().unwrap());
            lacking.add_from(&headers, &url)
        };
        assert_eq!(add("b a b"), Some("b a b".to_owned()));
        assert_eq!(lacking.all(), ["a", "b"]);
        add(&"x".repeat(LONGEST_SCOPE + 1));
        (0..1_000).for_each(|number| drop(add(&format!("scope-{number}"))));
        assert_eq!(lacking.all().len(), MOST_SCOPES);
        lacking.clear();
        assert_eq!(lacking.all(), [""; 0]);
        let mut other = HeaderMap::new();
        other.insert(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"".parse().unwrap());
        assert_eq!(lacking.add_from(&other, &url), None);
    }
}
