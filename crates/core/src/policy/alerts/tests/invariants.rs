//! Invariants of the alert rules under any sequence of events.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// An input of the rules.
#[derive(Clone, Debug)]
enum Event {
    Link(usize, UpstreamState),
    GaveUp(bool),
    Restart(u64, Option<Option<Code>>),
    Act(TrayAction),
    Wait(u64),
    Sleep(u64),
    Wake,
    Network,
    Lost,
    Level(NotificationLevel),
    CannotShow(bool),
}

fn codes() -> impl Strategy<Value = Code> {
    prop::sample::select(vec![
        Code::Crashed,
        Code::NotRunning,
        Code::Timeout,
        Code::Starting,
        Code::AuthRequired,
        Code::CrashLoop,
        Code::Quit,
    ])
}

fn links() -> impl Strategy<Value = UpstreamState> {
    prop_oneof![
        4 => Just(connected()),
        6 => (codes(), 0_u32..3).prop_map(|(code, attempts)| down(code, attempts)),
        1 => Just(UpstreamState::Connecting),
        1 => Just(UpstreamState::Paused { since: 1 }),
        1 => Just(UpstreamState::Off),
    ]
}

fn acts() -> impl Strategy<Value = TrayAction> {
    let name = || prop::sample::select(vec![PIECES, NOTES, GITHUB]).prop_map(str::to_owned);
    prop_oneof![
        name().prop_map(TrayAction::Restart),
        prop::option::of(name()).prop_map(TrayAction::Manage),
        name().prop_map(|upstream| TrayAction::Ignore { upstream, until: 1_010 * HOUR }),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    let levels = vec![NotificationLevel::All, NotificationLevel::Problems, NotificationLevel::None];
    prop_oneof![
        12 => (0_usize..3, links()).prop_map(|(which, link)| Event::Link(which, link)),
        8 => (0_u64..4 * MINUTE).prop_map(Event::Wait),
        2 => acts().prop_map(Event::Act),
        1 => (1_u64..5, prop::option::of(prop::option::of(codes())))
            .prop_map(|(number, end)| Event::Restart(number, end)),
        1 => any::<bool>().prop_map(Event::GaveUp),
        1 => (0_u64..9 * HOUR).prop_map(Event::Sleep),
        1 => Just(Event::Wake),
        1 => Just(Event::Network),
        1 => Just(Event::Lost),
        1 => prop::sample::select(levels).prop_map(Event::Level),
        1 => any::<bool>().prop_map(Event::CannotShow),
    ]
}

/// Checks every order.
struct Checker {
    fixture: Fixture,
    /// What is on the screen.
    screen: BTreeMap<AlertId, Alert>,
    shown: Vec<(u64, Alert)>,
    muted_until: u64,
    ignored: Vec<(String, u64)>,
}

impl Checker {
    fn apply(&mut self, event: Event) {
        let now = self.fixture.now;
        let status = &mut self.fixture.status;
        match event {
            Event::Link(which, link) => status.upstreams[which].link = link,
            Event::GaveUp(gave_up) => {
                status.upstreams[0].app.as_mut().unwrap().gave_up = gave_up;
            }
            Event::Restart(number, end) => {
                let end = end.map(|code| RestartResult { at: 2, failure: code.map(failure) });
                let restart = RestartProgress { number, began: 1, steps: vec![], end };
                status.upstreams[0].app.as_mut().unwrap().restart = Some(restart);
            }
            Event::Act(act) => {
                if let TrayAction::Ignore { upstream, until } = &act {
                    self.ignored
                        .push((upstream.clone(), now.awake + until.saturating_sub(now.wall)));
                }
                let orders = self.fixture.alerts.act(&act, now);
                return self.check(orders);
            }
            Event::Wait(time) => return self.wait(time),
            Event::Sleep(time) => {
                self.fixture.now.wall += time;
                if time >= 30 * SECOND {
                    self.mute();
                }
                let orders = self.fixture.alerts.evaluate(self.fixture.now);
                return self.check(orders);
            }
            Event::Wake => {
                status.muted_until = Some(now.wall + 45 * SECOND);
                self.mute();
            }
            Event::Network => {
                self.mute();
                let orders = self.fixture.alerts.network_changed(now);
                return self.check(orders);
            }
            Event::Lost => {
                let orders = self.fixture.alerts.gateway_lost(&failure(Code::ConnectionLost), now);
                return self.check(orders);
            }
            Event::Level(level) => status.tray.notifications = level,
            Event::CannotShow(cannot_show) => {
                self.fixture.cannot_show = cannot_show;
                return;
            }
        }
        let orders = self.fixture.alerts.observe(&self.fixture.status, now);
        self.check(orders);
        if self.fixture.status.tray.notifications == NotificationLevel::None {
            assert!(self.screen.is_empty(), "notifications are off");
        }
    }

    fn mute(&mut self) {
        self.muted_until = self.fixture.now.awake + 45 * SECOND;
    }

    fn wait(&mut self, time: u64) {
        let end = self.fixture.now.awake + time;
        while let Some(next) = self.fixture.alerts.next_evaluation(self.fixture.now) {
            assert!(next > 0);
            if self.fixture.now.awake + next > end {
                break;
            }
            self.fixture.pass(next);
            let orders = self.fixture.alerts.evaluate(self.fixture.now);
            self.check(orders);
        }
        self.fixture.pass(end - self.fixture.now.awake);
        assert_eq!(self.fixture.alerts.evaluate(self.fixture.now), [], "nothing is overdue");
    }

    fn check(&mut self, orders: Vec<AlertCommand>) {
        let (now, muted) = (self.fixture.now.awake, self.fixture.now.awake < self.muted_until);
        self.fixture.done(orders.clone());
        for order in orders {
            match order {
                AlertCommand::Show(id, notice) => {
                    assert!(!muted, "shown while muted: {notice:?}");
                    assert!(!notice.title.ends_with("back"), "a recovery only replaces an alert");
                    self.check_not_ignored(&notice);
                    self.check_rate(&notice);
                    if !self.fixture.cannot_show {
                        assert!(self.screen.insert(id, notice.clone()).is_none());
                    }
                    self.shown.push((now, notice));
                }
                AlertCommand::Replace(id, notice) => {
                    assert!(!muted, "replaced while muted: {notice:?}");
                    assert!(
                        self.screen.insert(id, notice).is_some(),
                        "it replaces an alert on the screen"
                    );
                }
                AlertCommand::Withdraw(id) => assert!(self.screen.remove(&id).is_some()),
            }
        }
        self.check_screen();
    }

    /// At most four alerts and one summary in an hour, and one per upstream and kind in ten minutes.
    fn check_rate(&self, notice: &Alert) {
        let now = self.fixture.now.awake;
        let is_summary = |notice: &Alert| notice.title.starts_with("Several");
        let recent = self.shown.iter().filter(|(at, _)| now - at < HOUR);
        let (summaries, others): (Vec<_>, Vec<_>) =
            recent.partition(|(_, other)| is_summary(other));
        let before = if is_summary(notice) { (summaries.len(), 1) } else { (others.len(), 4) };
        assert!(before.0 < before.1, "{} in an hour", before.0 + 1);
        if let [_] = notice.about.as_slice() {
            let same = others
                .iter()
                .filter(|(at, other)| now - at < 10 * MINUTE && other.title == notice.title);
            assert_eq!(same.count(), 0, "{} twice in ten minutes", notice.title);
        }
    }

    fn check_not_ignored(&self, notice: &Alert) {
        let now = self.fixture.now.awake;
        let ignored =
            |name: &String| self.ignored.iter().any(|(own, until)| own == name && now < *until);
        assert!(!notice.about.iter().any(ignored), "{notice:?} is ignored");
    }

    /// No alert on the screen contradicts the state of its upstreams.
    fn check_screen(&self) {
        for notice in self.screen.values().filter(|notice| !notice.about.is_empty()) {
            let back = notice.title.ends_with("is back") || notice.title.ends_with("are back");
            for name in notice.about.iter().filter(|name| !name.is_empty()) {
                let upstreams = &self.fixture.status.upstreams;
                let link = &upstreams.iter().find(|upstream| upstream.name == *name).unwrap().link;
                let connected = matches!(link, UpstreamState::Connected { .. });
                let connecting = matches!(link, UpstreamState::Connecting);
                let muted = self.fixture.now.awake < self.muted_until;
                assert!(back == connected || connecting || muted, "{notice:?} while {link:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn alerts_are_rare_well_timed_and_true(
        events in prop::collection::vec(events(), 1..120),
    ) {
        let mut checker = Checker {
            fixture: Fixture::new(),
            screen: BTreeMap::new(),
            shown: Vec::new(),
            muted_until: 0,
            ignored: Vec::new(),
        };
        for event in events {
            checker.apply(event);
        }
    }
}
