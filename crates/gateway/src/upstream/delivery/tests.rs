//! How many calls are held, and how long a call may take.

use super::hold_slots::{HoldSlot, MAX_HELD};
use super::*;
use evermoor_core::config::Config;
use evermoor_core::protocol::envelope::{Id, Message, Notification, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::system::clock::ClockAndRandom;
use crate::upstream::UpstreamContext;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::{Inbox, Outgoing};

fn request(bytes: usize) -> Request {
    Request::new(Id::number(1), "tools/call", Some(Raw::of(&"x".repeat(bytes - 2))))
}

#[tokio::test(start_paused = true)]
async fn held_calls_are_limited_by_number_and_by_bytes() {
    let handle = UpstreamHandle::never_connected();
    let large: Vec<_> = (0..16).map(|_| HoldSlot::acquire(&handle, &request(4 << 20))).collect();
    assert!(large.iter().all(Option::is_some));
    assert!(HoldSlot::acquire(&handle, &request(2)).is_none(), "64 MiB are held already");
    drop(large);
    let many: Vec<_> = (0..MAX_HELD).map(|_| HoldSlot::acquire(&handle, &request(2))).collect();
    assert!(many.iter().all(Option::is_some));
    assert!(HoldSlot::acquire(&handle, &request(2)).is_none(), "1024 are held already");
    drop(many);
    assert!(HoldSlot::acquire(&handle, &request(4 << 20)).is_some(), "every slot was released");
}

/// An upstream over a channel that answers pings and sends progress for calls that it never answers.
struct ProgressServer {
    /// How often it sends progress.
    progress_every: Option<Duration>,
    /// Breaks its first connection at the first call, and refuses any other.
    breaks: bool,
    connects: u32,
    tasks: TaskTracker,
}

impl Connect for ProgressServer {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        let (channel, inbox, received, incoming) = duplex::channel();
        self.tasks.spawn(serve(received, inbox, self.progress_every, self.breaks));
        self.connects += 1;
        if self.breaks && self.connects > 1 {
            return Err(Failure::new(Code::ConnectionRefused, "Connection refused.", "Wait."));
        }
        let result = serde_json::json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s" },
        });
        let handshake = Handshake::read(&Raw::of(&result)).expect("a handshake");
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

async fn serve(
    mut received: mpsc::Receiver<Outgoing>,
    inbox: Inbox,
    progress_every: Option<Duration>,
    breaks: bool,
) {
    let mut asked = false;
    let mut progress = 0;
    loop {
        let wait = progress_every.filter(|_| asked).unwrap_or(Duration::MAX / 4);
        let next = timeout(wait, received.recv()).await;
        let Ok(next) = next else {
            progress += 1;
            inbox.deliver(step(progress), None);
            continue;
        };
        let Some(Outgoing { text, receipt }) = next else { return };
        receipt.send(Ok(()));
        let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
        if request.method == method::PING {
            let pong = Response::result(request.id, Raw::of(&serde_json::json!({})));
            inbox.deliver(Message::Response(pong), None);
        } else if breaks {
            inbox.close(Failure::new(Code::ConnectionLost, "It went.", "Wait."));
            return std::future::pending().await;
        } else {
            asked = true;
            inbox.deliver(step(0), None);
        }
    }
}

/// Progress of the first call over a channel.
fn step(progress: u32) -> Message {
    let params = serde_json::json!({ "progressToken": 1, "progress": progress });
    Notification::new("notifications/progress", Some(Raw::of(&params))).into()
}

fn progress_server(progress_every: Option<Duration>, breaks: bool) -> UpstreamHandle {
    let config = Config::parse("[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n").unwrap();
    let tasks = TaskTracker::new();
    let context = UpstreamContext {
        settings: watch::channel(config.gateway.clone()).1,
        changed: Arc::default(),
        wakes: watch::channel(0).1,
        clock: ClockAndRandom::real(),
        tasks: tasks.clone(),
        notification_log: crate::upstream::notification_log::NotificationLog::default(),
        upstream_subscriptions: crate::upstream::subscriptions::Subscriptions::default(),
        history: crate::history::History::disabled(),
        apps: Default::default(),
        secrets: crate::config::secrets::Secrets::system_default(),
        sign_ins: crate::upstream::SignIns::unused(),
        budgets: Default::default(),
    };
    let connector = ProgressServer { progress_every, breaks, connects: 0, tasks };
    let upstream = config.upstreams[0].clone();
    UpstreamHandle::start_with(upstream, connector, None, &context, CancellationToken::new())
}

fn call(method: &str) -> Request {
    let params = serde_json::json!({ "name": "t", "_meta": { "progressToken": "mine" } });
    Request::new(Id::number(1), method, Some(Raw::of(&params)))
}

fn json(response: &Response) -> serde_json::Value {
    serde_json::from_slice(&response.to_bytes()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_ends_is_given_up_at_the_call_timeout_whatever_it_sends() {
    for progress_every in [None, Some(Duration::from_secs(7))] {
        let handle = progress_server(progress_every, false);
        let began = Instant::now();
        let CallReply::Stream(messages) = handle.call(&call("tools/call"), None).await else {
            panic!("progress came first")
        };
        let answer = json(&messages.answer().await.unwrap().response);
        let details = &answer["result"]["_meta"]["dev.evermoor/outcome"];
        assert_eq!((&details["code"], &details["cause"]), (&(-33011).into(), &"timeout".into()));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.starts_with("Outcome unknown") && text.contains("no reply within 600 s"),
            "{text}"
        );
        let took = began.elapsed();
        assert!(took >= handle.config.call_timeout, "{took:?}");
        assert!(took < handle.config.call_timeout + Duration::from_secs(1), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_may_have_run_is_not_reported_as_unsent_when_the_hold_ends() {
    let handle = progress_server(None, true);
    let CallReply::Whole(answer) = handle.call(&call("resources/read"), None).await else {
        panic!("nothing was streamed")
    };
    let data = &json(&answer.response)["error"]["data"];
    assert_eq!((&data["outcome"], &data["sent"]), (&"unknown".into(), &true.into()), "{data}");
}
