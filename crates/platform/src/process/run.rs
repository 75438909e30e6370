//! Running a program of the system for what it prints.

use std::process::Stdio;
use std::time::Duration;

/// What a program printed, and whether it was content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub good: bool,
    pub output: String,
    /// The end of what it printed as an error.
    pub complaint: String,
}

/// Longer complaints are cut off at their start.
const LONGEST: usize = 300;

/// Runs a program to its end, or ends it when the time is over. `None` if it is not there or takes
/// too long.
pub async fn said(program: &str, args: &[impl AsRef<str>], within: Duration) -> Option<Said> {
    let output = crate::process::spawn::command(program)
        .args(args.iter().map(AsRef::as_ref))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(within, output).await.ok()?.ok()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = complaint.trim();
    let start = complaint.ceil_char_boundary(complaint.len().saturating_sub(LONGEST));
    Some(Said {
        good: output.status.success(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        complaint: complaint[start..].to_owned(),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_program_is_run_for_what_it_prints() {
        let said = said("sh", &["-c", "echo yes; echo no >&2; exit 1"], SOON).await.unwrap();
        assert_eq!(said, Said { good: false, output: "yes\n".into(), complaint: "no".into() });
    }

    #[tokio::test]
    async fn one_that_is_not_there_or_takes_too_long_says_nothing() {
        assert_eq!(said("no such program", &["x"], SOON).await, None);
        assert_eq!(said("sleep", &["600"], Duration::from_millis(10)).await, None);
    }
}
