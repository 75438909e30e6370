//! Upstreams that are programs: command line, environment and working folder.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use toml::Spanned;

use super::http::template;
use crate::catalog::naming::UpstreamName;
use crate::config::defaults::DEFAULT_START_TIMEOUT;
use crate::config::tables::{UpstreamTable, duration, http_url, line};
use crate::config::{ConfigError, HttpOptions, TransportConfig};
use crate::security::secret_ref::Template;

/// A program to start. A leading `~` is the home folder, except in `env`.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioCommand {
    /// A name to look up in the search path, or a path.
    pub command: String,
    pub args: Vec<String>,
    /// Added to the minimal environment that every child process gets.
    pub env: BTreeMap<String, Template>,
    /// The working folder; the home folder by default.
    pub cwd: Option<String>,
    /// How long it may take to start. It may take longer while it is visibly working.
    pub start_timeout: Duration,
}

impl StdioCommand {
    pub(crate) fn read(
        text: &str,
        command: &Spanned<String>,
        table: &UpstreamTable,
    ) -> Result<Self, ConfigError> {
        let wrong = |what: String, remedy: &str| ConfigError {
            line: Some(line(text, command.span().start)),
            what,
            remedy: remedy.to_owned(),
        };
        let name = command.get_ref();
        if name.trim().is_empty() {
            return Err(wrong(
                "`command` is empty.".into(),
                "Write the name of a program, such as \"npx\".",
            ));
        }
        if name.contains(" -") {
            let what = format!("`command` must be a program, but \"{name}\" is a command line.");
            return Err(wrong(what, "Put the arguments into `args`, one per item."));
        }
        let bad = table.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0']));
        if let Some(bad) = bad {
            let what = format!("\"{bad}\" in `env` is not a valid variable name.");
            return Err(wrong(what, "Write env = { NAME = \"value\" }."));
        }
        let args = table.args.clone().unwrap_or_default();
        if args.iter().any(|argument| refers_to_a_secret(argument)) {
            let what = "Every program on this computer can read a secret in `args`.".into();
            let remedy = "Refer to it in `env` if the program can read it from a variable.";
            return Err(wrong(what, remedy));
        }
        let read =
            |(name, value): (&String, &Spanned<String>)| Ok((name.clone(), template(text, value)?));
        let env = table.env.iter().map(read).collect::<Result<_, ConfigError>>()?;
        let (command, cwd) = (name.clone(), table.cwd.clone());
        let start_timeout = duration(text, table.start_timeout.as_ref(), DEFAULT_START_TIMEOUT)?;
        Ok(Self { command, args, env, cwd, start_timeout })
    }

    /// The command line for display, without anything that looks like a secret.
    pub fn shown(&self) -> String {
        let mut words = vec![self.command.clone()];
        let mut secret_follows = false;
        for argument in &self.args {
            let name = argument.split('=').next().unwrap_or_default();
            words.push(match (secret_follows, is_secret(name)) {
                (true, _) => "…".into(),
                (false, true) if argument.contains('=') => format!("{name}=…"),
                (false, _) => argument.clone(),
            });
            secret_follows =
                argument.starts_with('-') && is_secret(argument) && !argument.contains('=');
        }
        words.join(" ")
    }

    /// Everything that identifies the program. It may contain secrets.
    pub fn identity(&self) -> String {
        format!("{:?}\n{:?}\n{:?}\n{:?}", self.command, self.args, self.env, self.cwd)
    }
}

