//! Which requests may use the endpoint.
//!
//! Listening only on 127.0.0.1 does not protect the endpoint: a web page can reach every local port,
//! and a host name that resolves to 127.0.0.1 makes it same-origin (DNS rebinding). So each request
//! must name this host, must not come from a web page, and must carry a token. Pages are refused
//! before the token is checked, so that no page learns whether a token is valid.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq as _;

/// Why a request is refused before its body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessDenied {
    #[error("exactly one Host header is required")]
    NoHost,
    #[error("the Host header must name this gateway")]
    Host,
    #[error("requests from web pages are not accepted")]
    Origin,
    #[error("a bearer token is required")]
    NoToken,
    #[error("this bearer token is not valid")]
    WrongToken,
    #[error("too many wrong tokens")]
    TooManyTokens,
    #[error("too many unknown session ids")]
    TooManySessions,
    #[error("this editor has too many connections, or does not read its answers")]
    TooManyConnections,
}

/// The parts of a request that access control looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessRequest<'a> {
    pub host: Option<&'a str>,
    /// The host of an absolute request target, which only requests to a proxy have.
    pub authority: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub fetch_site: Option<&'a str>,
    pub authorization: Option<&'a str>,
}

/// Limits wrong guesses per minute. Correct tokens are not affected.
#[derive(Clone, Debug)]
pub struct GuessLimiter {
    most: usize,
    recent: VecDeque<Instant>,
}

/// How long a wrong guess counts.
const RECENT: Duration = Duration::from_secs(60);

impl GuessLimiter {
    /// Allows `most` wrong guesses per minute.
    pub fn new(most: usize) -> Self {
        Self { most, recent: VecDeque::new() }
    }

    /// Records a wrong guess, and returns whether the limit was already reached.
    pub fn is_over_limit(&mut self, now: Instant) -> bool {
        while self.recent.front().is_some_and(|guess| now.duration_since(*guess) >= RECENT) {
            self.recent.pop_front();
        }
        if self.recent.len() >= self.most {
            return true;
        }
        self.recent.push_back(now);
        false
    }
}

/// Checks that a request is for this host and port, and does not come from a web page. With
/// `own_page`, the dashboard's own origin is allowed.
pub fn check_origin(
    visitor: AccessRequest<'_>,
    port: u16,
    own_page: bool,
) -> Result<(), AccessDenied> {
    check_host(visitor, port)?;
    let own_origin = |origin: &str| {
        origin.strip_prefix("http://").is_some_and(|authority| is_here(authority, port))
    };
    match visitor.origin {
        Some(origin) if !(own_page && own_origin(origin)) => return Err(AccessDenied::Origin),
        Some(_) | None => {}
    }
    match visitor.fetch_site {
        None | Some("none") => Ok(()),
        Some("same-origin") if own_page => Ok(()),
        Some(_) => Err(AccessDenied::Origin),
    }
}

/// Checks that a request is for this host and port, and that a browser opens it as a page, as it does
/// when another site sends it here. A script, a frame or an image of another site is refused.
pub fn check_navigation(
    visitor: AccessRequest<'_>,
    port: u16,
    fetch_mode: Option<&str>,
    fetch_target: Option<&str>,
) -> Result<(), AccessDenied> {
    check_host(visitor, port)?;
    let opened = fetch_mode.is_none_or(|mode| mode == "navigate")
        && fetch_target.is_none_or(|target| target == "document")
        && visitor.origin.is_none();
    if opened { Ok(()) } else { Err(AccessDenied::Origin) }
}

fn check_host(visitor: AccessRequest<'_>, port: u16) -> Result<(), AccessDenied> {
    let host = visitor.host.ok_or(AccessDenied::NoHost)?;
    if !is_here(host, port) || !visitor.authority.is_none_or(|host| is_here(host, port)) {
        return Err(AccessDenied::Host);
    }
    Ok(())
}

fn is_here(authority: &str, port: u16) -> bool {
    let authorities =
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    authorities.iter().any(|own| own.eq_ignore_ascii_case(authority))
}

/// The bearer token of a request.
pub fn bearer<'a>(visitor: AccessRequest<'a>) -> Result<&'a str, AccessDenied> {
    let token = visitor.authorization.and_then(|value| value.split_once(' '));
    match token {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() => {
            Ok(token)
        }
        Some(_) | None => Err(AccessDenied::NoToken),
    }
}

