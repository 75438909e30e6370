//! A system that is not asked.

pub(crate) struct Network;

impl Network {
    pub(crate) async fn watch() -> Self {
        Self
    }

    /// Never comes.
    pub(crate) async fn changed(&mut self) {
        std::future::pending().await
    }
}
