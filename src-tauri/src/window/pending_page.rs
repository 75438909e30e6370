//! The dashboard page that the window is to show once it has loaded.
//!
//! Events sent to a page that is still loading are lost. So the page reports when it listens and
//! then gets the pending page.

use parking_lot::Mutex;
use serde::Serialize;
use tauri::State;

/// The event that makes the dashboard show a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Show {
    pub(crate) page: String,
}

#[derive(Default)]
pub(crate) struct PendingPage(Mutex<Loading>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Loading {
    listens: bool,
    pending: Option<Show>,
}

impl PendingPage {
    /// Requests a page. Returns the event to send now, or keeps it until the window listens.
    pub(crate) fn request(&self, page: String) -> Option<Show> {
        self.0.lock().request(Show { page })
    }

    /// The window was closed, or loads again.
    pub(crate) fn page_unloaded(&self) {
        self.0.lock().listens = false;
    }

    /// The pending page, for a window that is created now. It stays pending until the window
    /// listens.
    pub(crate) fn first(&self) -> String {
        self.0.lock().pending.as_ref().map_or_else(String::new, |show| show.page.clone())
    }
}

impl Loading {
    fn request(&mut self, show: Show) -> Option<Show> {
        if self.listens {
            return Some(show);
        }
        // The last request wins.
        self.pending = Some(show);
        None
    }

    fn listen(&mut self) -> Option<Show> {
        self.listens = true;
        self.pending.take()
    }
}

/// The dashboard calls this once it listens, and gets the pending page.
#[tauri::command]
pub(crate) fn listening(pending: State<'_, PendingPage>) -> Option<Show> {
    pending.0.lock().listen()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(page: &str) -> Show {
        Show { page: page.to_owned() }
    }

    #[test]
    fn a_window_that_loads_gets_the_last_requested_page_when_it_listens() {
        let mut window = Loading::default();
        assert_eq!(window.request(show("#/")), None);
        assert_eq!(window.request(show("#/settings")), None);
        assert_eq!(window.listen(), Some(show("#/settings")));
        assert_eq!(window.listen(), None, "once");
        assert_eq!(window.request(show("#/editors")), Some(show("#/editors")));
    }

    #[test]
    fn a_page_requested_after_the_window_closed_goes_to_the_next_window() {
        let pending = PendingPage::default();
        assert_eq!(pending.0.lock().listen(), None);
        pending.page_unloaded();
        assert_eq!(pending.request("#/doctor".into()), None);
        assert_eq!(pending.first(), "#/doctor");
        assert_eq!(pending.0.lock().listen(), Some(show("#/doctor")));
    }
}
