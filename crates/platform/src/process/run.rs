//! Runs a tool of the system and returns its output.

use std::process::Stdio;
use std::time::Duration;

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

/// Runs a program until it exits, and kills it after a timeout. `None` if it does not exist or takes
/// too long.
pub async fn output(
    program: &str,
    args: &[impl AsRef<str>],
    within: Duration,
) -> Option<CommandOutput> {
    let output = crate::process::spawn::command(program)
        .args(args.iter().map(AsRef::as_ref))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(within, output).await.ok()?.ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr = stderr.trim();
    let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR));
    Some(CommandOutput {
        success: output.status.success(),
        code: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: stderr[start..].to_owned(),
    })
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

    #[tokio::test]
    async fn a_missing_or_slow_program_returns_nothing() {
        assert_eq!(output("no such program", &["x"], SOON).await, None);
        let (shell, args) = endless();
        assert_eq!(output(shell, &args, Duration::from_millis(10)).await, None);
    }
}
