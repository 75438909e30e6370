//! The rows while the gateway cannot start: why, and what to do.

use evermoor_core::failure::{Code, Failure};

use super::item::{Item, button, line};
use crate::actions::action::Action;
use crate::window::page::Page;

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
