//! The programs in `config.toml` that the user knows about.
//!
//! Every program of the user can write to `config.toml`, and Evermoor starts what it says. So a program
//! that none of Evermoor's own commands put there is reported once. With `approve_programs = true`, it
//! does not start until the user approves it. The file of known programs contains a hash of each command
//! line; a new installation knows the programs that it finds at its first start.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use evermoor_core::config::{Config, TransportConfig, UpstreamConfig};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;

use crate::system::redaction;

/// The file of the known programs.
#[derive(Clone, Debug)]
pub struct Programs {
    file: PathBuf,
}

/// What a configuration contains that the user may not know about.
#[derive(Debug, Default)]
pub(crate) struct NewPrograms {
    /// Programs that were started; they are reported once.
    pub(crate) started: Vec<Failure>,
    /// Programs that wait for the user's approval.
    pub(crate) waiting: Vec<Failure>,
}

/// More of a command line is not shown.
const LONGEST_COMMAND: usize = 200;

impl Programs {
    pub fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Records the programs that one of Evermoor's commands adds or changes.
    pub fn record(&self, before: &Config, after: &Config) -> io::Result<()> {
        // Without a file, the first start knows them anyway.
        let Some(known) = self.known() else { return Ok(()) };
        let print = |upstream: &UpstreamConfig| upstream.transport.fingerprint();
        let old: BTreeSet<String> = programs(before).map(print).collect();
        self.add(known, programs(after).filter(|program| !old.contains(&print(program))))
    }

    /// Records the program of one upstream. Returns whether there is one.
    pub fn approve(&self, config: &Config, upstream: &str) -> io::Result<bool> {
        let named: Vec<_> =
            programs(config).filter(|program| program.name.as_str() == upstream).collect();
        if named.is_empty() {
            return Ok(false);
        }
        self.add(self.known().unwrap_or_default(), named.into_iter()).map(|()| true)
    }

    /// Finds the programs that are new. Those that wait for approval are turned off.
    pub(crate) fn check(&self, mut config: Config) -> (Config, NewPrograms) {
        let mut found = NewPrograms::default();
        let Some(known) = self.known() else {
            self.remember(BTreeSet::new(), &config);
            return (config, found);
        };
        let is_new = |upstream: &UpstreamConfig| {
            upstream.transport.is_stdio() && !known.contains(&upstream.transport.fingerprint())
        };
        if config.gateway.approve_programs {
            let (waiting, rest) = config.upstreams.into_iter().partition(is_new);
            let waiting: Vec<UpstreamConfig> = waiting;
            found.waiting = waiting.iter().map(waits).collect();
            config.upstreams = rest;
            config.off.extend(waiting);
        } else {
            found.started =
                config.upstreams.iter().filter(|one| is_new(one)).map(started).collect();
            if !found.started.is_empty() {
                self.remember(known, &config);
            }
        }
        (config, found)
    }

    /// The known programs; `None` if there is no file. A file that cannot be read knows none.
    fn known(&self) -> Option<BTreeSet<String>> {
        match private::read_private(&self.file) {
            Ok(content) => content.map(|text| serde_json::from_slice(&text).unwrap_or_default()),
            Err(error) => {
                tracing::warn!(%error, "cannot read which programs are known");
                Some(BTreeSet::new())
            }
        }
    }

    fn remember(&self, known: BTreeSet<String>, config: &Config) {
        if let Err(error) = self.add(known, programs(config)) {
            tracing::warn!(%error, "cannot write which programs are known");
        }
    }

    fn add<'a>(
        &self,
        mut known: BTreeSet<String>,
        new: impl Iterator<Item = &'a UpstreamConfig>,
    ) -> io::Result<()> {
        known.extend(new.map(|upstream| upstream.transport.fingerprint()));
        private::write_private(&self.file, &serde_json::to_vec(&known)?)
    }
}

fn programs(config: &Config) -> impl Iterator<Item = &UpstreamConfig> {
    config.upstreams.iter().chain(&config.off).filter(|one| one.transport.is_stdio())
}

fn started(upstream: &UpstreamConfig) -> Failure {
    let what = format!(
        "config.toml has a program that no command of Evermoor put there: `{}` runs `{}`.",
        upstream.name,
        command(&upstream.transport)
    );
    let remedy = "If you do not know it, remove it from config.toml.";
    Failure::new(Code::Configuration, what, remedy)
}

fn waits(upstream: &UpstreamConfig) -> Failure {
    let (name, command) = (&upstream.name, command(&upstream.transport));
    let what = format!("`{name}` does not start before you approve its program, `{command}`.");
    let remedy = format!("If you trust it, run `evermoor approve {name}`.");
    Failure::new(Code::Configuration, what, remedy)
}

fn command(transport: &TransportConfig) -> String {
    redaction::excerpt(transport.target().as_bytes(), LONGEST_COMMAND)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[upstreams.a]\ncommand = \"npx\"\n";
    const TWO: &str = "[upstreams.a]\ncommand = \"npx\"\nargs = [\"-y\", \"evil\"]\n";

    fn config(text: &str) -> Config {
        Config::parse(text).unwrap()
    }

    fn file() -> (tempfile::TempDir, Programs) {
        let folder = tempfile::tempdir().unwrap();
        let programs = Programs::new(folder.path().join("programs.json"));
        (folder, programs)
    }

    #[test]
    fn a_changed_program_is_reported_once() {
        let (_folder, programs) = file();
        assert!(programs.check(config(ONE)).1.started.is_empty(), "the first start");
        let (changed, found) = programs.check(config(TWO));
        assert!(found.started[0].what.contains("`a` runs `npx -y evil`"), "{}", found.started[0]);
        assert_eq!(changed, config(TWO), "it starts");
        assert!(programs.check(config(TWO)).1.started.is_empty());
    }

    #[test]
    fn what_a_command_of_evermoor_writes_is_not_reported() {
        let (_folder, programs) = file();
        programs.check(config(ONE));
        programs.record(&config(ONE), &config(TWO)).unwrap();
        assert!(programs.check(config(TWO)).1.started.is_empty());
        let other = "[upstreams.b]\ncommand = \"other\"\n";
        let (before, after) = (config(other), config(&format!("{other}{ONE}")));
        programs.record(&before, &after).unwrap();
        assert_eq!(
            programs.check(after).1.started.len(),
            1,
            "what was there before is not vouched for"
        );
    }

    #[test]
    fn a_program_waits_for_approval_if_the_user_wants_that() {
        let (_folder, programs) = file();
        programs.check(config(ONE));
        let strict = config(&format!("[gateway]\napprove_programs = true\n{TWO}"));
        for _ in 0..2 {
            let (held, found) = programs.check(strict.clone());
            assert_eq!((held.upstreams.len(), held.off.len()), (0, 1));
            assert!(found.waiting[0].remedy.contains("evermoor approve a"));
        }
        assert!(!programs.approve(&strict, "b").unwrap());
        assert!(programs.approve(&strict, "a").unwrap());
        assert_eq!(programs.check(strict.clone()).0, strict);
    }
}
