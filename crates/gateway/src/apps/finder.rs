//! Finding an application among the servers of this machine.
//!
//! All ports of its range are tried at once. Whoever listens is first known by the name of its
//! process, where the preset asks for that, and then by what it answers; nothing else is said to
//! anybody before. One that is slow to answer does not keep the others waiting.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::ready;
use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use evermoor_core::preset::Preset;
use evermoor_platform::process::info;

use super::probe::Asker;

/// Who listens on this machine takes a connection in far less. Windows takes seconds to say that
/// nobody listens.
const LISTENING: Duration = Duration::from_millis(150);
/// How long it may take to say who it is.
const IDENTITY: Duration = Duration::from_secs(3);

/// The ports at which the application answers, as they are found.
pub(crate) fn find(
    preset: &Arc<Preset>,
    asker: &Asker,
) -> impl Stream<Item = u16> + Send + Unpin + use<> {
    let asked: FuturesUnordered<_> = preset
        .find
        .ports
        .clone()
        .map(|port| {
            let (preset, asker) = (Arc::clone(preset), asker.clone());
            async move { is_it(&preset, &asker, port).await.then_some(port) }
        })
        .collect();
    asked.filter_map(ready)
}

/// Whether the application answers at this port.
async fn is_it(preset: &Preset, asker: &Asker, port: u16) -> bool {
    if !is_listening(port).await {
        return false;
    }
    if preset.find.owner {
        let Some(process) = info::behind(port).await else { return false };
        if !preset.is_process(super::OS, &process.name) {
            return false;
        }
    }
    for ask in &preset.find.identity {
        if !asker.holds(port, ask, IDENTITY).await {
            return false;
        }
    }
    true
}

async fn is_listening(port: u16) -> bool {
    let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    matches!(timeout(LISTENING, connecting).await, Ok(Ok(_)))
}
