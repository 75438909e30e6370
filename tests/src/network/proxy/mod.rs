//! A proxy that breaks connections on purpose, on real sockets between the gateway and an upstream.
//!
//! # Theory of operation
//! One task listens and starts one task per connection ([`relay`]). A [`Plan`] in a `watch` says
//! what is broken and for which requests. Connections check it before they forward anything, so a
//! fault takes effect as soon as it is set. Everything ends when the proxy is dropped.
//! [`request`] finds the end of a request.

mod relay;
mod request;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::PATIENCE;

/// What the proxy does to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFault {
    /// Stops listening and cuts existing connections.
    Refuse,
    /// Resets the connection before reading any of the request.
    ResetAtAccept,
    /// Reads the request, does not forward it, and resets the connection.
    ResetUnforwarded,
    /// Forwards the request, and resets the connection instead of forwarding the answer.
    ResetAfterRequest,
    /// Closes the connection in the middle of the answer's headers.
    FinMidHeaders,
    /// Closes the connection in the middle of the answer's body.
    FinMidBody,
    /// Accepts and reads everything, but forwards, answers and closes nothing.
    Blackhole,
    /// Silences existing connections without closing them; new ones work.
    HalfOpen,
    /// Delays each request.
    Latency(Duration),
    /// Forwards the answer byte by byte, this many per second.
    Drip(u32),
}

/// A proxy in front of one upstream.
pub struct Proxy {
    /// The upstream's URL through this proxy.
    pub url: String,
    plan: watch::Sender<Plan>,
    applied: watch::Receiver<u64>,
    seen: watch::Sender<Vec<Seen>>,
    resets: watch::Sender<usize>,
    _tasks: JoinSet<()>,
}

/// What is currently broken.
#[derive(Clone, Debug, Default)]
struct Plan {
    version: u64,
    fault: Option<NetworkFault>,
    /// Only requests that contain this text.
    only: Option<String>,
    /// How many more requests to affect; `None` for all.
    left: Option<Arc<AtomicUsize>>,
}

/// A request that arrived completely.
#[derive(Clone, Debug)]
struct Seen {
    text: String,
    forwarded: bool,
}

