//! `evermoor approve`: lets a new program of `config.toml` start, if `approve_programs` is set.

use evermoor_client::ControlClient;
use evermoor_gateway::config::file;
use evermoor_gateway::config::programs::Programs;

use crate::exit::Exit;
use crate::gateway::start_stop;
use crate::instance::Instance;
use crate::servers::lookup;
use crate::terminal;

/// Shows the program of a server, asks, and approves it.
pub(crate) fn run(instance: &Instance, name: &str) -> Exit {
    let config = match file::read(&instance.paths.config) {
        Ok(config) => config.unwrap_or_default(),
        Err(failure) => return Exit::failed(&failure),
    };
    let all = || config.upstreams.iter().chain(&config.off);
    let Some(upstream) = all().find(|upstream| upstream.name.as_str() == name) else {
        return Exit::failed(&lookup::unknown(name, all().map(|one| one.name.as_str())));
    };
    terminal::print_note(&format_args!("`{name}` runs `{}`.", upstream.transport.target()));
    if !terminal::confirm("Start it from now on?") {
        return Exit::failure(&"Nothing was changed. To answer yes without a terminal, use --yes.");
    }
    match Programs::new(instance.paths.programs_file()).approve(&config, name) {
        Ok(true) if ControlClient::find(&instance.paths).is_some() => start_stop::restart(instance),
        Ok(true) => Exit::Ok,
        Ok(false) => Exit::failure(&format_args!("`{name}` is not a program.")),
        Err(error) => Exit::failure(&error),
    }
}
