//! Takes what is received and has it written, while the pen is ours.
//!
//! While it is another gateway's, what is received waits for it, and questions are answered from what is
//! written. A gateway that has given its place away does not get the pen back; what became of its
//! last calls is lost with it.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::QUEUE_CAPACITY;
use super::message::{HistoryMessage, millis};
use super::writer::HistoryWriter;
use crate::system::environment::Chance;
use crate::system::write_lease::Pen;

/// How often the counts of an outage are looked at.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// Keeps the history until received to stop.
pub(super) async fn run(
    mut writer: HistoryWriter,
    mut received: mpsc::Receiver<HistoryMessage>,
    pen: Pen,
    chance: Chance,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    // What an earlier gateway left open is looked at before anything is received.
    let mut batch = Vec::new();
    loop {
        let last = stop.is_cancelled();
        while batch.len() < QUEUE_CAPACITY
            && let Ok(message) = received.try_recv()
        {
            batch.push(message);
        }
        let writing = pen.take().await;
        let ours = writing.is_some();
        let (asked, kept_back): (Vec<HistoryMessage>, Vec<HistoryMessage>) =
            batch.drain(..).partition(|message| ours || !message.is_written());
        batch = kept_back;
        let now = millis(chance.now());
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
                tracing::error!(%panicked, "the history is not kept any more");
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
                () = pen.until_ours(), if !ours => break,
                () = stop.cancelled() => break,
            }
            let asked = batch.last().is_some_and(|message| !message.is_written());
            let due = !batch.is_empty() || writer.is_due(millis(chance.now()));
            if asked || (ours && due) {
                break;
            }
        }
    }
}
