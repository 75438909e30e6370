//! What the gateway tells the people who watch it: the tray, the dashboard and the command line.
//!
//! These types are the control API. They are all that crosses it, the TypeScript types of the
//! dashboard are generated from them, and every sentence a person reads about the state of things
//! is made here, so that tray, dashboard and terminal never tell different stories.

mod activity;
mod app;
mod clients;
mod doctor;
mod editor;
mod log;
mod settings;
mod setup;
mod summary;
mod upstream_page;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

pub use crate::config::{Notifications, TraySettings};
use crate::failure::{Code, Failure};
use crate::policy::app::policy::MUTED;
pub use activity::{Activity, Call, CallOutcome, Latency, LatencyPoint};
pub use app::{App, Restart, RestartEnd};
pub use clients::{Attached, Wire};
pub use doctor::{Check, CheckState, Checks, Fixed};
pub use editor::{Editor, Shown};
pub use log::{LogLevel, LogLine, LogLines};
pub use settings::{
    EditorChange, EditorSettings, Lists, ListsChange, Settings, SettingsChange, TrayChange,
    UpstreamChange, UpstreamSettings,
};
pub use setup::{
    Connection, Found, FoundEntry, ImportPreview, Moves, Setup, SetupDone, SetupPreview, Stays,
};
use summary::{overall, sentence};
pub use upstream_page::{Catalog, Item, SelfTest, Span, SpanState, Timeline, Tool, Trial};

/// The whole state at one moment: what `/api/status` answers and `/api/events` streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Status {
    /// Version of the gateway that speaks.
    pub version: String,
    /// The gateway's process.
    pub pid: u32,
    /// The address editors use for all upstreams in one.
    pub endpoint: String,
    /// One word for the icon.
    pub overall: Overall,
    /// One sentence for a person.
    pub sentence: String,
    /// Every upstream, in the order of the configuration.
    pub upstreams: Vec<Upstream>,
    /// What is worth knowing although nothing is broken.
    pub warnings: Vec<Failure>,
    /// Every editor that has a token.
    #[serde(default)]
    pub editors: Vec<Editor>,
    /// The machine woke: until this moment (milliseconds of the Unix epoch), which may have passed,
    /// nobody is to be disturbed with what is down.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "number | null"))]
    pub muted_until: Option<u64>,
    /// Who is connected at this moment.
    #[serde(default)]
    pub attached: Vec<Attached>,
    /// What a person wants of the tray.
    #[serde(default)]
    pub tray: TraySettings,
    /// Nobody has set anything up yet: it is to be offered.
    #[serde(default)]
    pub first_run: bool,
    /// The system's own supervisor runs this gateway; nobody else starts or ends it.
    #[serde(default)]
    pub supervised: bool,
}

/// The state of the whole, from which the tray takes its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum Overall {
    /// Every upstream is connected.
    Healthy,
    /// Something is being connected for the first time or brought back.
    Busy,
    /// At least one upstream is down; the gateway serves.
    Degraded,
    /// The gateway does not serve.
    Down,
    /// A person paused it.
    Paused,
}

/// One upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Upstream {
    /// Its name in the configuration, in paths and in tool names.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Where it is: an address or a command, never with a secret in it.
    pub target: String,
    /// The address editors use for this upstream alone.
    pub endpoint: String,
    /// Whether it can be used.
    pub link: Link,
    /// How many tools it offers, as last known.
    pub tools: u32,
    /// How many of them its own lists hide from every editor.
    #[serde(default)]
    pub hidden: u32,
    /// What is seen of the application that it is, if it is one.
    #[serde(default)]
    pub app: Option<App>,
    /// What a person last did to it, wherever they did it.
    #[serde(default)]
    pub touched: Option<Touched>,
}

/// A person acted on an upstream: in the dashboard, in the tray or on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Touched {
    /// In milliseconds of the Unix epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// They want it back: they restarted it, or had it connected anew. Otherwise they paused or turned it.
    pub restarts: bool,
}

/// Whether an upstream can be used, with what is known only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state")]
#[cfg_attr(test, derive(TS))]
pub enum Link {
    /// A person turned it off: it is not started, and no editor is shown it.
    Off,
    /// The first connection is being made.
    Connecting,
    /// Connected and answering, since this moment (milliseconds of the Unix epoch).
    Connected {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
        /// What the server calls itself.
        server: String,
    },
    /// Not usable; it is being brought back.
    Down {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
        /// When the next attempt is made (milliseconds of the Unix epoch).
        #[cfg_attr(test, ts(type = "number"))]
        retry_at: u64,
        /// Attempts made since it went down.
        attempts: u32,
        failure: Failure,
    },
    /// A person paused it; nothing is asked of it until they resume it.
    Paused {
        #[cfg_attr(test, ts(type = "number"))]
        since: u64,
    },
}

/// A token that was just made. It is told this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    pub name: String,
    pub token: String,
}

