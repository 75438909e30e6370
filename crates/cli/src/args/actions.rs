//! What follows the commands that can do several things.

use clap::{Args, Subcommand};

/// An upstream to be added.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What to call it: letters, digits and dashes.
    pub(crate) name: String,
    /// The address of a server.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A header to send there, as NAME:VALUE. A secret belongs into the keychain:
    /// write ${keyring:NAME} for it.
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = ["preset", "program"], value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// An application that Evermoor knows, such as `pieces-os`.
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<String>,
    /// A variable for the program, as NAME=VALUE.
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "program", conflicts_with_all = ["url", "preset"], value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// What people call it.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// A program to start, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretAction {
    /// Keep a secret. Its value is asked for, or read from standard input.
    Set {
        /// What to call it; `${keyring:NAME}` in an upstream's `headers`, `url` or `env` is its value.
        name: String,
    },
    /// List the names of secrets and who uses them, without their values.
    List,
    /// Forget a secret.
    Remove {
        /// Its name, as `evermoor secret list` shows it.
        name: String,
    },
}

/// What is taken over from editors.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Only the servers of this editor.
    #[arg(long, value_name = "EDITOR")]
    pub(crate) from: Option<String>,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Point the editors' entries at Evermoor, under the names that they have.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) point: bool,
    /// Put everything back: the configuration, the editors, and the keychain.
    #[arg(long, conflicts_with_all = ["from", "dry_run", "point"])]
    pub(crate) undo: bool,
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

fn header(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = parts.ok_or("write NAME:VALUE, such as X-Team:blue")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or("write NAME=VALUE, such as LEVEL=2")?;
    Ok((name.to_owned(), value.to_owned()))
}
