//! Requests to stop this process.

/// Waits until the user or the system asks this process to stop.
#[cfg(unix)]
pub async fn stop_requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

/// Waits until the user or the system asks this process to stop.
#[cfg(windows)]
pub async fn stop_requested() {
    use tokio::signal::windows;
    let (Ok(mut c), Ok(mut close), Ok(mut shutdown)) =
        (windows::ctrl_c(), windows::ctrl_close(), windows::ctrl_shutdown())
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = c.recv() => {}
        _ = close.recv() => {}
        _ = shutdown.recv() => {}
    }
}
