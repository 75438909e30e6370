//! The types of the control API, which the tray, the dashboard and the CLI use.
//!
//! Only these types cross the API. The dashboard's TypeScript types are generated from them. The
//! sentences that describe the overall state are also written here, so that the tray, the dashboard
//! and the terminal show the same text.
//!
//! One file per page or endpoint: `activity`, `app`, `clients`, `doctor`, `editor`, `log`,
//! `settings`, `setup`, `sign_in`, `upstream_page`; `headline` writes the sentences. This module may use
//! `catalog`, `config`, `failure`, `history`, `policy` and `protocol`. `config` (for edits),
//! `history` and `policy` use its types.

mod activity;
mod app;
mod clients;
mod doctor;
mod editor;
mod headline;
mod log;
mod settings;
mod setup;
mod sign_in;
#[cfg(test)]
mod tests;
mod upstream_page;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

pub use crate::config::{NotificationLevel, TraySettings};
use crate::failure::{Code, Failure};
use crate::policy::app::auto_restart::MUTE_AFTER_WAKE;
pub use activity::{CallOutcome, Latency, LatencyPoint, RecentCall, RecentCalls};
pub use app::{AppStatus, RestartProgress, RestartResult};
pub use clients::{ClientTransport, ConnectedClient};
pub use doctor::{Check, CheckState, Checks, FixResult};
pub use editor::{EditorStatus, VisibleCounts};
use headline::{attention, overall, sentence};
pub use log::{LogLevel, LogLine, LogLines};
pub use settings::{
    EditorChange, EditorSettings, FilterLists, FilterListsChange, Settings, SettingsChange,
    TrayChange, UpstreamChange, UpstreamSettings,
};
pub use setup::{
    DetectedEditor, EditorServerEntry, ImportPreview, KeptServer, MovedServer, Setup, SetupPreview,
    SetupResult, SetupState,
};
pub use sign_in::{PastedCallback, SignInPage, SignInState, SignInStatus, SignedOut};
pub use upstream_page::{
    CatalogEntry, CatalogListing, SelfTest, Timeline, TimelineSpan, TimelineState, ToolListing,
    TrialCallResult,
};

/// The complete state at one moment: the answer of `/api/status`, streamed by `/api/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Status {
    /// The gateway's version.
    pub version: String,
    /// The gateway's process id.
    pub pid: u32,
    /// The address of the endpoint that merges all upstreams.
    pub endpoint: String,
    /// Selects the tray icon.
    pub overall: OverallState,
    /// Describes the state in one sentence.
    pub sentence: String,
    /// All upstreams, in configuration order.
    pub upstreams: Vec<UpstreamStatus>,
    /// Problems that do not stop anything from working.
    pub warnings: Vec<Failure>,
    /// All editors that have a token.
    #[serde(default)]
    pub editors: Vec<EditorStatus>,
    /// The machine woke from sleep: show no alerts before this time (Unix time in milliseconds). It
    /// may be in the past.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "number | null"))]
    pub muted_until: Option<u64>,
    /// The clients that are connected now.
    #[serde(default)]
    pub attached: Vec<ConnectedClient>,
    /// The tray's settings.
    #[serde(default)]
    pub tray: TraySettings,
    /// Nothing is set up yet, so the setup page is offered.
    #[serde(default)]
    pub first_run: bool,
    /// The OS service manager runs this gateway; nothing else may start or stop it.
    #[serde(default)]
    pub supervised: bool,
}

/// The overall state, which selects the tray icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum OverallState {
    /// Every upstream is connected.
    Healthy,
    /// At least one upstream is connecting, and none is down.
    Busy,
    /// At least one upstream is down; the gateway still serves the others.
    Degraded,
    /// The gateway is not serving.
    Down,
    /// The user paused every upstream.
    Paused,
}

/// The status of one upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct UpstreamStatus {
    /// The name used in the configuration, in paths and in tool names.
    pub name: String,
    /// The display name.
    pub title: String,
    /// What it is; a gateway of 0.1.0 does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub kind: Option<UpstreamKind>,
    /// Its address or command, without secrets.
    pub target: String,
    /// The address of the endpoint that serves only this upstream.
    pub endpoint: String,
    /// The state of the connection.
    pub link: UpstreamState,
    /// How many tools it offers, according to the last known catalog.
    pub tools: u32,
    /// How many of these tools its filter lists hide from all editors.
    #[serde(default)]
    pub hidden: u32,
    /// The status of the app that hosts it, if it has one.
    #[serde(default)]
    pub app: Option<AppStatus>,
    /// The user's last action on it.
    #[serde(default)]
    pub touched: Option<UserAction>,
    /// Set if the user is signed in to it, or must sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub sign_in: Option<SignInStatus>,
}

