//! The rows while no gateway runs: why, and what to do.

use evermoor_core::failure::{Code, Failure};

use super::item::{Item, button, line};
use crate::actions::action::Action;
use crate::window::page::Page;

/// The rows after the user has stopped the gateway.
pub(super) fn rows_of_stopped() -> Vec<Item> {
    vec![button("Start Evermoor", Action::TryAgain)]
}

/// The rows while the gateway cannot start.
pub(super) fn rows(failure: &Failure) -> Vec<Item> {
    let mut items = vec![line(&failure.what)];
    if failure.code == Code::PortTaken {
        items.push(Item::Separator);
        items.push(button("Use another port and update editors", Action::MovePort));
    } else {
        items.push(line(&failure.remedy));
        items.push(Item::Separator);
    }
    items.push(button("Try again", Action::TryAgain));
    items.push(button("Show details…", Action::Show(Page::Doctor)));
    items
}
