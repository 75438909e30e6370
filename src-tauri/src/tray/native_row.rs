//! One row of the native menu.

use tauri::menu::{CheckMenuItem, IsMenuItem, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Wry};

use crate::menu::Item;

pub(crate) enum Row {
    Text(MenuItem<Wry>),
    Check(CheckMenuItem<Wry>),
    Submenu(Submenu<Wry>, Vec<Row>),
    Separator(PredefinedMenuItem<Wry>),
}

impl Row {
    pub(crate) fn new(app: &AppHandle<Wry>, item: &Item) -> tauri::Result<Self> {
        const NO_SHORTCUT: Option<&str> = None;
        Ok(match item {
            Item::Line(text) => Self::Text(MenuItem::new(app, literal(text), false, NO_SHORTCUT)?),
            Item::Button { text, action, enabled } => {
                let (id, text) = (action.id(), literal(text));
                Self::Text(MenuItem::with_id(app, id, text, *enabled, NO_SHORTCUT)?)
            }
            Item::Check { text, action, on } => {
                let (id, text) = (action.id(), literal(text));
                Self::Check(CheckMenuItem::with_id(app, id, text, true, *on, NO_SHORTCUT)?)
            }
            Item::Submenu { text, items } => {
                let submenu = Submenu::new(app, literal(text), true)?;
                let mut rows = Vec::new();
                for item in items {
                    let row = Self::new(app, item)?;
                    submenu.append(row.native())?;
                    rows.push(row);
                }
                Self::Submenu(submenu, rows)
            }
            Item::Separator => Self::Separator(PredefinedMenuItem::separator(app)?),
        })
    }

    pub(crate) fn native(&self) -> &dyn IsMenuItem<Wry> {
        match self {
            Self::Text(row) => row,
            Self::Check(row) => row,
            Self::Submenu(row, _) => row,
            Self::Separator(row) => row,
        }
    }

    /// Updates the texts that differ. Both items have the structure of this row.
    pub(crate) fn update_text(&self, shown: &Item, wanted: &Item) -> tauri::Result<()> {
        match (self, shown, wanted) {
            (
                Self::Text(row),
                Item::Button { text, enabled, .. },
                Item::Button { text: other, enabled: now, .. },
            ) => {
                if text != other {
                    row.set_text(literal(other))?;
                }
                if enabled != now {
                    row.set_enabled(*now)?;
                }
            }
            (Self::Text(row), Item::Line(text), Item::Line(other)) if text != other => {
                row.set_text(literal(other))?;
            }
            (Self::Check(row), Item::Check { text, .. }, Item::Check { text: other, on, .. }) => {
                if text != other {
                    row.set_text(literal(other))?;
                }
                // A click toggles the tick even if the action fails.
                if row.is_checked()? != *on {
                    row.set_checked(*on)?;
                }
            }
            (
                Self::Submenu(row, rows),
                Item::Submenu { text, items: shown },
                Item::Submenu { text: other, items: wanted },
            ) => {
                if text != other {
                    row.set_text(literal(other))?;
                }
                for ((row, shown), wanted) in rows.iter().zip(shown).zip(wanted) {
                    row.update_text(shown, wanted)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// In a native menu an ampersand marks a mnemonic, so it is doubled.
fn literal(text: &str) -> String {
    text.replace('&', "&&")
}
