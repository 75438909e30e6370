//! The dashboard's window: made when it is asked for, gone when it is closed.
//!
//! A hidden web view would cost more memory than everything else together. The window shows the
//! embedded dashboard and nothing from anywhere else.

pub(crate) mod at_start;
pub(crate) mod page;
pub(crate) mod pending_page;
pub(crate) mod reopen;

use evermoor_client::Presence;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{
    AppHandle, Emitter, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};
use tokio::sync::watch;
use tracing::warn;

use crate::gateway::Gateway;
use crate::system;
use crate::window::page::Page;
use crate::window::pending_page::{Show, Waiting};

const LABEL: &str = "main";

/// Brings the window to the front, or makes it. May be called on any thread.
pub(crate) fn open(app: &AppHandle) {
    make(app, None);
}

/// The same, at a place of the dashboard.
pub(crate) fn open_at(app: &AppHandle, page: &Page) {
    make(app, Some(page.hash()));
}

/// The window is made outside the handler that asks for it, as Windows waits forever for a web view
/// that is made inside one.
fn make(app: &AppHandle, page: Option<String>) {
    // A second launch may ask while the first has hardly begun.
    let Some(gateway) = app.try_state::<Gateway>() else {
        return;
    };
    let (app, waiting) = (app.clone(), app.state::<Waiting>());
    if app.get_webview_window(LABEL).is_none() {
        waiting.is_deaf();
    }
    let now = page.and_then(|page| waiting.want(page));
    gateway.spawn(async move {
        let opened = match app.get_webview_window(LABEL) {
            Some(window) => tell(&app, now).and_then(|()| front(&window)),
            None => create(&app, &app.state::<Waiting>().first()),
        };
        // Another click may have made it meanwhile, and it is told what both want.
        let opened = match (opened, app.get_webview_window(LABEL)) {
            (Err(_), Some(window)) => front(&window),
            (opened, _) => opened,
        };
        if let Err(error) = opened {
            warn!(%error, "the window could not be opened");
        }
    });
}

fn tell(app: &AppHandle, show: Option<Show>) -> tauri::Result<()> {
    show.map_or(Ok(()), |show| app.emit_to(LABEL, "show", show))
}

/// Tells the window, whenever there is one, each change of what is known of the gateway.
pub(crate) async fn follow(app: AppHandle, mut presence: watch::Receiver<Presence>) {
    while presence.changed().await.is_ok() {
        let now = presence.borrow_and_update().clone();
        if app.get_webview_window(LABEL).is_some()
            && let Err(error) = app.emit_to(LABEL, "presence", now)
        {
            warn!(%error, "the window could not be told of a change");
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
        .on_navigation(|url| is_ours(url, tauri::is_dev()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, page| match page.event() {
            PageLoadEvent::Started => window.state::<Waiting>().is_deaf(),
            PageLoadEvent::Finished => {
                if let Err(error) = front(&window) {
                    warn!(%error, "the window could not be shown");
                }
            }
        })
        .build()?;
    system::show_in_dock(app, true);
    let app = app.clone();
    window.on_window_event(move |event| {
        if matches!(event, WindowEvent::Destroyed) {
            app.state::<Waiting>().is_deaf();
            system::show_in_dock(&app, false);
        }
    });
    Ok(())
}

fn front(window: &WebviewWindow) -> tauri::Result<()> {
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// Only what is embedded in the program may be shown, or the dev server while developing.
fn is_ours(url: &Url, developing: bool) -> bool {
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
        is_ours(&url.parse().unwrap(), developing)
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
