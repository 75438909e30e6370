//! The overall state for the tray icon, and the sentence that describes it.

use super::{Link, Overall, Upstream};

pub(super) fn overall(upstreams: &[Upstream]) -> Overall {
    if upstreams.iter().any(Upstream::is_down) {
        Overall::Degraded
    } else if upstreams.iter().any(|upstream| upstream.link == Link::Connecting) {
        Overall::Busy
    } else if !upstreams.is_empty() && upstreams.iter().all(Upstream::is_paused) {
        Overall::Paused
    } else {
        Overall::Healthy
    }
}

pub(super) fn sentence(upstreams: &[Upstream]) -> String {
    let on: Vec<&Upstream> = upstreams.iter().filter(|upstream| !upstream.is_off()).collect();
    let down: Vec<&Upstream> = on.iter().filter(|upstream| upstream.is_down()).copied().collect();
    match (down.as_slice(), on.as_slice()) {
        ([], []) if upstreams.is_empty() => "No servers are set up yet".into(),
        ([], []) => "All servers are turned off".into(),
        ([], on) => match on.iter().find(|upstream| upstream.link == Link::Connecting) {
            Some(upstream) => format!("Connecting to {}", upstream.title),
            None => settled(on),
        },
        ([one], _) => match &one.link {
            Link::Down { failure, .. } => format!("{} {}", one.title, failure.code.predicate()),
            Link::Off | Link::Connecting | Link::Connected { .. } | Link::Paused { .. } => {
                format!("{} is down", one.title)
            }
        },
        (several, all) => format!("{} of {} servers are down", several.len(), all.len()),
    }
}

/// The sentence if every upstream is connected or paused.
fn settled(upstreams: &[&Upstream]) -> String {
    let paused: Vec<&&Upstream> = upstreams.iter().filter(|one| one.is_paused()).collect();
    match (paused.as_slice(), upstreams) {
        ([], [one]) => format!("{} is connected", one.title),
        ([], all) => format!("All {} servers are connected", all.len()),
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
