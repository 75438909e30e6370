//! The menu as data: what is known of the gateway in, the rows of the menu out.
//!
//! Nothing here touches the desktop, so every state is tested as text. The sentences about the
//! state come from `evermoor-core`; no row tells the time, so the menu changes only when the state
//! does. At most twelve rows, separators apart.

use evermoor_client::Presence;
use evermoor_core::view::{Link, Overall, Status, Upstream};

use crate::action::Action;

/// Upstreams with a row of their own; where there are more, one row leads to the dashboard instead.
const UPSTREAM_ROWS: usize = 6;
/// Longer lines are cut: a menu as wide as the screen cannot be read.
const LINE_LENGTH: usize = 72;

/// One row of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line to read.
    Line(String),
    /// A line to click.
    Button {
        text: String,
        action: Action,
    },
    /// A line with more lines behind it.
    Submenu {
        text: String,
        items: Vec<Item>,
    },
    Separator,
}

/// The smallest stretch of rows whose replacement leaves only texts to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: usize,
}

/// The menu for what is known.
pub(crate) fn items(presence: &Presence) -> Vec<Item> {
    // The sentence can be clicked, because what cannot be clicked is drawn too faint to be read.
    let mut items = vec![button(sentence(presence), Action::Open)];
    match presence {
        Presence::Starting => items.push(Item::Separator),
        Presence::Lost { failure } => items.extend([line(&failure.remedy), Item::Separator]),
        Presence::Serving { status } => items.extend(serving(status)),
    }
    items.extend([button("Open Evermoor…", Action::Open), button("Quit Evermoor", Action::Quit)]);
    items
}

/// How things are, in one sentence.
pub(crate) fn sentence(presence: &Presence) -> &str {
    match presence {
        Presence::Starting => "Evermoor is starting",
        Presence::Serving { status } => &status.sentence,
        Presence::Lost { failure } => &failure.what,
    }
}

/// Compares two menus by their structure.
pub(crate) fn change(shown: &[Item], wanted: &[Item]) -> Change {
    let same = |(one, other): &(&Item, &Item)| one.differs_only_in_text(other);
    let at = shown.iter().zip(wanted).take_while(same).count();
    let (shown, wanted) = (&shown[at..], &wanted[at..]);
    let kept = shown.iter().rev().zip(wanted.iter().rev()).take_while(same).count();
    Change { at, remove: shown.len() - kept, insert: wanted.len() - kept }
}

impl Item {
    /// The text of a submenu counts as structure: GTK cannot change it in place.
    fn differs_only_in_text(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Line(_), Self::Line(_)) | (Self::Separator, Self::Separator) => true,
            (Self::Button { action, .. }, Self::Button { action: another, .. }) => {
                action == another
            }
            (Self::Submenu { text, items }, Self::Submenu { text: another, items: others }) => {
                let none = Change { at: items.len(), remove: 0, insert: 0 };
                text == another && change(items, others) == none
            }
            _ => false,
        }
    }
}

fn serving(status: &Status) -> Vec<Item> {
    let mut items = Vec::new();
    let mut down = status.upstreams.iter().filter(|one| matches!(one.link, Link::Down { .. }));
    if let (Some(upstream), None) = (down.next(), down.next()) {
        items.push(restart(upstream));
    }
    let all_paused = status.overall == Overall::Paused;
    if all_paused {
        items.push(button("Resume", Action::Resume(None)));
    }
    items.push(Item::Separator);
    let more = status.upstreams.len() > UPSTREAM_ROWS;
    let rows = if more { UPSTREAM_ROWS - 1 } else { UPSTREAM_ROWS };
    items.extend(status.upstreams.iter().take(rows).map(upstream));
    if more {
        items.push(button("More…", Action::Open));
    }
    if !status.upstreams.is_empty() {
        items.push(Item::Separator);
    }
    items.push(button("Copy endpoint URL", Action::Copy(status.endpoint.clone())));
    if !all_paused && !status.upstreams.is_empty() {
        items.push(button("Pause", Action::Pause(None)));
    }
    items
}

fn upstream(upstream: &Upstream) -> Item {
    let about = match (&upstream.link, upstream.tools) {
        (Link::Off, _) => line("Turned off in config.toml"),
        (Link::Connecting, _) => line(&upstream.target),
        (Link::Connected { .. }, 0) => line("No tools"),
        (Link::Connected { .. }, _) => line(&upstream.tool_count()),
        (Link::Down { failure, .. }, _) => line(&failure.what),
        (Link::Paused { .. }, _) => line("Nothing is asked of it"),
    };
    let text = format!("{} — {}", upstream.title, upstream.word());
    let mut items = vec![about];
    let (title, name) = (&upstream.title, Some(upstream.name.clone()));
    if upstream.is_off() {
        // A person turned it off; there is nothing to do here.
    } else if upstream.is_paused() {
        items.push(button(&format!("Resume {title}"), Action::Resume(name)));
    } else {
        items.push(restart(upstream));
        items.push(button(&format!("Pause {title}"), Action::Pause(name)));
    }
    Item::Submenu { text: short(&text), items }
}

fn restart(upstream: &Upstream) -> Item {
    button(&format!("Restart {}", upstream.title), Action::Restart(upstream.name.clone()))
}

fn line(text: &str) -> Item {
    Item::Line(short(text))
}

fn button(text: &str, action: Action) -> Item {
    Item::Button { text: short(text), action }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LINE_LENGTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        Some(_) | None => text.into(),
    }
}

#[cfg(test)]
mod tests;
