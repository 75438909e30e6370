//! Links that log a browser in, with a code that works once for a short time.
//!
//! The code is in the URL's fragment, so it reaches no log and no server. The page exchanges it for
//! the control token and keeps that until its tab is closed. A cookie would not be safe: cookies
//! ignore the port, so the browser would send it to every other local server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use evermoor_core::failure::{Code, Failure};

use super::{ControlApi, refuse};
use crate::system::keys;
use crate::system::keys::KeyError;

/// Codes that were issued and have not been used.
pub struct LoginLinks {
    origin: String,
    codes: Mutex<HashMap<String, Instant>>,
}

const LIFETIME: Duration = Duration::from_secs(300);

impl LoginLinks {
    pub fn new(origin: String) -> Self {
        Self { origin, codes: Mutex::default() }
    }

    /// Makes a link that opens the dashboard once.
    pub fn make(&self) -> Result<String, KeyError> {
        let code = keys::random_token()?;
        let now = Instant::now();
        let mut codes = self.codes.lock();
        codes.retain(|_, made| now - *made < LIFETIME);
        codes.insert(code.clone(), now);
        Ok(format!("{}/#code={code}", self.origin))
    }

    /// The unused codes, and how old each is.
    pub fn unused(&self) -> Vec<(String, Duration)> {
        self.codes.lock().iter().map(|(code, made)| (code.clone(), made.elapsed())).collect()
    }

    /// Accepts codes that another gateway issued.
    pub fn inherit(&self, unused: Vec<(String, Duration)>) {
        let now = Instant::now();
        let made = |(code, age)| Some((code, now.checked_sub(age)?));
        self.codes.lock().extend(unused.into_iter().filter_map(made));
    }

    fn take(&self, code: &str) -> bool {
        let made = self.codes.lock().remove(code);
        made.is_some_and(|made| made.elapsed() < LIFETIME)
    }
}

#[derive(Serialize)]
struct Link {
    url: String,
}

#[derive(Deserialize)]
pub(super) struct Login {
    code: String,
}

#[derive(Serialize)]
struct Admitted {
    token: String,
}

pub(super) async fn make(State(control): State<Arc<ControlApi>>) -> Response {
    match control.links.make() {
        Ok(url) => Json(Link { url }).into_response(),
        Err(error) => {
            let failure = Failure::new(
                Code::Internal,
                format!("The link could not be created: {error}."),
                "Try again.",
            );
            refuse(StatusCode::INTERNAL_SERVER_ERROR, failure)
        }
    }
}

pub(super) async fn login(
    State(control): State<Arc<ControlApi>>,
    Json(login): Json<Login>,
) -> Response {
    if control.links.take(&login.code) {
        let admitted = Json(Admitted { token: control.control_token.clone() });
        return ([(header::CACHE_CONTROL, "no-store")], admitted).into_response();
    }
    let what = "This link has already been used or has expired.";
    refuse(
        StatusCode::FORBIDDEN,
        Failure::new(Code::Forbidden, what, "Run `evermoor open` for a new one."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(link: &str) -> &str {
        link.split_once("#code=").unwrap().1
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_works_once() {
        let links = LoginLinks::new("http://127.0.0.1:7420".into());
        let link = links.make().unwrap();
        assert!(links.take(code(&link)));
        assert!(!links.take(code(&link)));
        assert!(!links.take("guess"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_keeps_working_after_a_takeover_until_it_expires() {
        let (old, new) = (LoginLinks::new(String::new()), LoginLinks::new(String::new()));
        let (first, second) = (old.make().unwrap(), old.make().unwrap());
        tokio::time::advance(LIFETIME / 2).await;
        new.inherit(old.unused());
        assert!(new.take(code(&first)));
        tokio::time::advance(LIFETIME / 2).await;
        assert!(!new.take(code(&second)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_link_does_not_work() {
        let links = LoginLinks::new("http://127.0.0.1:7420".into());
        let link = links.make().unwrap();
        tokio::time::advance(LIFETIME).await;
        assert!(!links.take(code(&link)));
    }
}
