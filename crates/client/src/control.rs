//! The control API of a running gateway.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};

use evermoor_core::api::{
    CallsInFlight, Check, Checks, EditorStatus, ErrorBody, FixResult, NewToken, Status,
};
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::{Incident, Incidents};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::security::secret_ref;
use evermoor_core::security::tokens;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

use crate::http::{Events, Http, HttpError};

/// A running gateway, as its own tools see it.
#[derive(Clone)]
pub struct Control {
    http: Http,
    runtime: RuntimeFile,
}

/// Why the gateway did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Unreachable(#[from] HttpError),
    #[error("{0}")]
    Refused(Failure),
    #[error("the gateway's answer makes no sense to this version of Evermoor")]
    Unreadable,
}

/// A gateway on this machine that takes longer for a word is not well.
const PATIENCE: Duration = Duration::from_secs(2);

impl Control {
    /// The gateway that runs in these places, if one does.
    ///
    /// The lock is asked first: while nobody holds it the runtime file is a leftover, and its
    /// token must not be shown to whoever has taken the port since.
    pub fn find(paths: &Paths) -> Option<Self> {
        if !matches!(InstanceLock::take(&paths.lock_file()), Ok(None)) {
            return None;
        }
        let content = private::read_private(&paths.runtime_file()).ok()??;
        let runtime: RuntimeFile = serde_json::from_slice(&content).ok()?;
        let http = Http::new(&runtime.origin, &runtime.control_token);
        Some(Self { http, runtime })
    }

    pub fn runtime(&self) -> &RuntimeFile {
        &self.runtime
    }

    pub(crate) fn http(&self) -> &Http {
        &self.http
    }

    /// Whether somebody answers at its address. No token is shown for this.
    pub async fn answers(&self) -> bool {
        let stranger = Http::new(&self.runtime.origin, "");
        let health = stranger.send(Method::GET, "/healthz", &[], Bytes::new());
        let answer = tokio::time::timeout(PATIENCE, health).await;
        matches!(answer, Ok(Ok(answer)) if answer.status == StatusCode::OK)
    }

    pub async fn status(&self) -> Result<Status, ControlError> {
        read(&self.request(Method::GET, "/api/status").await?)
    }

    /// Follows the state from now on.
    pub async fn follow(&self) -> Result<Following, ControlError> {
        let answer = self.http.send(Method::GET, "/api/events", &[], Bytes::new()).await?;
        if answer.status != StatusCode::OK {
            return Err(ControlError::Unreadable);
        }
        Ok(Following { events: answer.events() })
    }

    /// Brings one upstream back. An application is restarted, and the number of its restart is told,
    /// by which the state speaks of it; of any other the connection is made anew.
    pub async fn restart_upstream(&self, name: &str) -> Result<Option<u64>, ControlError> {
        #[derive(serde::Deserialize)]
        struct Begun {
            number: Option<u64>,
        }
        let path = of(Some(name), "restart")?;
        let begun: Begun = read(&self.request(Method::POST, &path).await?)?;
        Ok(begun.number)
    }

    /// Pauses one upstream, or everything.
    pub async fn pause(&self, upstream: Option<&str>) -> Result<(), ControlError> {
        self.request(Method::POST, &of(upstream, "pause")?).await.map(drop)
    }

    /// Resumes one upstream, or everything.
    pub async fn resume(&self, upstream: Option<&str>) -> Result<(), ControlError> {
        self.request(Method::POST, &of(upstream, "resume")?).await.map(drop)
    }

    /// The outages of one upstream, or of all, that lasted at this moment (milliseconds of the Unix
    /// epoch) or began later.
    pub async fn incidents(
        &self,
        upstream: Option<&str>,
        since: u64,
    ) -> Result<Vec<Incident>, ControlError> {
        let upstream = upstream.map(named).transpose()?;
        let of = upstream.map_or_else(String::new, |name| format!("&upstream={name}"));
        let path = format!("/api/incidents?since={since}{of}");
        let found: Incidents = read(&self.request(Method::GET, &path).await?)?;
        Ok(found.incidents)
    }

