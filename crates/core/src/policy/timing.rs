//! Which connections to suspect, and when to slow down: pure rules that take the time as an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

/// Exits that come faster than this are a crash loop.
const LOOP_WINDOW: Duration = Duration::from_secs(60);
const LOOP_EXITS: usize = 5;
/// A program that has run for this long is forgiven.
const FORGIVEN: Duration = Duration::from_secs(600);
/// In a crash loop one attempt is made this often, for ever.
pub const SLOW_LANE: Duration = Duration::from_secs(60);

/// Counts how often a program ends, and says when it ends too often.
#[derive(Debug, Default)]
pub struct CrashLoop {
    exits: VecDeque<Instant>,
    looping: bool,
}

impl CrashLoop {
    /// The program ended at `now` after running for `lived`. Says whether it is in a crash loop.
    pub fn ended(&mut self, now: Instant, lived: Duration) -> bool {
        if lived >= FORGIVEN {
            self.exits.clear();
            self.looping = false;
        }
        self.exits.push_back(now);
        while self.exits.front().is_some_and(|exit| now.duration_since(*exit) > LOOP_WINDOW) {
            self.exits.pop_front();
        }
        self.looping |= self.exits.len() >= LOOP_EXITS;
        self.looping
    }
}

/// Notices that time has passed that this process did not see: the machine slept.
#[derive(Clone, Copy, Debug)]
pub struct SleepWatch {
    seen: (Instant, SystemTime),
}

/// A wall clock that ran ahead of the steady one by less is being adjusted, not woken.
const JUMP: Duration = Duration::from_secs(3);

impl SleepWatch {
    pub fn new(now: Instant, wall: SystemTime) -> Self {
        Self { seen: (now, wall) }
    }

    /// Looks at both clocks, and says how long the machine slept since the last look, if it did.
    /// `expected` is how long after the last look this one was to happen.
    pub fn look(&mut self, now: Instant, wall: SystemTime, expected: Duration) -> Option<Duration> {
        let (then, then_wall) = std::mem::replace(&mut self.seen, (now, wall));
        let steady = now.duration_since(then);
        let passed = wall.duration_since(then_wall).unwrap_or(steady).max(steady);
        let slept = passed.saturating_sub(expected);
        (slept >= JUMP).then_some(slept)
    }
}

/// Counts each sleep once, whoever tells of it first: the clocks, or the system itself.
#[derive(Clone, Copy, Debug)]
pub struct Sleeps {
    clocks: SleepWatch,
    /// The last wake that was counted, unless the machine is known to have gone to sleep since.
    woke: Option<(Instant, Teller)>,
}

/// Who told of a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Teller {
    Clocks,
    System,
}

/// What the system and the clocks tell within this time is about the same sleep.
const SAME_SLEEP: Duration = Duration::from_secs(10);

impl Sleeps {
    pub fn new(now: Instant, wall: SystemTime) -> Self {
        Self { clocks: SleepWatch::new(now, wall), woke: None }
    }

    /// The system says that it is about to sleep: whatever is told next is about this sleep.
    pub fn begins(&mut self) {
        self.woke = None;
    }

    /// The system says that it woke. Says whether that is news.
    pub fn woke(&mut self, now: Instant, wall: SystemTime) -> bool {
        // What the clocks could tell of this sleep has been told.
        self.clocks = SleepWatch::new(now, wall);
        let news = self.woke.is_none_or(|(then, _)| now.duration_since(then) >= SAME_SLEEP);
        if news {
            self.woke = Some((now, Teller::System));
        }
        news
    }

    /// Looks at both clocks, as [`SleepWatch::look`]. Says how long the machine slept if that is
    /// news.
    pub fn look(&mut self, now: Instant, wall: SystemTime, expected: Duration) -> Option<Duration> {
        let slept = self.clocks.look(now, wall, expected)?;
        let told = self.woke.is_some_and(|(then, teller)| {
            // Two jumps of the clocks are two sleeps; a wall clock may be put right a moment late.
            teller == Teller::System && now.duration_since(then) < SAME_SLEEP
        });
        if told {
            return None;
        }
        self.woke = Some((now, Teller::Clocks));
        Some(slept)
    }
}

/// A moment after which something is too late, on whichever clock gets there first.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    pub steady: Instant,
    pub wall: SystemTime,
}

impl Deadline {
    pub fn after(now: Instant, wall: SystemTime, wait: Duration) -> Self {
        Self { steady: now + wait, wall: wall + wait }
    }

    pub fn passed(&self, now: Instant, wall: SystemTime) -> bool {
        now >= self.steady || wall >= self.wall
    }
}

