//! Lengths of time and the tooltip, in words.

use evermoor_client::Presence;
use evermoor_core::api::{UpstreamState, UpstreamStatus};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How things are, in one sentence.
pub(crate) fn sentence(presence: &Presence) -> &str {
    match presence {
        Presence::Starting => "Evermoor is starting",
        Presence::Serving { status } => &status.sentence,
        Presence::Lost { .. } => "Evermoor cannot start",
    }
}

/// What the icon says when somebody points at it.
pub(crate) fn tooltip(presence: &Presence) -> String {
    let Presence::Serving { status } = presence else {
        return format!("Evermoor – {}", sentence(presence));
    };
    let on: Vec<&UpstreamStatus> = status.upstreams.iter().filter(|one| !one.is_off()).collect();
    let connected =
        on.iter().filter(|one| matches!(one.link, UpstreamState::Connected { .. })).count();
    match on.len() {
        0 => format!("Evermoor – {}", status.sentence),
        1 if connected == 1 => "Evermoor – 1 app connected".into(),
        all if all == connected => format!("Evermoor – all {all} apps connected"),
        all => format!("Evermoor – {connected} of {all} apps connected"),
    }
}

/// Since when an upstream is connected, and what it offers.
pub(super) fn connected(upstream: &UpstreamStatus, since: u64, now: u64) -> String {
    let tools = match upstream.tools {
        0 => "no tools".into(),
        _ => upstream.tool_count(),
    };
    format!("Connected {} · {tools}", lasting(now.saturating_sub(since)))
}

fn lasting(time: u64) -> String {
    match time {
        ..MINUTE => "just now".into(),
        MINUTE..HOUR => format!("for {} min", time / MINUTE),
        HOUR..DAY => format!("for {} h", time / HOUR),
        _ if time < 2 * DAY => "for 1 day".into(),
        _ => format!("for {} days", time / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_told_in_its_largest_unit() {
        let told: Vec<String> =
            [0, MINUTE - 1, MINUTE, 59 * MINUTE, HOUR, 25 * HOUR, 50 * HOUR].map(lasting).into();
        let wanted = [
            "just now",
            "just now",
            "for 1 min",
            "for 59 min",
            "for 1 h",
            "for 1 day",
            "for 2 days",
        ];
        assert_eq!(told, wanted);
    }
}
