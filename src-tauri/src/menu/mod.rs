//! The menu as data: what is known in, the rows of the menu out.
//!
//! Nothing here touches the desktop, so every state is tested as text. The sentences about the state
//! come from `evermoor-core`. At most twelve rows, separators apart: what does not fit is behind one
//! of them. Lengths of time are told where words can change in place.

mod change;
mod editors;
mod item;
mod no_gateway;
#[cfg(test)]
mod tests;
mod text;
mod upstream;

use evermoor_client::Presence;
use evermoor_core::api::{OverallState, Status};

use self::item::{button, check, line, submenu, under_way};
use crate::actions::action::Action;
use crate::gateway::state::Known;
use crate::updates::Update;
use crate::window::page::Page;

pub(crate) use self::change::Change;
pub(crate) use self::item::Item;
pub(crate) use self::text::tooltip;

/// More rows than a person reads at a glance.
const ROWS: usize = 12;

/// The menu for what is known.
pub(crate) fn items(known: &Known) -> Vec<Item> {
    // The sentence can be clicked, because what cannot be clicked is drawn too faint to be read.
    let about = button(text::sentence(&known.presence), Action::Show(Page::spoken_of(known)));
    let (mut items, tail) = (vec![about], tail(known));
    match &known.presence {
        Presence::Starting => {}
        Presence::Lost { failure } => items.extend(no_gateway::rows(failure)),
        Presence::Serving { status } => {
            items.extend(on_top(known, status));
            let links = [
                button("Copy endpoint URL", Action::Copy(status.endpoint.clone())),
                editors::row(&known.editors),
            ];
            let room = ROWS - count(&items) - links.len() - count(&tail);
            items.extend(upstreams(known, status, room));
            items.push(Item::Separator);
            items.extend(links);
        }
    }
    items.push(Item::Separator);
    items.extend(tail);
    items
}

/// What helps, on top, where it is found at once.
fn on_top(known: &Known, status: &Status) -> Option<Item> {
    if status.overall == OverallState::Paused {
        return Some(button("Resume", Action::Resume(None)));
    }
    match known.broken().as_slice() {
        [] => None,
        [one] => upstream::cure(one, known),
        several if several.iter().all(|one| known.is_restarting(one)) => {
            Some(under_way("Restarting…", Action::RestartAll))
        }
        several => Some(button(&format!("Restart all ({})", several.len()), Action::RestartAll)),
    }
}

/// A row for each upstream as far as there is room, and the others behind one more.
fn upstreams(known: &Known, status: &Status, room: usize) -> Vec<Item> {
    let mut rows: Vec<Item> =
        status.upstreams.iter().map(|upstream| upstream::row(upstream, known)).collect();
    if rows.len() > room {
        let more = rows.split_off(room.saturating_sub(1));
        rows.push(submenu(&format!("{} more", more.len()), more));
    }
    if !rows.is_empty() {
        rows.insert(0, Item::Separator);
    }
    rows
}

fn tail(known: &Known) -> Vec<Item> {
    let mut items = vec![
        button("Open Evermoor…", Action::Open),
        button("Settings…", Action::Show(Page::Settings)),
        check("Launch at login", Action::Login, known.login),
    ];
    items.extend(update(&known.update));
    let stops = known.status().is_some_and(|status| status.tray.quit_stops_gateway);
    let quit = if stops { "Quit Evermoor and stop the gateway" } else { "Quit Evermoor" };
    items.push(button(quit, Action::Quit));
    items
}

fn update(update: &Update) -> Option<Item> {
    match update {
        Update::Off { .. } | Update::None | Update::Failed { version: None, .. } => None,
        Update::Failed { version: Some(version), .. } => {
            Some(button(&format!("Try again to update to {version}"), Action::Update))
        }
        Update::Available { version } => {
            Some(button(&format!("Restart to update to {version}"), Action::Update))
        }
        Update::Waiting { version } => {
            Some(line(&format!("Updates to {version} when no call is under way")))
        }
        Update::Installing { version } => Some(line(&format!("Updating to {version}…"))),
    }
}

fn count(items: &[Item]) -> usize {
    items.iter().filter(|item| **item != Item::Separator).count()
}
