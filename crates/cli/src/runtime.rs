//! Runs async work from a command.

use std::time::Duration;

/// How long the end waits for blocking work, such as a file on a network drive that hangs. What still
/// runs then ends with the process.
const BLOCKING_WORK_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a thread for blocking work waits for more. Its stack is memory that nobody needs meanwhile.
const BLOCKING_THREAD_IDLE: Duration = Duration::from_secs(1);

/// Runs a future on a temporary single-threaded runtime.
pub(crate) fn run_async<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(BLOCKING_THREAD_IDLE)
        .build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(BLOCKING_WORK_TIMEOUT);
    Ok(done)
}