/// Compares in constant time.
pub fn same_token(presented: &str, known: &str) -> bool {
    !known.is_empty() && bool::from(presented.as_bytes().ct_eq(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor() -> AccessRequest<'static> {
        AccessRequest { host: Some("127.0.0.1:7420"), ..AccessRequest::default() }
    }

    #[test]
    fn only_this_host_and_port_are_accepted() {
        for host in ["127.0.0.1:7420", "localhost:7420", "LOCALHOST:7420", "[::1]:7420"] {
            assert_eq!(
                check_origin(AccessRequest { host: Some(host), ..visitor() }, 7420, false),
                Ok(()),
                "{host}"
            );
        }
        for host in [
            "evil.com",
            "127.0.0.1.nip.io:7420",
            "0.0.0.0:7420",
            "localhost:3000",
            "localhost.:7420",
            "localhost",
            "",
        ] {
            let found = check_origin(AccessRequest { host: Some(host), ..visitor() }, 7420, false);
            assert_eq!(found, Err(AccessDenied::Host), "{host}");
        }
        assert_eq!(check_origin(AccessRequest::default(), 7420, false), Err(AccessDenied::NoHost));
        let proxied = AccessRequest { authority: Some("evil.com"), ..visitor() };
        assert_eq!(check_origin(proxied, 7420, false), Err(AccessDenied::Host));
    }

    #[test]
    fn another_site_may_send_a_browser_to_a_page_but_not_load_it_in_the_background() {
        let opens = |visitor, mode, target| check_navigation(visitor, 7420, mode, target);
        let sent = AccessRequest { fetch_site: Some("cross-site"), ..visitor() };
        assert_eq!(opens(sent, Some("navigate"), Some("document")), Ok(()));
        assert_eq!(opens(visitor(), None, None), Ok(()), "an older browser says nothing");
        for (mode, target) in [
            (Some("no-cors"), None),
            (Some("cors"), Some("empty")),
            (Some("navigate"), Some("iframe")),
            (None, Some("image")),
        ] {
            assert_eq!(opens(sent, mode, target), Err(AccessDenied::Origin));
        }
        let page = AccessRequest { origin: Some("null"), ..visitor() };
        assert_eq!(opens(page, Some("navigate"), Some("document")), Err(AccessDenied::Origin));
        let other = AccessRequest { host: Some("evil.com"), ..visitor() };
        assert_eq!(opens(other, None, None), Err(AccessDenied::Host));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any moment will do to count from")]
    fn too_many_guesses_are_blocked_until_the_oldest_is_a_minute_old() {
        let (mut guesses, start) = (GuessLimiter::new(3), Instant::now());
        let mut guess = |second| guesses.is_over_limit(start + Duration::from_secs(second));
        let guessed: Vec<bool> = [0, 1, 2, 3, 59, 60, 60, 61].into_iter().map(&mut guess).collect();
        assert_eq!(guessed, [false, false, false, true, true, false, true, false]);
    }

    #[test]
    fn no_page_may_use_the_editors_endpoint_not_even_the_dashboard() {
        for origin in [
            "https://evil.com",
            "null",
            "http://localhost:3000",
            "http://127.0.0.1.evil.com",
            "http://127.0.0.1:7420",
        ] {
            let found =
                check_origin(AccessRequest { origin: Some(origin), ..visitor() }, 7420, false);
            assert_eq!(found, Err(AccessDenied::Origin), "{origin}");
        }
        for site in ["cross-site", "same-site", "same-origin"] {
            let found =
                check_origin(AccessRequest { fetch_site: Some(site), ..visitor() }, 7420, false);
            assert_eq!(found, Err(AccessDenied::Origin), "{site}");
        }
    }

    #[test]
    fn the_dashboard_may_use_the_control_api_from_its_own_origin_only() {
        let page = AccessRequest {
            origin: Some("http://127.0.0.1:7420"),
            fetch_site: Some("same-origin"),
            ..visitor()
        };
        assert_eq!(check_origin(page, 7420, true), Ok(()));
        let other = AccessRequest { origin: Some("http://localhost:3000"), ..visitor() };
        assert_eq!(check_origin(other, 7420, true), Err(AccessDenied::Origin));
        let site = AccessRequest { fetch_site: Some("same-site"), ..visitor() };
        assert_eq!(check_origin(site, 7420, true), Err(AccessDenied::Origin));
    }

    #[test]
    fn a_token_is_a_bearer_token_that_is_not_empty() {
        let with = |value| bearer(AccessRequest { authorization: Some(value), ..visitor() });
        assert_eq!(with("Bearer abc"), Ok("abc"));
        assert_eq!(with("bearer abc"), Ok("abc"));
        for bad in ["Bearer ", "Bearer", "Basic abc", ""] {
            assert_eq!(with(bad), Err(AccessDenied::NoToken), "{bad}");
        }
        assert!(!same_token("", "") && !same_token("ab", "abc") && same_token("abc", "abc"));
    }
}