impl Proxy {
    /// A proxy to an upstream's URL that forwards everything.
    pub async fn to(url: &str) -> Self {
        let rest = url.trim_start_matches("http://");
        let (authority, path) = rest.split_once('/').expect("an address has a path");
        let target: SocketAddr = authority.parse().expect("an upstream has an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let (plan, plans) = watch::channel(Plan::default());
        let (apply, applied) = watch::channel(0);
        let (seen, resets) = (watch::Sender::new(Vec::new()), watch::Sender::new(0));
        let mut tasks = JoinSet::new();
        let door =
            Acceptor { address, target, plans, apply, seen: seen.clone(), resets: resets.clone() };
        tasks.spawn(door.keep(listener));
        let url = format!("http://{address}/{path}");
        Self { url, plan, applied, seen, resets, _tasks: tasks }
    }

    /// Applies a fault to everything from now on.
    pub async fn set(&self, fault: NetworkFault) {
        self.apply(Plan { fault: Some(fault), ..Plan::default() }).await;
    }

    /// Applies a fault to requests that contain `text`, and lets others pass.
    pub async fn set_on(&self, text: &str, fault: NetworkFault) {
        let only = Some(text.to_owned());
        self.apply(Plan { fault: Some(fault), only, ..Plan::default() }).await;
    }

    /// Applies a fault to the next request that contains `text`.
    pub async fn once_on(&self, text: &str, fault: NetworkFault) {
        let (only, left) = (Some(text.to_owned()), Some(Arc::new(AtomicUsize::new(1))));
        self.apply(Plan { fault: Some(fault), only, left, ..Plan::default() }).await;
    }

    /// Lets everything pass again. Silenced connections stay silent.
    pub async fn heal(&self) {
        self.apply(Plan::default()).await;
    }

    async fn apply(&self, plan: Plan) {
        self.plan.send_modify(|now| *now = Plan { version: now.version + 1, ..plan });
        let version = self.plan.borrow().version;
        let mut applied = self.applied.clone();
        let done = timeout(PATIENCE, applied.wait_for(|applied| *applied >= version)).await;
        done.expect("a fault is set in time").expect("the proxy listens until it is dropped");
    }

    /// How many requests that contain `text` were forwarded completely.
    pub fn forwarded(&self, text: &str) -> usize {
        let seen = self.seen.borrow();
        seen.iter().filter(|seen| seen.forwarded && seen.text.contains(text)).count()
    }

    /// Waits until a request that contains `text` has arrived completely, forwarded or not.
    pub async fn until_read(&self, text: &str) {
        let mut seen = self.seen.subscribe();
        let read = seen.wait_for(|seen| seen.iter().any(|seen| seen.text.contains(text)));
        timeout(PATIENCE, read).await.expect("it is sent in time").expect("the proxy lives");
    }

    /// Waits until this many requests that contain `text` were forwarded completely.
    pub async fn until_forwarded(&self, text: &str, number: usize) {
        let mut seen = self.seen.subscribe();
        let passed = |seen: &Vec<Seen>| {
            seen.iter().filter(|seen| seen.forwarded && seen.text.contains(text)).count() >= number
        };
        let passed = timeout(PATIENCE, seen.wait_for(passed)).await;
        passed.expect("they are sent in time").expect("the proxy lives");
    }

    /// How many connections were reset on accept.
    pub fn resets(&self) -> usize {
        *self.resets.borrow()
    }

    /// Waits until more than `before` connections were reset on accept.
    pub async fn until_reset(&self, before: usize) {
        let mut resets = self.resets.subscribe();
        let reset = timeout(PATIENCE, resets.wait_for(|resets| *resets > before)).await;
        reset.expect("a connection is made in time").expect("the proxy lives");
    }
}

impl Plan {
    /// The fault that affects a whole connection, whatever is sent over it.
    fn for_all(&self) -> Option<NetworkFault> {
        self.fault.filter(|_| self.only.is_none())
    }

    /// The fault for this request.
    fn for_request(&self, text: &str) -> Option<NetworkFault> {
        let meant = self.only.as_ref().is_none_or(|only| text.contains(only.as_str()));
        let fault = self.fault.filter(|_| meant)?;
        let Some(left) = &self.left else { return Some(fault) };
        let taken =
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        taken.is_ok().then_some(fault)
    }
}

/// Accepts the connections.
struct Acceptor {
    address: SocketAddr,
    target: SocketAddr,
    plans: watch::Receiver<Plan>,
    apply: watch::Sender<u64>,
    seen: watch::Sender<Vec<Seen>>,
    resets: watch::Sender<usize>,
}

impl Acceptor {
    async fn keep(mut self, listener: TcpListener) {
        let mut listener = Some(listener);
        let mut connections = JoinSet::new();
        loop {
            let plan = self.plans.borrow_and_update().clone();
            if plan.for_all() == Some(NetworkFault::Refuse) {
                listener = None;
                connections.shutdown().await;
            } else if listener.is_none() {
                let again = TcpListener::bind(self.address).await;
                listener = Some(again.expect("the port of the proxy is still free"));
            }
            self.apply.send_replace(plan.version);
            let accepted = async {
                match &listener {
                    Some(listener) => listener.accept().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                changed = self.plans.changed() => if changed.is_err() { return },
                Ok((client, _)) = accepted => {
                    while connections.try_join_next().is_some() {}
                    if plan.for_all() == Some(NetworkFault::ResetAtAccept) {
                        relay::reset(client);
                        self.resets.send_modify(|resets| *resets += 1);
                    } else {
                        connections.spawn(self.relay(client));
                    }
                }
            }
        }
    }

    fn relay(&self, client: TcpStream) -> impl Future<Output = ()> + use<> {
        relay::Relay::new(client, self.target, self.plans.clone(), self.seen.clone()).run()
    }
}
