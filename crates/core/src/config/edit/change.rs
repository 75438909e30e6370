//! Applies a settings change of the dashboard to the file.

use super::{ConfigEdit, SettingValue};
use crate::api::{EditorChange, FilterListsChange, SettingsChange, UpstreamChange};
use crate::config::ConfigError;

impl ConfigEdit {
    /// Applies all changes. [`ConfigEdit::done`] validates the result.
    pub fn apply(&mut self, change: &SettingsChange) -> Result<(), ConfigError> {
        match change.port {
            Some(Some(port)) => self.set_port(port)?,
            Some(None) => self.unset(&["gateway", "listen"]),
            None => {}
        }
        self.set_or_unset(&["gateway", "hold"], change.hold.as_ref())?;
        self.set_or_unset(&["gateway", "require_token"], change.require_token.as_ref())?;
        if let Some(tray) = &change.tray {
            let notifications = tray.notifications.map(|level| level.map(|one| one.word()));
            self.set_or_unset(&["tray", "notifications"], notifications.as_ref())?;
            self.set_or_unset(&["tray", "quit_stops_gateway"], tray.quit_stops_gateway.as_ref())?;
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

    fn change_upstream(&mut self, name: &str, change: &UpstreamChange) -> Result<(), ConfigError> {
        let UpstreamChange { title, enabled, keepalive, call_timeout, .. } = change;
        let keys = |key| ["upstreams", name, key];
        self.set_or_unset(&keys("title"), title.as_ref())?;
        if let Some(enabled) = enabled {
            self.set_enabled(name, enabled.unwrap_or(true))?;
        }
        self.set_or_unset(&keys("keepalive_interval"), keepalive.as_ref())?;
        self.set_or_unset(&keys("call_timeout"), call_timeout.as_ref())?;
        self.set_or_unset(&keys("restart"), change.restart.as_ref())?;
        self.set_or_unset(&keys("recycle"), change.recycle.as_ref())?;
        self.set_or_unset(&keys("memory_alarm"), change.memory_alarm.as_ref())?;
        self.set_or_unset(&keys("trust_annotations"), change.trust_annotations.as_ref())?;
        self.set_or_unset(&keys("sharing"), change.sharing.as_ref())?;
        let lists = [
            ("tools", &change.tools),
            ("prompts", &change.prompts),
            ("resources", &change.resources),
        ];
        self.change_lists("upstreams", name, &lists)
    }

    fn change_editor(&mut self, name: &str, change: &EditorChange) -> Result<(), ConfigError> {
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
        lists: &[(&str, &Option<FilterListsChange>)],
    ) -> Result<(), ConfigError> {
        for (kind, change) in lists {
            let Some(FilterListsChange { allow, deny }) = change else { continue };
            self.set_or_unset(&[table, name, kind, "allow"], allow.as_ref())?;
            self.set_or_unset(&[table, name, kind, "deny"], deny.as_ref())?;
        }
        Ok(())
    }

    /// Sets a value, removes it (`Some(None)`), or leaves it unchanged (`None`).
    fn set_or_unset<T: Clone + Into<SettingValue>>(
        &mut self,
        keys: &[&str],
        value: Option<&Option<T>>,
    ) -> Result<(), ConfigError> {
        match value {
            None => Ok(()),
            Some(None) => {
                self.unset(keys);
                Ok(())
            }
            Some(Some(value)) => self.set(keys, value.clone()),
        }
    }
}
