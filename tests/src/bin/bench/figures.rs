//! What is measured, the goals, and the results.

use std::collections::BTreeMap;

use crate::routes::{BARE_SHIM, EVERMOOR, MCP_PROXY, RELAY};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Figure {
    HttpP50,
    HttpP95,
    HttpP99,
    Processor,
    CallsPerSecond,
    HttpLarge,
    LargePerSecond,
    ShimP50,
    ShimP99,
    ShimLarge,
    ShimLargePerSecond,
    ShimMemory,
    RestingMemory,
    LoadedMemory,
    Start,
    OneSession,
    ManySessions,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// At most this many times the figure of another route.
    AtMost(f64, &'static str),
    /// At least this share of the figure of another route.
    AtLeast(f64, &'static str),
    /// At most this.
    Limit(f64),
    /// At most this many times another figure of the same route.
    Within(f64, Figure),
}

impl Figure {
    pub(crate) const ALL: [Self; 17] = [
        Self::HttpP50,
        Self::HttpP95,
        Self::HttpP99,
        Self::Processor,
        Self::CallsPerSecond,
        Self::HttpLarge,
        Self::LargePerSecond,
        Self::ShimP50,
        Self::ShimP99,
        Self::ShimLarge,
        Self::ShimLargePerSecond,
        Self::ShimMemory,
        Self::RestingMemory,
        Self::LoadedMemory,
        Self::Start,
        Self::OneSession,
        Self::ManySessions,
    ];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::HttpP50 => "HTTP, 100 B, p50",
            Self::HttpP95 => "HTTP, 100 B, p95",
            Self::HttpP99 => "HTTP, 100 B, p99",
            Self::Processor => "CPU per 10,000 calls",
            Self::CallsPerSecond => "calls/s, 64 at once",
            Self::HttpLarge => "HTTP, 1 MB, p50",
            Self::LargePerSecond => "calls/s of 1 MB, 16 at once",
            Self::ShimP50 => "stdio, 100 B, p50",
            Self::ShimP99 => "stdio, 100 B, p99",
            Self::ShimLarge => "stdio, 1 MB, p50",
            Self::ShimLargePerSecond => "stdio, calls/s of 1 MB, 16 at once",
            Self::ShimMemory => "a shim, RSS",
            Self::RestingMemory => "RSS at rest",
            Self::LoadedMemory => "RSS after the load and a rest",
            Self::Start => "start to the first answer",
            Self::OneSession => "HTTP, 100 B, p50, with one session open",
            Self::ManySessions => "HTTP, 100 B, p50, with 1,000 sessions open",
        }
    }

    /// Whether the route of this figure is a shim.
    pub(crate) fn is_stdio(self) -> bool {
        matches!(
            self,
            Self::ShimP50
                | Self::ShimP99
                | Self::ShimLarge
                | Self::ShimLargePerSecond
                | Self::ShimMemory
        )
    }

    fn goals(self) -> &'static [Goal] {
        match self {
            Self::HttpP50 => &[Goal::AtMost(1.5, RELAY)],
            Self::HttpP95 => &[Goal::AtMost(2.0, RELAY)],
            Self::HttpP99 => &[Goal::AtMost(2.5, RELAY)],
            Self::Processor => &[Goal::Limit(0.45), Goal::AtMost(2.2, RELAY)],
            Self::CallsPerSecond => &[Goal::AtLeast(0.5, RELAY), Goal::AtLeast(2.5, MCP_PROXY)],
            Self::HttpLarge => &[Goal::AtMost(1.2, RELAY)],
            Self::LargePerSecond => &[Goal::AtLeast(0.8, RELAY)],
            Self::ShimP50 => &[Goal::AtMost(1.6, BARE_SHIM)],
            Self::ShimP99 => &[Goal::AtMost(3.0, BARE_SHIM)],
            Self::ShimLarge | Self::ShimMemory => &[Goal::AtMost(1.3, BARE_SHIM)],
            Self::ShimLargePerSecond | Self::OneSession => &[],
            Self::RestingMemory => &[Goal::Limit(14.0)],
            Self::LoadedMemory => &[Goal::Within(1.5, Self::RestingMemory)],
            Self::Start => &[Goal::Limit(10.0)],
            Self::ManySessions => &[Goal::Within(1.1, Self::OneSession)],
        }
    }

    /// A value with its unit.
    pub(crate) fn shown(self, value: f64) -> String {
        match self {
            Self::Processor => format!("{value:.2} s"),
            Self::CallsPerSecond | Self::LargePerSecond | Self::ShimLargePerSecond => {
                thousands(value)
            }
            Self::ShimMemory | Self::RestingMemory | Self::LoadedMemory => format!("{value:.1} MB"),
            Self::Start => format!("{value:.1} ms"),
            Self::HttpLarge | Self::ShimLarge => format!("{value:.2} ms"),
            Self::HttpP50
            | Self::HttpP95
            | Self::HttpP99
            | Self::ShimP50
            | Self::ShimP99
            | Self::OneSession
            | Self::ManySessions => format!("{value:.3} ms"),
        }
    }
}

fn thousands(value: f64) -> String {
    let whole = format!("{value:.0}");
    let groups: Vec<&str> = whole
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// The values of all repetitions.
#[derive(Default)]
pub(crate) struct Results {
    values: BTreeMap<(Figure, &'static str), Vec<f64>>,
}

impl Results {
    pub(crate) fn record(&mut self, figure: Figure, route: &'static str, value: f64) {
        self.values.entry((figure, route)).or_default().push(value);
    }

    /// The median of the repetitions.
    pub(crate) fn median(&self, figure: Figure, route: &'static str) -> Option<f64> {
        self.values.get(&(figure, route)).map(|values| median(values))
    }

    /// The goals, and what was reached in their terms. Leaves out a goal whose floor was not measured.
    pub(crate) fn against_goals(&self, figure: Figure) -> (String, String) {
        let judged = figure.goals().iter().filter_map(|goal| self.against_goal(figure, *goal));
        let (goals, reached): (Vec<_>, Vec<_>) = judged.unzip();
        (goals.join(", "), reached.join(", "))
    }

    fn against_goal(&self, figure: Figure, goal: Goal) -> Option<(String, String)> {
        let ours = self.median(figure, EVERMOOR)?;
        let ratio = |floor: Option<f64>| Some(format!("{:.2} ×", ours / floor?));
        match goal {
            Goal::AtMost(times, floor) => {
                Some((format!("≤ {times} × {floor}"), ratio(self.median(figure, floor))?))
            }
            Goal::AtLeast(times, floor) => {
                Some((format!("≥ {times} × {floor}"), ratio(self.median(figure, floor))?))
            }
            Goal::Limit(most) => Some((format!("≤ {most} {}", unit(figure)), figure.shown(ours))),
            Goal::Within(times, other) => {
                let base = ratio(self.median(other, EVERMOOR))?;
                Some((format!("≤ {times} × {}", other.label()), base))
            }
        }
    }
}

fn unit(figure: Figure) -> &'static str {
    if figure == Figure::Start {
        "ms"
    } else if figure == Figure::Processor {
        "s"
    } else {
        "MB"
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    share(values, 0.5)
}

/// The value below which this share of the values is.
pub(crate) fn share(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
