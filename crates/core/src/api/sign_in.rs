//! Signing in to a server, and out of it.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;

/// The sign-in to an upstream that wants one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SignInStatus {
    /// Whether the upstream cannot be used until the user signs in.
    pub is_needed: bool,
    /// The account that is signed in, as the authorization server calls it. It is only shown.
    pub account: Option<String>,
}

/// The answer to a sign-in that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SignInPage {
    /// The page that the user opens in a browser.
    pub url: String,
    /// The code to enter on that page, in a browser on any device. Without one, the browser must be able
    /// to come back to this computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub code: Option<String>,
    /// The page with the code filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub url_with_code: Option<String>,
}

/// How far the last sign-in to a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
#[cfg_attr(test, derive(TS))]
pub enum SignInState {
    /// It waits for the user.
    Waiting {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        page: Option<SignInPage>,
    },
    Done,
    Failed {
        failure: Failure,
    },
}

/// The address that the browser was sent to, pasted by the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PastedCallback {
    pub address: String,
}

/// The answer to a sign-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedOut {
    /// Whether there was a sign-in.
    pub was_signed_in: bool,
    /// Whether the server says that its tokens no longer work.
    pub revoked: bool,
}
