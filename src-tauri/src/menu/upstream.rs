//! The row of one upstream, its submenu, and the button that gets it back: a sign-in or a restart.

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_core::policy::app::state::NextStep;

use super::headline;
use super::item::{Item, busy_button, button, line, submenu};
use crate::actions::action::Action;
use crate::gateway::state::TrayState;
use crate::window::page::Page;

/// The upstream's row with its state, and its actions in a submenu.
pub(super) fn row(upstream: &UpstreamStatus, state: &TrayState) -> Item {
    let text = match state.is_restarting(upstream) {
        true => format!("{} — Restarting…", upstream.title),
        false => format!("{} — {}", upstream.title, upstream.word()),
    };
    let mut items = vec![line(&about(upstream, state.now))];
    items.extend(actions(upstream, state));
    let log = Page::Log(upstream.name.clone());
    items.push(button("View log…", Action::Show(log)));
    submenu(&text, items)
}

/// The button that gets back an upstream that is down. An app that is not installed has none.
pub(super) fn recovery_button(upstream: &UpstreamStatus, state: &TrayState) -> Option<Item> {
    let not_installed = matches!(
        &upstream.link,
        UpstreamState::Down { failure, .. } if failure.code == Code::NotInstalled
    );
    (!not_installed).then(|| get_back(upstream, state))
}

/// Whether to offer Start instead of Restart: the user quit the app, or it never ran.
pub(super) fn needs_start(upstream: &UpstreamStatus) -> bool {
    upstream.app.as_ref().is_some_and(|app| app.next == NextStep::Start)
}

fn about(upstream: &UpstreamStatus, now: u64) -> String {
    match &upstream.link {
        UpstreamState::Off => "Turned off in config.toml".into(),
        UpstreamState::Connecting => upstream.target.clone(),
        UpstreamState::Connected { since, .. } => headline::connected(upstream, *since, now),
        UpstreamState::Down { failure, .. } => failure.what.clone(),
        UpstreamState::Paused { .. } => "Paused until you resume it".into(),
    }
}

fn actions(upstream: &UpstreamStatus, state: &TrayState) -> Vec<Item> {
    let (title, name) = (&upstream.title, &upstream.name);
    if upstream.is_off() {
        return vec![button(&format!("Turn on {title}"), Action::TurnOn(name.clone()))];
    }
    let off = button(&format!("Turn off {title}"), Action::TurnOff(name.clone()));
    if upstream.is_paused() {
        return vec![button(&format!("Resume {title}"), Action::Resume(Some(name.clone()))), off];
    }
    let mut items = vec![get_back(upstream, state)];
    // Without an application, restarting is the same as reconnecting.
    if upstream.app.is_some() {
        items.push(button("Reconnect only", Action::Reconnect(name.clone())));
    }
    items.push(button(&format!("Pause {title}"), Action::Pause(Some(name.clone()))));
    items.push(off);
    items
}

/// Signs in if that is what is missing, because a restart would change nothing; otherwise restarts.
fn get_back(upstream: &UpstreamStatus, state: &TrayState) -> Item {
    match upstream.needs_sign_in() {
        true => {
            let action = Action::SignIn(upstream.name.clone());
            button(&format!("Sign in to {}…", upstream.title), action)
        }
        false => restart(upstream, state),
    }
}

fn restart(upstream: &UpstreamStatus, state: &TrayState) -> Item {
    let (title, action) = (&upstream.title, Action::Restart(upstream.name.clone()));
    match needs_start(upstream) {
        true if state.is_restarting(upstream) => busy_button(&format!("Starting {title}…"), action),
        true => button(&format!("Start {title}"), action),
        false if state.is_restarting(upstream) => {
            busy_button(&format!("Restarting {title}…"), action)
        }
        false => button(&format!("Restart {title}"), action),
    }
}
