//! What a person can type after `evermoor setup`.

use clap::{Args, ValueEnum};
use evermoor_setup::{EditorTransport, SetupScope};

/// What is wanted, and of which editors.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The editors to connect, such as `cursor` or `claude-code`; without any, those on this machine
    /// are listed.
    #[arg(value_name = "EDITOR")]
    pub(crate) editors: Vec<String>,
    /// Every editor on this machine.
    #[arg(long, conflicts_with = "editors")]
    pub(crate) all: bool,
    /// For yourself, which is what you get without it, or for the project in this folder.
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Over the gateway's address, or through `evermoor connect`; without it, as suits the editor.
    #[arg(long, value_enum)]
    pub(crate) transport: Option<TransportArg>,
    /// Connect it to this upstream alone, under its own tool names. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) upstream: Vec<String>,
    /// Say what would change, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what to paste, with its token, and change no file.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print: bool,
    /// Put the editor's files back as they were, also those of projects in other folders, and take
    /// its token away.
    #[arg(long, conflicts_with_all = ["dry_run", "print", "upstream", "transport"])]
    pub(crate) undo: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScopeArg {
    User,
    Project,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TransportArg {
    Http,
    Stdio,
}

impl From<ScopeArg> for SetupScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
        }
    }
}

impl From<TransportArg> for EditorTransport {
    fn from(transport: TransportArg) -> Self {
        match transport {
            TransportArg::Http => Self::Http,
            TransportArg::Stdio => Self::Stdio,
        }
    }
}
