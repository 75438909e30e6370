//! A menu as read from the tray.

use std::collections::HashMap;
use std::fmt;

use zbus::zvariant::{OwnedValue, Structure, Value};

/// The whole menu at one moment. `Display` renders it as a user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    pub rows: Vec<MenuRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuRow {
    /// The visible text; `---` for a separator.
    pub label: String,
    /// Whether it can be clicked.
    pub enabled: bool,
    /// Whether it is ticked; `None` if it has no check mark.
    pub ticked: Option<bool>,
    /// The rows of its submenu.
    pub rows: Vec<MenuRow>,
    pub(super) id: i32,
}

/// One node of the reply to `com.canonical.dbusmenu.GetLayout`.
pub(super) type MenuNode = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

impl Menu {
    pub(super) fn read(root: &MenuNode) -> Self {
        Self { rows: root.2.iter().filter_map(|child| MenuRow::read(child)).collect() }
    }

    /// The row with this label, including rows of submenus.
    pub fn row(&self, label: &str) -> Option<&MenuRow> {
        find(&self.rows, label)
    }

    /// The labels of the top-level rows, in order.
    pub fn labels(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.label.as_str()).collect()
    }
}

impl MenuRow {
    fn read(node: &Value<'_>) -> Option<Self> {
        let (id, about, children): (i32, HashMap<String, Value<'_>>, Vec<Value<'_>>) =
            Structure::try_from(node).ok()?.try_into().ok()?;
        let text = |name| match about.get(name) {
            Some(Value::Str(text)) => text.as_str(),
            _ => "",
        };
        let is = |name| !matches!(about.get(name), Some(Value::Bool(false)));
        let label = match text("type") {
            "separator" => "---".to_owned(),
            _ => without_shortcuts(text("label")),
        };
        let tick = matches!(about.get("toggle-state"), Some(Value::I32(1)));
        let ticked = (text("toggle-type") == "checkmark").then_some(tick);
        let rows = children.iter().filter_map(Self::read).collect();
        is("visible").then(|| Self { label, enabled: is("enabled"), ticked, rows, id })
    }
}

impl fmt::Display for Menu {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn draw(rows: &[MenuRow], depth: usize, page: &mut fmt::Formatter<'_>) -> fmt::Result {
            for row in rows {
                let state = if row.enabled { "" } else { " (disabled)" };
                let tick = if row.ticked == Some(true) { " (ticked)" } else { "" };
                writeln!(page, "{:indent$}{}{state}{tick}", "", row.label, indent = depth * 4)?;
                draw(&row.rows, depth + 1, page)?;
            }
            Ok(())
        }
        draw(&self.rows, 0, page)
    }
}

fn find<'a>(rows: &'a [MenuRow], label: &str) -> Option<&'a MenuRow> {
    rows.iter().find_map(|row| if row.label == label { Some(row) } else { find(&row.rows, label) })
}

/// An underscore marks a shortcut letter; a double underscore is a literal one.
fn without_shortcuts(label: &str) -> String {
    let mut letters = label.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '_' => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    text
}