/// What an upstream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum UpstreamKind {
    /// A server at an address, run by others.
    Address,
    /// A program that the gateway starts.
    Program,
    /// An application that a preset describes.
    App,
    /// The built-in demo server.
    Demo,
}

/// A user's action on an upstream, from the dashboard, the tray or the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct UserAction {
    /// Unix time in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// True for a restart or a reconnect; false for pausing it or turning it on or off.
    pub restarts: bool,
}

/// The connection state of an upstream, with the data of that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state")]
#[cfg_attr(test, derive(TS))]
pub enum UpstreamState {
    /// Turned off in the configuration: it is not started, and editors do not see it.
    Off,
    /// The first connection attempt is in progress.
    Connecting,
    /// Connected and responding since this time (Unix time in milliseconds).
    Connected {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
        /// The server's name for itself.
        server: String,
    },
    /// Not usable; Evermoor keeps reconnecting.
    Down {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
        /// When the next attempt starts (Unix time in milliseconds).
        #[cfg_attr(test, ts(type = "number"))]
        retry_at: u64,
        /// Attempts since it went down.
        attempts: u32,
        failure: Failure,
    },
    /// The user paused it; Evermoor does not contact it until it is resumed.
    Paused {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
    },
}

/// A new token. It is shown only once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    pub name: String,
    pub token: String,
}

/// The answer of `/api/calls`: how many calls are waiting for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallsInFlight {
    pub under_way: u64,
}

/// The body of an error response of the control API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct ErrorBody {
    pub error: Failure,
}

impl Status {
    /// Builds a status; the overall state and the sentence are derived from the upstreams, and those that
    /// need attention come first wherever they are listed.
    pub fn of(
        version: String,
        pid: u32,
        endpoint: String,
        mut upstreams: Vec<UpstreamStatus>,
        warnings: Vec<Failure>,
    ) -> Self {
        upstreams.sort_by_key(attention);
        let overall = overall(&upstreams);
        let sentence = sentence(&upstreams);
        let (editors, muted_until, attached) = (Vec::new(), None, Vec::new());
        let (tray, first_run, supervised) = (TraySettings::default(), false, false);
        Self {
            version,
            pid,
            endpoint,
            overall,
            sentence,
            upstreams,
            warnings,
            editors,
            muted_until,
            attached,
            tray,
            first_run,
            supervised,
        }
    }

    /// Sets the editors that have a token.
    pub fn with_editors(self, editors: Vec<EditorStatus>) -> Self {
        Self { editors, ..self }
    }

    /// Sets when the machine last woke from sleep (Unix time in milliseconds), if it did.
    pub fn since_wake(self, woke: Option<u64>) -> Self {
        let muted = u64::try_from(MUTE_AFTER_WAKE.as_millis()).unwrap_or(u64::MAX);
        Self { muted_until: woke.map(|woke| woke.saturating_add(muted)), ..self }
    }
}

impl UpstreamStatus {
    /// A short label for the state, for a menu row or a table row.
    pub fn word(&self) -> &'static str {
        match &self.link {
            UpstreamState::Off => "Off",
            UpstreamState::Connecting => "Connecting",
            UpstreamState::Connected { .. } => "Connected",
            UpstreamState::Down { failure, .. } => failure.code.word(),
            UpstreamState::Paused { .. } => Code::Paused.word(),
        }
    }

    /// The number of tools, and how many are shown if some are hidden.
    pub fn tool_count(&self) -> String {
        match (self.tools, self.hidden) {
            (1, 0) => "1 tool".into(),
            (all, 0) => format!("{all} tools"),
            (all, hidden) => format!("{} of {all} tools shown", all.saturating_sub(hidden)),
        }
    }

    /// Whether it cannot be used until the user signs in. That is then its next step everywhere.
    pub fn needs_sign_in(&self) -> bool {
        self.sign_in.as_ref().is_some_and(|sign_in| sign_in.is_needed)
    }

    pub fn is_off(&self) -> bool {
        self.link == UpstreamState::Off
    }

    fn is_down(&self) -> bool {
        matches!(self.link, UpstreamState::Down { .. })
    }

    pub fn is_paused(&self) -> bool {
        matches!(self.link, UpstreamState::Paused { .. })
    }
}
