//! The arguments of `add` and `import`, and the subcommands of `secret`, `tokens`, `service` and
//! `config`.

use clap::{Args, Subcommand};

/// The arguments of `evermoor add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The server's name: letters, digits and dashes.
    pub(crate) name: String,
    /// The server's address.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A header to send to the server. Keep secrets in the keychain and write
    /// ${keyring:NAME} here.
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = ["preset", "program"], value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// A known application, such as `pieces-os`.
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<String>,
    /// An environment variable for the program.
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "program", conflicts_with_all = ["url", "preset"], value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// The name to display.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// The program to run, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretAction {
    /// Store a secret. Evermoor prompts for its value, or reads it from stdin.
    Set {
        /// The secret's name. Use it as `${keyring:NAME}` in a server's `headers`, `url` or `env`.
        name: String,
    },
    /// List the secrets and the servers that use them, without their values.
    List,
    /// Unlock the keychain and allow Evermoor to read the secrets that servers need. The system may ask
    /// for your password.
    Unlock,
    /// Delete a secret.
    Remove {
        /// The secret's name, as shown by `evermoor secret list`.
        name: String,
    },
}

/// The arguments of `evermoor import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Import only from this editor.
    #[arg(long, value_name = "EDITOR")]
    pub(crate) from: Option<String>,
    /// Show what would change, without changing anything.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also point the editors' entries at Evermoor. They keep their names.
    #[arg(long)]
    pub(crate) point: bool,
    /// Undo the import: restore the configuration, the editors and the keychain.
    #[arg(long, conflicts_with_all = ["from", "dry_run", "point"])]
    pub(crate) undo: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// List the editors that have a token (the default).
    List,
    /// Create a token for an editor. It is shown once.
    Add {
        /// The editor's name, such as `cursor`.
        name: String,
    },
    /// Replace an editor's token. The old one stops working at once.
    Rotate {
        /// The editor's name, as shown by `evermoor tokens`.
        #[arg(required_unless_present = "control")]
        name: Option<String>,
        /// Replace the token of the tray, the dashboard and the command line instead. Open dashboards
        /// must be opened again.
        #[arg(long, conflicts_with = "name")]
        control: bool,
    },
    /// Revoke an editor's token. It stops working at once.
    Revoke {
        /// The editor's name, as shown by `evermoor tokens`.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Start the gateway now and at every login.
    Install {
        /// Show what would be written and run, without doing it.
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop starting the gateway at login.
    Uninstall,
    /// Show whether the service is installed and running.
    Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print the path of config.toml.
    Path,
    /// Open config.toml in $VISUAL or $EDITOR and check it afterwards.
    Edit,
    /// Check config.toml, or another file.
    Validate {
        /// The file to check instead.
        file: Option<std::path::PathBuf>,
    },
    /// Print the JSON Schema of config.toml, for completion in editors.
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
