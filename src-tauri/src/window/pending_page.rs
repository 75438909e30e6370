//! The place of the dashboard that a person asked for, until its page can hear of it.
//!
//! A page that still loads hears nothing, so that what is said to it then would be lost. It says when
//! it listens, and is given what waits.

use parking_lot::Mutex;
use serde::Serialize;
use tauri::State;

/// Where the dashboard is to go, as it names its places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Show {
    pub(crate) page: String,
}

#[derive(Default)]
pub(crate) struct Waiting(Mutex<Page>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    listens: bool,
    wanted: Option<Show>,
}

impl Waiting {
    /// A person wants to see this: to be said now, or kept until the page listens.
    pub(crate) fn want(&self, page: String) -> Option<Show> {
        self.0.lock().want(Show { page })
    }

    /// Nobody listens: the page is gone, or loads.
    pub(crate) fn is_deaf(&self) {
        self.0.lock().listens = false;
    }

    /// What waits, for a page that is made now. It is told once more when it listens.
    pub(crate) fn first(&self) -> String {
        self.0.lock().wanted.as_ref().map_or_else(String::new, |show| show.page.clone())
    }
}

impl Page {
    fn want(&mut self, show: Show) -> Option<Show> {
        if self.listens {
            return Some(show);
        }
        // Of several places the last is the one that is wanted.
        self.wanted = Some(show);
        None
    }

    fn listen(&mut self) -> Option<Show> {
        self.listens = true;
        self.wanted.take()
    }
}

/// The page listens from now on, and is given what waits for it.
#[tauri::command]
pub(crate) fn listening(waiting: State<'_, Waiting>) -> Option<Show> {
    waiting.0.lock().listen()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(page: &str) -> Show {
        Show { page: page.to_owned() }
    }

    #[test]
    fn what_is_asked_of_a_page_that_loads_is_given_to_it_when_it_listens() {
        let mut page = Page::default();
        assert_eq!(page.want(show("#/")), None);
        assert_eq!(page.want(show("#/settings")), None);
        assert_eq!(page.listen(), Some(show("#/settings")));
        assert_eq!(page.listen(), None, "once");
        assert_eq!(page.want(show("#/editors")), Some(show("#/editors")));
    }

    #[test]
    fn a_page_that_went_hears_nothing_and_the_next_is_given_what_it_missed() {
        let waiting = Waiting::default();
        assert_eq!(waiting.0.lock().listen(), None);
        waiting.is_deaf();
        assert_eq!(waiting.want("#/doctor".into()), None);
        assert_eq!(waiting.first(), "#/doctor");
        assert_eq!(waiting.0.lock().listen(), Some(show("#/doctor")));
    }
}
