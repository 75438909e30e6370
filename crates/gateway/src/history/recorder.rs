//! Records when an upstream goes down and when it is back, for its supervisor.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use evermoor_core::failure::Failure;
use evermoor_core::history::incident::Resolution;

use super::message::{HistoryMessage, IncidentOpened, millis};
use super::{CurrentTally, History, Tally};

/// Records the incidents of one upstream.
pub(crate) struct IncidentRecorder {
    upstream: String,
    history: History,
    tally: watch::Sender<Arc<Tally>>,
    /// The last failure of the open incident; `None` if there is none.
    down: Option<String>,
    /// Whether it was ever connected at its current address.
    was_up: bool,
}

/// A call that was lost longer before an incident is not part of it.
const RELATED: Duration = Duration::from_secs(60);

impl IncidentRecorder {
    pub(crate) fn new(upstream: &str, history: History) -> Self {
        let (upstream, tally) = (upstream.to_owned(), Arc::new(Tally::new()));
        history.send(HistoryMessage::UpstreamStarted {
            upstream: upstream.clone(),
            tally: Arc::clone(&tally),
        });
        let tally = watch::Sender::new(tally);
        Self { upstream, history, tally, down: None, was_up: false }
    }

    /// The counters for calls.
    pub(crate) fn current_tally(&self) -> CurrentTally {
        CurrentTally(self.tally.subscribe())
    }

    /// Whether an incident is open.
    pub(crate) fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// Records a failure, which begins an incident or adds to it. An upstream that was never up
    /// cannot go down.
    pub(crate) fn went_down(&mut self, title: &str, failure: &Failure, at: SystemTime) {
        let at = millis(at);
        let what = failure.what.clone();
        match self.down.replace(what.clone()) {
            None if self.was_up => {}
            None => {
                self.down = None;
                return;
            }
            // Each attempt may fail in the same way; record that once.
            Some(before) if before == what => return,
            Some(_) => {
                let upstream = self.upstream.clone();
                return self.history.send(HistoryMessage::Event { upstream, at, what });
            }
        }
        let now = Arc::clone(&self.tally.borrow());
        if now.affected_since().is_some_and(|before| before > RELATED) {
            self.tally.send_replace(Arc::new(Tally::new()));
        }
        self.history.send(HistoryMessage::IncidentOpened(IncidentOpened {
            upstream: self.upstream.clone(),
            title: title.to_owned(),
            at,
            sign: failure.clone(),
            tally: Arc::clone(&self.tally.borrow()),
        }));
    }

    /// Ends the incident. The first connection also ends one that an earlier gateway left open.
    pub(crate) fn is_over(&mut self, how: Resolution, at: SystemTime) {
        let is_up = matches!(how, Resolution::Reconnected | Resolution::Answered);
        let first = is_up && !self.was_up;
        self.was_up = is_up;
        if self.down.take().is_some() || first {
            self.tally.send_replace(Arc::new(Tally::new()));
            let upstream = self.upstream.clone();
            self.history.send(HistoryMessage::IncidentEnded { upstream, how, at: millis(at) });
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
            recorder.current_tally().affect().end(super::super::CallEnd::Unknown);
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
}
