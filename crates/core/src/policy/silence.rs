//! What to do about an upstream that sends nothing: wait, ping it, show it, or replace its connection.
//!
//! # Theory of operation
//! An idle upstream must answer a ping. During a call, silence means one of two things: the upstream
//! hangs, or it does one thing at a time and is busy. From outside they look the same, so what decides
//! is whether the upstream is [`concurrent`](Concurrency). Over HTTP it is presumed to be until it was
//! seen not to be, over pipes the other way round. A concurrent upstream that stays silent for
//! [`LONGEST_SILENCE`] hangs: its calls end and its connection is replaced. One that is known to do one
//! thing at a time is never cut off. One that is only presumed to is cut off if its process is stopped,
//! because a stopped process is not busy. Processor time is no evidence: a server that waits for
//! another one uses none.

use std::time::Duration;

use crate::config::{KeepaliveConfig, UpstreamConfig};

/// What is known about whether an upstream answers a ping while it works on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// What the configuration or the preset says.
    pub configured: Option<bool>,
    /// What was seen last.
    pub observed: Option<bool>,
    /// What is presumed of its transport.
    pub presumed: bool,
}

/// When an upstream is pinged, and for how long it may stay silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The longest silence without a ping while no call is in flight; `None` if it is not pinged then.
    pub idle_interval: Option<Duration>,
    /// The same during calls.
    pub busy_interval: Option<Duration>,
    /// How long the answer to a ping may take.
    pub patience: Duration,
    /// The longest silence during calls.
    pub longest_silence: Duration,
}

/// An upstream at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// How long it has sent nothing.
    pub silent: Duration,
    /// How long its oldest call has been in flight.
    pub oldest_call: Option<Duration>,
    /// How long there have been no calls, if it was ever called.
    pub idle: Option<Duration>,
    /// How long ago the last ping was sent, if none of the pings was answered.
    pub pinged: Option<Duration>,
    /// The machine slept, and the connection may not have survived.
    pub woke: bool,
    /// Its process is stopped by a signal or a debugger.
    pub stopped: bool,
    pub concurrency: Concurrency,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing for this long, unless it sends something.
    Wait(Duration),
    /// Forget the ping: it has sent something since.
    Alive,
    Ping,
    /// Show that it does not answer, and do nothing more until it sends something.
    Silent,
    /// Show that it does not answer, and ping it again.
    PingAgain,
    /// Replace the connection. The calls in flight get no answer.
    Replace,
}

/// The longest silence during calls. Together with the time that a new connection takes, a call to a
/// server that hangs ends within 45 s.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(40);
/// The interval and the patience for a local and for a remote upstream. Their sum is how long a
/// frozen upstream goes unnoticed: 20 s.
const LOCAL: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));
const REMOTE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));
/// The longest interval during calls.
const BUSY_INTERVAL: Duration = Duration::from_secs(15);
/// After a wake-up, a dead connection must be replaced quickly.
const WAKE_PATIENCE: Duration = Duration::from_secs(2);
/// How many pings an upstream with a configured interval may miss during calls.
const MAX_MISSED: u32 = 3;

impl Concurrency {
    /// What is known of an upstream with this entry. `preset` is what its preset says.
    pub fn of(config: &UpstreamConfig, preset: Option<bool>, observed: Option<bool>) -> Self {
        // A configured interval means that the user expects answers to pings.
        let configured_pings = matches!(config.keepalive, KeepaliveConfig::Every(_));
        Self {
            configured: config.concurrent.or(preset),
            observed,
            presumed: configured_pings || !config.transport.is_stdio(),
        }
    }

    fn is_concurrent(self) -> bool {
        self.known().unwrap_or(self.presumed)
    }

    /// Whether it is known to do two things at once, or known not to.
    fn known(self) -> Option<bool> {
        self.configured.or(self.observed)
    }
}

impl Timing {
    pub fn of(config: &UpstreamConfig) -> Self {
        let (interval, patience) = if config.transport.is_local() { LOCAL } else { REMOTE };
        let usual = Self {
            idle_interval: Some(interval),
            busy_interval: Some(interval),
            patience,
            longest_silence: LONGEST_SILENCE,
        };
        match config.keepalive {
            // A process that exits is noticed at once, so it is pinged only during calls.
            KeepaliveConfig::Usual if config.transport.is_stdio() => {
                Self { idle_interval: None, ..usual }
            }
            KeepaliveConfig::Usual => usual,
            KeepaliveConfig::Every(interval) => {
                let busy = interval.min(BUSY_INTERVAL);
                let patience = patience.min((LONGEST_SILENCE - busy) / MAX_MISSED);
                Self {
                    idle_interval: Some(interval),
                    busy_interval: Some(busy),
                    patience,
                    longest_silence: busy + patience * MAX_MISSED,
                }
            }
            KeepaliveConfig::Never => Self { idle_interval: None, busy_interval: None, ..usual },
        }
    }
}

