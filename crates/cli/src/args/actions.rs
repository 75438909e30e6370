//! What follows the commands that can do several things.

use clap::Subcommand;

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

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Start it at every login, and now.
    Install {
        /// Print what would be written and run, and do nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Start it at login no longer.
    Uninstall,
    /// Say whether it is installed and runs.
    Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print where config.toml is.
    Path,
    /// Open it in the editor that $VISUAL or $EDITOR names, and check it afterwards.
    Edit,
    /// Check it, or another file.
    Validate {
        /// Another file.
        file: Option<std::path::PathBuf>,
    },
    /// Print its form as a JSON Schema, for editors that complete it.
    Schema,
}
