//! Upstreams that are apps: their preset and their restart policy.

use toml::Spanned;

use super::tables::{UpstreamTable, line};
use super::transport::program;
use super::{ConfigError, TransportConfig};
use crate::catalog::naming::UpstreamName;
use crate::config::memory_size;
use crate::policy::app::auto_restart::{AppPolicy, RecyclePolicy, RestartPolicy};
use crate::preset::{self, PresetSet};

/// The transport of an upstream: exactly one of a preset, a program or an address.
pub(super) fn or_server(
    text: &str,
    name: &UpstreamName,
    name_line: Option<usize>,
    table: &UpstreamTable,
) -> Result<TransportConfig, ConfigError> {
    let Some(preset) = &table.preset else {
        let app_settings =
            [table.restart.is_some(), table.recycle.is_some(), table.memory_alarm.is_some()];
        if app_settings.contains(&true) {
            let what = format!("The server `{name}` has app settings but no `preset`.");
            let remedy = "Remove `restart`, `recycle` and `memory_alarm`, or add a `preset`.";
            return Err(ConfigError { line: name_line, what, remedy: remedy.into() });
        }
        return program::or_url(text, name, name_line, table);
    };
    let at = Some(line(text, preset.span().start));
    let others = [
        ("url", table.url.is_some()),
        ("command", table.command.is_some()),
        ("args", table.args.is_some()),
        ("env", !table.env.is_empty()),
        ("cwd", table.cwd.is_some()),
        ("start_timeout", table.start_timeout.is_some()),
        ("headers", !table.headers.is_empty()),
        ("ca_file", table.ca_file.is_some()),
        ("proxy", table.proxy.is_some()),
        ("auth", table.auth.is_some()),
        ("oauth", table.oauth.is_some()),
    ];
    if let Some((other, _)) = others.iter().find(|(_, written)| *written) {
        let what = format!("The server `{name}` has both `preset` and `{other}`.");
        let remedy = format!("Remove `{other}`; the preset says how to find the app.");
        return Err(ConfigError { line: at, what, remedy });
    }
    if !preset::is_name(preset.get_ref()) {
        let what = format!("`{}` is not a preset name.", preset.get_ref());
        let remedy = "Write a name such as \"pieces-os\".".into();
        return Err(ConfigError { line: at, what, remedy });
    }
    Ok(TransportConfig::App { preset: preset.get_ref().clone() })
}

/// The title of an upstream that has none in the file: that of its preset, or its name.
pub(super) fn title(
    name: &UpstreamName,
    transport: &TransportConfig,
    presets: &PresetSet,
) -> String {
    let known = match transport {
        TransportConfig::App { preset } => presets.get(preset).ok().map(|it| it.title.clone()),
        TransportConfig::Http { .. } | TransportConfig::Stdio(_) | TransportConfig::Demo => None,
    };
    known.unwrap_or_else(|| name.as_str().to_owned())
}

/// The restart policy.
pub(super) fn policy(text: &str, table: &UpstreamTable) -> Result<AppPolicy, ConfigError> {
    let wrong = |at: &Spanned<String>, what: String, remedy: &str| ConfigError {
        line: Some(line(text, at.span().start)),
        what,
        remedy: remedy.to_owned(),
    };
    let restart = match table.restart.as_ref().map(|name| (name, name.get_ref().as_str())) {
        None | Some((_, "on-crash")) => RestartPolicy::OnCrash,
        Some((_, "ask")) => RestartPolicy::Ask,
        Some((_, "always")) => RestartPolicy::Always,
        Some((_, "never")) => RestartPolicy::Never,
        Some((at, other)) => {
            let what = format!("`{other}` is not a valid value for `restart`.");
            let remedy = "Write \"on-crash\", \"ask\", \"always\" or \"never\".";
            return Err(wrong(at, what, remedy));
        }
    };
    let recycle = match table.recycle.as_ref().map(|name| (name, name.get_ref().as_str())) {
        None | Some((_, "never")) => RecyclePolicy::Never,
        Some((_, "when-idle")) => RecyclePolicy::WhenIdle,
        Some((at, other)) => {
            let what = format!("`{other}` is not a valid value for `recycle`.");
            return Err(wrong(at, what, "Write \"when-idle\" or \"never\"."));
        }
    };
    let memory_alarm = match &table.memory_alarm {
        Some(amount) => Some(memory_size::parse_bytes(amount.get_ref()).ok_or_else(|| {
            let what = format!("`{}` is not an amount of memory.", amount.get_ref());
            wrong(amount, what, "Write \"800 MB\" or \"2.5 GB\".")
        })?),
        None => None,
    };
    Ok(AppPolicy { restart, recycle, memory_alarm })
}

