//! Decides when an incident begins and ends, for the supervisors of an upstream. What is stored of it is
//! in `sql_write`.
//!
//! An upstream has one incident at a time, whichever of its connections is down: the one that editors
//! share, or one that an editor has to itself. It begins with the first and ends with the last.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;

use evermoor_core::failure::Failure;
use evermoor_core::history::incident::Resolution;
use evermoor_platform::clock;

use super::message::{HistoryMessage, IncidentOpened, millis};
use super::{CurrentTally, History, Tally};

/// The incidents of one upstream.
pub(crate) struct UpstreamIncidents {
    upstream: String,
    history: History,
    tally: watch::Sender<Arc<Tally>>,
    /// How many of its connections are down.
    down: Mutex<usize>,
}

/// Records the incidents of one upstream, as one of its connections has them.
pub(crate) struct IncidentRecorder {
    incidents: Arc<UpstreamIncidents>,
    /// The connection belongs to one editor.
    of_editor: bool,
    /// The last failure of the connection; `None` while it is not down.
    down: Option<String>,
    /// Whether it was ever connected at its current address.
    was_up: bool,
}

/// A call that was lost longer before an incident is not part of it.
const RELATED: Duration = Duration::from_secs(60);

impl UpstreamIncidents {
    /// The recorder of a connection that one editor has to itself.
    pub(crate) fn of_editor(self: &Arc<Self>) -> IncidentRecorder {
        let incidents = Arc::clone(self);
        IncidentRecorder { incidents, of_editor: true, down: None, was_up: false }
    }

    /// The counters for calls.
    pub(crate) fn current_tally(&self) -> CurrentTally {
        CurrentTally(self.tally.subscribe())
    }

    fn opened(&self, title: &str, sign: Failure, at: u64) {
        let now = Arc::clone(&self.tally.borrow());
        if now.affected_since().is_some_and(|before| before > RELATED) {
            self.tally.send_replace(Arc::new(Tally::new()));
        }
        self.history.send(HistoryMessage::IncidentOpened(IncidentOpened {
            upstream: self.upstream.clone(),
            title: title.to_owned(),
            at,
            sign,
            tally: Arc::clone(&self.tally.borrow()),
        }));
    }

    fn event(&self, at: u64, what: String) {
        let upstream = self.upstream.clone();
        self.history.send(HistoryMessage::Event { upstream, at, what });
    }

    fn ended(&self, how: Resolution, at: u64) {
        self.tally.send_replace(Arc::new(Tally::new()));
        let upstream = self.upstream.clone();
        self.history.send(HistoryMessage::IncidentEnded { upstream, how, at });
    }
}

impl IncidentRecorder {
    /// The recorder of the shared connection.
    pub(crate) fn new(upstream: &str, history: History) -> Self {
        let (upstream, tally) = (upstream.to_owned(), Arc::new(Tally::new()));
        history.send(HistoryMessage::UpstreamStarted {
            upstream: upstream.clone(),
            tally: Arc::clone(&tally),
        });
        let (tally, down) = (watch::Sender::new(tally), Mutex::default());
        let incidents = Arc::new(UpstreamIncidents { upstream, history, tally, down });
        Self { incidents, of_editor: false, down: None, was_up: false }
    }

    /// The incidents of the upstream.
    pub(crate) fn incidents(&self) -> &Arc<UpstreamIncidents> {
        &self.incidents
    }

    /// Whether the connection is down.
    pub(crate) fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// Records a failure, which begins an incident or adds to it. A connection that was never up
    /// cannot go down.
    pub(crate) fn went_down(&mut self, title: &str, failure: &Failure, at: SystemTime) {
        if !self.was_up && self.down.is_none() {
            return;
        }
        let at = millis(at);
        let what = failure.what.clone();
        match self.down.replace(what.clone()) {
            // Each attempt may fail in the same way; record that once.
            Some(before) if before == what => {}
            Some(_) => self.incidents.event(at, self.worded(what)),
            None => {
                let first = {
                    let mut down = self.incidents.down.lock();
                    *down += 1;
                    *down == 1
                };
                let what = self.worded(what);
                match first {
                    true => self.incidents.opened(title, Failure { what, ..failure.clone() }, at),
                    false => self.incidents.event(at, what),
                }
            }
        }
    }

    /// Says that a failure concerns only one editor.
    fn worded(&self, what: String) -> String {
        match self.of_editor {
            true => format!("On the connection of one editor: {what}"),
            false => what,
        }
    }

    /// The connection is no longer down. The first shared connection also ends an incident that an
    /// earlier gateway left open.
    pub(crate) fn is_over(&mut self, how: Resolution, at: SystemTime) {
        let is_up = matches!(how, Resolution::Reconnected | Resolution::Answered);
        let first = is_up && !self.was_up && !self.of_editor;
        self.was_up = is_up;
        let was_down = self.down.take().is_some();
        let all_over = {
            let mut down = self.incidents.down.lock();
            *down -= usize::from(was_down);
            *down == 0
        };
        if all_over && (was_down || first) {
            self.incidents.ended(how, millis(at));
        }
    }
}

