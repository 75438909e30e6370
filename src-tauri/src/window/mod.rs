//! The dashboard's window. It is created when needed and destroyed when closed, because a hidden web
//! view would need more memory than everything else together. It shows the embedded dashboard only.
//!
//! [`page`] names the dashboard's pages, [`pending_page`] remembers the page that a loading window
//! is to show, [`start`] decides whether a start opens a window, and [`reopen`] filters macOS's
//! reopen events. Uses `gateway` and `system`.

pub(crate) mod page;
pub(crate) mod pending_page;
pub(crate) mod reopen;
pub(crate) mod start;

use evermoor_client::Presence;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{
    AppHandle, Emitter, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};
use tokio::sync::watch;
use tracing::warn;

use crate::gateway::SupervisedGateway;
use crate::system;
use crate::window::page::Page;
use crate::window::pending_page::{PendingPage, Show};

const LABEL: &str = "main";

/// Brings the window to the front, or creates it. May be called on any thread.
pub(crate) fn open(app: &AppHandle) {
    make(app, None);
}

/// Like [`open`], at a page of the dashboard.
pub(crate) fn open_at(app: &AppHandle, page: &Page) {
    make(app, Some(page.hash()));
}

/// Creates the window outside the event handler that asks for it: on Windows, creating a web view
/// inside a handler never returns.
fn make(app: &AppHandle, page: Option<String>) {
    // A second launch may ask before the first has finished its setup.
    let Some(gateway) = app.try_state::<SupervisedGateway>() else {
        return;
    };
    let (app, pending) = (app.clone(), app.state::<PendingPage>());
    if app.get_webview_window(LABEL).is_none() {
        pending.page_unloaded();
    }
    let now = page.and_then(|page| pending.request(page));
    gateway.spawn(async move {
        let opened = match app.get_webview_window(LABEL) {
            Some(window) => show_page(&app, now).and_then(|()| bring_to_front(&window)),
            None => create(&app, &app.state::<PendingPage>().first()),
        };
        // Another click may have created it meanwhile; it shows the page that was requested last.
        let opened = match (opened, app.get_webview_window(LABEL)) {
            (Err(_), Some(window)) => bring_to_front(&window),
            (opened, _) => opened,
        };
        if let Err(error) = opened {
            warn!(%error, "cannot open the window");
        }
    });
}

fn show_page(app: &AppHandle, show: Option<Show>) -> tauri::Result<()> {
    show.map_or(Ok(()), |show| app.emit_to(LABEL, "show", show))
}

/// Sends each change of the gateway's state to the window, if it is open.
pub(crate) async fn follow(app: AppHandle, mut presence: watch::Receiver<Presence>) {
    while presence.changed().await.is_ok() {
        let now = presence.borrow_and_update().clone();
        if app.get_webview_window(LABEL).is_some()
            && let Err(error) = app.emit_to(LABEL, "presence", now)
        {
            warn!(%error, "cannot send a change to the window");
        }
    }
}

fn create(app: &AppHandle, page: &str) -> tauri::Result<()> {
    let address = WebviewUrl::App(format!("index.html{page}").into());
    let window = WebviewWindowBuilder::new(app, LABEL, address)
        .title("Evermoor")
        .inner_size(960.0, 680.0)
        .min_inner_size(420.0, 480.0)
        .center()
        .visible(false)
        .on_navigation(|url| is_allowed(url, tauri::is_dev()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, page| match page.event() {
            PageLoadEvent::Started => window.state::<PendingPage>().page_unloaded(),
            PageLoadEvent::Finished => {
                if let Err(error) = bring_to_front(&window) {
                    warn!(%error, "cannot show the window");
                }
            }
        })
        .build()?;
    system::show_in_dock(app, true);
    let app = app.clone();
    window.on_window_event(move |event| {
        if matches!(event, WindowEvent::Destroyed) {
            app.state::<PendingPage>().page_unloaded();
            system::show_in_dock(&app, false);
        }
    });
    Ok(())
}

fn bring_to_front(window: &WebviewWindow) -> tauri::Result<()> {
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// Whether the window may show this URL: the embedded dashboard, or the dev server in development.
fn is_allowed(url: &Url, developing: bool) -> bool {
    match (url.scheme(), url.host_str()) {
        ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost")) => true,
        ("http", Some("localhost")) => developing,
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str, developing: bool) -> bool {
        is_allowed(&url.parse().unwrap(), developing)
    }

    #[test]
    fn only_the_embedded_dashboard_is_shown() {
        assert!(shown("tauri://localhost/index.html", false));
        assert!(shown("http://tauri.localhost/", false));
        for elsewhere in [
            "https://example.com/",
            "http://localhost:5173/",
            "http://tauri.localhost.example.com/",
            "file:///etc/passwd",
            "data:text/html,hello",
            "about:blank",
        ] {
            assert!(!shown(elsewhere, false), "{elsewhere}");
        }
        assert!(shown("http://localhost:5173/", true));
    }
}
