//! The icon in the tray and its native menu, kept equal to what is known of the gateway.
//!
//! # Theory of operation
//!
//! One task owns the [`Tray`] and follows the gateway's presence. For each change the tray travels
//! to the main thread, where alone a desktop may be touched, is changed there in one go, and
//! travels back; when the main thread is gone it does not come back and the task ends. Texts are
//! changed in place and only rows that really come or go are replaced, because panels redraw, and
//! some lose labels, when a menu is thrown away under them. For the same reason changes that follow
//! each other closely are shown as one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use evermoor_client::Presence;
use evermoor_core::view::Overall;
use tauri::menu::Menu;
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Wry};
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;
use tracing::warn;

use crate::action::Action;
use crate::row::Row;
use crate::{icon, menu, system, window};

/// Quiet time after a change.
const PAUSE: Duration = Duration::from_millis(150);

pub(crate) struct Tray {
    icon: TrayIcon<Wry>,
    menu: Menu<Wry>,
    rows: Vec<Row>,
    items: Vec<menu::Item>,
    look: (Overall, icon::Backdrop),
}

impl Tray {
    /// Puts the icon up. Called on the main thread.
    ///
    /// A desktop without a tray is no error: the icon appears once there is one. Only where the
    /// system's tray library itself is missing there can be no icon; the library's loader panics
    /// then, which must not take the application down.
    pub(crate) fn put_up(app: &AppHandle<Wry>, presence: &Presence) -> Option<Self> {
        match catch_unwind(AssertUnwindSafe(|| Self::build(app, presence))) {
            Ok(Ok(tray)) => Some(tray),
            Ok(Err(error)) => {
                warn!(%error, "no tray icon");
                None
            }
            Err(_) => {
                warn!("no tray icon: the system's tray library cannot be loaded");
                None
            }
        }
    }

    fn build(app: &AppHandle<Wry>, presence: &Presence) -> tauri::Result<Self> {
        let menu = Menu::new(app)?;
        let items = menu::items(presence);
        let rows: Vec<Row> =
            items.iter().map(|item| Row::new(app, item)).collect::<tauri::Result<_>>()?;
        for row in &rows {
            menu.append(row.native())?;
        }
        let look = (icon::state(presence), system::backdrop());
        let icon = TrayIconBuilder::with_id("evermoor")
            .icon(icon::image(look.0, look.1))
            .icon_as_template(look.1 == icon::Backdrop::Template)
            .tooltip(tooltip(presence))
            .menu(&menu)
            .show_menu_on_left_click(system::MENU_ON_LEFT_CLICK)
            .on_menu_event(|app, event| match Action::parse(event.id().as_ref()) {
                Some(action) => action.perform(app),
                None => warn!(id = event.id().as_ref(), "a row without an action was clicked"),
            })
            .on_tray_icon_event(|tray, event| {
                if !system::MENU_ON_LEFT_CLICK && is_left_click(&event) {
                    window::open(tray.app_handle());
                }
            })
            .build(app)?;
        Ok(Self { icon, menu, rows, items, look })
    }

    /// Shows every change until the application ends.
    pub(crate) async fn follow(mut self, mut presence: watch::Receiver<Presence>) {
        loop {
            let now = presence.borrow_and_update().clone();
            let Some(tray) = self.on_main_thread(now).await else {
                return;
            };
            self = tray;
            sleep(PAUSE).await;
            if presence.changed().await.is_err() {
                return;
            }
        }
    }

    async fn on_main_thread(mut self, presence: Presence) -> Option<Self> {
        let app = self.icon.app_handle().clone();
        let (back, shown) = oneshot::channel();
        app.run_on_main_thread(move || {
            if let Err(error) = self.show(&presence) {
                warn!(%error, "the tray could not be changed");
            }
            drop(back.send(self));
        })
        .ok()?;
        shown.await.ok()
    }

    fn show(&mut self, presence: &Presence) -> tauri::Result<()> {
        let wanted = menu::items(presence);
        if wanted != self.items {
            self.show_items(wanted)?;
            self.icon.set_tooltip(Some(tooltip(presence)))?;
        }
        let look = (icon::state(presence), system::backdrop());
        if look != self.look {
            let template = look.1 == icon::Backdrop::Template;
            self.icon.set_icon_with_as_template(Some(icon::image(look.0, look.1)), template)?;
            self.look = look;
        }
        Ok(())
    }

    fn show_items(&mut self, wanted: Vec<menu::Item>) -> tauri::Result<()> {
        let change = menu::change(&self.items, &wanted);
        for _ in 0..change.remove {
            self.menu.remove_at(change.at)?;
            self.rows.remove(change.at);
            self.items.remove(change.at);
        }
        for (at, item) in wanted.iter().enumerate().skip(change.at).take(change.insert) {
            let row = Row::new(self.icon.app_handle(), item)?;
            self.menu.insert(row.native(), at)?;
            self.rows.insert(at, row);
            self.items.insert(at, item.clone());
        }
        for ((row, shown), wanted) in self.rows.iter().zip(&self.items).zip(&wanted) {
            row.retext(shown, wanted)?;
        }
        self.items = wanted;
        Ok(())
    }
}

fn tooltip(presence: &Presence) -> String {
    format!("Evermoor – {}", menu::sentence(presence))
}

fn is_left_click(event: &TrayIconEvent) -> bool {
    matches!(
        event,
        TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. }
    )
}
