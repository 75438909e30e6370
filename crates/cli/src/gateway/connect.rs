//! `evermoor connect`: the stdio shim between an editor and the gateway.
//!
//! As editors start it, this program becomes `evermoor-shim`, which is much smaller, if that is installed beside
//! it. It bridges the editor and the gateway itself if not, if the command line is unusual, or if the
//! small program could not begin.
//!
//! Stdout carries the protocol, so nothing here may print to it.

use std::ffi::OsString;

use evermoor_client::shim;
use evermoor_client::shim::arguments::ShimArguments;
use evermoor_platform::process::{signals, spawn};

use crate::exit::Exit;
use crate::instance::Instance;

/// Becomes `evermoor-shim` if this is `evermoor connect` as editors start it. Returns if it is not, or if there is
/// no such program.
pub(crate) fn become_shim() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if ShimArguments::read(&args, |name| std::env::var_os(name)).is_some()
        && let Ok(small) = spawn::beside_this_program("evermoor-shim")
    {
        // An error means that there is no such program: the shim then runs in this process.
        let _ = spawn::become_program(&small, &args);
    }
}

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
    }
}
