//! Runs a tool of the system and returns its output.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// The output of a program, and whether it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    pub success: bool,
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub output: String,
    /// The end of its standard error.
    pub stderr: String,
}

/// Only this many bytes of standard error are kept.
const MAX_STDERR: usize = 300;
/// A program that prints more is ended.
const MAX_OUTPUT: u64 = 4 << 20;

/// Runs a program until it exits, and kills it after a timeout. `None` if it does not exist or takes
/// too long.
pub async fn output(
    program: &str,
    args: &[impl AsRef<str>],
    within: Duration,
) -> Option<CommandOutput> {
    let mut command = crate::process::spawn::command(program);
    command.args(args.iter().map(AsRef::as_ref));
    let (status, output, stderr) = run(command, within).await?;
    Some(CommandOutput::of(status, &output, &stderr))
}

/// The same in a folder and with more environment variables. The output contains standard error too.
pub async fn output_in(
    folder: &Path,
    program: &Path,
    args: &[String],
    variables: &[(String, String)],
    within: Duration,
) -> Option<CommandOutput> {
    let mut command = crate::process::spawn::command(program);
    let variables = variables.iter().map(|(name, value)| (name, value));
    command.args(args).envs(variables).current_dir(folder).stdin(Stdio::null());
    let (status, output, stderr) = run(command, within).await?;
    Some(CommandOutput::of(status, &[output, stderr.clone()].concat(), &stderr))
}

impl CommandOutput {
    fn of(status: ExitStatus, output: &[u8], stderr: &[u8]) -> Self {
        let stderr = String::from_utf8_lossy(stderr);
        let stderr = stderr.trim();
        let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR));
        Self {
            success: status.success(),
            code: status.code(),
            output: String::from_utf8_lossy(output).into_owned(),
            stderr: stderr[start..].to_owned(),
        }
    }
}

/// The exit status and the beginning of what it prints.
async fn run(mut command: Command, within: Duration) -> Option<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let running = async {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().ok()?;
        let (output, stderr) = (child.stdout.take()?, child.stderr.take()?);
        // A pipe is closed once its limit is read, which ends a program that goes on printing.
        let (output, stderr) = tokio::join!(beginning(output), beginning(stderr));
        Some((child.wait().await.ok()?, output, stderr))
    };
    tokio::time::timeout(within, running).await.ok()?
}

async fn beginning(pipe: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut read = Vec::new();
    // What was read until an error is all there is.
    let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut read).await;
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn::{endless, script};

    const SOON: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn the_output_of_a_program_is_returned() {
        let (shell, args) = script("echo yes; echo no >&2; exit 1", "echo yes&echo no>&2&exit 1");
        let result = output(shell, &args, SOON).await.unwrap();
        assert_eq!((result.success, result.code), (false, Some(1)));
        assert_eq!((result.output.trim_end(), result.stderr.as_str()), ("yes", "no"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_prints_without_end_is_ended_at_the_limit() {
        let result = output("/bin/sh", &["-c", "exec yes"], SOON).await.unwrap();
        assert!(!result.success);
        assert_eq!(result.output.len() as u64, MAX_OUTPUT);
    }

    #[tokio::test]
    async fn a_program_runs_in_the_folder_and_with_the_variables_it_is_given() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("here"), "").unwrap();
        let (shell, args) = script("ls; echo $SAID >&2", "dir /b&echo %SAID%>&2");
        let variables = [("SAID".to_owned(), "so".to_owned())];
        let result =
            output_in(folder.path(), Path::new(shell), &args, &variables, SOON).await.unwrap();
        assert_eq!(result.output.split_whitespace().collect::<Vec<_>>(), ["here", "so"]);
    }

    #[tokio::test]
    async fn a_missing_or_slow_program_returns_nothing() {
        assert_eq!(output("no such program", &["x"], SOON).await, None);
        let (shell, args) = endless();
        assert_eq!(output(shell, &args, Duration::from_millis(10)).await, None);
    }
}
