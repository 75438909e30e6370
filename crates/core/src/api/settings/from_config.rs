//! Builds the settings from a parsed configuration.

use std::time::Duration;

use super::{EditorSettings, FilterLists, Settings, UpstreamSettings};
use crate::catalog::filter::{Filter, Pattern};
use crate::config::memory_size;
use crate::config::{Config, EditorConfig, KeepaliveConfig, Sharing, UpstreamConfig};
use crate::policy::app::auto_restart::{RecyclePolicy, RestartPolicy};

impl Settings {
    /// The settings of the configuration file at `path`.
    pub fn of(path: String, config: &Config) -> Self {
        let on = config.upstreams.iter().map(|upstream| (upstream, true));
        let off = config.off.iter().map(|upstream| (upstream, false));
        let mut upstreams: Vec<UpstreamSettings> =
            on.chain(off).map(|(one, enabled)| of_upstream(one, enabled)).collect();
        upstreams.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            path,
            port: config.gateway.listen.port(),
            hold: duration_text(config.gateway.hold),
            require_token: config.gateway.require_token,
            tray: config.tray,
            upstreams,
            editors: config.editors.iter().map(|(name, editor)| of_editor(name, editor)).collect(),
        }
    }
}

fn of_upstream(upstream: &UpstreamConfig, enabled: bool) -> UpstreamSettings {
    let restart = match upstream.policy.restart {
        RestartPolicy::OnCrash => "on-crash",
        RestartPolicy::Ask => "ask",
        RestartPolicy::Always => "always",
        RestartPolicy::Never => "never",
    };
    let recycle = match upstream.policy.recycle {
        RecyclePolicy::WhenIdle => "when-idle",
        RecyclePolicy::Never => "never",
    };
    let sharing = match upstream.sharing {
        Sharing::Shared => "shared",
        Sharing::PerClient => "per-client",
    };
    UpstreamSettings {
        name: upstream.name.to_string(),
        title: upstream.has_own_title.then(|| upstream.title.clone()),
        enabled,
        is_app: upstream.transport.is_app(),
        target: upstream.transport.target(),
        keepalive: match upstream.keepalive {
            KeepaliveConfig::Usual => None,
            KeepaliveConfig::Every(time) => Some(duration_text(time)),
            KeepaliveConfig::Never => Some(duration_text(Duration::ZERO)),
        },
        call_timeout: duration_text(upstream.call_timeout),
        restart: restart.into(),
        recycle: recycle.into(),
        memory_alarm: upstream.policy.memory_alarm.map(memory_size::format_bytes),
        trust_annotations: upstream.retry_policy.trust_annotations,
        sharing: sharing.into(),
        tools: lists(&upstream.filters.tools),
        prompts: lists(&upstream.filters.prompts),
        resources: lists(&upstream.filters.resources),
    }
}

fn of_editor(name: &str, editor: &EditorConfig) -> EditorSettings {
    let rules = &editor.rules;
    EditorSettings {
        name: name.to_owned(),
        upstreams: lists(&rules.upstreams),
        tools: lists(&rules.items.tools),
        prompts: lists(&rules.items.prompts),
        resources: lists(&rules.items.resources),
    }
}

fn lists(filter: &Filter) -> FilterLists {
    let texts = |patterns: &Vec<Pattern>| -> Vec<String> {
        patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect()
    };
    FilterLists { allow: filter.allow.as_ref().map(texts), deny: texts(&filter.deny) }
}

/// A duration as it is written in the file.
fn duration_text(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