/// How long a server asked to be left alone (`Retry-After`), in seconds or until a date.
/// Nobody is believed who asks for more than `most`; nonsense is no answer.
pub fn retry_after(header: &str, wall: SystemTime, most: Duration) -> Option<Duration> {
    let asked = match header.trim().parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => http_date(header.trim())?.duration_since(wall).unwrap_or_default(),
    };
    Some(asked.min(most))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that may still be sent.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    humantime::parse_rfc3339(&format!("{year}-{month:02}-{day}T{time}Z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> (Instant, SystemTime) {
        #[expect(clippy::disallowed_methods, reason = "any moment will do to count from")]
        (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn five_exits_in_a_minute_are_a_crash_loop_and_four_are_not() {
        let (now, _) = start();
        let mut exits = CrashLoop::default();
        let looping: Vec<bool> = (0..5).map(|n| exits.ended(now + SECOND * n, SECOND)).collect();
        assert_eq!(looping, [false, false, false, false, true]);
    }

    #[test]
    fn a_crash_loop_ends_after_a_long_life_only() {
        let (now, _) = start();
        let mut exits = CrashLoop::default();
        for n in 0..5 {
            exits.ended(now + SECOND * n, SECOND);
        }
        assert!(exits.ended(now + SECOND * 200, SECOND * 100));
        assert!(!exits.ended(now + SECOND * 900, SECOND * 600));
    }

    #[test]
    fn a_wall_clock_that_runs_ahead_means_that_the_machine_slept() {
        let (now, wall) = start();
        let mut watch = SleepWatch::new(now, wall);
        assert_eq!(watch.look(now + SECOND, wall + SECOND, SECOND), None);
        let slept = watch.look(now + SECOND * 2, wall + SECOND * 28_802, SECOND);
        assert_eq!(slept, Some(Duration::from_secs(28_800)));
    }

    #[test]
    fn a_wall_clock_set_back_is_no_sleep_and_passes_no_deadline() {
        let (now, wall) = start();
        let mut watch = SleepWatch::new(now, wall);
        assert_eq!(watch.look(now + SECOND, wall - SECOND * 3600, SECOND), None);
        let deadline = Deadline::after(now, wall, SECOND * 25);
        assert!(!deadline.passed(now + SECOND, wall - SECOND * 3600));
    }

    const NIGHT: Duration = Duration::from_secs(28_800);

    #[test]
    fn a_sleep_counts_once_whoever_tells_of_it_first() {
        let (now, wall) = start();
        let mut sleeps = Sleeps::new(now, wall);
        sleeps.begins();
        assert!(sleeps.woke(now + SECOND, wall + NIGHT));
        assert!(!sleeps.woke(now + SECOND * 2, wall + NIGHT), "some systems say it twice");
        let looked = sleeps.look(now + SECOND * 4, wall + NIGHT + SECOND * 3, SECOND * 2);
        assert_eq!(looked, None);

        let mut sleeps = Sleeps::new(now, wall);
        sleeps.begins();
        assert!(sleeps.look(now + SECOND, wall + NIGHT, SECOND).is_some());
        assert!(!sleeps.woke(now + SECOND * 2, wall + NIGHT + SECOND));
    }

    #[test]
    fn a_wall_clock_that_is_put_right_after_the_notice_is_the_same_sleep() {
        let (now, wall) = start();
        let mut sleeps = Sleeps::new(now, wall);
        assert!(sleeps.woke(now + SECOND, wall + SECOND));
        assert_eq!(sleeps.look(now + SECOND * 3, wall + NIGHT, SECOND * 2), None);
        assert!(sleeps.look(now + SECOND * 5, wall + NIGHT * 2, SECOND * 2).is_none());
        assert!(sleeps.look(now + SECOND * 20, wall + NIGHT * 3, SECOND * 15).is_some());
    }

    #[test]
    fn the_next_sleep_counts_however_soon_it_comes() {
        let (now, wall) = start();
        let mut sleeps = Sleeps::new(now, wall);
        assert!(sleeps.woke(now + SECOND, wall + NIGHT));
        sleeps.begins();
        assert!(sleeps.woke(now + SECOND * 2, wall + NIGHT * 2));
        sleeps.begins();
        assert!(sleeps.look(now + SECOND * 3, wall + NIGHT * 3, SECOND).is_some());
        assert!(sleeps.look(now + SECOND * 4, wall + NIGHT * 4, SECOND).is_some());
    }

    #[test]
    fn a_deadline_passes_on_either_clock() {
        let (now, wall) = start();
        let deadline = Deadline::after(now, wall, SECOND * 25);
        assert!(!deadline.passed(now + SECOND * 24, wall + SECOND * 24));
        assert!(deadline.passed(now + SECOND * 25, wall));
        assert!(deadline.passed(now, wall + SECOND * 28_800));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_within_reason() {
        let wall = humantime::parse_rfc3339("1994-11-06T08:49:30Z").unwrap();
        let most = Duration::from_secs(60);
        assert_eq!(retry_after("2", wall, most), Some(SECOND * 2));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", wall, most), Some(SECOND * 7));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:00:00 GMT", wall, most), Some(Duration::ZERO));
        assert_eq!(retry_after("99999", wall, most), Some(most));
        assert_eq!(retry_after("soon", wall, most), None);
    }
}
