//! The line between a test and each life of its fake PiecesOS.
//!
//! # Theory of operation
//! Whoever launches it, a life looks up in its settings where the test waits, and calls there. It
//! says who it is; the test tells it faults, one a line, and it says when each is done. When the
//! line breaks, a life ends: nothing outlives its test. The test sees the end of a life the same way.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::fault::Fault;
use super::settings::Settings;
use crate::PATIENCE;

/// A life, as its test sees it.
#[derive(Clone, Debug)]
pub struct Life {
    pub pid: u32,
    pub port: u16,
    orders: mpsc::Sender<(Fault, oneshot::Sender<()>)>,
}

#[derive(Serialize, Deserialize)]
struct Hello {
    pid: u32,
    port: u16,
}

impl Life {
    /// Tells it a fault, and waits until it holds.
    pub async fn tell(&self, fault: Fault) {
        let (done, is_done) = oneshot::channel();
        self.orders.send((fault, done)).await.expect("it lives");
        timeout(PATIENCE, is_done).await.expect("it does so in time").expect("it lives");
    }

    /// Tells it something that ends it, and waits until it has.
    pub async fn tell_last(&self, fault: Fault) {
        let (done, _) = oneshot::channel();
        self.orders.send((fault, done)).await.expect("it lives");
        self.ended().await;
    }

    pub fn has_ended(&self) -> bool {
        self.orders.is_closed()
    }

    pub async fn ended(&self) {
        timeout(PATIENCE, self.orders.closed()).await.expect("it ends in time");
    }
}

/// The test's end: takes the calls of lives and shows them, in the order in which they called.
pub(super) async fn receive(listener: TcpListener, lives: watch::Sender<Vec<Life>>) {
    let mut talks = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        talks.spawn(talk(stream, lives.clone()));
    }
}

async fn talk(stream: TcpStream, lives: watch::Sender<Vec<Life>>) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let hello: Hello = serde_json::from_str(&lines.next_line().await.ok()??).ok()?;
    let (orders, mut ordered) = mpsc::channel::<(Fault, oneshot::Sender<()>)>(8);
    let life = Life { pid: hello.pid, port: hello.port, orders };
    lives.send_modify(|lives| lives.push(life));
    let mut waiting = std::collections::VecDeque::new();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let _done = line.ok()??;
                waiting.pop_front().map(|done: oneshot::Sender<()>| done.send(()));
            }
            Some((fault, done)) = ordered.recv() => {
                let mut order = serde_json::to_vec(&fault).ok()?;
                order.push(b'\n');
                write.write_all(&order).await.ok()?;
                waiting.push_back(done);
            }
        }
    }
}

/// The life's end of the line.
pub(super) struct Line {
    read: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Line {
    /// Calls the test, if there is one.
    pub(super) async fn call(folder: &Path, port: u16) -> Option<Self> {
        let guardian = Settings::read(folder).guardian?;
        let stream = TcpStream::connect(guardian).await.expect("the test waits for its lives");
        let (read, write) = stream.into_split();
        let mut line = Self { read: BufReader::new(read).lines(), write };
        let hello = Hello { pid: std::process::id(), port };
        line.say(&serde_json::to_string(&hello).expect("numbers are JSON")).await;
        Some(line)
    }

    /// The next fault; `None` when the test is over.
    pub(super) async fn fault(&mut self) -> Option<Fault> {
        let line = self.read.next_line().await.ok()??;
        Some(serde_json::from_str(&line).expect("a fault is one of ours"))
    }

    pub(super) async fn done(&mut self) {
        self.say("done").await;
    }

    async fn say(&mut self, text: &str) {
        let _ = self.write.write_all(format!("{text}\n").as_bytes()).await;
    }
}