impl Situation {
    pub fn next_step(self, timing: Timing) -> Step {
        // A call that has just begun to wait says nothing about the silence before it.
        let silence = self.oldest_call.map_or(self.silent, |age| age.min(self.silent));
        let interval = match self.oldest_call {
            Some(_) => timing.busy_interval,
            None => timing.idle_interval,
        };
        let Some(pinged) = self.pinged else {
            return match interval {
                _ if self.woke => Step::Ping,
                Some(interval) if silence >= interval => Step::Ping,
                Some(interval) => Step::Wait(interval - silence),
                None => Step::Wait(Duration::MAX),
            };
        };
        if self.silent < pinged {
            return Step::Alive;
        }
        let patience = if self.woke { WAKE_PATIENCE } else { timing.patience };
        if self.oldest_call.is_none() {
            // Before that, it may have been busy.
            let unanswered = self.idle.map_or(pinged, |idle| idle.min(pinged));
            return match patience.checked_sub(unanswered) {
                Some(left) if !left.is_zero() => Step::Wait(left),
                Some(_) | None => Step::Replace,
            };
        }
        match patience.checked_sub(pinged) {
            Some(left) if !left.is_zero() => return Step::Wait(left),
            Some(_) | None => {}
        }
        let known_serial = self.concurrency.known() == Some(false);
        let may_cut_off = self.concurrency.is_concurrent() || (self.stopped && !known_serial);
        match may_cut_off {
            true if self.woke || silence >= timing.longest_silence => Step::Replace,
            true => Step::PingAgain,
            // The end of the call, or a stopped process, is found out without another ping.
            false => Step::Silent,
        }
    }
}

/// A ping that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredPing {
    pub took: Duration,
    /// A call was in flight when it was sent.
    pub sent_during_call: bool,
    /// One of those calls is still in flight.
    pub answered_during_call: bool,
}

