//! Warnings: what the user should know although nothing is broken.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use evermoor_core::catalog::Collision;
use evermoor_core::config::{Config, ConfigError, TransportConfig, UpstreamConfig};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::PresetSet;

use crate::config::presets::PresetProblem;
use crate::system::redaction;

/// The warnings of a gateway that listens on `started` and whose configuration is `now`. `mistake`
/// is what is wrong with the file, if it was edited since.
pub(crate) fn of(started: SocketAddr, now: &Config, mistake: Option<&Failure>) -> Vec<Failure> {
    let (settings, warnings) = (&now.gateway, now.warnings.iter().map(doubt));
    let token = (!settings.require_token).then(|| {
        let what = "Any program on this computer can use your tools: no token is required.";
        Failure::new(Code::TokenOff, what, "Remove `require_token = false` from config.toml.")
    });
    let moved = (settings.listen != started).then(|| {
        let what = format!(
            "config.toml has a new `listen = \"{}\"`, which is not in use yet.",
            settings.listen
        );
        Failure::new(Code::Configuration, what, "Restart the gateway to use the new address.")
    });
    [token, moved, mistake.cloned()].into_iter().flatten().chain(warnings).collect()
}

/// What is wrong with the user's presets, and which upstreams name an unknown preset. A preset that
/// cannot be read is reported once.
pub(crate) fn of_presets(
    now: &Config,
    preset_set: &PresetSet,
    problems: &[PresetProblem],
) -> Vec<Failure> {
    let named = |upstream: &UpstreamConfig| match &upstream.transport {
        TransportConfig::App { preset } => Some(preset.clone()),
        TransportConfig::Http { .. } | TransportConfig::Stdio(_) | TransportConfig::Demo => None,
    };
    let names: BTreeSet<String> = now.upstreams.iter().filter_map(named).collect();
    let unreported = |name: &&String| problems.iter().all(|it| it.preset.as_ref() != Some(*name));
    let unknown = names.iter().filter(unreported).filter_map(|name| preset_set.get(name).err());
    problems.iter().map(|trouble| trouble.failure.clone()).chain(unknown).collect()
}

/// A questionable setting in the file, as a warning.
pub(crate) fn doubt(doubt: &ConfigError) -> Failure {
    let location = doubt.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what = format!("config.toml{location}: {}", doubt.what);
    Failure::new(Code::Configuration, what, doubt.remedy.clone())
}

/// Two upstreams that offer the same resource, as a warning.
pub(crate) fn collision(found: &Collision) -> Failure {
    let Collision { uri, owner, other } = found;
    let uri = redaction::excerpt(uri.as_bytes(), 100);
    let what = format!(
        "`{other}` offers resources that `{owner}` also offers, such as {uri}. In the merged view, `{owner}` answers."
    );
    let remedy = format!("To hide them, add `resources.deny` to the entry of `{other}`.");
    Failure::new(Code::Configuration, what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str, mistake: Option<&Failure>) -> Vec<Code> {
        let (started, now) = (Config::default().gateway, Config::parse(text).unwrap());
        of(started.listen, &now, mistake).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_default_configuration_has_no_warnings() {
        assert_eq!(codes("", None), []);
    }

    #[test]
    fn an_unknown_name_in_a_list_is_reported_with_its_line() {
        let text = "[editors.cursor]\nupstreams.allow = [\"nobody\"]\n";
        let now = Config::parse(text).unwrap();
        let warnings = of(now.gateway.listen, &now, None);
        assert!(warnings[0].what.starts_with("config.toml, line 2: `nobody`"), "{}", warnings[0]);
    }

    #[test]
    fn an_unknown_preset_is_reported_once_with_the_known_ones() {
        let text = "[upstreams.a]\npreset = \"pieces\"\n[upstreams.b]\npreset = \"pieces\"\n\
                    [upstreams.c]\npreset = \"figma\"\n";
        let (now, preset_set) = (Config::parse(text).unwrap(), PresetSet::bundled());
        let warnings = of_presets(&now, &preset_set, &[]);
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].what, "There is no preset `pieces`.");
        assert!(warnings[0].remedy.contains("pieces-os"), "{}", warnings[0]);
        let failure = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        let trouble = PresetProblem { preset: Some("pieces".into()), failure: failure.clone() };
        assert_eq!(of_presets(&now, &preset_set, &[trouble]), [failure]);
    }

    #[test]
    fn every_warning_is_reported() {
        let text = "[gateway]\nrequire_token = false\nlisten = \"127.0.0.1:1\"\n";
        let mistake = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        assert_eq!(
            codes(text, Some(&mistake)),
            [Code::TokenOff, Code::Configuration, Code::Configuration]
        );
    }
}
