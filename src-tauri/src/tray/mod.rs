//! The tray icon and its native menu.
//!
//! # Theory of operation
//!
//! One task owns the [`Tray`] and follows the tray state. Desktop APIs may only be used on the main
//! thread, so for each change the task sends the tray there, applies the change in one step, and
//! gets the tray back. When the main thread is gone, the tray does not come back and the task ends.
//!
//! Texts are changed in place, and only rows that are added or removed are replaced: panels redraw,
//! and some lose labels, when a whole menu is replaced. While the menu is open no row is added or
//! removed, so that the row under the pointer stays there; the menu is updated when it closes.
//! Changes in quick succession are applied together.
//!
//! [`native_row`] is one native row, [`icon`] the images, and [`icon_state`] decides which image to
//! show. Uses `menu` for the rows and `actions` for clicks.

pub(crate) mod icon;
pub(crate) mod icon_state;
pub(crate) mod native_row;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use evermoor_core::api::OverallState;
use tauri::menu::Menu;
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Wry};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::warn;

use crate::actions::action::Action;
use crate::actions::perform;
use crate::gateway::state::TrayState;
use crate::menu::{Item, MenuChange};
use crate::tray::icon_state::IconState;
use crate::tray::native_row::Row;
use crate::{menu, system, window};

/// The pause after each change.
const PAUSE: Duration = Duration::from_millis(150);

pub(crate) struct Tray {
    icon: TrayIcon<Wry>,
    menu: Menu<Wry>,
    rows: Vec<Row>,
    items: Vec<Item>,
    tooltip: String,
    icon_state: IconState,
    painted: (OverallState, icon::Backdrop),
    menu_open: system::MenuOpen,
}

impl Tray {
    /// Creates the icon. Must be called on the main thread.
    ///
    /// A desktop without a tray is not an error: the icon appears once there is one. If the
    /// system's tray library is missing, its loader panics; the application then runs without an
    /// icon.
    pub(crate) fn create(app: &AppHandle<Wry>, state: &TrayState) -> Option<Self> {
        match catch_unwind(AssertUnwindSafe(|| Self::build(app, state))) {
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

    fn build(app: &AppHandle<Wry>, state: &TrayState) -> tauri::Result<Self> {
        let menu = Menu::new(app)?;
        let items = menu::items(state);
        let rows: Vec<Row> =
            items.iter().map(|item| Row::new(app, item)).collect::<tauri::Result<_>>()?;
        for row in &rows {
            menu.append(row.native())?;
        }
        let icon_state = IconState::new(icon::state(&state.presence));
        let painted = (icon_state.shown(), system::backdrop());
        let tooltip = menu::tooltip(&state.presence);
        let (reporter, menu_open) = system::MenuOpen::new(system::MENU_OPEN_LIMIT);
        let (chosen, clicked) = (reporter.clone(), reporter.clone());
        system::report_menu_open(reporter);
        let icon = TrayIconBuilder::with_id("evermoor")
            .icon(icon::image(painted.0, painted.1))
            .icon_as_template(painted.1 == icon::Backdrop::Template)
            .tooltip(&tooltip)
            .menu(&menu)
            .show_menu_on_left_click(system::MENU_ON_LEFT_CLICK)
            .on_menu_event(move |app, event| {
                chosen.closed();
                match Action::parse(event.id().as_ref()) {
                    Some(action) => perform(action, app),
                    None => warn!(id = event.id().as_ref(), "a row without an action was clicked"),
                }
            })
            .on_tray_icon_event(move |tray, event| {
                let TrayIconEvent::Click { button, button_state, .. } = event else { return };
                let opens_menu = system::MENU_ON_LEFT_CLICK || button != MouseButton::Left;
                if opens_menu && system::CLICK_OPENS_MENU {
                    clicked.opened();
                } else if !opens_menu && button_state == MouseButtonState::Up {
                    window::open(tray.app_handle());
                }
            })
            .build(app)?;
        system::paint(&icon, painted.0);
        Ok(Self { icon, menu, rows, items, tooltip, icon_state, painted, menu_open })
    }

    /// Shows every change until the application exits.
    pub(crate) async fn follow(mut self, mut state: watch::Receiver<TrayState>) {
        loop {
            let now = state.borrow_and_update().clone();
            let open = self.menu_open.is_open();
            let Some(tray) = self.on_main_thread(now, open).await else {
                return;
            };
            self = tray;
            sleep(PAUSE).await;
            let changes = self.icon_state.changes_at();
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                () = self.menu_open.changed() => {}
                () = at(changes) => {}
            }
        }
    }

    async fn on_main_thread(mut self, state: TrayState, open: bool) -> Option<Self> {
        let app = self.icon.app_handle().clone();
        let (back, shown) = oneshot::channel();
        app.run_on_main_thread(move || {
            if let Err(error) = self.show(&state, open) {
                warn!(%error, "cannot update the tray");
            }
            drop(back.send(self));
        })
        .ok()?;
        shown.await.ok()
    }

    fn show(&mut self, state: &TrayState, open: bool) -> tauri::Result<()> {
        let wanted = menu::items(state);
        let change = MenuChange::between(&self.items, &wanted);
        if change.is_text_only() || !open {
            self.show_items(wanted, change)?;
        }
        let tooltip = menu::tooltip(&state.presence);
        if tooltip != self.tooltip {
            self.icon.set_tooltip(Some(&tooltip))?;
            self.tooltip = tooltip;
        }
        self.icon_state = self.icon_state.next(icon::state(&state.presence), Instant::now());
        let paint = (self.icon_state.shown(), system::backdrop());
        if paint != self.painted {
            let template = paint.1 == icon::Backdrop::Template;
            self.icon.set_icon_with_as_template(Some(icon::image(paint.0, paint.1)), template)?;
            system::paint(&self.icon, paint.0);
            self.painted = paint;
        }
        Ok(())
    }

    fn show_items(&mut self, wanted: Vec<Item>, change: MenuChange) -> tauri::Result<()> {
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
            row.update_text(shown, wanted)?;
        }
        self.items = wanted;
        Ok(())
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
