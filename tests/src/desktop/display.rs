//! A virtual display (Xvfb).

use std::path::Path;
use std::process::Stdio;

use super::program::DesktopProgram;

pub(super) struct Display {
    name: String,
    server: DesktopProgram,
}

impl Display {
    /// Xvfb picks a free display number and prints it once it is ready.
    pub(super) async fn start() -> Self {
        let mut server = DesktopProgram::start(Path::new("Xvfb"), |command| {
            command.args(["-displayfd", "1", "-screen", "0", "1280x800x24"]);
            command.args(["-nolisten", "tcp", "-noreset"]);
            command.stdout(Stdio::piped()).stderr(Stdio::null());
        });
        let name = format!(":{}", server.first_line().await);
        Self { name, server }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Xvfb is asked to exit so that it removes its lock and its socket, which are outside the test's
/// folder.
impl Drop for Display {
    fn drop(&mut self) {
        self.server.end();
    }
}
