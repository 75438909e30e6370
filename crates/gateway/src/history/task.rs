//! The task that receives messages and has them written while this gateway holds the write lease.
//!
//! Without the lease, writes wait and queries are answered from the file. A gateway that was taken
//! over does not get the lease back; the outcomes of its last calls are lost.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::QUEUE_CAPACITY;
use super::message::{HistoryMessage, millis};
use super::writer::HistoryWriter;
use crate::system::clock::ClockAndRandom;
use crate::system::write_lease::WriteLease;

/// How often the counts of open incidents are checked.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// Writes the history until `stop`.
pub(super) async fn run(
    mut writer: HistoryWriter,
    mut received: mpsc::Receiver<HistoryMessage>,
    lease: WriteLease,
    clock: ClockAndRandom,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    // The first pass marks what an earlier gateway left open, before any message.
    let mut batch = Vec::new();
    loop {
        let last = stop.is_cancelled();
        while batch.len() < QUEUE_CAPACITY
            && let Ok(message) = received.try_recv()
        {
            batch.push(message);
        }
        let writing = lease.take().await;
        let ours = writing.is_some();
        let (asked, kept_back): (Vec<HistoryMessage>, Vec<HistoryMessage>) =
            batch.drain(..).partition(|message| ours || !message.is_written());
        batch = kept_back;
        let now = millis(clock.now());
        let work = tasks.spawn_blocking(move || {
            match writing {
                Some(_guard) => writer.write(asked, now),
                None => writer.answer(asked),
            }
            writer
        });
        writer = match work.await {
            Ok(writer) => writer,
            Err(panicked) => {
                tracing::error!(%panicked, "the history is no longer written");
                return;
            }
        };
        if last {
            return;
        }
        loop {
            let interval = match ours && writer.has_open() {
                true => COUNT_INTERVAL,
                false => Duration::MAX,
            };
            tokio::select! {
                message = received.recv(), if batch.len() < QUEUE_CAPACITY => match message {
                    Some(message) => batch.push(message),
                    None => return,
                },
                () = sleep(interval) => {}
                () = lease.until_held(), if !ours => break,
                () = stop.cancelled() => break,
            }
            let asked = batch.last().is_some_and(|message| !message.is_written());
            let due = !batch.is_empty() || writer.is_due(millis(clock.now()));
            if asked || (ours && due) {
                break;
            }
        }
    }
}
