//! A typed client for the control API of a running gateway.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};

use evermoor_core::api::{
    CallsInFlight, Check, Checks, EditorStatus, ErrorBody, FixResult, NewToken, SignInPage,
    SignInState, SignedOut, Status,
};
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::{Incident, Incidents};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::security::secret_ref;
use evermoor_core::security::tokens;
use evermoor_platform::paths::Paths;

use crate::gateway_files::runtime_file;
use crate::http::{EventStream, HttpClient, HttpError};

/// A running gateway and the token for its control API.
#[derive(Clone)]
pub struct ControlClient {
    http: HttpClient,
    runtime: RuntimeFile,
}

/// Why a control request failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Unreachable(#[from] HttpError),
    #[error("{0}")]
    Refused(Failure),
    #[error("this version of Evermoor cannot read the gateway's reply")]
    Unreadable,
}

/// A healthy gateway on this machine answers well within this time.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

impl ControlClient {
    /// Finds the running gateway of these paths.
    pub fn find(paths: &Paths) -> Option<Self> {
        runtime_file::find(paths).map(Self::of)
    }

    pub(crate) fn of(runtime: RuntimeFile) -> Self {
        let http = HttpClient::new(&runtime.origin, &runtime.control_token);
        Self { http, runtime }
    }

    pub fn runtime(&self) -> &RuntimeFile {
        &self.runtime
    }

    pub(crate) fn http(&self) -> &HttpClient {
        &self.http
    }

    /// Whether the gateway answers at its address. Sends no token.
    pub async fn answers(&self) -> bool {
        let anonymous = HttpClient::new(&self.runtime.origin, "");
        let health = anonymous.send(Method::GET, "/healthz", &[], Bytes::new());
        let answer = tokio::time::timeout(HEALTH_TIMEOUT, health).await;
        matches!(answer, Ok(Ok(answer)) if answer.status == StatusCode::OK)
    }

    pub async fn status(&self) -> Result<Status, ControlError> {
        read(&self.request(Method::GET, "/api/status").await?)
    }

    /// Subscribes to status changes.
    pub async fn follow(&self) -> Result<StatusStream, ControlError> {
        let answer = self.http.send(Method::GET, "/api/events", &[], Bytes::new()).await?;
        if answer.status != StatusCode::OK {
            return Err(ControlError::Unreadable);
        }
        Ok(StatusStream { events: answer.events() })
    }

    /// Restarts an upstream. For an application, returns the number of the restart, which also
    /// appears in the status. Any other upstream is only reconnected.
    pub async fn restart_upstream(&self, name: &str) -> Result<Option<u64>, ControlError> {
        #[derive(serde::Deserialize)]
        struct Started {
            number: Option<u64>,
        }
        let path = action_path(Some(name), "restart")?;
        let started: Started = read(&self.request(Method::POST, &path).await?)?;
        Ok(started.number)
    }

    /// Pauses one upstream, or everything.
    pub async fn pause(&self, upstream: Option<&str>) -> Result<(), ControlError> {
        self.request(Method::POST, &action_path(upstream, "pause")?).await.map(drop)
    }

    /// Resumes one upstream, or everything.
    pub async fn resume(&self, upstream: Option<&str>) -> Result<(), ControlError> {
        self.request(Method::POST, &action_path(upstream, "resume")?).await.map(drop)
    }

    /// The incidents of one upstream, or of all, that were open at `since` (Unix time in
    /// milliseconds) or began later.
    pub async fn incidents(
        &self,
        upstream: Option<&str>,
        since: u64,
    ) -> Result<Vec<Incident>, ControlError> {
        let upstream = upstream.map(checked_name).transpose()?;
        let filter = upstream.map_or_else(String::new, |name| format!("&upstream={name}"));
        let path = format!("/api/incidents?since={since}{filter}");
        let found: Incidents = read(&self.request(Method::GET, &path).await?)?;
        Ok(found.incidents)
    }

    /// Every editor that has a token.
    pub async fn editors(&self) -> Result<Vec<EditorStatus>, ControlError> {
        read(&self.request(Method::GET, "/api/editors").await?)
    }

    /// Creates a token for an editor that has none.
    pub async fn add_editor(&self, name: &str) -> Result<NewToken, ControlError> {
        read(&self.request(Method::POST, &editor_path(name, "")?).await?)
    }

    /// Replaces an editor's token. The old one stops working at once.
    pub async fn rotate_editor(&self, name: &str) -> Result<NewToken, ControlError> {
        read(&self.request(Method::POST, &editor_path(name, "/rotate")?).await?)
    }

    /// Revokes an editor's token.
    pub async fn revoke_editor(&self, name: &str) -> Result<(), ControlError> {
        self.request(Method::DELETE, &editor_path(name, "")?).await.map(drop)
    }

    /// Reports that a secret changed. Returns the upstreams that use it; they reconnect.
    pub async fn secret_changed(&self, name: &str) -> Result<Vec<String>, ControlError> {
        #[derive(serde::Deserialize)]
        struct Users {
            upstreams: Vec<String>,
        }
        secret_ref::check_name(name).map_err(|bad| {
            ControlError::Refused(Failure::new(Code::Refused, bad.to_string(), bad.remedy()))
        })?;
        let path = format!("/api/secrets/{name}/changed");
        let users: Users = read(&self.request(Method::POST, &path).await?)?;
        Ok(users.upstreams)
    }

