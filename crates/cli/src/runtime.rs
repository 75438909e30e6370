//! Runs async work from a command.

/// Runs a future on a temporary single-threaded runtime.
pub(crate) fn run_async<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}
