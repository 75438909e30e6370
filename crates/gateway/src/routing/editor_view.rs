//! What one editor sees at one URL: one upstream with its own names, or all of them merged,
//! filtered by the lists in the configuration.
//!
//! A view always applies the current lists, so a stream that was opened before a change follows it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use evermoor_core::catalog::ListKind;
use evermoor_core::catalog::MergedCatalog;
use evermoor_core::catalog::header_parameters;
use evermoor_core::catalog::list_results::list_result;
use evermoor_core::catalog::naming::{NameStyle, UpstreamName};
use evermoor_core::catalog::visibility::{Hidden, can_see, editor_heading};
use evermoor_core::failure::outcome::{Answer, DeliveryStatus, NotSent, UndeliveredCall, subject};
use evermoor_core::policy::first_list::Outlook;
use evermoor_core::protocol::envelope::{Outcome, Request, Response};
use evermoor_core::protocol::mcp::method;
use evermoor_setup::table::list_habits;

use crate::monitoring::status::Overview;
use crate::routing::merged_catalogs::EditorCatalog;
use crate::upstream::UpstreamHandle;
use crate::upstream::notification_log::LoggedNotification;

#[derive(Clone)]
pub struct View {
    pub scope: ViewScope,
    editor: Arc<str>,
    /// What merged names look like to the client.
    names: NameStyle,
    /// The name that the client sends, if that is known.
    client: Option<Arc<str>>,
    /// Since when the client has been connected.
    since: Instant,
    overview: watch::Receiver<Overview>,
}

/// What a URL gives access to.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for each request")]
pub enum ViewScope {
    All,
    One(UpstreamHandle),
}

/// Why an editor cannot see an upstream, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum NoView {
    #[error("The server `{name}` is turned off. {}", crate::routing::router::ENABLE_REMEDY)]
    Off { name: String },
    #[error("There is no server `{name}`. Run `evermoor status` to list them.{hidden_hint}")]
    Unknown { name: String, hidden_hint: String },
}

/// Removes from an upstream's list what the editor may not see, and the tools that must not be used.
#[derive(Clone)]
pub struct ListFilter {
    view: View,
    upstream: UpstreamHandle,
    list: ListKind,
}

impl View {
    pub fn new(scope: ViewScope, editor: &str, overview: watch::Receiver<Overview>) -> Self {
        Self {
            scope,
            editor: editor.into(),
            names: NameStyle::USUAL,
            client: None,
            since: Instant::now(),
            overview,
        }
    }

    /// The same view for a client that needs other merged names.
    pub fn with_names(self, names: NameStyle) -> Self {
        Self { names, ..self }
    }

    /// The view of a client that sends this name and has been connected since then.
    pub fn of_client(self, name: Option<&str>, since: Instant) -> Self {
        Self { client: name.map(Arc::from), since, ..self }
    }

    /// How long a list may wait for an upstream that was never connected.
    pub fn longest_wait(&self, outlook: Outlook) -> Duration {
        let habits = list_habits(&self.editor, self.client.as_deref());
        habits.longest_wait(outlook, self.since.elapsed())
    }

    /// The same editor's view of one upstream.
    pub fn of_one(self, upstream: UpstreamHandle) -> Self {
        Self { scope: ViewScope::One(upstream), ..self }
    }

    /// The editor's name.
    pub fn editor(&self) -> &Arc<str> {
        &self.editor
    }

    /// The upstream, if the view is of one.
    pub fn one(&self) -> Option<&str> {
        match &self.scope {
            ViewScope::All => None,
            ViewScope::One(upstream) => Some(upstream.name().as_str()),
        }
    }

    /// What the editor sees now.
    pub fn catalog(&self) -> EditorCatalog {
        self.overview.borrow().editor_catalogs.of_editor(&self.editor).clone()
    }

    /// The merged catalog under the names that the client uses.
    pub fn merged(&self) -> Arc<MergedCatalog> {
        self.catalog().merged(self.names)
    }

    /// What the client calls an upstream's tool or prompt.
    pub fn merged_name(&self, upstream: &UpstreamName, original: &str) -> String {
        self.names.name(upstream, original)
    }

    /// Whether the editor may see this upstream.
    pub fn sees(&self, upstream: &UpstreamName) -> bool {
        let overview = self.overview.borrow();
        can_see(overview.editor_catalogs.of_editor(&self.editor).rules.as_deref(), upstream)
    }

    /// Whether the editor may receive a notification.
    pub fn accepts(&self, published: &LoggedNotification) -> bool {
        let in_scope = match &self.scope {
            ViewScope::All => true,
            ViewScope::One(one) => *one.name() == published.scope.upstream,
        };
        if !in_scope || !published.audience.includes(&self.editor) {
            return false;
        }
        // An editor whose list changed is told so even if nothing is left in it.
        if published.is_list_change() {
            return true;
        }
        let overview = self.overview.borrow();
        let catalog = overview.editor_catalogs.of_editor(&self.editor);
        let Some(config) = overview.editor_catalogs.config(&published.scope.upstream) else {
            return can_see(catalog.rules.as_deref(), &published.scope.upstream);
        };
        let Some(visibility) = catalog.visibility(config) else { return false };
        let resource = published.notification.params.as_ref().filter(|_| {
            !visibility.hides_nothing() && published.notification.method == method::RESOURCE_UPDATED
        });
        let uri = resource.and_then(|params| params.text_member("uri"));
        uri.is_none_or(|uri| visibility.hides(ListKind::Resources, &uri).is_none())
    }

