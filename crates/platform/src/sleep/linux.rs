//! Signals of logind on the system bus.

use futures_util::StreamExt as _;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::names::BusName;
use zbus::{Connection, MatchRule, MessageStream, connection};

use super::{PowerEvent, PowerEventsUnavailable};

const LOGIND: &str = "org.freedesktop.login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";

pub(super) async fn notices(notify: impl FnMut(PowerEvent) + Send) -> PowerEventsUnavailable {
    match Connection::system().await {
        Ok(bus) => listen(bus, notify).await,
        Err(error) => PowerEventsUnavailable(error.to_string()),
    }
}

/// Like [`super::watch_power`], but on the bus at this address.
pub async fn watch_power_on(
    address: &str,
    notify: impl FnMut(PowerEvent) + Send,
) -> PowerEventsUnavailable {
    let bus = async { connection::Builder::address(address)?.build().await };
    match bus.await {
        Ok(bus) => listen(bus, notify).await,
        Err(error) => PowerEventsUnavailable(error.to_string()),
    }
}

async fn listen(bus: Connection, notify: impl FnMut(PowerEvent) + Send) -> PowerEventsUnavailable {
    match follow(&bus, notify).await {
        Ok(()) => PowerEventsUnavailable("the bus closed".into()),
        Err(error) => PowerEventsUnavailable(error.to_string()),
    }
}

async fn follow(bus: &Connection, mut notify: impl FnMut(PowerEvent) + Send) -> zbus::Result<()> {
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(LOGIND)?
        .path("/org/freedesktop/login1")?
        .interface(MANAGER)?
        .member("PrepareForSleep")?
        .build();
    // Subscribe first, so that no signal is missed.
    let mut signals = MessageStream::for_match_rule(rule, bus, None).await?;
    if !DBusProxy::new(bus).await?.name_has_owner(BusName::try_from(LOGIND)?).await? {
        return Err(zbus::Error::Failure("logind is not running".into()));
    }
    while let Some(signal) = signals.next().await {
        // True before suspend, false after resume.
        if let Ok(suspending) = signal?.body().deserialize::<bool>() {
            notify(if suspending { PowerEvent::Suspending } else { PowerEvent::Resumed });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn;
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::process::Child;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_secs(20);

    /// A private bus that ends with the test.
    async fn bus() -> (Child, String) {
        let mut daemon = spawn::command("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(daemon.stdout.take().unwrap()).lines();
        let address = output.next_line().await.unwrap().unwrap();
        (daemon, address)
    }

    async fn connect(address: &str) -> Connection {
        connection::Builder::address(address).unwrap().build().await.unwrap()
    }

    async fn emit(logind: &Connection, suspending: bool) {
        let path = "/org/freedesktop/login1";
        let to: Option<&str> = None;
        logind.emit_signal(to, path, MANAGER, "PrepareForSleep", &suspending).await.unwrap();
    }

    #[tokio::test]
    async fn only_signals_of_logind_are_reported() {
        let (_daemon, address) = bus().await;
        let logind = connect(&address).await;
        logind.request_name(LOGIND).await.unwrap();
        let impostor = connect(&address).await;
        let (events, mut received) = mpsc::unbounded_channel();
        let listening = watch_power_on(&address, |notice| events.send(notice).unwrap());
        let emitting = async {
            // Repeat until the subscription is active.
            let first = loop {
                emit(&impostor, true).await;
                emit(&logind, false).await;
                match timeout(Duration::from_millis(50), received.recv()).await {
                    Ok(notice) => break notice,
                    Err(_) => continue,
                }
            };
            assert_eq!(first, Some(PowerEvent::Resumed), "the impostor was ignored");
            emit(&logind, true).await;
            while received.recv().await != Some(PowerEvent::Suspending) {}
        };
        tokio::select! {
            why = listening => panic!("the subscription ended: {why}"),
            done = timeout(SOON, emitting) => done.expect("the signals arrived"),
        }
    }

    #[tokio::test]
    async fn a_missing_logind_and_a_closed_bus_are_reported() {
        let (mut daemon, address) = bus().await;
        let why = timeout(SOON, watch_power_on(&address, |_| {})).await.unwrap();
        assert!(why.to_string().contains("logind is not running"), "{why}");
        let logind = connect(&address).await;
        logind.request_name(LOGIND).await.unwrap();
        let listening = watch_power_on(&address, |_| {});
        let (why, ()) = tokio::join!(timeout(SOON, listening), async {
            tokio::task::yield_now().await;
            daemon.kill().await.unwrap();
        });
        assert!(!why.unwrap().to_string().is_empty());
        let nowhere = timeout(SOON, watch_power_on("unix:path=/nowhere", |_| {})).await.unwrap();
        assert!(!nowhere.to_string().is_empty());
    }
}
