//! One row of the native menu.

use tauri::menu::{IsMenuItem, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Wry};

use crate::menu::Item;

pub(crate) enum Row {
    Text(MenuItem<Wry>),
    Submenu(Submenu<Wry>, Vec<Row>),
    Separator(PredefinedMenuItem<Wry>),
}

impl Row {
    pub(crate) fn new(app: &AppHandle<Wry>, item: &Item) -> tauri::Result<Self> {
        Ok(match item {
            Item::Line(text) => Self::Text(MenuItem::new(app, literal(text), false, None::<&str>)?),
            Item::Button { text, action } => {
                Self::Text(MenuItem::with_id(app, action.id(), literal(text), true, None::<&str>)?)
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
            Self::Submenu(row, _) => row,
            Self::Separator(row) => row,
        }
    }

    /// Writes the texts that are not yet as wanted. Both items have the structure of this row.
    pub(crate) fn retext(&self, shown: &Item, wanted: &Item) -> tauri::Result<()> {
        if shown == wanted {
            return Ok(());
        }
        match (self, shown, wanted) {
            (Self::Text(row), _, Item::Line(text) | Item::Button { text, .. }) => {
                row.set_text(literal(text))?;
            }
            (
                Self::Submenu(_, rows),
                Item::Submenu { items: shown, .. },
                Item::Submenu { items: wanted, .. },
            ) => {
                for ((row, shown), wanted) in rows.iter().zip(shown).zip(wanted) {
                    row.retext(shown, wanted)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// In a native menu an ampersand marks a shortcut; two stand for one.
fn literal(text: &str) -> String {
    text.replace('&', "&&")
}
