//! What a person can type.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use evermoor_core::incident::words::parse_length;

use crate::setup::SetupArgs;

/// One local endpoint for every MCP server, that never goes away.
#[derive(Debug, Parser)]
#[command(name = "evermoor", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Keep everything under this folder, with DIR/config.toml as the configuration.
    #[arg(long, global = true, value_name = "DIR", env = "EVERMOOR_HOME")]
    pub(crate) home: Option<PathBuf>,

    /// Print data as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

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
    /// Connect the editors on this machine, or say what that would change.
    Setup(SetupArgs),
    /// Say how things are.
    Status,
    /// Restart an application and say how it goes, step by step; of any other upstream the connection
    /// is made anew.
    Restart {
        /// Its name, as `evermoor status` shows it.
        upstream: String,
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
    /// Open the dashboard in a browser.
    Open {
        /// Print the link instead. It works once.
        #[arg(long)]
        print: bool,
    },
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
    /// Show in half a minute what Evermoor does when a server dies.
    Demo {
        /// Be the server that dies.
        #[arg(long, hide = true, value_name = "ADDRESS")]
        serve_on: Option<String>,
    },
}

fn length(text: &str) -> Result<u64, String> {
    parse_length(text).ok_or_else(|| "write a length of time, such as 36h or 30d".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// List the editors (the same as no action).
    List,
    /// Make a token for an editor. It is shown once.
    Add {
        /// What to call the editor, such as `cursor`.
        name: String,
    },
    /// Make another token for an editor. The old one is refused at once.
    Rotate {
        /// The editor's name, as `evermoor tokens` shows it.
        name: String,
    },
    /// Take an editor's token away. It is refused at once.
    Revoke {
        /// The editor's name, as `evermoor tokens` shows it.
        name: String,
    },
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
}
