//! The icon in the tray and its native menu, kept equal to what is known.
//!
//! # Theory of operation
//!
//! One task owns the [`Tray`] and follows what is known. For each change the tray travels to the main
//! thread, where alone a desktop may be touched, is changed there in one go, and travels back; when the
//! main thread is gone it does not come back and the task ends. Words are changed in place and only
//! rows that really come or go are replaced, because panels redraw, and some lose labels, when a menu
//! is thrown away under them. While a person has the menu open no row comes or goes at all: what is
//! under the pointer stays there, and is brought up to date when the menu closes. For the same reason
//! changes that follow each other closely are shown as one.

pub(crate) mod icon;
pub(crate) mod icon_state;
pub(crate) mod row;

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
use crate::gateway::state::Known;
use crate::menu::{Change, Item};
use crate::tray::icon_state::Look;
use crate::tray::row::Row;
use crate::{menu, system, window};

/// Quiet time after a change.
const PAUSE: Duration = Duration::from_millis(150);

pub(crate) struct Tray {
    icon: TrayIcon<Wry>,
    menu: Menu<Wry>,
    rows: Vec<Row>,
    items: Vec<Item>,
    tooltip: String,
    look: Look,
    painted: (OverallState, icon::Backdrop),
    opening: system::Opening,
}

impl Tray {
    /// Puts the icon up. Called on the main thread.
    ///
    /// A desktop without a tray is no error: the icon appears once there is one. Only where the
    /// system's tray library itself is missing there can be no icon; the library's loader panics
    /// then, which must not take the application down.
    pub(crate) fn put_up(app: &AppHandle<Wry>, known: &Known) -> Option<Self> {
        match catch_unwind(AssertUnwindSafe(|| Self::build(app, known))) {
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

    fn build(app: &AppHandle<Wry>, known: &Known) -> tauri::Result<Self> {
        let menu = Menu::new(app)?;
        let items = menu::items(known);
        let rows: Vec<Row> =
            items.iter().map(|item| Row::new(app, item)).collect::<tauri::Result<_>>()?;
        for row in &rows {
            menu.append(row.native())?;
        }
        let look = Look::new(icon::state(&known.presence));
        let painted = (look.shown(), system::backdrop());
        let tooltip = menu::tooltip(&known.presence);
        let (teller, opening) = system::Opening::new(system::LONGEST_LOOK);
        let (chosen, clicked) = (teller.clone(), teller.clone());
        system::tell_openings(teller);
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
                if system::MENU_ON_LEFT_CLICK || !matches!(button, MouseButton::Left) {
                    clicked.opened();
                } else if button_state == MouseButtonState::Up {
                    window::open(tray.app_handle());
                }
            })
            .build(app)?;
        Ok(Self { icon, menu, rows, items, tooltip, look, painted, opening })
    }

    /// Shows every change until the application ends.
    pub(crate) async fn follow(mut self, mut known: watch::Receiver<Known>) {
        loop {
            let now = known.borrow_and_update().clone();
            let open = self.opening.is_open();
            let Some(tray) = self.on_main_thread(now, open).await else {
                return;
            };
            self = tray;
            sleep(PAUSE).await;
            let changes = self.look.changes_at();
            tokio::select! {
                changed = known.changed() => if changed.is_err() { return },
                () = self.opening.changed() => {}
                () = at(changes) => {}
            }
        }
    }

    async fn on_main_thread(mut self, known: Known, open: bool) -> Option<Self> {
        let app = self.icon.app_handle().clone();
        let (back, shown) = oneshot::channel();
        app.run_on_main_thread(move || {
            if let Err(error) = self.show(&known, open) {
                warn!(%error, "the tray could not be changed");
            }
            drop(back.send(self));
        })
        .ok()?;
        shown.await.ok()
    }

    fn show(&mut self, known: &Known, open: bool) -> tauri::Result<()> {
        let wanted = menu::items(known);
        let change = Change::between(&self.items, &wanted);
        if change.is_words_only() || !open {
            self.show_items(wanted, change)?;
        }
        let tooltip = menu::tooltip(&known.presence);
        if tooltip != self.tooltip {
            self.icon.set_tooltip(Some(&tooltip))?;
            self.tooltip = tooltip;
        }
        self.look = self.look.seen(icon::state(&known.presence), Instant::now());
        let paint = (self.look.shown(), system::backdrop());
        if paint != self.painted {
            let template = paint.1 == icon::Backdrop::Template;
            self.icon.set_icon_with_as_template(Some(icon::image(paint.0, paint.1)), template)?;
            self.painted = paint;
        }
        Ok(())
    }

    fn show_items(&mut self, wanted: Vec<Item>, change: Change) -> tauri::Result<()> {
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
            row.reword(shown, wanted)?;
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
