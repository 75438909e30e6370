//! How calls wait, and how long.

use super::queue::{MOST_HELD, Place};
use super::*;
use evermoor_core::config::Config;
use evermoor_core::protocol::envelope::{Id, Message, Notification, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::system::environment::Chance;
use crate::upstream::Surroundings;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::{Inbox, Outgoing};

fn request(bytes: usize) -> Request {
    Request::new(Id::number(1), "tools/call", Some(Raw::of(&"x".repeat(bytes - 2))))
}

#[tokio::test(start_paused = true)]
async fn calls_wait_up_to_a_number_and_up_to_a_size() {
    let handle = Handle::never_connected();
    let large: Vec<_> = (0..16).map(|_| Place::take(&handle, &request(4 << 20))).collect();
    assert!(large.iter().all(Option::is_some));
    assert!(Place::take(&handle, &request(2)).is_none(), "64 MiB wait already");
    drop(large);
    let many: Vec<_> = (0..MOST_HELD).map(|_| Place::take(&handle, &request(2))).collect();
    assert!(many.iter().all(Option::is_some));
    assert!(Place::take(&handle, &request(2)).is_none(), "1024 wait already");
    drop(many);
    assert!(Place::take(&handle, &request(4 << 20)).is_some(), "every place was given back");
}

/// An upstream over a channel that answers pings, and a call with as much progress as it is told.
struct Talkative {
    /// How often it speaks of a call that it never answers.
    speaks_every: Option<Duration>,
    /// Breaks its first connection at the first call, and takes no other.
    breaks: bool,
    connects: u32,
    tasks: TaskTracker,
}

impl Connect for Talkative {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        let (channel, inbox, received, incoming) = duplex::channel();
        self.tasks.spawn(serve(received, inbox, self.speaks_every, self.breaks));
        self.connects += 1;
        if self.breaks && self.connects > 1 {
            return Err(Failure::new(Code::ConnectionRefused, "Nothing listens.", "Wait."));
        }
        let said = serde_json::json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s" },
        });
        let handshake = Handshake::read(&Raw::of(&said)).expect("a handshake");
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

async fn serve(
    mut received: mpsc::Receiver<Outgoing>,
    inbox: Inbox,
    speaks_every: Option<Duration>,
    breaks: bool,
) {
    let mut asked = false;
    let mut progress = 0;
    loop {
        let wait = speaks_every.filter(|_| asked).unwrap_or(Duration::MAX / 4);
        let next = timeout(wait, received.recv()).await;
        let Ok(next) = next else {
            progress += 1;
            inbox.deliver(step(progress));
            continue;
        };
        let Some(Outgoing { text, fate }) = next else { return };
        fate.send(Ok(()));
        let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
        if request.method == method::PING {
            let pong = Response::result(request.id, Raw::of(&serde_json::json!({})));
            inbox.deliver(Message::Response(pong));
        } else if breaks {
            inbox.close(Failure::new(Code::ConnectionLost, "It went.", "Wait."));
            return std::future::pending().await;
        } else {
            asked = true;
            inbox.deliver(step(0));
        }
    }
}

/// Progress of the first call over a channel.
fn step(progress: u32) -> Message {
    let params = serde_json::json!({ "progressToken": 1, "progress": progress });
    Notification::new("notifications/progress", Some(Raw::of(&params))).into()
}

fn talkative(speaks_every: Option<Duration>, breaks: bool) -> Handle {
    let config = Config::parse("[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n").unwrap();
    let tasks = TaskTracker::new();
    let around = Surroundings {
        settings: watch::channel(config.gateway.clone()).1,
        changed: Arc::default(),
        wakes: watch::channel(0).1,
        chance: Chance::real(),
        tasks: tasks.clone(),
        news: crate::upstream::notification_log::Newsroom::default(),
        interests: crate::upstream::subscriptions::Interests::default(),
        history: crate::history::History::nowhere(),
        paused: watch::channel(evermoor_core::policy::pause::Paused::default()).1,
        apps: Default::default(),
        secrets: crate::config::secrets::Secrets::of_the_system(),
    };
    let connector = Talkative { speaks_every, breaks, connects: 0, tasks };
    let upstream = config.upstreams[0].clone();
    Handle::start_with(upstream, connector, None, &around, CancellationToken::new())
}

fn call(called: &str) -> Request {
    let params = serde_json::json!({ "name": "t", "_meta": { "progressToken": "mine" } });
    Request::new(Id::number(1), called, Some(Raw::of(&params)))
}

fn told(response: &Response) -> serde_json::Value {
    serde_json::from_slice(&response.to_bytes()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_ends_is_given_up_at_the_limit_of_its_call_whatever_it_says() {
    for speaks_every in [None, Some(Duration::from_secs(7))] {
        let handle = talkative(speaks_every, false);
        let began = Instant::now();
        let Reply::Stream(messages) = handle.call(&call("tools/call"), None).await else {
            panic!("progress came first")
        };
        let answer = told(&messages.answer().await.unwrap());
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
async fn a_read_that_may_have_run_is_not_called_unsent_when_the_hold_ends() {
    let handle = talkative(None, true);
    let Reply::Whole(answer) = handle.call(&call("resources/read"), None).await else {
        panic!("nothing was streamed")
    };
    let data = &told(&answer)["error"]["data"];
    assert_eq!((&data["outcome"], &data["sent"]), (&"unknown".into(), &true.into()), "{data}");
}
