//! The menu as data: a [`TrayState`] goes in, the rows of the menu come out.
//!
//! Nothing here uses a desktop API, so every state is tested as text. The headline comes from
//! `evermoor-core`. The menu has at most twelve rows without separators; servers that do not fit
//! move into a submenu. Durations appear only where the text can change without replacing a row.
//!
//! [`item`] defines rows; [`upstream`], [`editors`], [`no_gateway`] and [`headline`] build them, the tooltip
//! and durations; and [`change`] compares two menus. Depends on `gateway::state`,
//! `actions::action` and `window::page`; used by `tray`.

mod change;
mod editors;
mod headline;
mod item;
mod no_gateway;
#[cfg(test)]
pub(crate) mod tests;
mod upstream;

use evermoor_client::Presence;
use evermoor_core::api::{OverallState, Status};

use self::item::{busy_button, button, check, line, submenu};
use crate::actions::action::Action;
use crate::gateway::state::TrayState;
use crate::updates::Update;
use crate::window::page::Page;

pub(crate) use self::change::MenuChange;
pub(crate) use self::headline::tooltip;
pub(crate) use self::item::Item;

/// The most rows, without separators.
const ROWS: usize = 12;

/// The menu for a state.
pub(crate) fn items(state: &TrayState) -> Vec<Item> {
    // The headline is a button because desktops draw disabled rows too faint to read.
    let headline =
        button(headline::sentence(&state.presence), Action::Show(Page::for_headline(state)));
    let (mut items, tail) = (vec![headline], tail(state));
    match &state.presence {
        Presence::Starting => {}
        Presence::Lost { failure } => items.extend(no_gateway::rows(failure)),
        Presence::Stopped => items.extend(no_gateway::rows_of_stopped()),
        Presence::Serving { status } => {
            items.extend(top_action(state, status));
            let links = [
                button("Copy endpoint URL", Action::Copy(status.endpoint.clone())),
                editors::row(&state.editors),
            ];
            let room = ROWS - count(&items) - links.len() - count(&tail);
            items.extend(upstreams(state, status, room));
            items.push(Item::Separator);
            items.extend(links);
        }
    }
    items.push(Item::Separator);
    items.extend(tail);
    items
}

/// The action that helps now, directly below the headline.
fn top_action(state: &TrayState, status: &Status) -> Option<Item> {
    if status.overall == OverallState::Paused {
        return Some(button("Resume", Action::Resume(None)));
    }
    match state.down().as_slice() {
        [] => None,
        [one] => upstream::recovery_button(one, state),
        several if several.iter().all(|one| state.is_restarting(one)) => {
            Some(busy_button("Restarting…", Action::RestartAll))
        }
        several => Some(button(&format!("Restart all ({})", several.len()), Action::RestartAll)),
    }
}

/// A row for each upstream. Those that do not fit move into a submenu.
fn upstreams(state: &TrayState, status: &Status, room: usize) -> Vec<Item> {
    let mut rows: Vec<Item> =
        status.upstreams.iter().map(|upstream| upstream::row(upstream, state)).collect();
    if rows.len() > room {
        let more = rows.split_off(room.saturating_sub(1));
        rows.push(submenu(&format!("{} more", more.len()), more));
    }
    if !rows.is_empty() {
        rows.insert(0, Item::Separator);
    }
    rows
}

fn tail(state: &TrayState) -> Vec<Item> {
    let mut items = vec![
        button("Open Evermoor…", Action::Open),
        button("Settings…", Action::Show(Page::Settings)),
    ];
    // From a place that vanishes, Evermoor cannot be launched at login.
    items.push(match state.must_move {
        true => button("Move Evermoor to Applications", Action::Relocate),
        false => check("Launch at login", Action::Login, state.login),
    });
    items.extend(update(&state.update));
    let stops = state.status().is_some_and(|status| status.tray.quit_stops_gateway);
    let quit = if stops { "Quit Evermoor and stop the gateway" } else { "Quit Evermoor" };
    items.push(button(quit, Action::Quit));
    items
}

fn update(update: &Update) -> Option<Item> {
    match update {
        Update::Off { .. } | Update::None | Update::Failed { version: None, .. } => None,
        Update::Failed { version: Some(version), .. } => {
            Some(button(&format!("Retry the update to {version}"), Action::Update))
        }
        Update::Available { version } => {
            Some(button(&format!("Restart to update to {version}"), Action::Update))
        }
        Update::Waiting { version } => {
            Some(line(&format!("Updating to {version} once running calls finish")))
        }
        Update::Installing { version } => Some(line(&format!("Updating to {version}…"))),
    }
}

fn count(items: &[Item]) -> usize {
    items.iter().filter(|item| **item != Item::Separator).count()
}
