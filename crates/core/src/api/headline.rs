//! The overall state and the sentence about it, for the tray, the dashboard and `evermoor status`.
//!
//! While no gateway answers, the dashboard has its own sentence in `ui/src/lib/view/headline.ts`.

use super::{OverallState, UpstreamState, UpstreamStatus};

pub(super) fn overall(upstreams: &[UpstreamStatus]) -> OverallState {
    if upstreams.iter().any(UpstreamStatus::is_down) {
        OverallState::Degraded
    } else if upstreams.iter().any(|upstream| upstream.link == UpstreamState::Connecting) {
        OverallState::Busy
    } else if !upstreams.is_empty() && upstreams.iter().all(UpstreamStatus::is_paused) {
        OverallState::Paused
    } else {
        OverallState::Healthy
    }
}

/// The rank of an upstream in a list: problems first.
pub(super) fn attention(upstream: &UpstreamStatus) -> u8 {
    match upstream.link {
        UpstreamState::Down { .. } => 0,
        UpstreamState::Connecting => 1,
        UpstreamState::Connected { .. } | UpstreamState::Paused { .. } => 2,
        UpstreamState::Off => 3,
    }
}

pub(super) fn sentence(upstreams: &[UpstreamStatus]) -> String {
    let on: Vec<&UpstreamStatus> = upstreams.iter().filter(|upstream| !upstream.is_off()).collect();
    let down: Vec<&UpstreamStatus> =
        on.iter().filter(|upstream| upstream.is_down()).copied().collect();
    match (down.as_slice(), on.as_slice()) {
        ([], []) if upstreams.is_empty() => "No servers are set up yet".into(),
        ([], []) => "All servers are turned off".into(),
        ([], on) => match on.iter().find(|upstream| upstream.link == UpstreamState::Connecting) {
            Some(upstream) => format!("Connecting to {}", upstream.title),
            None => settled(on),
        },
        ([one], _) => match &one.link {
            UpstreamState::Down { failure, .. } => {
                format!("{} {}", one.title, failure.code.predicate())
            }
            UpstreamState::Off
            | UpstreamState::Connecting
            | UpstreamState::Connected { .. }
            | UpstreamState::Paused { .. } => {
                format!("{} is down", one.title)
            }
        },
        (several, all) => format!("{} of {} servers are down", several.len(), all.len()),
    }
}

/// The sentence if every upstream is connected or paused.
fn settled(upstreams: &[&UpstreamStatus]) -> String {
    let paused: Vec<&&UpstreamStatus> = upstreams.iter().filter(|one| one.is_paused()).collect();
    match (paused.as_slice(), upstreams) {
        ([], [one]) => format!("{} is connected", one.title),
        ([], _) => "Everything is connected".into(),
        ([one], [_]) => format!("{} is paused", one.title),
        (paused, all) if paused.len() == all.len() => {
            format!("All {} servers are paused", all.len())
        }
        ([one], _) => format!("{} is paused; everything else is connected", one.title),
        (paused, _) => {
            format!("{} servers are paused; everything else is connected", paused.len())
        }
    }
}
