//! What the dashboard wants to be different, as edits of the file.

use std::fmt::Display;

use super::{Edit, Setting};
use crate::api::{EditorChange, ListsChange, SettingsChange, UpstreamChange};
use crate::config::Mistake;

impl Edit {
    /// Makes every change that is said. Whether they are right is found out with the whole.
    pub fn apply(&mut self, change: &SettingsChange) -> Result<(), Mistake> {
        match change.port {
            Some(Some(port)) => self.set_port(port)?,
            Some(None) => self.unset(&["gateway", "listen"]),
            None => {}
        }
        self.wish(&["gateway", "hold"], change.hold.as_ref())?;
        self.wish(&["gateway", "require_token"], change.require_token.as_ref())?;
        if let Some(tray) = &change.tray {
            let notifications = tray.notifications.map(|said| said.map(|one| one.word()));
            self.wish(&["tray", "notifications"], notifications.as_ref())?;
            self.wish(&["tray", "quit_stops_gateway"], tray.quit_stops_gateway.as_ref())?;
        }
        for (name, upstream) in change.upstreams.iter().flatten() {
            self.entry(name)?;
            self.change_upstream(name, upstream)?;
        }
        for (name, editor) in change.editors.iter().flatten() {
            self.change_editor(name, editor)?;
        }
        Ok(())
    }

    fn change_upstream(&mut self, name: &str, change: &UpstreamChange) -> Result<(), Mistake> {
        let UpstreamChange { title, enabled, keepalive, call_timeout, .. } = change;
        let place = |key| ["upstreams", name, key];
        self.wish(&place("title"), title.as_ref())?;
        if let Some(enabled) = enabled {
            self.set_enabled(name, enabled.unwrap_or(true))?;
        }
        self.wish(&place("keepalive_interval"), keepalive.as_ref())?;
        self.wish(&place("call_timeout"), call_timeout.as_ref())?;
        self.wish(&place("restart"), change.restart.as_ref())?;
        self.wish(&place("recycle"), change.recycle.as_ref())?;
        self.wish(&place("memory_alarm"), change.memory_alarm.as_ref())?;
        self.wish(&place("trust_annotations"), change.trust_annotations.as_ref())?;
        self.wish(&place("sharing"), change.sharing.as_ref())?;
        let lists = [
            ("tools", &change.tools),
            ("prompts", &change.prompts),
            ("resources", &change.resources),
        ];
        self.change_lists("upstreams", name, &lists)
    }

    fn change_editor(&mut self, name: &str, change: &EditorChange) -> Result<(), Mistake> {
        let lists = [
            ("upstreams", &change.upstreams),
            ("tools", &change.tools),
            ("prompts", &change.prompts),
            ("resources", &change.resources),
        ];
        self.change_lists("editors", name, &lists)
    }

    fn change_lists(
        &mut self,
        table: &str,
        name: &str,
        lists: &[(&str, &Option<ListsChange>)],
    ) -> Result<(), Mistake> {
        for (kind, change) in lists {
            let Some(ListsChange { allow, deny }) = change else { continue };
            self.wish(&[table, name, kind, "allow"], allow.as_ref())?;
            self.wish(&[table, name, kind, "deny"], deny.as_ref())?;
        }
        Ok(())
    }

    /// Sets what is said, takes out what is to be as usual, and leaves alone what is not spoken of.
    fn wish<T: Clone + Into<Setting>>(
        &mut self,
        place: &[&str],
        said: Option<&Option<T>>,
    ) -> Result<(), Mistake> {
        match said {
            None => Ok(()),
            Some(None) => {
                self.unset(place);
                Ok(())
            }
            Some(Some(value)) => self.set(place, value.clone()),
        }
    }
}

impl Mistake {
    /// The mistake with its place in a file of this name, in one sentence.
    pub fn placed(&self, file: impl Display) -> String {
        let place = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{file}{place}: {}", self.what)
    }
}
