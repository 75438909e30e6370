//! `evermoor connect`: the stdio shim between an editor and the gateway.
//!
//! Stdout carries the protocol, so nothing here may print to it.

use evermoor_client::shim;
use evermoor_platform::process::signals;

use crate::exit::Exit;
use crate::gateway::serve;
use crate::instance::Instance;

pub(crate) fn run(instance: &Instance, upstream: Option<&str>, editor: Option<&str>) -> Exit {
    super::logging::to_stderr();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Exit::failure(&error),
    };
    let path = upstream.map_or_else(|| "/mcp".to_owned(), |name| format!("/mcp/{name}"));
    let exit = runtime.block_on(bridge(instance, path, editor));
    // A blocking read of stdin cannot be cancelled, so do not wait for it.
    runtime.shutdown_background();
    exit
}

async fn bridge(instance: &Instance, path: String, editor: Option<&str>) -> Exit {
    let launcher = match instance.launcher() {
        Ok(launcher) => match editor {
            Some(editor) => launcher.for_editor(editor),
            None => launcher,
        },
        Err(exit) => return exit,
    };
    tokio::select! {
        done = shim::run(launcher, path) => match done {
            Ok(()) => Exit::Ok,
            Err(error) => Exit::failure(&error),
        },
        () = signals::stop_requested() => Exit::Ok,
        () = serve::release_startup_memory() => Exit::Ok,
    }
}
