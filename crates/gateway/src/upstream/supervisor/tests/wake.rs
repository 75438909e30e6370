//! Real supervisors, on a paused clock, when the machine wakes up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};

use super::context;
use crate::system::clock::ClockAndRandom;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::{Inbox, Outgoing};
use crate::upstream::{CallReply, LinkState, UpstreamContext, UpstreamHandle};

/// A server whose connections silently die when the machine sleeps.
#[derive(Clone)]
struct SleepyServer {
    /// How often the machine slept; connections made before the last time are dead.
    slept: Arc<AtomicU32>,
    /// Whether it refuses connections.
    away: Arc<AtomicBool>,
    connects: Arc<AtomicU32>,
    executed: Arc<AtomicU32>,
    tasks: TaskTracker,
}

impl Connect for SleepyServer {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        self.connects.fetch_add(1, Ordering::SeqCst);
        if self.away.load(Ordering::SeqCst) {
            return Err(Failure::new(Code::ConnectionRefused, "Connection refused.", "Wait."));
        }
        let (channel, inbox, received, incoming) = duplex::channel();
        self.tasks.spawn(serve(received, inbox, self.clone()));
        let result = serde_json::json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s" },
        });
        let handshake = Handshake::read(&Raw::of(&result)).expect("a handshake");
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

async fn serve(mut received: mpsc::Receiver<Outgoing>, inbox: Inbox, server: SleepyServer) {
    let born = server.slept.load(Ordering::SeqCst);
    while let Some(Outgoing { text, receipt }) = received.recv().await {
        receipt.send(Ok(()));
        if server.slept.load(Ordering::SeqCst) > born {
            continue;
        }
        let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
        if request.method == method::TOOLS_CALL {
            server.executed.fetch_add(1, Ordering::SeqCst);
        }
        let answer = Response::result(request.id, Raw::of(&serde_json::json!({})));
        inbox.deliver(Message::Response(answer), None);
    }
}

/// A machine with some upstreams on it.
struct Machine {
    servers: Vec<SleepyServer>,
    handles: Vec<UpstreamHandle>,
    wakes: watch::Sender<u64>,
    /// How long it slept in total; only the wall clock counts that.
    asleep: Arc<Mutex<Duration>>,
}

impl Machine {
    async fn with(upstreams: u32) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (wakes, woken) = watch::channel(0);
        let asleep = Arc::new(Mutex::new(Duration::ZERO));
        let (mut servers, mut handles) = (Vec::new(), Vec::new());
        for number in 0..upstreams {
            let text = format!("[upstreams.s{number}]\nurl = \"https://far.example/\"\n");
            let config = Config::parse(&text).expect("a valid configuration");
            let (began, slept) = (Instant::now(), Arc::clone(&asleep));
            let now = move || {
                SystemTime::UNIX_EPOCH
                    + Duration::from_secs(1 << 30)
                    + began.elapsed()
                    + *slept.lock()
            };
            let clock = ClockAndRandom::new(|| u32::MAX, now);
            let context =
                UpstreamContext { wakes: woken.clone(), ..context(&config, tasks.clone(), clock) };
            let server = SleepyServer {
                slept: Arc::default(),
                away: Arc::default(),
                connects: Arc::default(),
                executed: Arc::default(),
                tasks: tasks.clone(),
            };
            let upstream = config.upstreams[0].clone();
            let handle = UpstreamHandle::start_with(
                upstream,
                server.clone(),
                None,
                &context,
                stop.child_token(),
            );
            handle.until_generation(1).await;
            servers.push(server);
            handles.push(handle);
        }
        Self { servers, handles, wakes, asleep }
    }

    /// Sleeps, and wakes up.
    fn sleep(&self, length: Duration) {
        for server in &self.servers {
            server.slept.fetch_add(1, Ordering::SeqCst);
        }
        *self.asleep.lock() += length;
        self.wakes.send_modify(|count| *count += 1);
    }

    fn connects(&self) -> Vec<u32> {
        self.servers.iter().map(|server| server.connects.load(Ordering::SeqCst)).collect()
    }
}

impl UpstreamHandle {
    async fn until_generation(&self, number: u64) {
        let mut state = self.state.clone();
        let made = state.wait_for(
            |state| matches!(&state.link, LinkState::Ready(ready) if ready.generation >= number),
        );
        let made = timeout(Duration::from_secs(3), made).await;
        made.expect("a connection within 3 s").expect("the supervisor lives");
    }
}

const NIGHT: Duration = Duration::from_secs(8 * 3600);

fn call() -> Request {
    let params = serde_json::json!({ "name": "record", "arguments": {} });
    Request::new(Id::number(1), method::TOOLS_CALL, Some(Raw::of(&params)))
}

#[tokio::test(start_paused = true)]
async fn after_a_sleep_every_connection_is_replaced_once_within_three_seconds() {
    let machine = Machine::with(12).await;
    machine.sleep(NIGHT);
    let woke = Instant::now();
    for handle in &machine.handles {
        handle.until_generation(2).await;
    }
    assert!(woke.elapsed() <= Duration::from_secs(3), "{:?}", woke.elapsed());
    sleep(Duration::from_secs(60)).await;
    assert_eq!(machine.connects(), [2; 12], "each reconnects once");
    let CallReply::Whole(_) = machine.handles[0].call(&call(), None).await else {
        panic!("one answer")
    };
    assert_eq!(machine.servers[0].executed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_survives_a_sleep_is_kept() {
    let machine = Machine::with(3).await;
    machine.wakes.send_modify(|count| *count += 1);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(machine.connects(), [1; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_call_held_through_a_night_is_not_sent_in_the_morning() {
    let machine = Machine::with(1).await;
    let (server, handle) = (&machine.servers[0], &machine.handles[0]);
    server.away.store(true, Ordering::SeqCst);
    machine.sleep(Duration::ZERO);
    let mut state = handle.state.clone();
    let down = state.wait_for(|state| matches!(state.link, LinkState::Down { .. }));
    drop(down.await.expect("the supervisor lives"));
    let request = call();
    let calling = handle.call(&request, None);
    let night = async {
        sleep(Duration::from_secs(2)).await;
        server.away.store(false, Ordering::SeqCst);
        machine.sleep(NIGHT);
    };
    let (reply, ()) = tokio::join!(calling, night);
    let CallReply::Whole(answer) = reply else { panic!("one answer") };
    let json: serde_json::Value = serde_json::from_slice(&answer.response.to_bytes()).unwrap();
    let details = &json["result"]["_meta"]["dev.evermoor/outcome"];
    assert_eq!(
        (&details["code"], &details["cause"]),
        (&(-33003).into(), &"slept".into()),
        "{json}"
    );
    handle.until_generation(2).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.executed.load(Ordering::SeqCst), 0);
}
