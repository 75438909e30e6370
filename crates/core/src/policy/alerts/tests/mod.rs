//! The alert rules one by one, and the invariants that hold for any sequence of events.

mod grouping;
mod invariants;
mod limits;
mod outages;
mod text;
mod user_actions;

use super::*;
use crate::api::{
    AppStatus, NotificationLevel, RestartProgress, RestartResult, Status, UpstreamKind,
    UpstreamState, UpstreamStatus,
};
use crate::failure::{Code, Failure};
use crate::policy::app::state::NextStep;

/// The rules with three upstreams and a clock.
struct Fixture {
    alerts: AlertRules,
    status: Status,
    now: ClockReading,
    /// The desktop shows nothing.
    cannot_show: bool,
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const PIECES: &str = "pieces";
const NOTES: &str = "notes";
const GITHUB: &str = "github";

impl Fixture {
    /// Everything is connected. PiecesOS is an app, notes a child process, GitHub a remote server.
    fn new() -> Self {
        Self::at(false)
    }

    fn at(login: bool) -> Self {
        let upstreams = vec![
            upstream(PIECES, "PiecesOS", UpstreamKind::App, Some(app())),
            upstream(NOTES, "Notes", UpstreamKind::Program, None),
            upstream(GITHUB, "GitHub", UpstreamKind::Address, None),
        ];
        let endpoint = "http://127.0.0.1:7420/mcp".to_owned();
        let status = Status::of("1".into(), 1, endpoint, upstreams, vec![]);
        let now = ClockReading { awake: 7 * HOUR, wall: 1_000 * HOUR };
        let alerts = AlertRules::new(AlertTiming::default(), login, now);
        let mut fixture = Self { alerts, status, now, cannot_show: false };
        assert_eq!(fixture.seen(), Vec::<String>::new());
        fixture
    }

    fn upstream(&mut self, name: &str) -> &mut UpstreamStatus {
        self.status.upstreams.iter_mut().find(|upstream| upstream.name == name).unwrap()
    }

    fn seen(&mut self) -> Vec<String> {
        let orders = self.alerts.observe(&self.status, self.now);
        self.done(orders)
    }

    fn link(&mut self, name: &str, link: UpstreamState) -> Vec<String> {
        self.upstream(name).link = link;
        self.seen()
    }

    fn up(&mut self, name: &str) -> Vec<String> {
        self.link(name, connected())
    }

    fn down(&mut self, name: &str, code: Code) -> Vec<String> {
        self.link(name, down(code, 1))
    }

    fn act(&mut self, act: &TrayAction) -> Vec<String> {
        let orders = self.alerts.act(act, self.now);
        self.done(orders)
    }

    /// Reports this restart of PiecesOS.
    fn restart(&mut self, number: u64, end: Option<Option<Code>>) -> Vec<String> {
        let end = end.map(|code| RestartResult { at: 2, failure: code.map(failure) });
        let restart = RestartProgress { number, began: 1, steps: vec![], end };
        self.upstream(PIECES).app.as_mut().unwrap().restart = Some(restart);
        self.seen()
    }

    /// Lets time pass, evaluating the rules whenever they ask for it. Returns what was shown.
    fn wait(&mut self, time: u64) -> Vec<String> {
        let (end, mut shown) = (self.now.awake + time, Vec::new());
        while let Some(next) = self.alerts.next_evaluation(self.now) {
            assert!(next > 0, "no busy loop");
            if self.now.awake + next > end {
                break;
            }
            self.pass(next);
            let orders = self.alerts.evaluate(self.now);
            shown.extend(self.done(orders));
        }
        self.pass(end - self.now.awake);
        let orders = self.alerts.evaluate(self.now);
        assert_eq!(orders, [], "nothing is overdue");
        shown
    }

    fn pass(&mut self, time: u64) {
        self.now = ClockReading { awake: self.now.awake + time, wall: self.now.wall + time };
    }

    fn done(&mut self, orders: Vec<AlertCommand>) -> Vec<String> {
        for order in &orders {
            if let AlertCommand::Show(id, _) = order
                && self.cannot_show
            {
                self.alerts.not_shown(*id);
            }
        }
        orders.iter().map(summary).collect()
    }
}

fn summary(order: &AlertCommand) -> String {
    match order {
        AlertCommand::Show(AlertId(id), notice) => format!("show {id}: {}", notice.title),
        AlertCommand::Replace(AlertId(id), notice) => format!("replace {id}: {}", notice.title),
        AlertCommand::Withdraw(AlertId(id)) => format!("withdraw {id}"),
    }
}

fn upstream(name: &str, title: &str, kind: UpstreamKind, app: Option<AppStatus>) -> UpstreamStatus {
    UpstreamStatus {
        name: name.into(),
        title: title.into(),
        // Even a program can have an address in its command.
        kind: Some(kind),
        target: "npx mcp-remote https://notes.example/mcp".into(),
        endpoint: format!("http://127.0.0.1:7420/mcp/{name}"),
        link: connected(),
        tools: 12,
        hidden: 0,
        app,
        touched: None,
        sign_in: None,
    }
}

fn app() -> AppStatus {
    AppStatus {
        word: String::new(),
        what: String::new(),
        remedy: String::new(),
        next: NextStep::Nothing,
        notes: vec![],
        version: None,
        port: None,
        pid: None,
        memory: None,
        load: None,
        trend: None,
        offer: None,
        memory_alarm: None,
        signed_out: false,
        gave_up: false,
        restart: None,
    }
}

fn connected() -> UpstreamState {
    UpstreamState::Connected { since: 1, server: "s".into() }
}

fn down(code: Code, attempts: u32) -> UpstreamState {
    UpstreamState::Down { since: 1, retry_at: 1, attempts, failure: failure(code) }
}

fn failure(code: Code) -> Failure {
    Failure::new(code, "It happened.", "Do this.")
}
