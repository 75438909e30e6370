//! The connection between a test and each process of its fake PiecesOS.
//!
//! # Theory of operation
//! However the process was launched, it reads the test's address from its settings and connects there.
//! It reports its process id and port. The test then sends faults, one per line, and the process
//! confirms each one. The process exits when the connection breaks, so nothing outlives its test;
//! the test notices the end of a process in the same way.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::fault::Fault;
use super::settings::AppSettings;
use crate::PATIENCE;

/// A process of the fake, as its test sees it.
#[derive(Clone, Debug)]
pub struct AppInstance {
    pub pid: u32,
    pub port: u16,
    orders: mpsc::Sender<(Fault, oneshot::Sender<()>)>,
}

#[derive(Serialize, Deserialize)]
struct InstanceHello {
    pid: u32,
    port: u16,
}

impl AppInstance {
    /// Injects a fault, and waits until it is in effect.
    pub async fn tell(&self, fault: Fault) {
        let (done, is_done) = oneshot::channel();
        self.orders.send((fault, done)).await.expect("it lives");
        timeout(PATIENCE, is_done).await.expect("it does so in time").expect("it lives");
    }

    /// Injects a fault that ends the process, and waits until it has exited.
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

/// The test's side: accepts connections from processes and publishes them in order of arrival.
pub(super) async fn receive(listener: TcpListener, instances: watch::Sender<Vec<AppInstance>>) {
    let mut tasks = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        tasks.spawn(serve_instance(stream, instances.clone()));
    }
}

async fn serve_instance(
    stream: TcpStream,
    instances: watch::Sender<Vec<AppInstance>>,
) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let hello: InstanceHello = serde_json::from_str(&lines.next_line().await.ok()??).ok()?;
    let (orders, mut ordered) = mpsc::channel::<(Fault, oneshot::Sender<()>)>(8);
    let instance = AppInstance { pid: hello.pid, port: hello.port, orders };
    instances.send_modify(|instances| instances.push(instance));
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

/// The process's side of the connection.
pub(super) struct TestConnection {
    read: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl TestConnection {
    /// Connects to the test, if there is one.
    pub(super) async fn call(folder: &Path, port: u16) -> Option<Self> {
        let test_address = AppSettings::read(folder).test_address?;
        let stream = TcpStream::connect(test_address).await.expect("the test waits for its lives");
        let (read, write) = stream.into_split();
        let mut line = Self { read: BufReader::new(read).lines(), write };
        let hello = InstanceHello { pid: std::process::id(), port };
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