    /// Begins a sign-in to an upstream. Returns the page that the user opens, and perhaps a code if the
    /// user has no browser on the computer of the gateway.
    pub async fn sign_in(
        &self,
        upstream: &str,
        has_browser: bool,
    ) -> Result<SignInPage, ControlError> {
        let path = action_path(Some(upstream), &format!("sign-in?browser={has_browser}"))?;
        read(&self.request(Method::POST, &path).await?)
    }

    /// How far the last sign-in is. Waits a while for its end.
    pub async fn sign_in_state(&self, upstream: &str) -> Result<SignInState, ControlError> {
        let path = action_path(Some(upstream), "sign-in")?;
        read(&self.request(Method::GET, &path).await?)
    }

    /// Ends a sign-in that waits for the user.
    pub async fn cancel_sign_in(&self, upstream: &str) -> Result<(), ControlError> {
        let path = action_path(Some(upstream), "sign-in")?;
        self.request(Method::DELETE, &path).await.map(drop)
    }

    /// Ends a sign-in with the address that the browser was sent to.
    pub async fn finish_sign_in(&self, address: &str) -> Result<(), ControlError> {
        let body = serde_json::json!({ "address": address });
        self.post("/api/sign-ins/callback", Some(&body)).await.map(drop)
    }

    /// Ends the sign-in to an upstream.
    pub async fn sign_out(&self, upstream: &str) -> Result<SignedOut, ControlError> {
        let path = action_path(Some(upstream), "sign-out")?;
        read(&self.request(Method::POST, &path).await?)
    }

    /// Stops the gateway, which first lets running calls finish.
    pub async fn stop(&self) -> Result<(), ControlError> {
        self.request(Method::POST, "/api/stop").await.map(drop)
    }

    /// Runs the gateway's own checks.
    pub async fn doctor(&self) -> Result<Vec<Check>, ControlError> {
        let found: Checks = read(&self.request(Method::GET, "/api/doctor").await?)?;
        Ok(found.checks)
    }

    /// Lets the gateway fix one failed check. Returns what it did.
    pub async fn fix(&self, check: &str) -> Result<String, ControlError> {
        let path = format!("/api/doctor/{check}/fix");
        let fixed: FixResult = read(&self.request(Method::POST, &path).await?)?;
        Ok(fixed.what)
    }

    /// How many calls are waiting for an answer.
    pub async fn calls_under_way(&self) -> Result<u64, ControlError> {
        let calls: CallsInFlight = read(&self.request(Method::GET, "/api/calls").await?)?;
        Ok(calls.under_way)
    }

    /// A one-time link that opens the dashboard in a browser.
    pub async fn dashboard_link(&self) -> Result<String, ControlError> {
        #[derive(serde::Deserialize)]
        struct DashboardLink {
            url: String,
        }
        let link: DashboardLink = read(&self.request(Method::POST, "/api/links").await?)?;
        Ok(link.url)
    }

    async fn request(&self, method: Method, path: &str) -> Result<Bytes, ControlError> {
        let json = (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = self.http.send(method, path, &[json], Bytes::new()).await?;
        let status = answer.status;
        let body = answer.bytes().await?;
        if status.is_success() {
            return Ok(body);
        }
        let refusal: ErrorBody = read(&body)?;
        Err(ControlError::Refused(refusal.error))
    }
}

/// A stream of status updates from a gateway.
pub struct StatusStream {
    events: EventStream,
}

impl StatusStream {
    /// The next status, or `None` when the gateway is gone.
    pub async fn next(&mut self) -> Option<Status> {
        loop {
            let event = self.events.next().await?;
            if event.kind == "status" {
                return serde_json::from_slice(&event.data).ok();
            }
        }
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Refused(failure) => failure,
            ControlError::Unreachable(error) => {
                Self::new(Code::ConnectionLost, format!("{error}."), "Restart Evermoor.")
            }
            ControlError::Unreadable => Self::new(
                Code::Internal,
                "The gateway runs a different version of Evermoor.",
                "Restart Evermoor so that both run the same version.",
            ),
        }
    }
}

/// The path of an editor. Rejects names that do not fit into a path.
fn editor_path(name: &str, suffix: &str) -> Result<String, ControlError> {
    tokens::check_name(name).map_err(|denied| ControlError::Refused(Failure::from(&denied)))?;
    Ok(format!("/api/editors/{name}{suffix}"))
}

/// The path of an action on one upstream, or on all.
fn action_path(upstream: Option<&str>, action: &str) -> Result<String, ControlError> {
    Ok(match upstream {
        Some(upstream) => format!("/api/upstreams/{}/{action}", checked_name(upstream)?),
        None => format!("/api/{action}"),
    })
}

/// Rejects upstream names that do not fit into a path.
fn checked_name(upstream: &str) -> Result<UpstreamName, ControlError> {
    UpstreamName::parse(upstream).map_err(|_| {
        let what = format!("There is no server `{upstream}`.");
        let failure = Failure::new(Code::NotFound, what, "Run `evermoor status` to list them.");
        ControlError::Refused(failure)
    })
}

fn read<T: serde::de::DeserializeOwned>(body: &Bytes) -> Result<T, ControlError> {
    serde_json::from_slice(body).map_err(|_| ControlError::Unreadable)
}
