//! The `evermoor` binary: the gateway, the stdio shim and all commands.
//!
//! # Layout
//! - `args`: the command line, completions, the manual page, and tests of the documents against them
//! - `gateway`: commands about the gateway itself
//! - `servers`: commands about servers and `config.toml`
//! - `editors`: commands about editors
//! - `inspect`: commands that show the current state
//! - `uninstall`: undoes everything that Evermoor changed
//! - `instance`, `runtime`: the instance a command works on, and running async work
//! - `terminal`, `exit`: output and exit codes

mod args;
mod editors;
mod exit;
mod gateway;
mod inspect;
mod instance;
mod runtime;
mod servers;
mod terminal;
mod uninstall;

use clap::Parser as _;

use args::{Args, Command};
use evermoor_platform::paths::Paths;
use exit::Exit;
use instance::Instance;

fn main() -> std::process::ExitCode {
    // Editors start this command most often and keep it running, so it comes before everything else.
    gateway::connect::become_shim();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(mistake) => return exit::usage_error(&mistake),
    };
    terminal::configure(terminal::OutputOptions {
        quiet: args.quiet,
        json: args.json,
        no_color: args.no_color,
        yes: args.yes,
        verbose: args.verbose,
    });
    let paths = match Paths::find(args.home.clone()) {
        Ok(paths) => paths,
        Err(error) => return Exit::failure(&error).into(),
    };
    let instance = Instance { home: args.home, paths };
    let exit = match args.command {
        Command::Serve { takeover, if_older, background } => gateway::serve::run(
            &instance,
            gateway::serve::StartMode::of(takeover, if_older),
            background,
        ),
        Command::Connect { upstream, editor, in_process: _ } => {
            gateway::connect::run(&instance, upstream.as_deref(), editor.as_deref())
        }
        Command::Setup(wanted) => editors::setup::run(&instance, &wanted, args.json),
        Command::Open { print } => gateway::open::run(&instance, print),
        Command::Status { upstream, watch } => {
            inspect::status::run(&instance, upstream.as_deref(), watch)
        }
        Command::Start => gateway::start_stop::start(&instance),
        Command::Stop => gateway::start_stop::stop(&instance),
        Command::Restart { gateway: true, .. } => gateway::start_stop::restart(&instance),
        Command::Restart { upstream: Some(name), .. } => {
            servers::restart::run(&instance.paths, &name)
        }
        Command::Restart { upstream: None, .. } => servers::restart::all(&instance.paths),
        Command::Approve { upstream } => servers::approve::run(&instance, &upstream),
        Command::Pause { upstream } => {
            servers::pause::run(&instance.paths, upstream.as_deref(), true)
        }
        Command::Resume { upstream } => {
            servers::pause::run(&instance.paths, upstream.as_deref(), false)
        }
        Command::Login { upstream, no_browser } => {
            servers::login::login(&instance.paths, &upstream, no_browser)
        }
        Command::Logout { upstream } => servers::login::logout(&instance.paths, &upstream),
        Command::Add(new) => servers::add_remove::add(&instance.paths, new),
        Command::Remove { upstream } => servers::add_remove::remove(&instance.paths, &upstream),
        Command::Enable { upstream } => {
            servers::add_remove::enable(&instance.paths, &upstream, true)
        }
        Command::Disable { upstream } => {
            servers::add_remove::enable(&instance.paths, &upstream, false)
        }
        Command::Tools { upstream } => servers::call::tools(&instance, upstream.as_deref()),
        Command::Call { tool, arguments } => servers::call::call(&instance, &tool, &arguments),
        Command::Tokens { action } => editors::tokens::run(&instance, action),
        Command::Secret { action } => servers::secret::run(&instance.paths, action),
        Command::Import(wanted) => editors::import::run(&instance, &wanted),
        Command::Logs { upstream, tray, follow, lines, since } => inspect::logs::run(
            &instance.paths,
            &inspect::logs::LogQuery { upstream, tray, lines, since },
            follow,
        ),
        Command::Incidents { upstream, since, markdown } => {
            let format = inspect::incidents::OutputFormat::of(args.json, markdown);
            inspect::incidents::run(&instance.paths, upstream.as_deref(), since, format)
        }
        Command::Doctor { fix } => inspect::doctor::run(&instance, fix),
        Command::Service { action } => gateway::service::run(&instance, action),
        Command::Config { action } => servers::config::run(&instance.paths, action),
        Command::Diagnostics { output } => inspect::diagnostics::run(&instance, output),
        Command::Uninstall { keep_data } => uninstall::run(&instance, keep_data),
        Command::Completions { shell } => args::manual::completions(shell),
        Command::Man => args::manual::page(),
        Command::Demo { serve_on: None } => gateway::demo::run(),
        Command::Demo { serve_on: Some(address) } => gateway::demo::serve(&address),
    };
    exit.into()
}