/// The calls that wait for an answer: what `/api/calls` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallsUnderWay {
    pub under_way: u64,
}

/// What a refused control request answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Refusal {
    pub error: Failure,
}

impl Status {
    /// Puts a state together from its parts; the word and the sentence follow from them.
    pub fn of(
        version: String,
        pid: u32,
        endpoint: String,
        upstreams: Vec<Upstream>,
        warnings: Vec<Failure>,
    ) -> Self {
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

    /// With the editors that have a token.
    pub fn with_editors(self, editors: Vec<Editor>) -> Self {
        Self { editors, ..self }
    }

    /// In a machine that woke at this moment (milliseconds of the Unix epoch), if it ever slept.
    pub fn since_wake(self, woke: Option<u64>) -> Self {
        let muted = u64::try_from(MUTED.as_millis()).unwrap_or(u64::MAX);
        Self { muted_until: woke.map(|woke| woke.saturating_add(muted)), ..self }
    }
}

impl Upstream {
    /// The state in a word or two, for a row in a menu or a table.
    pub fn word(&self) -> &'static str {
        match &self.link {
            Link::Off => "Off",
            Link::Connecting => "Connecting",
            Link::Connected { .. } => "Connected",
            Link::Down { failure, .. } => failure.code.word(),
            Link::Paused { .. } => Code::Paused.word(),
        }
    }

    /// How many tools it offers, and how many of them are shown if that is another number.
    pub fn tool_count(&self) -> String {
        match (self.tools, self.hidden) {
            (1, 0) => "1 tool".into(),
            (all, 0) => format!("{all} tools"),
            (all, hidden) => format!("{} of {all} tools shown", all.saturating_sub(hidden)),
        }
    }

    pub fn is_off(&self) -> bool {
        self.link == Link::Off
    }

    fn is_down(&self) -> bool {
        matches!(self.link, Link::Down { .. })
    }

