//! One connection through the proxy, and its faults.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

use super::request::{head, whole};
use super::{NetworkFault, Plan, Seen};

pub(super) struct Relay {
    client: TcpStream,
    target: SocketAddr,
    plans: watch::Receiver<Plan>,
    seen: watch::Sender<Vec<Seen>>,
    /// The fault that affects the current answer.
    fault: Option<NetworkFault>,
    asked: BytesMut,
    answered: BytesMut,
}

/// Whether the connection continues, and otherwise how it ends.
type Step = ControlFlow<End>;

enum End {
    Close,
    Reset,
    Silence,
}

const ENOUGH_OF_A_HEAD: usize = 12;

impl Relay {
    pub(super) fn new(
        client: TcpStream,
        target: SocketAddr,
        plans: watch::Receiver<Plan>,
        seen: watch::Sender<Vec<Seen>>,
    ) -> Self {
        let (asked, answered) = (BytesMut::new(), BytesMut::new());
        Self { client, target, plans, seen, fault: None, asked, answered }
    }

    pub(super) async fn run(mut self) {
        let _ = self.client.set_nodelay(true);
        // A dead upstream refuses connections. An accepted connection can only be reset.
        let Ok(mut upstream) = TcpStream::connect(self.target).await else {
            return reset(self.client);
        };
        let _ = upstream.set_nodelay(true);
        if self.plans.borrow_and_update().for_all() == Some(NetworkFault::Blackhole) {
            return silence(self.client).await;
        }
        let end = loop {
            if let ControlFlow::Break(end) = self.step(&mut upstream).await {
                break end;
            }
        };
        match end {
            End::Close => {}
            End::Reset => reset(self.client),
            // Keep the upstream's side open, too, so that it does not notice.
            End::Silence => silence(self.client).await,
        }
    }

    async fn step(&mut self, upstream: &mut TcpStream) -> Step {
        tokio::select! {
            biased;
            changed = self.plans.changed() => match changed {
                Ok(()) => match self.plans.borrow_and_update().for_all() {
                    Some(NetworkFault::Blackhole | NetworkFault::HalfOpen) => Step::Break(End::Silence),
                    _ => Step::Continue(()),
                },
                Err(_) => Step::Break(End::Close),
            },
            read = self.client.read_buf(&mut self.asked) => match read {
                Ok(0) | Err(_) => Step::Break(End::Close),
                Ok(_) => self.ask(upstream).await,
            },
            read = upstream.read_buf(&mut self.answered) => match read {
                Ok(0) | Err(_) => Step::Break(End::Close),
                Ok(_) => self.answer().await,
            },
        }
    }

    /// Forwards a request once it is complete.
    async fn ask(&mut self, upstream: &mut TcpStream) -> Step {
        let Some(length) = whole(&self.asked) else { return Step::Continue(()) };
        let request = self.asked.split_to(length).freeze();
        let text = String::from_utf8_lossy(&request).into_owned();
        self.fault = self.plans.borrow().for_request(&text);
        match self.fault {
            Some(NetworkFault::ResetUnforwarded) => return self.swallow(text, End::Reset),
            Some(NetworkFault::Blackhole) => return self.swallow(text, End::Silence),
            Some(NetworkFault::Latency(wait)) => sleep(wait).await,
            _ => {}
        }
        if upstream.write_all(&request).await.is_err() {
            return Step::Break(End::Close);
        }
        self.seen.send_modify(|seen| seen.push(Seen { text, forwarded: true }));
        Step::Continue(())
    }

    fn swallow(&self, text: String, end: End) -> Step {
        self.seen.send_modify(|seen| seen.push(Seen { text, forwarded: false }));
        Step::Break(end)
    }

    /// Forwards the upstream's answer, as far as the fault allows.
    async fn answer(&mut self) -> Step {
        match self.fault {
            Some(NetworkFault::ResetAfterRequest) => Step::Break(End::Reset),
            Some(NetworkFault::FinMidHeaders) if self.answered.len() >= ENOUGH_OF_A_HEAD => {
                self.answered.truncate(ENOUGH_OF_A_HEAD);
                self.pass().await;
                Step::Break(End::Close)
            }
            Some(NetworkFault::FinMidBody) => match head(&self.answered) {
                Some(head) if self.answered.len() > head + 1 => {
                    let half = (self.answered.len() - head) / 2;
                    self.answered.truncate(head + half);
                    self.pass().await;
                    Step::Break(End::Close)
                }
                _ => Step::Continue(()),
            },
            Some(NetworkFault::FinMidHeaders) => Step::Continue(()),
            Some(NetworkFault::Drip(rate)) => self.drip(rate).await,
            _ => match self.pass().await {
                true => Step::Continue(()),
                false => Step::Break(End::Close),
            },
        }
    }

    async fn pass(&mut self) -> bool {
        self.client.write_all(&self.answered.split()).await.is_ok()
    }

    async fn drip(&mut self, rate: u32) -> Step {
        let bytes: Bytes = self.answered.split().freeze();
        for byte in bytes {
            if self.client.write_all(&[byte]).await.is_err() {
                return Step::Break(End::Close);
            }
            sleep(Duration::from_secs(1) / rate).await;
        }
        Step::Continue(())
    }
}

/// Closes a connection with RST instead of FIN.
pub(super) fn reset(client: TcpStream) {
    let _ = client.set_zero_linger();
}

/// Reads and ignores everything until the client disconnects.
async fn silence(mut client: TcpStream) {
    let mut scrap = [0; 4096];
    while client.read(&mut scrap).await.is_ok_and(|read| read > 0) {}
}