impl Drop for IncidentRecorder {
    /// The connection of an editor ends with the editor. An incident of the shared one continues at the
    /// next gateway.
    fn drop(&mut self) {
        if self.of_editor && self.down.is_some() {
            self.is_over(Resolution::Removed, clock::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::failure::Code;
    use evermoor_platform::clock;
    use tokio::sync::mpsc;

    fn recorder() -> (IncidentRecorder, mpsc::Receiver<HistoryMessage>) {
        let (history, mut messages) = History::observed();
        let recorder = IncidentRecorder::new("a", history);
        assert!(matches!(messages.try_recv(), Ok(HistoryMessage::UpstreamStarted { .. })));
        (recorder, messages)
    }

    fn failure() -> Failure {
        Failure::new(Code::ConnectionLost, "It broke.", "Wait.")
    }

    fn kinds(messages: &mut mpsc::Receiver<HistoryMessage>) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        while let Ok(message) = messages.try_recv() {
            kinds.push(match message {
                HistoryMessage::IncidentOpened(_) => "opened",
                HistoryMessage::Event { .. } => "event",
                HistoryMessage::IncidentEnded { .. } => "ended",
                HistoryMessage::UpstreamStarted { .. }
                | HistoryMessage::Explained { .. }
                | HistoryMessage::UpstreamsChanged { .. }
                | HistoryMessage::Sampled { .. }
                | HistoryMessage::QueryIncidents(..)
                | HistoryMessage::QuerySamples { .. } => "else",
            });
        }
        kinds
    }

    #[tokio::test]
    async fn an_upstream_that_was_never_up_has_no_incident() {
        let (mut recorder, mut messages) = recorder();
        recorder.went_down("A", &failure(), clock::now());
        assert_eq!(kinds(&mut messages), [""; 0]);
    }

    #[tokio::test]
    async fn an_incident_begins_once_and_ends_once() {
        let (mut recorder, mut messages) = recorder();
        let now = clock::now();
        recorder.is_over(Resolution::Reconnected, now);
        assert_eq!(kinds(&mut messages), ["ended"], "an earlier gateway may have left one open");
        recorder.went_down("A", &failure(), now);
        recorder.went_down("A", &failure(), now);
        let other = Failure::new(Code::ConnectionRefused, "Nothing listens.", "Start it.");
        recorder.went_down("A", &other, now);
        recorder.went_down("A", &other, now);
        recorder.is_over(Resolution::Reconnected, now);
        recorder.is_over(Resolution::Answered, now);
        assert_eq!(kinds(&mut messages), ["opened", "event", "ended"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_lost_long_before_the_incident_is_not_counted() {
        let (mut recorder, mut messages) = recorder();
        recorder.is_over(Resolution::Reconnected, clock::now());
        for (wait, counted) in [(RELATED / 2, 1), (RELATED * 2, 0)] {
            recorder.incidents().current_tally().affect().end(super::super::CallEnd::Unknown);
            tokio::time::advance(wait).await;
            recorder.went_down("A", &failure(), clock::now());
            while let Ok(message) = messages.try_recv() {
                if let HistoryMessage::IncidentOpened(opened) = message {
                    assert_eq!(opened.tally.calls().unknown, counted);
                }
            }
            recorder.is_over(Resolution::Reconnected, clock::now());
        }
    }

    #[tokio::test]
    async fn an_incident_lasts_while_any_connection_of_the_upstream_is_down() {
        let (mut shared, mut messages) = recorder();
        let mut editors = [shared.incidents().of_editor(), shared.incidents().of_editor()];
        let now = clock::now();
        shared.is_over(Resolution::Reconnected, now);
        editors.iter_mut().for_each(|one| one.is_over(Resolution::Reconnected, now));
        assert_eq!(kinds(&mut messages), ["ended"], "an earlier gateway may have left one open");
        editors[0].went_down("A", &failure(), now);
        shared.went_down("A", &failure(), now);
        editors[0].is_over(Resolution::Reconnected, now);
        assert_eq!(kinds(&mut messages), ["opened", "event"]);
        editors[1].went_down("A", &failure(), now);
        shared.is_over(Resolution::Reconnected, now);
        assert_eq!(kinds(&mut messages), ["event"]);
        drop(editors);
        assert_eq!(kinds(&mut messages), ["ended"], "the editor has left");
    }

    #[tokio::test]
    async fn an_incident_says_that_it_concerns_one_editor() {
        let (shared, mut messages) = recorder();
        let mut editor = shared.incidents().of_editor();
        editor.is_over(Resolution::Reconnected, clock::now());
        editor.went_down("A", &failure(), clock::now());
        let Ok(HistoryMessage::IncidentOpened(opened)) = messages.try_recv() else {
            panic!("an incident begins")
        };
        assert_eq!(opened.sign.what, "On the connection of one editor: It broke.");
    }
}
