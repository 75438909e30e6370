//! Systems whose network changes are not watched.

pub(crate) struct Network;

impl Network {
    pub(crate) async fn watch() -> Self {
        Self
    }

    /// Never returns.
    pub(crate) async fn changed(&mut self) {
        std::future::pending().await
    }
}
