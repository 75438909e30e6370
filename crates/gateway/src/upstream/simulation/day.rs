//! One simulated day: servers, editors that call them, and faults.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::outcome::META_KEY;
use evermoor_core::protocol::envelope::{Id, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::dice::Dice;
use super::oracle::{Answer, Call, Log};
use super::server::{Mood, Server};
use crate::system::environment::Chance;
use crate::upstream::{Handle, Reply, Surroundings};

pub(super) struct Day {
    seed: u64,
    length: Duration,
}

const SERVERS: usize = 4;
const EDITORS: usize = 8;
const HOUR: Duration = Duration::from_secs(3600);
/// The mean time between two calls of an editor, and between two faults.
const CALL_EVERY: Duration = Duration::from_secs(16);
const FAULT_EVERY: Duration = Duration::from_secs(28);
const LONGEST_FAULT: Duration = Duration::from_secs(60);

impl Day {
    pub(super) fn of(seed: u64) -> Self {
        Self { seed, length: HOUR * 24 }
    }

    pub(super) fn hours(self, hours: u32) -> Self {
        Self { length: HOUR * hours, ..self }
    }

    pub(super) fn play(&self) -> Log {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime can be made").block_on(self.run())
    }

    async fn run(&self) -> Log {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (_wakes, woken) = watch::channel(0);
        let (_settings, settings) = watch::channel(Config::default().gateway);
        let (noon, began) =
            (SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000), Instant::now());
        let servers: Vec<Server> =
            (0..SERVERS).map(|_| Server::new(self.seed, tasks.clone())).collect();
        let start = |(number, server): (usize, &Server)| {
            let dice = Mutex::new(Dice::of(self.seed, ("waits", number)));
            let around = Surroundings {
                settings: settings.clone(),
                changed: Arc::new(Notify::new()),
                wakes: woken.clone(),
                chance: Chance::new(
                    move || u32::try_from(dice.lock().next() >> 32).unwrap_or(0),
                    move || noon + began.elapsed(),
                ),
                tasks: tasks.clone(),
                news: crate::upstream::notification_log::Newsroom::default(),
                interests: crate::upstream::subscriptions::Interests::default(),
                history: crate::history::History::nowhere(),
                paused: watch::channel(evermoor_core::policy::pause::Paused::default()).1,
                apps: Default::default(),
                secrets: crate::config::secrets::Secrets::of_the_system(),
            };
            let text = format!("[upstreams.s{number}]\nurl = \"http://127.0.0.1:1/\"\n");
            let config = Config::parse(&text).expect("a valid configuration").upstreams.remove(0);
            Handle::start_with(config, server.clone(), None, &around, stop.child_token())
        };
        let handles: Arc<[Handle]> = servers.iter().enumerate().map(start).collect();

        let log = Arc::new(Mutex::new(Log::new(servers.clone())));
        let end = began + self.length;
        let editors = TaskTracker::new();
        for editor in 0..EDITORS {
            let dice = Dice::of(self.seed, ("editor", editor));
            editors.spawn(call_all_day(editor, handles.clone(), dice, log.clone(), end));
        }
        let dice = Dice::of(self.seed, "faults");
        editors.spawn(misbehave(servers.clone(), dice, log.clone(), end));
        editors.close();
        editors.wait().await;

        for server in &servers {
            server.be(Mood::Well, false);
        }
        // Whoever was hit last has its longest wait behind it by then.
        sleep(Duration::from_secs(6)).await;
        for number in 0..SERVERS {
            let call = call(&handles, number, format!("last-{number}"), None).await;
            log.lock().last.push(call);
        }
        stop.cancel();
        Arc::into_inner(log).expect("the day is over").into_inner()
    }
}

/// One editor, calling one server after the other until the day ends.
async fn call_all_day(
    editor: usize,
    handles: Arc<[Handle]>,
    mut dice: Dice,
    log: Arc<Mutex<Log>>,
    end: Instant,
) {
    let mut number = 0;
    while Instant::now() < end {
        sleep(dice.up_to(CALL_EVERY * 2)).await;
        let server = dice.below(SERVERS);
        let patience = dice.one_in(20).then(|| dice.up_to(Duration::from_secs(20)));
        let call = call(&handles, server, format!("{editor}-{number}"), patience).await;
        log.lock().calls.push(call);
        number += 1;
    }
}

async fn call(
    handles: &[Handle],
    server: usize,
    nonce: String,
    patience: Option<Duration>,
) -> Call {
    let params = serde_json::json!({ "name": "record", "arguments": { "nonce": nonce } });
    let request = Request::new(Id::number(1), method::TOOLS_CALL, Some(Raw::of(&params)));
    let began = Instant::now();
    let calling = handles[server].call(&request, None);
    let reply = match patience {
        Some(patience) => tokio::time::timeout(patience, calling).await.ok(),
        None => Some(calling.await),
    };
    let answer = match reply {
        None => Answer::GaveUp,
        Some(Reply::Stream(_)) => Answer::Nonsense,
        Some(Reply::Whole(response)) => match response.outcome {
            Outcome::Error(_) => Answer::Nonsense,
            Outcome::Result(result) => read(&result),
        },
    };
    Call { server, nonce, answer, took: began.elapsed() }
}

fn read(result: &Raw) -> Answer {
    if let Some(nonce) = result.text_member("nonce") {
        return Answer::Result(nonce);
    }
    let outcome = result.member("_meta").and_then(|meta| meta.member(META_KEY));
    match outcome.and_then(|outcome| outcome.text_member("outcome")).as_deref() {
        Some("not_sent") => Answer::NotSent,
        Some("unknown") => Answer::Unknown,
        _ => Answer::Nonsense,
    }
}

/// Gives servers bad moods, and takes them back.
async fn misbehave(servers: Vec<Server>, mut dice: Dice, log: Arc<Mutex<Log>>, end: Instant) {
    let tasks = TaskTracker::new();
    while Instant::now() < end {
        sleep(dice.up_to(FAULT_EVERY * 2)).await;
        let server = servers[dice.below(SERVERS)].clone();
        let mood = Mood::BAD[dice.below(Mood::BAD.len())];
        log.lock().faults += 1;
        server.be(mood, dice.one_in(3));
        let (length, breaks) = (dice.up_to(LONGEST_FAULT), dice.one_in(3));
        tasks.spawn(async move {
            sleep(length).await;
            server.be(Mood::Well, breaks);
        });
    }
    tasks.close();
    tasks.wait().await;
}
