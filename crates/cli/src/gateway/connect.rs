//! `evermoor connect`: the shim between an editor's standard input and output and the gateway.
//!
//! Standard output belongs to the protocol; nothing here may print.

use tokio::io::BufReader;

use evermoor_client::launch::Launcher;
use evermoor_client::shim;
use evermoor_platform::process::signals;

use crate::exit::Exit;
use crate::gateway::serve;
use crate::gateway::serve::Place;

pub(crate) fn run(place: Place, upstream: Option<&str>, editor: Option<&str>) -> Exit {
    crate::logging::to_stderr();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Exit::failure(&error),
    };
    let path = upstream.map_or_else(|| "/mcp".to_owned(), |name| format!("/mcp/{name}"));
    let exit = runtime.block_on(bridge(place, path, editor));
    // A read of standard input cannot be interrupted; nobody waits for it.
    runtime.shutdown_background();
    exit
}

async fn bridge(place: Place, path: String, editor: Option<&str>) -> Exit {
    let launcher = match launcher(place) {
        Ok(launcher) => match editor {
            Some(editor) => launcher.speaking_for(editor),
            None => launcher,
        },
        Err(exit) => return exit,
    };
    let input = BufReader::new(tokio::io::stdin());
    #[expect(clippy::disallowed_methods, reason = "the shim writes the protocol to it")]
    let output = tokio::io::stdout();
    tokio::select! {
        done = shim::run(launcher, path, input, output) => match done {
            Ok(()) => Exit::Ok,
            Err(error) => Exit::failure(&error),
        },
        () = signals::stop_requested() => Exit::Ok,
        () = serve::settle() => Exit::Ok,
    }
}

/// How a gateway of this very program is started.
pub(crate) fn launcher(place: Place) -> Result<Launcher, Exit> {
    match std::env::current_exe() {
        Ok(program) => Ok(Launcher::new(program, place.home, place.paths)),
        Err(error) => Err(Exit::failure(&error)),
    }
}
