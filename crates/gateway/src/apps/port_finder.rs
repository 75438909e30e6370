//! Finds the port of an application on this machine.
//!
//! All ports of its range are tried at once. A listener must first match by process name, if the
//! preset requires that, and then by its answers to the identity requests; nothing else is sent
//! before. A slow listener does not delay the others.

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

use super::probe::ProbeClient;

/// A listener on this machine accepts in far less. Windows takes seconds to refuse a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(150);
/// How long an identity request may take.
const IDENTITY_TIMEOUT: Duration = Duration::from_secs(3);

/// The ports where the application answers, as they are found.
pub(crate) fn find(
    preset: &Arc<Preset>,
    probe: &ProbeClient,
) -> impl Stream<Item = u16> + Send + Unpin + use<> {
    let asked: FuturesUnordered<_> = preset
        .find
        .ports
        .clone()
        .map(|port| {
            let (preset, probe) = (Arc::clone(preset), probe.clone());
            async move { answers_at(&preset, &probe, port).await.then_some(port) }
        })
        .collect();
    asked.filter_map(ready)
}

/// Whether the application answers on this port.
async fn answers_at(preset: &Preset, probe: &ProbeClient, port: u16) -> bool {
    if !is_listening(port).await {
        return false;
    }
    if preset.find.owner {
        let Some(process) = info::listening_on(port).await else { return false };
        if !preset.owns_process(super::OS, &process.name) {
            return false;
        }
    }
    for ask in &preset.find.identity {
        if !probe.matches(port, ask, IDENTITY_TIMEOUT).await {
            return false;
        }
    }
    true
}

async fn is_listening(port: u16) -> bool {
    let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    matches!(timeout(CONNECT_TIMEOUT, connecting).await, Ok(Ok(_)))
}
