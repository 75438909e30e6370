//! What one editor sees at one address: one upstream as it is, or all of them in one, as far as
//! the lists in the configuration show them to it.
//!
//! A view outlives a change of these lists. It looks at those of the moment each time, so that a
//! stream that was opened before goes on with what holds now.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use evermoor_core::catalog::List;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::catalog::visibility::{Hidden, entry, sees};
use evermoor_core::failure::outcome::{Fate, NotSent, Undelivered, subject};
use evermoor_core::protocol::envelope::{Outcome, Request, Response};
use evermoor_core::protocol::mcp::method;

use crate::monitoring::status::Overview;
use crate::routing::visibility::EditorCatalog;
use crate::upstream::Handle;
use crate::upstream::notification_log::News;

#[derive(Clone)]
pub struct View {
    pub scope: Scope,
    editor: Arc<str>,
    overview: watch::Receiver<Overview>,
}

/// What an address leads to.
#[derive(Clone)]
pub enum Scope {
    All,
    One(Handle),
}

/// Takes out of an upstream's list what the editor that asked for it is not shown.
pub struct ListFilter {
    view: View,
    upstream: Handle,
    list: List,
}

impl View {
    pub fn new(scope: Scope, editor: &str, overview: watch::Receiver<Overview>) -> Self {
        Self { scope, editor: editor.into(), overview }
    }

    /// The same editor's view of one upstream.
    pub fn of_one(self, upstream: Handle) -> Self {
        Self { scope: Scope::One(upstream), ..self }
    }

    /// Whose view it is.
    pub fn editor(&self) -> &Arc<str> {
        &self.editor
    }

    /// The one upstream that is seen, if it is one.
    pub fn one(&self) -> Option<&str> {
        match &self.scope {
            Scope::All => None,
            Scope::One(upstream) => Some(upstream.name().as_str()),
        }
    }

    /// What its editor sees at this moment.
    pub fn catalog(&self) -> EditorCatalog {
        self.overview.borrow().sights.of_editor(&self.editor).clone()
    }

    /// Whether there is such an upstream for its editor.
    pub fn sees(&self, upstream: &UpstreamName) -> bool {
        let overview = self.overview.borrow();
        sees(overview.sights.of_editor(&self.editor).rules.as_deref(), upstream)
    }

    /// Whether something that an upstream said is for its editor.
    pub fn accepts(&self, news: &News) -> bool {
        let here = match &self.scope {
            Scope::All => true,
            Scope::One(one) => *one.name() == news.lane.upstream,
        };
        if !here || !news.audience.includes(&self.editor) {
            return false;
        }
        // Who sees another list than before is told so, also if there is nothing left to see.
        if news.is_of_lists() {
            return true;
        }
        let overview = self.overview.borrow();
        let catalog = overview.sights.of_editor(&self.editor);
        let Some(config) = overview.sights.config(&news.lane.upstream) else {
            return sees(catalog.rules.as_deref(), &news.lane.upstream);
        };
        let Some(visibility) = catalog.visibility(config) else { return false };
        let resource = news
            .told
            .params
            .as_ref()
            .filter(|_| !visibility.is_clear() && news.told.method == method::RESOURCE_UPDATED);
        let uri = resource.and_then(|params| params.text_member("uri"));
        uri.is_none_or(|uri| visibility.hides(List::Resources, &uri).is_none())
    }

    /// What hides an item of an upstream from its editor.
    pub fn hides(&self, upstream: &Handle, list: List, name: &str) -> Option<Hidden> {
        self.catalog().visibility(&upstream.config)?.hides(list, name)
    }

    /// The refusal of a request that names something hidden. `own` is the request in the upstream's
    /// own words.
    pub fn refuses(&self, upstream: &Handle, asked: &Request, own: &Request) -> Option<Response> {
        let hidden = self.catalog().visibility(&upstream.config)?.refuses(own)?;
        Some(self.refusal(upstream, asked, hidden))
    }