impl fmt::Debug for StdioCommand {
    /// Omits the values of variables, because they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<&String> = self.env.keys().collect();
        f.debug_struct("Program")
            .field("command", &self.shown())
            .field("env", &env)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// The transport of an upstream without a preset: exactly one of a program or an address.
pub(crate) fn or_url(
    text: &str,
    name: &UpstreamName,
    name_line: Option<usize>,
    table: &UpstreamTable,
) -> Result<TransportConfig, ConfigError> {
    let only_for_programs = table.args.is_some()
        || table.cwd.is_some()
        || table.start_timeout.is_some()
        || !table.env.is_empty();
    let signs_in = table.auth.is_some() || table.oauth.is_some();
    let only_for_servers =
        table.ca_file.is_some() || table.proxy.is_some() || !table.headers.is_empty() || signs_in;
    match (&table.url, &table.command) {
        (Some(url), None) if !only_for_programs => {
            let url = http_url(text, url)?;
            let reach = HttpOptions::read(text, &url, table)?;
            Ok(TransportConfig::Http { url, reach })
        }
        (None, Some(_)) if only_for_servers => Err(ConfigError {
            line: name_line,
            what: format!("The server `{name}` has HTTP settings but no `url`."),
            remedy: "Remove `headers`, `ca_file`, `proxy`, `auth` and `oauth`, or replace `command` with a `url`.".into(),
        }),
        (None, Some(command)) => Ok(TransportConfig::Stdio(StdioCommand::read(text, command, table)?)),
        (Some(url), Some(command)) => Err(ConfigError {
            line: Some(line(text, url.span().start.max(command.span().start))),
            what: format!("The server `{name}` has both a `url` and a `command`."),
            remedy: "Keep `url` to connect to a server, or `command` to start a program.".into(),
        }),
        (Some(_), None) => Err(ConfigError {
            line: name_line,
            what: format!("The server `{name}` has program settings but no `command`."),
            remedy: "Remove `args`, `env`, `cwd` and `start_timeout`, or replace `url` with a `command`.".into(),
        }),
        (None, None) => Err(ConfigError {
            line: name_line,
            what: format!("The server `{name}` does not say how to reach it."),
            remedy: "Add a `url`, such as \"http://127.0.0.1:3001/mcp\", a `command`, such as \"npx\", or a `preset`, such as \"pieces-os\".".into(),
        }),
    }
}

fn refers_to_a_secret(argument: &str) -> bool {
    Template::parse(argument).is_ok_and(|template| !template.is_plain())
}

fn is_secret(argument: &str) -> bool {
    let argument = argument.to_ascii_lowercase();
    ["token", "secret", "password", "passwd", "key", "auth"]
        .iter()
        .any(|sign| argument.contains(sign))
        && !argument.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(entry: &str) -> Result<StdioCommand, ConfigError> {
        let config = Config::parse(&format!("[upstreams.a]\n{entry}\n"))?;
        match config.upstreams[0].transport.clone() {
            TransportConfig::Stdio(program) => Ok(program),
            other @ (TransportConfig::Http { .. }
            | TransportConfig::App { .. }
            | TransportConfig::Demo) => {
                panic!("a program: {other:?}")
            }
        }
    }

    #[test]
    fn a_program_is_a_command_with_its_arguments_variables_and_folder() {
        let entry =
            "command = \"npx\"\nargs = [\"-y\", \"~/code\"]\nenv = { A = \"1\" }\ncwd = \"~\"";
        let program = parse(entry).unwrap();
        assert_eq!((program.command.as_str(), program.args.len()), ("npx", 2));
        assert_eq!((program.env["A"].as_written(), program.cwd.as_deref()), ("1", Some("~")));
        assert_eq!(program.start_timeout, DEFAULT_START_TIMEOUT);
        let slow = parse("command = \"npx\"\nstart_timeout = \"5m\"").unwrap();
        assert_eq!(slow.start_timeout, Duration::from_secs(300));
    }

    #[test]
    fn an_error_about_a_program_has_its_line_and_a_remedy() {
        for (entry, at, says) in [
            ("command = \"\"", 2, "empty"),
            ("title = \"A\"\ncommand = \"npx -y x\"", 3, "`args`"),
            ("command = \"x\"\nenv = { \"A=B\" = \"1\" }", 2, "A=B"),
            ("command = \"x\"\nenv = { A = \"${keyring}\" }", 3, "${keyring:NAME}"),
            ("command = \"x\"\nargs = [\"--token=${keyring:a}\"]", 2, "in `env`"),
            ("command = \"x\"\nurl = \"http://x\"", 3, "Keep `url`"),
            ("url = \"http://x\"\nargs = [\"x\"]", 1, "`command`"),
            ("url = \"http://x\"\nstart_timeout = 5", 1, "`command`"),
            ("title = \"A\"", 1, "`command`"),
        ] {
            let mistake = parse(entry).unwrap_err();
            assert_eq!(mistake.line, Some(at), "{mistake}");
            assert!(mistake.to_string().contains(says), "{mistake}");
        }
    }

    #[test]
    fn a_displayed_or_logged_program_contains_no_secret() {
        let program = parse(
            "command = \"x\"\nargs = [\"--api-key\", \"hidden\", \"--token=hidden\", \"/home/key\"]\n\
             env = { PASSWORD = \"hidden\" }",
        );
        let program = program.unwrap();
        assert_eq!(program.shown(), "x --api-key … --token=… /home/key");
        assert!(!format!("{program:?}").contains("hidden"));
    }
}
