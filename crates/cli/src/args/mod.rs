//! The command line: commands, options and their help texts. The types of single commands are in
//! [`actions`]; `setup` defines its own. [`manual`] writes completions and the manual page;
//! `document_tests` checks README.md and docs/ against the command line; `help_tests` has a snapshot of the help.

mod actions;
#[cfg(test)]
mod document_tests;
#[cfg(test)]
mod help_tests;
pub(crate) mod manual;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use evermoor_core::history::incident::text::parse_duration;

use crate::editors::setup::SetupArgs;
pub(crate) use actions::{Add, ConfigAction, ImportArgs, SecretAction, ServiceAction, TokenAction};

/// One local endpoint for all your MCP servers that never goes away.
#[derive(Debug, Parser)]
#[command(name = "evermoor", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Use this folder for all files, including config.toml.
    #[arg(long, global = true, value_name = "DIR", env = "EVERMOOR_HOME")]
    pub(crate) home: Option<PathBuf>,

    /// Print JSON: one object with `"schema": 1`.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only data and errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Print debug output to stderr.
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print without colours, like NO_COLOR.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,

    /// Answer yes to every question. Without a terminal, the answer is no.
    #[arg(long, short, global = true)]
    pub(crate) yes: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway in the foreground.
    Serve {
        /// Replace the running gateway without losing a call.
        #[arg(long)]
        takeover: bool,
        /// Replace it only if it is older.
        #[arg(long, hide = true, requires = "takeover")]
        if_older: bool,
        /// Print nothing: another program started this one.
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Connect an editor over stdio. Editors run this command.
    Connect {
        /// Only this server, with its own tool names; otherwise all servers.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
        /// Use the token of this editor, if it has one.
        #[arg(long, value_name = "NAME")]
        editor: Option<String>,
        /// Do not become `evermoor-shim`, which started this program.
        #[arg(long, hide = true)]
        in_process: bool,
    },
    /// Open the dashboard in a browser.
    Open {
        /// Print the link instead of opening it. It works once.
        #[arg(long)]
        print: bool,
    },
    /// Connect the editors on this computer to Evermoor.
    Setup(SetupArgs),
    /// Show the state of the gateway, the servers and the editors.
    Status {
        /// Show the details of this server.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
        /// Keep running and show every change.
        #[arg(long, short)]
        watch: bool,
    },
    /// Start the gateway in the background.
    Start,
    /// Stop the gateway. Running calls have four seconds to finish.
    Stop,
    /// Restart an application step by step, or reconnect to any other server.
    #[command(group = clap::ArgGroup::new("what").required(true).args(["upstream", "all", "gateway"]))]
    Restart {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
        /// Restart every server, one after the other.
        #[arg(long)]
        all: bool,
        /// Restart the gateway itself. No call is lost.
        #[arg(long)]
        gateway: bool,
    },
    /// Let a new program of config.toml start, if `approve_programs` is set.
    Approve {
        /// The server whose program you trust.
        #[arg(value_name = "SERVER")]
        upstream: String,
    },
    /// Pause a server, or all of them, until you resume it. Calls fail at once meanwhile.
    Pause {
        /// Pause only this server.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
    },
    /// Resume a paused server, or all of them.
    Resume {
        /// Resume only this server.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
    },
    /// Sign in to a server, once for all editors.
    Login {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: String,
        /// Print the page's address instead of opening it, with a code for a browser on any device if the
        /// server has codes.
        #[arg(long)]
        no_browser: bool,
    },
    /// Sign out of a server.
    Logout {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: String,
    },
    /// Add a server to config.toml: an address, a program or an application.
    #[command(group = clap::ArgGroup::new("way").required(true).args(["url", "preset", "program"]))]
    Add(Add),
    /// Remove a server from config.toml.
    Remove {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: String,
    },
    /// Turn a server on.
    Enable {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: String,
    },
    /// Turn a server off. It is not started, and editors do not see it.
    Disable {
        /// The server's name, as shown by `evermoor status`.
        #[arg(value_name = "SERVER")]
        upstream: String,
    },
    /// List the tools that editors see.
    Tools {
        /// Only the tools of this server, with their own names.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
    },
    /// Call a tool, as an editor would.
    Call {
        /// The tool's name, as shown by `evermoor tools`.
        tool: String,
        /// The tool's arguments. A value may be JSON.
        #[arg(value_name = "NAME=VALUE")]
        arguments: Vec<String>,
    },
    /// List, create, rotate and revoke the tokens of editors.
    Tokens {
        #[command(subcommand)]
        action: Option<TokenAction>,
    },
    /// Manage the servers' secrets in the system's keychain.
    Secret {
        #[command(subcommand)]
        action: SecretAction,
    },
    /// Import the MCP servers that your editors already use.
    Import(ImportArgs),
    /// Show the gateway's log, or the tray's.
    Logs {
        /// Only lines about this server, including its program's stderr.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
        /// Show the tray's log.
        #[arg(long, conflicts_with = "upstream")]
        tray: bool,
        /// Keep running and show new lines.
        #[arg(long, short)]
        follow: bool,
        /// The number of lines [default: 50, or all with --since].
        #[arg(long, short = 'n', value_name = "N")]
        lines: Option<usize>,
        /// How far to look back, such as 10m or 2h.
        #[arg(long, value_name = "TIME", value_parser = length)]
        since: Option<u64>,
    },
    /// List outages: when, how long, why, and what happened to the calls.
    Incidents {
        /// Only outages of this server.
        #[arg(value_name = "SERVER")]
        upstream: Option<String>,
        /// How far to look back, such as 36h or 30d.
        #[arg(long, value_name = "TIME", default_value = "7d", value_parser = length)]
        since: u64,
        /// Print a report for a bug tracker, without your user name or folders.
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
    /// Check for common problems and say how to fix them.
    Doctor {
        /// Fix what can be fixed safely.
        #[arg(long)]
        fix: bool,
    },
    /// Run the gateway as a service that starts when you log in.
    Service {
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Find, edit and check config.toml.
    Config {
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Write an archive for a bug report, without secrets, your user name or your folders.
    Diagnostics {
        /// The file to write; by default one in the current folder.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Undo everything that Evermoor changed on this computer.
    Uninstall {
        /// Keep the configuration, the history and the tokens.
        #[arg(long)]
        keep_data: bool,
    },
    /// Print shell completions.
    Completions { shell: clap_complete::Shell },
    /// Print the manual page.
    Man,
    /// Show what Evermoor does when a server dies. Takes half a minute.
    Demo {
        /// Run the server of the demo.
        #[arg(long, hide = true, value_name = "ADDRESS")]
        serve_on: Option<String>,
    },
}

fn length(text: &str) -> Result<u64, String> {
    parse_duration(text).ok_or_else(|| "write a duration, such as 36h or 30d".to_owned())
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
    fn add_takes_exactly_one_kind_of_server() {
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