    /// Every editor that has a token.
    pub async fn editors(&self) -> Result<Vec<EditorStatus>, ControlError> {
        read(&self.request(Method::GET, "/api/editors").await?)
    }

    /// Makes a token for an editor that has none.
    pub async fn add_editor(&self, name: &str) -> Result<NewToken, ControlError> {
        read(&self.request(Method::POST, &editor(name, "")?).await?)
    }

    /// Makes another token for an editor; the old one is refused from then on.
    pub async fn rotate_editor(&self, name: &str) -> Result<NewToken, ControlError> {
        read(&self.request(Method::POST, &editor(name, "/rotate")?).await?)
    }

    /// Takes an editor's token away.
    pub async fn revoke_editor(&self, name: &str) -> Result<(), ControlError> {
        self.request(Method::DELETE, &editor(name, "")?).await.map(drop)
    }

    /// Says that a secret changed. Those who use it connect anew, and are named.
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

    /// Ends the gateway, which lets calls under way end first.
    pub async fn stop(&self) -> Result<(), ControlError> {
        self.request(Method::POST, "/api/stop").await.map(drop)
    }

    /// What the gateway's doctor finds.
    pub async fn doctor(&self) -> Result<Vec<Check>, ControlError> {
        let found: Checks = read(&self.request(Method::GET, "/api/doctor").await?)?;
        Ok(found.checks)
    }

    /// Has it put one thing right, and says what was done.
    pub async fn fix(&self, check: &str) -> Result<String, ControlError> {
        let path = format!("/api/doctor/{check}/fix");
        let fixed: FixResult = read(&self.request(Method::POST, &path).await?)?;
        Ok(fixed.what)
    }

    /// How many calls wait for an answer at this moment.
    pub async fn calls_under_way(&self) -> Result<u64, ControlError> {
        let calls: CallsInFlight = read(&self.request(Method::GET, "/api/calls").await?)?;
        Ok(calls.under_way)
    }

    /// A link that opens the dashboard in a browser, once.
    pub async fn dashboard_link(&self) -> Result<String, ControlError> {
        #[derive(serde::Deserialize)]
        struct Link {
            url: String,
        }
        let link: Link = read(&self.request(Method::POST, "/api/links").await?)?;
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

/// The states of a gateway, one after the other.
pub struct Following {
    events: Events,
}

impl Following {
    /// The next state; `None` when the gateway has gone.
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
                Self::new(Code::ConnectionLost, format!("{error}."), "Start Evermoor again.")
            }
            ControlError::Unreadable => Self::new(
                Code::Internal,
                "The gateway speaks another version.",
                "Restart Evermoor, so that both are the same version.",
            ),
        }
    }
}

/// The path of an editor, whose name is one that a path can hold.
fn editor(name: &str, what: &str) -> Result<String, ControlError> {
    tokens::check_name(name).map_err(|denied| ControlError::Refused(Failure::from(&denied)))?;
    Ok(format!("/api/editors/{name}{what}"))
}

/// The path of what is to be done to one upstream, or to all.
fn of(upstream: Option<&str>, what: &str) -> Result<String, ControlError> {
    Ok(match upstream {
        Some(upstream) => format!("/api/upstreams/{}/{what}", named(upstream)?),
        None => format!("/api/{what}"),
    })
}

/// An upstream, whose name is one that a path can hold.
fn named(upstream: &str) -> Result<UpstreamName, ControlError> {
    UpstreamName::parse(upstream).map_err(|_| {
        let what = format!("There is no server `{upstream}`.");
        let failure = Failure::new(Code::NotFound, what, "Run `evermoor status` to list them.");
        ControlError::Refused(failure)
    })
}

fn read<T: serde::de::DeserializeOwned>(body: &Bytes) -> Result<T, ControlError> {
    serde_json::from_slice(body).map_err(|_| ControlError::Unreadable)
}
