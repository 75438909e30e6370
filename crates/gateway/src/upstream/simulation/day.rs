//! One simulated day: servers, editors that call them, and faults.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::outcome::{Answer, AnswerOrigin, DeliveryStatus};
use evermoor_core::protocol::envelope::{Id, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::oracle::{CallLog, RecordedAnswer, RecordedCall};
use super::random::SeededRandom;
use super::server::{Behaviour, SimulatedServer};
use crate::system::clock::ClockAndRandom;
use crate::upstream::{CallReply, UpstreamContext, UpstreamHandle};

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

    pub(super) fn run(&self) -> CallLog {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime can be made").block_on(self.simulate())
    }

    async fn simulate(&self) -> CallLog {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (_wakes, woken) = watch::channel(0);
        let (_settings, settings) = watch::channel(Config::default().gateway);
        let (noon, began) =
            (SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000), Instant::now());
        let servers: Vec<SimulatedServer> =
            (0..SERVERS).map(|_| SimulatedServer::new(self.seed, tasks.clone())).collect();
        let start = |(number, server): (usize, &SimulatedServer)| {
            let random = Mutex::new(SeededRandom::of(self.seed, ("waits", number)));
            let context = UpstreamContext {
                settings: settings.clone(),
                changed: Arc::new(Notify::new()),
                wakes: woken.clone(),
                clock: ClockAndRandom::new(
                    move || u32::try_from(random.lock().next() >> 32).unwrap_or(0),
                    move || noon + began.elapsed(),
                ),
                tasks: tasks.clone(),
                notification_log: crate::upstream::notification_log::NotificationLog::default(),
                upstream_subscriptions: crate::upstream::subscriptions::Subscriptions::default(),
                history: crate::history::History::disabled(),
                apps: Default::default(),
                secrets: crate::config::secrets::Secrets::system_default(),
                sign_ins: crate::upstream::SignIns::unused(),
                budgets: Default::default(),
            };
            let text = format!("[upstreams.s{number}]\nurl = \"http://127.0.0.1:1/\"\n");
            let config = Config::parse(&text).expect("a valid configuration").upstreams.remove(0);
            UpstreamHandle::start_with(config, server.clone(), None, &context, stop.child_token())
        };
        let handles: Arc<[UpstreamHandle]> = servers.iter().enumerate().map(start).collect();

        let log = Arc::new(Mutex::new(CallLog::new(servers.clone())));
        let end = began + self.length;
        let editors = TaskTracker::new();
        for editor in 0..EDITORS {
            let random = SeededRandom::of(self.seed, ("editor", editor));
            editors.spawn(call_all_day(editor, handles.clone(), random, log.clone(), end));
        }
        let random = SeededRandom::of(self.seed, "faults");
        editors.spawn(inject_faults(servers.clone(), random, log.clone(), end));
        editors.close();
        editors.wait().await;

        for server in &servers {
            server.set(Behaviour::Healthy, false);
        }
        // Longer than the longest wait of a supervisor, so that all have reconnected.
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
    handles: Arc<[UpstreamHandle]>,
    mut random: SeededRandom,
    log: Arc<Mutex<CallLog>>,
    end: Instant,
) {
    let mut number = 0;
    while Instant::now() < end {
        sleep(random.up_to(CALL_EVERY * 2)).await;
        let server = random.below(SERVERS);
        let patience = random.one_in(20).then(|| random.up_to(Duration::from_secs(20)));
        let call = call(&handles, server, format!("{editor}-{number}"), patience).await;
        log.lock().calls.push(call);
        number += 1;
    }
}

async fn call(
    handles: &[UpstreamHandle],
    server: usize,
    nonce: String,
    patience: Option<Duration>,
) -> RecordedCall {
    let params = serde_json::json!({ "name": "record", "arguments": { "nonce": nonce } });
    let request = Request::new(Id::number(1), method::TOOLS_CALL, Some(Raw::of(&params)));
    let began = Instant::now();
    let calling = handles[server].call(&request, None);
    let reply = match patience {
        Some(patience) => tokio::time::timeout(patience, calling).await.ok(),
        None => Some(calling.await),
    };
    let answer = match reply {
        None => RecordedAnswer::GaveUp,
        Some(CallReply::Stream(_)) => RecordedAnswer::Malformed,
        Some(CallReply::Whole(answer)) => read(&answer),
    };
    RecordedCall { server, nonce, answer, took: began.elapsed() }
}

fn read(answer: &Answer) -> RecordedAnswer {
    let Outcome::Result(result) = &answer.response.outcome else {
        return RecordedAnswer::Malformed;
    };
    match answer.origin {
        AnswerOrigin::Upstream(_) => match result.text_member("nonce") {
            Some(nonce) => RecordedAnswer::Result(nonce),
            None => RecordedAnswer::Malformed,
        },
        AnswerOrigin::Undelivered(DeliveryStatus::NotSent(_)) => RecordedAnswer::NotSent,
        AnswerOrigin::Undelivered(DeliveryStatus::Unknown(..)) => RecordedAnswer::Unknown,
        AnswerOrigin::Undelivered(DeliveryStatus::Unavailable(_)) | AnswerOrigin::Gateway => {
            RecordedAnswer::Malformed
        }
    }
}

/// Starts and ends faults until the day ends.
async fn inject_faults(
    servers: Vec<SimulatedServer>,
    mut random: SeededRandom,
    log: Arc<Mutex<CallLog>>,
    end: Instant,
) {
    let tasks = TaskTracker::new();
    while Instant::now() < end {
        sleep(random.up_to(FAULT_EVERY * 2)).await;
        let server = servers[random.below(SERVERS)].clone();
        let fault = Behaviour::FAULTS[random.below(Behaviour::FAULTS.len())];
        log.lock().faults += 1;
        server.set(fault, random.one_in(3));
        let (length, breaks) = (random.up_to(LONGEST_FAULT), random.one_in(3));
        tasks.spawn(async move {
            sleep(length).await;
            server.set(Behaviour::Healthy, breaks);
        });
    }
    tasks.close();
    tasks.wait().await;
}
