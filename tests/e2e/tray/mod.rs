//! The real tray on a private desktop, read and clicked over D-Bus.
//!
//! - [`menu`], [`window`], [`window_permissions`]: what it shows
//! - [`alerts`]: the notifications people get
//! - [`sign_in`]: how it opens the browser
//! - [`gateway`], [`port`]: the gateway it starts
//! - [`editors`], [`login`], [`updates`], [`log`]: everything else it does
//!
//! Linux only. The files use [`evermoor_tests::desktop`].

mod alerts;
mod editors;
mod gateway;
mod log;
mod login;
mod menu;
mod port;
mod sign_in;
mod updates;
mod window;
mod window_permissions;

use std::path::PathBuf;

use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, DesktopProgram};
use evermoor_tests::scene::programs::built;

fn launch(desktop: &Desktop, scene: &Scene) -> DesktopProgram {
    launch_with(desktop, scene, &["--hidden"], &[])
}

/// Launches the tray with arguments and environment variables.
fn launch_with(
    desktop: &Desktop,
    scene: &Scene,
    arguments: &[&str],
    variables: &[(&str, PathBuf)],
) -> DesktopProgram {
    let usual = [("EVERMOOR_HOME", scene.home()), ("EVERMOOR_BIN", built("evermoor"))];
    let variables = usual.into_iter().chain(variables.iter().cloned());
    desktop.launch(&built("evermoor-tray"), arguments.iter().copied(), variables)
}