    /// What hides an item of an upstream from the editor, if anything does.
    pub fn hides(&self, upstream: &UpstreamHandle, list: ListKind, name: &str) -> Option<Hidden> {
        self.catalog().visibility(&upstream.config)?.hides(list, name)
    }

    /// The answer to a request that names something hidden; `None` if nothing is. `own` is the
    /// request under the upstream's own names.
    pub fn refuses(
        &self,
        upstream: &UpstreamHandle,
        asked: &Request,
        own: &Request,
    ) -> Option<Answer> {
        let hidden = self.catalog().visibility(&upstream.config)?.refuses(own)?;
        Some(self.refusal(upstream, asked, hidden))
    }

    /// The answer to a request for something hidden.
    pub fn refusal(&self, upstream: &UpstreamHandle, asked: &Request, hidden: Hidden) -> Answer {
        let (subject, is_tool) = subject(&asked.method, asked.params.as_ref());
        let undelivered = UndeliveredCall {
            subject: &subject,
            is_tool,
            upstream: upstream.name().as_str(),
            title: &upstream.config.title,
            fate: DeliveryStatus::NotSent(NotSent::Hidden),
            detail: &hidden.setting(upstream.name(), &self.editor),
            attempts: 0,
            held: Duration::ZERO,
            retry_after: None,
        };
        Answer::undelivered(&undelivered, asked.id.clone())
    }

    /// Says what hides a resource.
    pub fn hidden_message(&self, upstream: &UpstreamHandle, uri: &str, hidden: Hidden) -> String {
        let setting = hidden.setting(upstream.name(), &self.editor);
        format!("A list in config.toml hides `{uri}` ({setting}). To use it, change that list.")
    }

    /// A hint to add when something is not found, because it may be hidden.
    pub fn hidden_hint(&self) -> String {
        match self.catalog().rules {
            Some(_) => {
                let lists = editor_heading(&self.editor);
                format!(" The lists under {lists} in config.toml may hide it.")
            }
            None => String::new(),
        }
    }

    /// The filter for the response to this request, if it is a list that the upstream itself
    /// returns.
    pub fn list_filter(&self, request: &Request) -> Option<ListFilter> {
        let list = ListKind::from_method(&request.method)?;
        // Merged lists contain only what the editor may see.
        let ViewScope::One(upstream) = &self.scope else { return None };
        let catalog = self.catalog();
        let hides_nothing = catalog
            .visibility(&upstream.config)
            .is_some_and(|visibility| visibility.hides_nothing());
        let may_be_faulty = list == ListKind::Tools && upstream.repeats_parameters();
        (!hides_nothing || may_be_faulty).then(|| ListFilter {
            view: self.clone(),
            upstream: upstream.clone(),
            list,
        })
    }
}

impl ListFilter {
    /// The response with only what the editor may see.
    pub fn apply(&self, response: Response) -> Response {
        let Outcome::Result(result) = &response.outcome else { return response };
        let catalog = self.view.catalog();
        let seen = match catalog.visibility(&self.upstream.config) {
            Some(visibility) => visibility.page(self.list, result),
            // The upstream was hidden in the meantime.
            None => list_result(self.list, &[]),
        };
        let seen = match self.list {
            ListKind::Tools if self.upstream.repeats_parameters() => {
                header_parameters::usable(&seen)
            }
            ListKind::Tools | ListKind::Prompts | ListKind::Resources | ListKind::Templates => seen,
        };
        Response { outcome: Outcome::Result(seen), ..response }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::merged_catalogs::EditorCatalogs;
    use crate::upstream::notification_log::NotificationLog;
    use evermoor_core::api::Status;
    use evermoor_core::config::Config;
    use evermoor_core::protocol::envelope::Notification;
    use evermoor_core::protocol::json::Raw;

    /// Whether an editor receives a log message, a resource update and a changed list of an
    /// upstream.
    fn receives(lists: &str, editor: &str) -> [bool; 3] {
        let upstream = "[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n";
        let config = Config::parse(&format!("{upstream}{lists}")).unwrap();
        let handles = UpstreamHandle::remembered(&config);
        let editor_catalogs = EditorCatalogs::of(&handles, &config.editors, None);
        let status = Status::of("0".into(), 1, String::new(), vec![], vec![]);
        let (_show, overview) = watch::channel(Overview { status, editor_catalogs });
        let log = NotificationLog::default();
        let uri = Raw::of(&serde_json::json!({ "uri": "x://1" }));
        for (method, params) in [
            (method::LOG, None),
            (method::RESOURCE_UPDATED, Some(uri)),
            (ListKind::Tools.changed(), None),
        ] {
            log.publish(handles[0].scope(), Notification::new(method, params));
        }
        let view = View::new(ViewScope::All, editor, overview);
        let log_entries = log.after(0).unwrap();
        [0, 1, 2].map(|place: usize| view.accepts(&log_entries[place]))
    }

    #[tokio::test]
    async fn an_editor_without_lists_receives_everything() {
        assert_eq!(receives("", "p"), [true; 3]);
    }

    #[tokio::test]
    async fn an_editor_is_told_of_a_hidden_upstream_only_that_its_lists_changed() {
        let lists = "[editors.p]\nupstreams.deny = [\"a\"]\n";
        assert_eq!(receives(lists, "p"), [false, false, true]);
        assert_eq!(receives(lists, "q"), [true; 3]);
    }

    #[tokio::test]
    async fn an_editor_is_not_told_of_a_resource_that_is_hidden() {
        assert_eq!(receives("resources.deny = [\"x://*\"]\n", "p"), [true, false, true]);
        let lists = "[editors.p]\nresources.allow = [\"y://*\"]\n";
        assert_eq!(receives(lists, "p"), [true, false, true]);
    }
}
