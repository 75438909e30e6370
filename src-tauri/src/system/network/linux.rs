//! Linux: NetworkManager signals network changes. Without it there is no signal.

use futures_util::StreamExt;
use tracing::debug;
use zbus::message::Type;
use zbus::{Connection, MatchRule, MessageStream};

pub(crate) struct Network {
    signals: Option<MessageStream>,
}

impl Network {
    pub(crate) async fn watch() -> Self {
        let signals = signals().await;
        if let Err(error) = &signals {
            debug!(%error, "cannot watch the network");
        }
        Self { signals: signals.ok() }
    }

    /// Waits for the next change. Cancel safe.
    pub(crate) async fn changed(&mut self) {
        if let Some(signals) = &mut self.signals
            && signals.next().await.is_some()
        {
            return;
        }
        self.signals = None;
        std::future::pending().await
    }
}

async fn signals() -> zbus::Result<MessageStream> {
    let connection = Connection::system().await?;
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .path("/org/freedesktop/NetworkManager")?
        .interface("org.freedesktop.NetworkManager")?
        .member("StateChanged")?
        .build();
    MessageStream::for_match_rule(rule, &connection, Some(4)).await
}
