//! What a person can type.

mod actions;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use evermoor_core::history::incident::text::parse_duration;

use crate::editors::setup::SetupArgs;
pub(crate) use actions::{Add, ConfigAction, ImportArgs, SecretAction, ServiceAction, TokenAction};

/// One local endpoint for every MCP server, that never goes away.
#[derive(Debug, Parser)]
#[command(name = "evermoor", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Keep everything under this folder, with DIR/config.toml as the configuration.
    #[arg(long, global = true, value_name = "DIR", env = "EVERMOOR_HOME")]
    pub(crate) home: Option<PathBuf>,

    /// Print data as JSON: one object with `"schema": 1` in it.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print data and failures, and nothing else.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Say on standard error how it works.
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Use no colours. The variable NO_COLOR does the same.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,

    /// Answer every question with yes. Without a terminal nothing is asked, and the answer is no.
    #[arg(long, short, global = true)]
    pub(crate) yes: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway in the foreground.
    Serve {
        /// Take the place of the gateway that runs, without anybody losing a call.
        #[arg(long)]
        takeover: bool,
        /// Do so only if that one is of an older version.
        #[arg(long, hide = true, requires = "takeover")]
        if_older: bool,
        /// Started by another program: print no address.
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Connect an editor that speaks MCP over standard input and output.
    Connect {
        /// Show one upstream under its own tool names; without it, all upstreams in one.
        upstream: Option<String>,
        /// Speak with this editor's token, if it has one.
        #[arg(long, value_name = "NAME")]
        editor: Option<String>,
    },
    /// Open the dashboard in a browser.
    Open {
        /// Print the link instead. It works once.
        #[arg(long)]
        print: bool,
    },
    /// Connect the editors on this machine, or say what that would change.
    Setup(SetupArgs),
    /// Say how things are.
    Status {
        /// All that is known of this upstream.
        upstream: Option<String>,
        /// Go on, and show every change.
        #[arg(long, short)]
        watch: bool,
    },
    /// Start the gateway in the background.
    Start,
    /// Stop the gateway. Calls under way have ten seconds to end.
    Stop,
    /// Restart an application and say how it goes, step by step; of any other upstream the connection
    /// is made anew.
    #[command(group = clap::ArgGroup::new("what").required(true).args(["upstream", "all", "gateway"]))]
    Restart {
        /// Its name, as `evermoor status` shows it.
        upstream: Option<String>,
        /// Every upstream, one after the other.
        #[arg(long)]
        all: bool,
        /// The gateway itself: a new one takes its place, and no call is lost.
        #[arg(long)]
        gateway: bool,
    },
    /// Leave an upstream alone, or all of them, until you resume it. Calls are told so at once.
    Pause {
        /// Only this one.
        upstream: Option<String>,
    },
    /// Look after what was paused again.
    Resume {
        /// Only this one.
        upstream: Option<String>,
    },
    /// Add an upstream to config.toml: a server at an address, a program, or an application.
    #[command(group = clap::ArgGroup::new("way").required(true).args(["url", "preset", "program"]))]
    Add(Add),
    /// Take an upstream out of config.toml.
    Remove { upstream: String },
    /// Turn an upstream on.
    Enable { upstream: String },
    /// Turn an upstream off: it is not started, and no editor is shown it.
    Disable { upstream: String },
    /// List the tools that editors see.
    Tools {
        /// Only this upstream's, under their own names.
        upstream: Option<String>,
    },
    /// Call a tool through the endpoint, as an editor would.
    Call {
        /// The tool's name, as `evermoor tools` shows it.
        tool: String,
        /// Its arguments; a value that is JSON is taken as JSON.
        #[arg(value_name = "NAME=VALUE")]
        arguments: Vec<String>,
    },
    /// Say which editors have a token, and make, rotate or revoke one.
    Tokens {
        #[command(subcommand)]
        action: Option<TokenAction>,
    },
    /// Keep secrets of upstreams in the keychain of the system.
    Secret {
        #[command(subcommand)]
        action: SecretAction,
    },
    /// Take over the MCP servers that your editors have, as upstreams.
    Import(ImportArgs),
    /// Show the gateway's log, or the tray's.
    Logs {
        /// Only what is about this upstream, with what its program prints.
        upstream: Option<String>,
        /// The tray's.
        #[arg(long, conflicts_with = "upstream")]
        tray: bool,
        /// Go on, and show what comes.
        #[arg(long, short)]
        follow: bool,
        /// How many lines.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
        lines: usize,
        /// How far to look back, such as 10m or 2h.
        #[arg(long, value_name = "TIME", value_parser = length)]
        since: Option<u64>,
    },
    /// Say when upstreams were down, for how long and why, and what became of the calls.
    Incidents {
        /// Only this upstream's.
        upstream: Option<String>,
        /// How far to look back, such as 36h or 30d.
        #[arg(long, value_name = "TIME", default_value = "7d", value_parser = length)]
        since: u64,
        /// As a report to paste into a bug tracker. It has no name and no folder of yours in it.
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
    /// Look at everything that can go wrong, and say what to do about it.
    Doctor {
        /// Put right what can be put right safely.
        #[arg(long)]
        fix: bool,
    },
    /// Have the system run the gateway when you log in.
    Service {
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Find, edit and check config.toml.
    Config {
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Write an archive for a bug report. It has no secret, no name and no folder of yours in it.
    Diagnostics {
        /// Where to write it; by default into the current folder.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Undo everything that Evermoor changed on this machine, and say what was done.
    Uninstall {
        /// Keep the configuration, the history and the tokens.
        #[arg(long)]
        keep_data: bool,
    },
    /// Print completions for a shell.
    Completions { shell: clap_complete::Shell },
    /// Print the manual page.
    Man,
    /// Show in half a minute what Evermoor does when a server dies.
    Demo {
        /// Be the server that dies.
        #[arg(long, hide = true, value_name = "ADDRESS")]
        serve_on: Option<String>,
    },
}

fn length(text: &str) -> Result<u64, String> {
    parse_duration(text).ok_or_else(|| "write a length of time, such as 36h or 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn global_flags_work_before_and_after_the_command() {
        for line in [["evermoor", "--json", "status"], ["evermoor", "status", "--json"]] {
            assert!(Args::try_parse_from(line).unwrap().json);
        }
    }

    #[test]
    fn an_upstream_is_added_by_exactly_one_way() {
        let parsed = |line: &str| Args::try_parse_from(line.split(' '));
        for good in [
            "evermoor add notes --url http://127.0.0.1:1/mcp --header X-A:b",
            "evermoor add notes -- npx -y server --flag",
            "evermoor add pieces --preset pieces-os",
        ] {
            assert!(parsed(good).is_ok(), "{good}");
        }
        for bad in [
            "evermoor add notes",
            "evermoor add notes --url http://x -- npx",
            "evermoor add notes --header A:b -- npx",
            "evermoor restart",
            "evermoor restart notes --all",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