impl AnsweredPing {
    /// Whether the upstream does two things at once, if this shows it.
    pub fn shows(self, timing: Timing) -> Option<bool> {
        match self {
            Self { answered_during_call: true, .. } => Some(true),
            Self { sent_during_call: true, took, .. } if took >= timing.patience => Some(false),
            Self { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const HTTP: &str = "url = \"http://127.0.0.1:1/mcp\"";
    const REMOTE_HTTP: &str = "url = \"https://example.com/mcp\"";
    const PROGRAM: &str = "command = \"x\"";

    fn entry(settings: &str) -> UpstreamConfig {
        let mut config = Config::parse(&format!("[upstreams.a]\n{settings}\n")).unwrap();
        config.upstreams.remove(0)
    }

    fn concurrency(settings: &str, observed: Option<bool>) -> Concurrency {
        Concurrency::of(&entry(settings), None, observed)
    }

    /// What happens to an upstream that never sends anything after its only call began, second by
    /// second: when it is pinged, and when its connection is replaced.
    fn silent_call(
        settings: &str,
        observed: Option<bool>,
        stopped: bool,
    ) -> (Vec<u64>, Option<u64>) {
        let (timing, concurrency) = (Timing::of(&entry(settings)), concurrency(settings, observed));
        let (mut pings, mut last) = (Vec::new(), None);
        for second in 0..2000 {
            let now = Duration::from_secs(second);
            let situation = Situation {
                silent: now + Duration::from_secs(100),
                oldest_call: Some(now),
                idle: None,
                pinged: last.map(|last| now - last),
                woke: false,
                stopped,
                concurrency,
            };
            match situation.next_step(timing) {
                Step::Ping | Step::PingAgain => {
                    pings.push(second);
                    last = Some(now);
                }
                Step::Replace => return (pings, Some(second)),
                Step::Wait(_) | Step::Silent | Step::Alive => {}
            }
        }
        (pings, None)
    }

    #[test]
    fn a_call_to_a_silent_server_over_http_ends_within_45_s() {
        assert_eq!(silent_call(HTTP, None, false), (vec![15, 20, 25, 30, 35], Some(40)));
        assert_eq!(silent_call(REMOTE_HTTP, None, false), (vec![10, 20, 30], Some(40)));
        let often = format!("{HTTP}\nkeepalive_interval = 1");
        assert_eq!(silent_call(&often, None, false), (vec![1, 6, 11], Some(16)));
        let rarely = format!("{REMOTE_HTTP}\nkeepalive_interval = \"1h\"");
        assert!(silent_call(&rarely, None, false).1.is_some_and(|second| second <= 45));
    }

    #[test]
    fn a_program_is_presumed_to_do_one_thing_at_a_time() {
        assert_eq!(silent_call(PROGRAM, None, false), (vec![15], None));
        assert_eq!(silent_call(PROGRAM, Some(true), false).1, Some(40));
        let concurrent = format!("{PROGRAM}\nconcurrent = true");
        assert_eq!(silent_call(&concurrent, None, false).1, Some(40));
        let pinged = format!("{PROGRAM}\nkeepalive_interval = 1");
        assert_eq!(silent_call(&pinged, None, false).1, Some(16));
    }

    #[test]
    fn a_stopped_process_is_not_busy() {
        assert_eq!(silent_call(PROGRAM, None, true).1, Some(40));
    }

    #[test]
    fn a_server_that_is_known_to_do_one_thing_at_a_time_is_never_cut_off() {
        for server in [HTTP, REMOTE_HTTP, PROGRAM] {
            for stopped in [false, true] {
                assert_eq!(silent_call(server, Some(false), stopped).1, None);
                let configured = format!("{server}\nconcurrent = false");
                for observed in [None, Some(true), Some(false)] {
                    assert_eq!(silent_call(&configured, observed, stopped).1, None);
                }
            }
        }
    }

    #[test]
    fn the_configuration_overrides_the_preset_and_both_override_what_was_seen() {
        let known = |settings: &str, preset, observed| {
            Concurrency::of(&entry(settings), preset, observed).is_concurrent()
        };
        assert!(known(HTTP, None, None) && !known(HTTP, None, Some(false)));
        assert!(known(HTTP, Some(true), Some(false)));
        assert!(!known(&format!("{HTTP}\nconcurrent = false"), Some(true), Some(true)));
    }

    #[test]
    fn a_call_that_has_just_begun_is_not_blamed_for_the_silence_before_it() {
        let situation = Situation {
            silent: Duration::from_secs(3600),
            oldest_call: Some(Duration::from_secs(1)),
            idle: None,
            pinged: None,
            woke: false,
            stopped: false,
            concurrency: concurrency(HTTP, None),
        };
        let step = situation.next_step(Timing::of(&entry(HTTP)));
        assert_eq!(step, Step::Wait(Duration::from_secs(14)));
    }

    #[test]
    fn progress_counts_as_life() {
        let situation = |silent| Situation {
            silent: Duration::from_secs(silent),
            oldest_call: Some(Duration::from_secs(500)),
            idle: None,
            pinged: Some(Duration::from_secs(5)),
            woke: false,
            stopped: false,
            concurrency: concurrency(HTTP, None),
        };
        let timing = Timing::of(&entry(HTTP));
        assert_eq!(situation(4).next_step(timing), Step::Alive);
        assert_eq!(situation(39).next_step(timing), Step::PingAgain);
        assert_eq!(situation(40).next_step(timing), Step::Replace);
    }

    #[test]
    fn an_idle_server_must_answer_a_ping_also_after_it_was_busy() {
        let timing = Timing::of(&entry(HTTP));
        let situation = |idle| Situation {
            silent: Duration::from_secs(100),
            oldest_call: None,
            idle,
            pinged: Some(Duration::from_secs(60)),
            woke: false,
            stopped: false,
            concurrency: concurrency(HTTP, Some(false)),
        };
        assert_eq!(situation(None).next_step(timing), Step::Replace);
        let step = situation(Some(Duration::from_secs(2))).next_step(timing);
        assert_eq!(step, Step::Wait(Duration::from_secs(3)), "its call has just ended");
        assert_eq!(situation(Some(Duration::from_secs(5))).next_step(timing), Step::Replace);
    }

    #[test]
    fn a_wake_up_replaces_a_connection_quickly_but_cuts_off_no_busy_server() {
        let woken = |settings: &str, oldest_call, pinged| {
            let situation = Situation {
                silent: Duration::from_secs(60),
                oldest_call,
                idle: None,
                pinged,
                woke: true,
                stopped: false,
                concurrency: concurrency(settings, None),
            };
            situation.next_step(Timing::of(&entry(settings)))
        };
        let (second, two) = (Duration::from_secs(1), Some(Duration::from_secs(2)));
        assert_eq!(woken(HTTP, None, None), Step::Ping);
        assert_eq!(woken(HTTP, None, Some(second)), Step::Wait(second));
        assert_eq!(woken(HTTP, None, two), Step::Replace);
        assert_eq!(woken(HTTP, Some(second), two), Step::Replace);
        assert_eq!(woken(PROGRAM, Some(second), two), Step::Silent);
    }

    #[test]
    fn pings_that_are_off_stay_off() {
        let never = format!("{HTTP}\nkeepalive_interval = 0");
        assert_eq!(silent_call(&never, None, false), (vec![], None));
    }

    #[test]
    fn an_answer_during_a_call_shows_a_concurrent_server_and_one_after_it_a_serial_one() {
        let timing = Timing::of(&entry(HTTP));
        let shows = |took, sent_during_call, answered_during_call| {
            let took = Duration::from_secs(took);
            AnsweredPing { took, sent_during_call, answered_during_call }.shows(timing)
        };
        assert_eq!(shows(1, true, true), Some(true));
        assert_eq!(shows(9, true, true), Some(true));
        assert_eq!(shows(9, true, false), Some(false));
        assert_eq!(shows(1, true, false), None, "the call may just have ended");
        assert_eq!(shows(9, false, false), None);
    }
}
