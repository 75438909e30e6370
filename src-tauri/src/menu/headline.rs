//! The headline, the tooltip, and durations as text.

use evermoor_client::Presence;
use evermoor_core::api::{UpstreamState, UpstreamStatus};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The current state in one sentence.
pub(crate) fn sentence(presence: &Presence) -> &str {
    match presence {
        Presence::Starting => "Evermoor is starting",
        Presence::Serving { status } => &status.sentence,
        Presence::Lost { .. } => "Evermoor cannot start",
        Presence::Stopped => "Evermoor is stopped",
    }
}

/// The icon's tooltip.
pub(crate) fn tooltip(presence: &Presence) -> String {
    let Presence::Serving { status } = presence else {
        return sentence(presence).to_owned();
    };
    let on: Vec<&UpstreamStatus> = status.upstreams.iter().filter(|one| !one.is_off()).collect();
    let connected =
        on.iter().filter(|one| matches!(one.link, UpstreamState::Connected { .. })).count();
    match on.len() {
        0 => format!("Evermoor – {}", status.sentence),
        1 if connected == 1 => "Evermoor – 1 server connected".into(),
        all if all == connected => format!("Evermoor – all {all} servers connected"),
        all => format!("Evermoor – {connected} of {all} servers connected"),
    }
}

/// How long an upstream has been connected, and how many tools it has.
pub(super) fn connected(upstream: &UpstreamStatus, since: u64, now: u64) -> String {
    let tools = match upstream.tools {
        0 => "no tools".into(),
        _ => upstream.tool_count(),
    };
    format!("Connected {} · {tools}", duration(now.saturating_sub(since)))
}

fn duration(time: u64) -> String {
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
    fn a_duration_is_shown_in_its_largest_unit() {
        let shown: Vec<String> =
            [0, MINUTE - 1, MINUTE, 59 * MINUTE, HOUR, 25 * HOUR, 50 * HOUR].map(duration).into();
        let wanted = [
            "just now",
            "just now",
            "for 1 min",
            "for 59 min",
            "for 1 h",
            "for 1 day",
            "for 2 days",
        ];
        assert_eq!(shown, wanted);
    }
}
