//! `evermoor`: the gateway, the shim and the commands of a person, in one binary without a window.

mod args;
mod call;
mod connect;
mod demo;
mod exit;
mod incidents;
mod open;
mod pause;
mod restart;
mod serve;
mod setup;
mod status;
mod terminal;
mod tokens;

use clap::Parser as _;

use args::{Args, Command};
use evermoor_platform::paths::Paths;
use exit::Exit;

fn main() -> std::process::ExitCode {
    let args = Args::parse();
    let paths = match Paths::find(args.home.clone()) {
        Ok(paths) => paths,
        Err(error) => return Exit::failure(&error).into(),
    };
    let place = serve::Place { home: args.home, paths };
    let exit = match args.command {
        Command::Serve { takeover, if_older, background } => {
            serve::run(&place, serve::Way::of(takeover, if_older), background)
        }
        Command::Connect { upstream, editor } => {
            connect::run(place, upstream.as_deref(), editor.as_deref())
        }
        Command::Setup(wanted) => setup::run(&place, &wanted, args.json),
        Command::Status => status::run(&place, args.json),
        Command::Restart { upstream } => restart::run(&place.paths, &upstream, args.json),
        Command::Pause { upstream } => {
            pause::run(&place.paths, upstream.as_deref(), true, args.json)
        }
        Command::Resume { upstream } => {
            pause::run(&place.paths, upstream.as_deref(), false, args.json)
        }
        Command::Incidents { upstream, since, markdown } => {
            let form = incidents::Form::of(args.json, markdown);
            incidents::run(&place.paths, upstream.as_deref(), since, form)
        }
        Command::Open { print } => open::run(&place, print),
        Command::Tools { upstream } => call::tools(&place, upstream.as_deref(), args.json),
        Command::Call { tool, arguments } => call::call(&place, &tool, &arguments, args.json),
        Command::Tokens { action } => tokens::run(&place.paths, action, args.json),
        Command::Demo { serve_on: None } => demo::run(),
        Command::Demo { serve_on: Some(address) } => demo::serve(&address),
    };
    exit.into()
}
