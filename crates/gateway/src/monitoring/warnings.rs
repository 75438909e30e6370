//! What is worth knowing although nothing is broken.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use evermoor_core::config::{Config, Mistake, Transport, Upstream};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::Shelf;

use crate::config::presets::PresetProblem;

/// The warnings of a gateway that was started with `started` and runs with `now`. `mistake` is
/// what is wrong with the file since then.
pub(crate) fn of(started: SocketAddr, now: &Config, mistake: Option<&Failure>) -> Vec<Failure> {
    let (settings, doubts) = (&now.gateway, now.doubts.iter().map(doubt));
    let token = (!settings.require_token).then(|| {
        let what = "Every program on this machine may use your tools: the token is turned off.";
        Failure::new(Code::TokenOff, what, "Remove `require_token = false` from config.toml.")
    });
    let moved = (settings.listen != started).then(|| {
        let what = format!(
            "config.toml says `listen = \"{}\"`, and the gateway still listens where it did.",
            settings.listen
        );
        Failure::new(Code::Configuration, what, "Restart the gateway to use the new address.")
    });
    [token, moved, mistake.cloned()].into_iter().flatten().chain(doubts).collect()
}

/// What is wrong with the person's presets, and which presets of upstreams are not known. One that
/// cannot be read is told of once.
pub(crate) fn of_presets(now: &Config, shelf: &Shelf, problems: &[PresetProblem]) -> Vec<Failure> {
    let named = |upstream: &Upstream| match &upstream.transport {
        Transport::App { preset } => Some(preset.clone()),
        Transport::Http { .. } | Transport::Stdio(_) | Transport::Demo => None,
    };
    let names: BTreeSet<String> = now.upstreams.iter().filter_map(named).collect();
    let untold = |name: &&String| problems.iter().all(|it| it.preset.as_ref() != Some(*name));
    let unknown = names.iter().filter(untold).filter_map(|name| shelf.get(name).err());
    problems.iter().map(|trouble| trouble.failure.clone()).chain(unknown).collect()
}

/// Something in the file that is worth a second look.
pub(crate) fn doubt(doubt: &Mistake) -> Failure {
    let place = doubt.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what = format!("config.toml{place}: {}", doubt.what);
    Failure::new(Code::Configuration, what, doubt.remedy.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str, mistake: Option<&Failure>) -> Vec<Code> {
        let (started, now) = (Config::default().gateway, Config::parse(text).unwrap());
        of(started.listen, &now, mistake).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_gateway_as_it_should_be_warns_of_nothing() {
        assert_eq!(codes("", None), []);
    }

    #[test]
    fn a_list_that_leads_nowhere_is_said_with_its_line() {
        let text = "[editors.cursor]\nupstreams.allow = [\"nobody\"]\n";
        let now = Config::parse(text).unwrap();
        let warnings = of(now.gateway.listen, &now, None);
        assert!(warnings[0].what.starts_with("config.toml, line 2: `nobody`"), "{}", warnings[0]);
    }

    #[test]
    fn a_preset_that_nobody_knows_is_said_once_with_those_that_are_known() {
        let text = "[upstreams.a]\npreset = \"pieces\"\n[upstreams.b]\npreset = \"pieces\"\n\
                    [upstreams.c]\npreset = \"figma\"\n";
        let (now, shelf) = (Config::parse(text).unwrap(), Shelf::of_our_own());
        let warnings = of_presets(&now, &shelf, &[]);
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].what, "There is no preset `pieces`.");
        assert!(warnings[0].remedy.contains("pieces-os"), "{}", warnings[0]);
        let failure = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        let trouble = PresetProblem { preset: Some("pieces".into()), failure: failure.clone() };
        assert_eq!(of_presets(&now, &shelf, &[trouble]), [failure]);
    }

    #[test]
    fn each_thing_worth_knowing_is_said() {
        let text = "[gateway]\nrequire_token = false\nlisten = \"127.0.0.1:1\"\n";
        let mistake = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        assert_eq!(
            codes(text, Some(&mistake)),
            [Code::TokenOff, Code::Configuration, Code::Configuration]
        );
    }
}
