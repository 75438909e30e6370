//! The rules, one by one, and what must hold whatever happens.

mod grouping;
mod invariants;
mod limits;
mod outages;
mod text;
mod user_actions;

use super::*;
use crate::api::{App, Link, Restart, RestartEnd, Upstream};
use crate::failure::Code;
use crate::policy::app::state::Next;

/// A person, three upstreams and a clock.
struct Stage {
    alerts: Alerts,
    status: Status,
    now: Now,
    /// What could not be shown.
    broken: bool,
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const PIECES: &str = "pieces";
const NOTES: &str = "notes";
const GITHUB: &str = "github";

impl Stage {
    /// Everything is connected. PiecesOS is an application, notes a program, GitHub elsewhere.
    fn new() -> Self {
        Self::at(false)
    }

    fn at(login: bool) -> Self {
        let upstreams = vec![
            upstream(PIECES, "PiecesOS", "http://127.0.0.1:39300/mcp", Some(app())),
            upstream(NOTES, "Notes", "notes-mcp --stdio", None),
            upstream(GITHUB, "GitHub", "https://github.example/mcp", None),
        ];
        let endpoint = "http://127.0.0.1:7420/mcp".to_owned();
        let status = Status::of("1".into(), 1, endpoint, upstreams, vec![]);
        let now = Now { awake: 7 * HOUR, wall: 1_000 * HOUR };
        let alerts = Alerts::new(Times::default(), login, now);
        let mut stage = Self { alerts, status, now, broken: false };
        assert_eq!(stage.seen(), Vec::<String>::new());
        stage
    }

    fn upstream(&mut self, name: &str) -> &mut Upstream {
        self.status.upstreams.iter_mut().find(|upstream| upstream.name == name).unwrap()
    }

    fn seen(&mut self) -> Vec<String> {
        let orders = self.alerts.see(&self.status, self.now);
        self.done(orders)
    }

    fn link(&mut self, name: &str, link: Link) -> Vec<String> {
        self.upstream(name).link = link;
        self.seen()
    }

    fn up(&mut self, name: &str) -> Vec<String> {
        self.link(name, connected())
    }

    fn down(&mut self, name: &str, code: Code) -> Vec<String> {
        self.link(name, down(code, 1))
    }

    fn act(&mut self, act: &Act) -> Vec<String> {
        let orders = self.alerts.act(act, self.now);
        self.done(orders)
    }

    /// The restart of PiecesOS with this number.
    fn restart(&mut self, number: u64, end: Option<Option<Code>>) -> Vec<String> {
        let end = end.map(|code| RestartEnd { at: 2, failure: code.map(failure) });
        let restart = Restart { number, began: 1, steps: vec![], end };
        self.upstream(PIECES).app.as_mut().unwrap().restart = Some(restart);
        self.seen()
    }

    /// Lets time pass, asking whenever the rules want to be asked. What was said, and when.
    fn wait(&mut self, time: u64) -> Vec<String> {
        let (end, mut said) = (self.now.awake + time, Vec::new());
        while let Some(next) = self.alerts.next_look(self.now) {
            assert!(next > 0, "it does not ask to be asked all the time");
            if self.now.awake + next > end {
                break;
            }
            self.pass(next);
            let orders = self.alerts.look(self.now);
            said.extend(self.done(orders));
        }
        self.pass(end - self.now.awake);
        let orders = self.alerts.look(self.now);
        assert_eq!(orders, [], "it asks to be asked in time");
        said
    }

    fn pass(&mut self, time: u64) {
        self.now = Now { awake: self.now.awake + time, wall: self.now.wall + time };
    }

    fn done(&mut self, orders: Vec<Order>) -> Vec<String> {
        for order in &orders {
            if let Order::Show(id, _) = order
                && self.broken
            {
                self.alerts.was_not_shown(*id);
            }
        }
        orders.iter().map(said).collect()
    }
}

fn said(order: &Order) -> String {
    match order {
        Order::Show(Id(id), notice) => format!("show {id}: {}", notice.title),
        Order::Replace(Id(id), notice) => format!("replace {id}: {}", notice.title),
        Order::Withdraw(Id(id)) => format!("withdraw {id}"),
    }
}

fn upstream(name: &str, title: &str, target: &str, app: Option<App>) -> Upstream {
    Upstream {
        name: name.into(),
        title: title.into(),
        target: target.into(),
        endpoint: format!("http://127.0.0.1:7420/mcp/{name}"),
        link: connected(),
        tools: 12,
        hidden: 0,
        app,
        touched: None,
    }
}

fn app() -> App {
    App {
        word: String::new(),
        what: String::new(),
        remedy: String::new(),
        next: Next::Nothing,
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

fn connected() -> Link {
    Link::Connected { since: 1, server: "s".into() }
}

fn down(code: Code, attempts: u32) -> Link {
    Link::Down { since: 1, retry_at: 1, attempts, failure: failure(code) }
}

fn failure(code: Code) -> Failure {
    Failure::new(code, "It happened.", "Do this.")
}
