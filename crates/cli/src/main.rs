//! `evermoor`: the gateway, the shim and the commands of a person, in one binary without a window.

mod args;
#[cfg(test)]
mod documents;
mod editors;
mod exit;
mod gateway;
mod inspect;
mod logging;
mod manual;
mod servers;
mod suggest;
mod terminal;
mod uninstall;

use clap::Parser as _;

use args::{Args, Command};
use evermoor_platform::paths::Paths;
use exit::Exit;

fn main() -> std::process::ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(mistake) => return exit::mistyped(&mistake),
    };
    terminal::behave(terminal::Manner {
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
    let place = gateway::serve::Place { home: args.home, paths };
    let exit = match args.command {
        Command::Serve { takeover, if_older, background } => {
            gateway::serve::run(&place, gateway::serve::Way::of(takeover, if_older), background)
        }
        Command::Connect { upstream, editor } => {
            gateway::connect::run(place, upstream.as_deref(), editor.as_deref())
        }
        Command::Setup(wanted) => editors::setup::run(&place, &wanted, args.json),
        Command::Open { print } => gateway::open::run(&place, print),
        Command::Status { upstream, watch } => {
            inspect::status::run(&place, upstream.as_deref(), watch)
        }
        Command::Start => gateway::start_stop::start(&place),
        Command::Stop => gateway::start_stop::stop(&place),
        Command::Restart { gateway: true, .. } => gateway::start_stop::restart(&place),
        Command::Restart { upstream: Some(name), .. } => servers::restart::run(&place.paths, &name),
        Command::Restart { upstream: None, .. } => servers::restart::all(&place.paths),
        Command::Pause { upstream } => servers::pause::run(&place.paths, upstream.as_deref(), true),
        Command::Resume { upstream } => {
            servers::pause::run(&place.paths, upstream.as_deref(), false)
        }
        Command::Add(new) => servers::entries::add(&place.paths, new),
        Command::Remove { upstream } => servers::entries::remove(&place.paths, &upstream),
        Command::Enable { upstream } => servers::entries::enable(&place.paths, &upstream, true),
        Command::Disable { upstream } => servers::entries::enable(&place.paths, &upstream, false),
        Command::Tools { upstream } => servers::call::tools(&place, upstream.as_deref()),
        Command::Call { tool, arguments } => servers::call::call(&place, &tool, &arguments),
        Command::Tokens { action } => editors::tokens::run(&place, action),
        Command::Secret { action } => servers::secret::run(&place.paths, action),
        Command::Import(wanted) => editors::import::run(&place, &wanted),
        Command::Logs { upstream, tray, follow, lines, since } => inspect::logs::run(
            &place.paths,
            &inspect::logs::Wanted { upstream, tray, lines, since },
            follow,
        ),
        Command::Incidents { upstream, since, markdown } => {
            let form = inspect::incidents::Form::of(args.json, markdown);
            inspect::incidents::run(&place.paths, upstream.as_deref(), since, form)
        }
        Command::Doctor { fix } => inspect::doctor::run(&place, fix),
        Command::Service { action } => gateway::service::run(&place, action),
        Command::Config { action } => servers::config::run(&place.paths, action),
        Command::Diagnostics { output } => inspect::diagnostics::run(&place, output),
        Command::Uninstall { keep_data } => uninstall::run(&place, keep_data),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::page(),
        Command::Demo { serve_on: None } => gateway::demo::run(),
        Command::Demo { serve_on: Some(address) } => gateway::demo::serve(&address),
    };
    exit.into()
}