    pub fn is_paused(&self) -> bool {
        matches!(self.link, Link::Paused { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::incident::{Calls, Cause, End, Event, Evidence, How, Incident, Incidents};
    use crate::history::samples::Sample;
    use crate::policy::app::state::Next;

    fn upstream(title: &str, link: Link) -> Upstream {
        Upstream {
            name: title.to_lowercase(),
            title: title.into(),
            target: "http://127.0.0.1:1/mcp".into(),
            endpoint: "http://127.0.0.1:7420/mcp/x".into(),
            link,
            tools: 0,
            hidden: 0,
            app: None,
            touched: None,
        }
    }

    fn connected() -> Link {
        Link::Connected { since: 1, server: "x".into() }
    }

    fn down(code: Code) -> Link {
        let failure = Failure::new(code, "it happened", "do this");
        Link::Down { since: 1, retry_at: 2, attempts: 3, failure }
    }

    fn status(upstreams: Vec<Upstream>) -> Status {
        Status::of("0".into(), 1, "http://127.0.0.1:7420/mcp".into(), upstreams, vec![])
    }

    #[test]
    fn one_upstream_down_is_named_in_the_sentence() {
        let status = status(vec![
            upstream("PiecesOS", down(Code::ConnectionRefused)),
            upstream("GitHub", connected()),
        ]);
        assert_eq!(status.overall, Overall::Degraded);
        assert_eq!(status.sentence, "PiecesOS is not running");
    }

    #[test]
    fn several_upstreams_down_are_counted() {
        let status = status(vec![
            upstream("A", down(Code::ConnectionRefused)),
            upstream("B", down(Code::Timeout)),
            upstream("C", connected()),
        ]);
        assert_eq!(status.sentence, "2 of 3 upstreams are down");
    }

    #[test]
    fn connecting_is_busy_and_says_to_what() {
        let status = status(vec![upstream("A", connected()), upstream("B", Link::Connecting)]);
        assert_eq!(status.overall, Overall::Busy);
        assert_eq!(status.sentence, "Connecting to B");
    }

    #[test]
    fn all_connected_is_healthy() {
        let all = status(vec![upstream("A", connected()), upstream("B", connected())]);
        assert_eq!(
            (all.overall, all.sentence.as_str()),
            (Overall::Healthy, "All 2 upstreams are connected")
        );
        assert_eq!(status(vec![upstream("A", connected())]).sentence, "A is connected");
        assert_eq!(status(vec![]).sentence, "No upstream is set up yet");
    }

    #[test]
    fn an_upstream_that_is_off_is_not_missed() {
        let status = status(vec![upstream("A", connected()), upstream("B", Link::Off)]);
        assert_eq!(
            (status.overall, status.sentence.as_str()),
            (Overall::Healthy, "A is connected")
        );
        assert_eq!(status.upstreams[1].word(), "Off");
        let off = self::status(vec![upstream("A", Link::Off)]);
        assert_eq!(off.sentence, "Every upstream is turned off");
    }

    #[test]
    fn tools_that_are_hidden_are_counted() {
        let counted = |tools, hidden| Upstream { tools, hidden, ..upstream("A", connected()) };
        assert_eq!(counted(1, 0).tool_count(), "1 tool");
        assert_eq!(counted(30, 18).tool_count(), "12 of 30 tools shown");
    }

    #[test]
    fn what_a_person_paused_is_not_broken() {
        let paused = || Link::Paused { since: 1 };
        let said = |links: Vec<Link>| {
            let upstreams = links.into_iter().zip(["A", "B", "C"]);
            let status = status(upstreams.map(|(link, title)| upstream(title, link)).collect());
            (status.overall, status.sentence)
        };
        let wanted = |overall, sentence: &str| (overall, sentence.to_owned());
        assert_eq!(said(vec![paused()]), wanted(Overall::Paused, "A is paused"));
        assert_eq!(
            said(vec![paused(), paused()]),
            wanted(Overall::Paused, "All 2 upstreams are paused")
        );
        assert_eq!(
            said(vec![connected(), paused()]),
            wanted(Overall::Healthy, "B is paused, everything else is connected")
        );
        assert_eq!(
            said(vec![paused(), paused(), connected()]),
            wanted(Overall::Healthy, "2 upstreams are paused, everything else is connected")
        );
        let down = said(vec![paused(), down(Code::Timeout)]);
        assert_eq!(down, wanted(Overall::Degraded, "B is not responding"));
    }

    #[test]
    fn nobody_is_disturbed_right_after_a_wake() {
        assert_eq!(status(vec![]).muted_until, None);
        assert_eq!(status(vec![]).since_wake(Some(1_000)).muted_until, Some(46_000));
        let older = serde_json::to_value(status(vec![]).since_wake(None)).unwrap();
        let mut older = older.as_object().unwrap().clone();
        assert_eq!(older.remove("mutedUntil"), Some(serde_json::Value::Null));
        assert!(
            serde_json::from_value::<Status>(older.into()).is_ok(),
            "an older gateway says less"
        );
    }

    /// The dashboard's types are written from the types above. `npm run types` writes the file;
    /// here a file that no longer matches fails.
    #[test]
    fn the_dashboards_types_are_those_of_the_control_api() {
        let config = ts_rs::Config::default();
        let types = [
            Status::decl(&config),
            Overall::decl(&config),
            Upstream::decl(&config),
            Touched::decl(&config),
            Link::decl(&config),
            App::decl(&config),
            Next::decl(&config),
            Restart::decl(&config),
            RestartEnd::decl(&config),
            Failure::decl(&config),
            Code::decl(&config),
            Editor::decl(&config),
            Shown::decl(&config),
            Refusal::decl(&config),
            Incidents::decl(&config),
            Incident::decl(&config),
            Calls::decl(&config),
            Cause::decl(&config),
            Evidence::decl(&config),
            Event::decl(&config),
            End::decl(&config),
            How::decl(&config),
            Sample::decl(&config),
            LogLines::decl(&config),
            LogLine::decl(&config),
            LogLevel::decl(&config),
            Checks::decl(&config),
            Check::decl(&config),
            CheckState::decl(&config),
            Fixed::decl(&config),
            Attached::decl(&config),
            Wire::decl(&config),
            Activity::decl(&config),
            Call::decl(&config),
            CallOutcome::decl(&config),
            Latency::decl(&config),
            LatencyPoint::decl(&config),
            Catalog::decl(&config),
            Tool::decl(&config),
            Item::decl(&config),
            Timeline::decl(&config),
            Span::decl(&config),
            SpanState::decl(&config),
            Trial::decl(&config),
            SelfTest::decl(&config),
            Settings::decl(&config),
            TraySettings::decl(&config),
            Notifications::decl(&config),
            UpstreamSettings::decl(&config),
            EditorSettings::decl(&config),
            Lists::decl(&config),
            SettingsChange::decl(&config),
            TrayChange::decl(&config),
            UpstreamChange::decl(&config),
            EditorChange::decl(&config),
            ListsChange::decl(&config),
            Setup::decl(&config),
            Found::decl(&config),
            Connection::decl(&config),
            FoundEntry::decl(&config),
            SetupPreview::decl(&config),
            SetupDone::decl(&config),
            ImportPreview::decl(&config),
            Moves::decl(&config),
            Stays::decl(&config),
        ];
        let header = "// Generated from crates/core/src/view.rs by `npm run types`. Do not edit.\n";
        let wanted = types
            .iter()
            .fold(String::from(header), |file, decl| format!("{file}\nexport {decl}\n"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/src/lib/types.ts");
        if std::env::var_os("EVERMOOR_WRITE_TYPES").is_some() {
            std::fs::write(path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
        assert_eq!(found, wanted, "ui/src/lib/types.ts is stale: run `npm run types`");
    }
}