    /// The answer to a request for something hidden.
    pub fn refusal(&self, upstream: &Handle, asked: &Request, hidden: Hidden) -> Response {
        let (subject, is_tool) = subject(&asked.method, asked.params.as_ref());
        let undelivered = Undelivered {
            subject: &subject,
            is_tool,
            upstream: upstream.name().as_str(),
            title: &upstream.config.title,
            fate: Fate::NotSent(NotSent::Hidden),
            detail: &hidden.place(upstream.name(), &self.editor),
            attempts: 0,
            held: Duration::ZERO,
            retry_after: None,
        };
        undelivered.answer(asked.id.clone())
    }

    /// What hides a resource, for a person to read.
    pub fn hidden_message(&self, upstream: &Handle, uri: &str, hidden: Hidden) -> String {
        let place = hidden.place(upstream.name(), &self.editor);
        format!("A list in config.toml hides `{uri}` ({place}). To use it, change that list.")
    }

    /// What to add where something is not found: there may be a reason.
    pub fn hidden_hint(&self) -> String {
        match self.catalog().rules {
            Some(_) => {
                let lists = entry(&self.editor);
                format!(" It may be hidden by the lists under {lists} in config.toml.")
            }
            None => String::new(),
        }
    }

    /// What an upstream's answer to this request must go through.
    pub fn list_filter(&self, request: &Request) -> Option<ListFilter> {
        let list = List::asked_by(&request.method)?;
        // All upstreams in one are merged from what is seen of each.
        let Scope::One(upstream) = &self.scope else { return None };
        let catalog = self.catalog();
        let is_clear =
            catalog.visibility(&upstream.config).is_some_and(|visibility| visibility.is_clear());
        (!is_clear).then(|| ListFilter { view: self.clone(), upstream: upstream.clone(), list })
    }
}

impl ListFilter {
    /// The answer as the editor may see it.
    pub fn apply(&self, response: Response) -> Response {
        let Outcome::Result(result) = &response.outcome else { return response };
        let catalog = self.view.catalog();
        let seen = match catalog.visibility(&self.upstream.config) {
            Some(visibility) => visibility.page(self.list, result),
            // It was hidden in the meantime.
            None => evermoor_core::catalog::list_result(self.list, &[]),
        };
        Response { outcome: Outcome::Result(seen), ..response }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::visibility::Sights;
    use crate::upstream::notification_log::Newsroom;
    use evermoor_core::api::Status;
    use evermoor_core::config::Config;
    use evermoor_core::protocol::envelope::Notification;
    use evermoor_core::protocol::json::Raw;

    /// Which of these news an editor accepts of: a log message and a change of a resource of an
    /// upstream, and a changed list of it.
    fn receives(lists: &str, editor: &str) -> [bool; 3] {
        let upstream = "[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n";
        let config = Config::parse(&format!("{upstream}{lists}")).unwrap();
        let handles = Handle::remembered(&config);
        let sights = Sights::of(&handles, &config.editors, None);
        let status = Status::of("0".into(), 1, String::new(), vec![], vec![]);
        let (_show, overview) = watch::channel(Overview { status, sights });
        let room = Newsroom::default();
        let uri = Raw::of(&serde_json::json!({ "uri": "x://1" }));
        for (told, params) in [
            (method::LOG, None),
            (method::RESOURCE_UPDATED, Some(uri)),
            (List::Tools.changed(), None),
        ] {
            room.publish(handles[0].lane(), Notification::new(told, params));
        }
        let view = View::new(Scope::All, editor, overview);
        let news = room.after(0).unwrap();
        [0, 1, 2].map(|place: usize| view.accepts(&news[place]))
    }

    #[tokio::test]
    async fn an_editor_without_lists_hears_everything() {
        assert_eq!(receives("", "p"), [true; 3]);
    }

    #[tokio::test]
    async fn an_editor_hears_nothing_of_an_upstream_that_it_may_not_see_but_that_its_lists_changed()
    {
        let lists = "[editors.p]\nupstreams.deny = [\"a\"]\n";
        assert_eq!(receives(lists, "p"), [false, false, true]);
        assert_eq!(receives(lists, "q"), [true; 3]);
    }

    #[tokio::test]
    async fn an_editor_hears_nothing_of_a_resource_that_is_hidden() {
        assert_eq!(receives("resources.deny = [\"x://*\"]\n", "p"), [true, false, true]);
        let lists = "[editors.p]\nresources.allow = [\"y://*\"]\n";
        assert_eq!(receives(lists, "p"), [true, false, true]);
    }
}
