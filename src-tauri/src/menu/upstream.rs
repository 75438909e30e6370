//! The row of one upstream, what is behind it, and the one thing that brings it back.

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_core::policy::app::state::NextStep;

use super::item::{Item, button, line, submenu, under_way};
use super::text;
use crate::actions::action::Action;
use crate::gateway::state::Known;
use crate::window::page::Page;

/// A row with its state, and what can be done behind it.
pub(super) fn row(upstream: &UpstreamStatus, known: &Known) -> Item {
    let text = match known.is_restarting(upstream) {
        true => format!("{} — Restarting…", upstream.title),
        false => format!("{} — {}", upstream.title, upstream.word()),
    };
    let mut items = vec![line(&about(upstream, known.now))];
    items.extend(deeds(upstream, known));
    let log = Page::Log(upstream.name.clone());
    items.push(button("View log…", Action::Show(log)));
    submenu(&text, items)
}

/// The one thing that helps an upstream that is down, unless nothing here does.
pub(super) fn cure(upstream: &UpstreamStatus, known: &Known) -> Option<Item> {
    let not_here = matches!(
        &upstream.link,
        UpstreamState::Down { failure, .. } if failure.code == Code::NotInstalled
    );
    (!not_here).then(|| restart(upstream, known))
}

/// Whether it is to be started rather than restarted: a person quit it, or it never ran.
pub(super) fn is_to_be_started(upstream: &UpstreamStatus) -> bool {
    upstream.app.as_ref().is_some_and(|app| app.next == NextStep::Start)
}

fn about(upstream: &UpstreamStatus, now: u64) -> String {
    match &upstream.link {
        UpstreamState::Off => "Turned off in config.toml".into(),
        UpstreamState::Connecting => upstream.target.clone(),
        UpstreamState::Connected { since, .. } => text::connected(upstream, *since, now),
        UpstreamState::Down { failure, .. } => failure.what.clone(),
        UpstreamState::Paused { .. } => "Nothing is asked of it".into(),
    }
}

fn deeds(upstream: &UpstreamStatus, known: &Known) -> Vec<Item> {
    let (title, name) = (&upstream.title, &upstream.name);
    if upstream.is_off() {
        return vec![button(&format!("Turn on {title}"), Action::TurnOn(name.clone()))];
    }
    let off = button(&format!("Turn off {title}"), Action::TurnOff(name.clone()));
    if upstream.is_paused() {
        return vec![button(&format!("Resume {title}"), Action::Resume(Some(name.clone()))), off];
    }
    let mut items = vec![restart(upstream, known)];
    // Without an application behind it, restarting is reconnecting.
    if upstream.app.is_some() {
        items.push(button("Reconnect only", Action::Reconnect(name.clone())));
    }
    items.push(button(&format!("Pause {title}"), Action::Pause(Some(name.clone()))));
    items.push(off);
    items
}

fn restart(upstream: &UpstreamStatus, known: &Known) -> Item {
    let (title, action) = (&upstream.title, Action::Restart(upstream.name.clone()));
    match is_to_be_started(upstream) {
        true if known.is_restarting(upstream) => under_way(&format!("Starting {title}…"), action),
        true => button(&format!("Start {title}"), action),
        false if known.is_restarting(upstream) => {
            under_way(&format!("Restarting {title}…"), action)
        }
        false => button(&format!("Restart {title}"), action),
    }
}
