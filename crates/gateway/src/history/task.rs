//! Takes what is told and has it written, while the pen is ours.
//!
//! While it is another gateway's, what is told waits for it, and questions are answered from what is
//! written. A gateway that has given its place away does not get the pen back; what became of its
//! last calls is lost with it.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::QUEUE;
use super::message::{Note, millis};
use super::writer::Writer;
use crate::system::environment::Chance;
use crate::system::write_lease::Pen;

/// How often the counts of an outage are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Keeps the history until told to stop.
pub(super) async fn keep(
    mut writer: Writer,
    mut told: mpsc::Receiver<Note>,
    pen: Pen,
    chance: Chance,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    // What an earlier gateway left open is looked at before anything is told.
    let mut batch = Vec::new();
    loop {
        let last = stop.is_cancelled();
        while batch.len() < QUEUE
            && let Ok(note) = told.try_recv()
        {
            batch.push(note);
        }
        let writing = pen.take().await;
        let ours = writing.is_some();
        let (asked, noted): (Vec<Note>, Vec<Note>) =
            batch.drain(..).partition(|note| ours || !note.is_written());
        batch = noted;
        let now = millis(chance.now());
        let work = tasks.spawn_blocking(move || {
            match writing {
                Some(_hand) => writer.write(asked, now),
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
            let look = match ours && writer.has_open() {
                true => LOOK,
                false => Duration::MAX,
            };
            tokio::select! {
                note = told.recv(), if batch.len() < QUEUE => match note {
                    Some(note) => batch.push(note),
                    None => return,
                },
                () = sleep(look) => {}
                () = pen.until_ours(), if !ours => break,
                () = stop.cancelled() => break,
            }
            let asked = batch.last().is_some_and(|note| !note.is_written());
            let due = !batch.is_empty() || writer.is_due(millis(chance.now()));
            if asked || (ours && due) {
                break;
            }
        }
    }
}
