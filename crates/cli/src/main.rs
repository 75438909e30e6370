//! `evermoor`: the gateway, the shim and the commands of a person, in one binary without a window.

mod args;
mod call;
mod config;
mod connect;
mod demo;
mod diagnostics;
mod doctor;
mod entries;
mod exit;
mod import;
mod incidents;
mod logging;
mod logs;
mod manual;
mod open;
mod pause;
mod restart;
mod running;
mod secret;
mod serve;
mod service;
mod setup;
mod status;
mod suggest;
mod terminal;
mod tokens;
mod uninstall;
mod upstreams;

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
    let place = serve::Place { home: args.home, paths };
    let exit = match args.command {
        Command::Serve { takeover, if_older, background } => {
            serve::run(&place, serve::Way::of(takeover, if_older), background)
        }
        Command::Connect { upstream, editor } => {
            connect::run(place, upstream.as_deref(), editor.as_deref())
        }
        Command::Setup(wanted) => setup::run(&place, &wanted, args.json),
        Command::Open { print } => open::run(&place, print),
        Command::Status { upstream, watch } => status::run(&place, upstream.as_deref(), watch),
        Command::Start => running::start(&place),
        Command::Stop => running::stop(&place),
        Command::Restart { gateway: true, .. } => running::restart(&place),
        Command::Restart { upstream: Some(name), .. } => restart::run(&place.paths, &name),
        Command::Restart { upstream: None, .. } => restart::all(&place.paths),
        Command::Pause { upstream } => pause::run(&place.paths, upstream.as_deref(), true),
        Command::Resume { upstream } => pause::run(&place.paths, upstream.as_deref(), false),
        Command::Add(new) => entries::add(&place.paths, new),
        Command::Remove { upstream } => entries::remove(&place.paths, &upstream),
        Command::Enable { upstream } => entries::enable(&place.paths, &upstream, true),
        Command::Disable { upstream } => entries::enable(&place.paths, &upstream, false),
        Command::Tools { upstream } => call::tools(&place, upstream.as_deref()),
        Command::Call { tool, arguments } => call::call(&place, &tool, &arguments),
        Command::Tokens { action } => tokens::run(&place, action),
        Command::Secret { action } => secret::run(&place.paths, action),
        Command::Import(wanted) => import::run(&place, &wanted),
        Command::Logs { upstream, tray, follow, lines, since } => {
            logs::run(&place.paths, &logs::Wanted { upstream, tray, lines, since }, follow)
        }
        Command::Incidents { upstream, since, markdown } => {
            let form = incidents::Form::of(args.json, markdown);
            incidents::run(&place.paths, upstream.as_deref(), since, form)
        }
        Command::Doctor { fix } => doctor::run(&place, fix),
        Command::Service { action } => service::run(&place, action),
        Command::Config { action } => config::run(&place.paths, action),
        Command::Diagnostics { output } => diagnostics::run(&place, output),
        Command::Uninstall { keep_data } => uninstall::run(&place, keep_data),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::page(),
        Command::Demo { serve_on: None } => demo::run(),
        Command::Demo { serve_on: Some(address) } => demo::serve(&address),
    };
    exit.into()
}