#[cfg(test)]
mod tests {
    use super::super::{Config, UpstreamConfig};
    use super::*;

    fn parse(entry: &str) -> Result<UpstreamConfig, ConfigError> {
        let config = Config::parse(&format!("[upstreams.pieces]\n{entry}\n"))?;
        Ok(config.upstreams[0].clone())
    }

    #[test]
    fn an_app_needs_only_a_preset() {
        let pieces = parse("preset = \"pieces-os\"").unwrap();
        assert_eq!(pieces.transport, TransportConfig::App { preset: "pieces-os".into() });
        assert_eq!(pieces.title, "PiecesOS");
        assert_eq!(pieces.policy, AppPolicy::default());
        assert_eq!(pieces.policy.restart, RestartPolicy::OnCrash);
        assert!(pieces.transport.is_local() && !pieces.transport.is_stdio());
    }

    #[test]
    fn the_restart_policy_is_read() {
        let entry = "preset = \"notes\"\nrestart = \"ask\"\nrecycle = \"when-idle\"\nmemory_alarm = \"3 GB\"";
        let notes = parse(entry).unwrap();
        let policy = AppPolicy {
            restart: RestartPolicy::Ask,
            recycle: RecyclePolicy::WhenIdle,
            memory_alarm: Some(3_000_000_000),
        };
        assert_eq!((notes.policy, notes.title.as_str()), (policy, "pieces"));
        for restart in ["on-crash", "always", "never"] {
            parse(&format!("preset = \"notes\"\nrestart = \"{restart}\"")).unwrap();
        }
    }

    #[test]
    fn the_default_title_is_that_of_the_preset() {
        let notes = "title = \"Notes\"\n[find]\nports = 4000\nowner = true\n[[mcp]]\n\
                     transport = \"http\"\npath = \"/mcp\"\n[linux]\nprocesses = [\"notes\"]\n";
        let (presets, _) = PresetSet::bundled().with([("notes", notes)]);
        let text = "[upstreams.a]\npreset = \"notes\"\n[upstreams.b]\npreset = \"notes\"\n\
                    title = \"b\"\n[upstreams.c]\nurl = \"http://x\"\n\
                    [upstreams.d]\npreset = \"notes\"\nenabled = false\n";
        let titles = |config: &Config| -> Vec<String> {
            config.upstreams.iter().chain(&config.off).map(|one| one.title.clone()).collect()
        };
        let config = Config::parse(text).unwrap();
        assert_eq!(titles(&config), ["a", "b", "c", "d"]);
        let config = config.with_preset_titles(&presets);
        assert_eq!(titles(&config), ["Notes", "b", "c", "Notes"]);
        assert_eq!(titles(&config.with_preset_titles(&PresetSet::bundled())), ["a", "b", "c", "d"]);
    }

    #[test]
    fn an_error_about_an_app_has_its_line_and_a_remedy() {
        for (entry, at, says) in [
            ("preset = \"Pieces OS\"", 2, "not a preset name"),
            ("title = \"A\"\npreset = \"x\"\nurl = \"http://x\"", 3, "Remove `url`"),
            ("preset = \"x\"\nheaders = { A = \"1\" }", 2, "Remove `headers`"),
            ("url = \"http://x\"\nrestart = \"ask\"", 1, "no `preset`"),
            ("preset = \"x\"\nrestart = \"sometimes\"", 3, "on-crash"),
            ("preset = \"x\"\nrecycle = \"daily\"", 3, "when-idle"),
            ("preset = \"x\"\nmemory_alarm = \"much\"", 3, "2.5 GB"),
        ] {
            let mistake = parse(entry).unwrap_err();
            assert_eq!(mistake.line, Some(at), "{entry}: {mistake}");
            assert!(mistake.to_string().contains(says), "{entry}: {mistake}");
        }
    }
}
