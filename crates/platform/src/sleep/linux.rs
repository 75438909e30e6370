//! What logind says on the bus of the system.

use futures_util::StreamExt as _;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::names::BusName;
use zbus::{Connection, MatchRule, MessageStream, connection};

use super::{NoNotices, Notice};

const LOGIND: &str = "org.freedesktop.login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";

pub(super) async fn notices(tell: impl FnMut(Notice) + Send) -> NoNotices {
    match Connection::system().await {
        Ok(bus) => listen(bus, tell).await,
        Err(error) => NoNotices(error.to_string()),
    }
}

/// As [`super::notices`], on the bus of this address instead of the system's.
pub async fn notices_on(address: &str, tell: impl FnMut(Notice) + Send) -> NoNotices {
    let bus = async { connection::Builder::address(address)?.build().await };
    match bus.await {
        Ok(bus) => listen(bus, tell).await,
        Err(error) => NoNotices(error.to_string()),
    }
}

async fn listen(bus: Connection, tell: impl FnMut(Notice) + Send) -> NoNotices {
    match follow(&bus, tell).await {
        Ok(()) => NoNotices("the bus closed".into()),
        Err(error) => NoNotices(error.to_string()),
    }
}

async fn follow(bus: &Connection, mut tell: impl FnMut(Notice) + Send) -> zbus::Result<()> {
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(LOGIND)?
        .path("/org/freedesktop/login1")?
        .interface(MANAGER)?
        .member("PrepareForSleep")?
        .build();
    // Listening comes first: nothing is missed between the question and the first notice.
    let mut signals = MessageStream::for_match_rule(rule, bus, None).await?;
    if !DBusProxy::new(bus).await?.name_has_owner(BusName::try_from(LOGIND)?).await? {
        return Err(zbus::Error::Failure("logind is not there".into()));
    }
    while let Some(signal) = signals.next().await {
        // It says whether it begins or is over.
        if let Ok(begins) = signal?.body().deserialize::<bool>() {
            tell(if begins { Notice::Sleeps } else { Notice::Woke });
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

    /// A bus of our own, which ends with the test.
    async fn bus() -> (Child, String) {
        let mut daemon = spawn::command("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(daemon.stdout.take().unwrap()).lines();
        let address = said.next_line().await.unwrap().unwrap();
        (daemon, address)
    }

    async fn connect(address: &str) -> Connection {
        connection::Builder::address(address).unwrap().build().await.unwrap()
    }

    async fn say(logind: &Connection, begins: bool) {
        let path = "/org/freedesktop/login1";
        let to: Option<&str> = None;
        logind.emit_signal(to, path, MANAGER, "PrepareForSleep", &begins).await.unwrap();
    }

    #[tokio::test]
    async fn a_sleep_and_a_wake_are_heard_from_logind_and_from_nobody_else() {
        let (_daemon, address) = bus().await;
        let logind = connect(&address).await;
        logind.request_name(LOGIND).await.unwrap();
        let impostor = connect(&address).await;
        let (heard, mut hearing) = mpsc::unbounded_channel();
        let listening = notices_on(&address, |notice| heard.send(notice).unwrap());
        let telling = async {
            // Said again until the listener is there to hear it.
            let first = loop {
                say(&impostor, true).await;
                say(&logind, false).await;
                match timeout(Duration::from_millis(50), hearing.recv()).await {
                    Ok(notice) => break notice,
                    Err(_) => continue,
                }
            };
            assert_eq!(first, Some(Notice::Woke), "the impostor was not heard");
            say(&logind, true).await;
            while hearing.recv().await != Some(Notice::Sleeps) {}
        };
        tokio::select! {
            why = listening => panic!("it goes on: {why}"),
            done = timeout(SOON, telling) => done.expect("it was heard"),
        }
    }

    #[tokio::test]
    async fn a_machine_without_logind_says_so_and_so_does_one_whose_bus_closes() {
        let (mut daemon, address) = bus().await;
        let why = timeout(SOON, notices_on(&address, |_| {})).await.unwrap();
        assert!(why.to_string().contains("logind is not there"), "{why}");
        let logind = connect(&address).await;
        logind.request_name(LOGIND).await.unwrap();
        let listening = notices_on(&address, |_| {});
        let (why, ()) = tokio::join!(timeout(SOON, listening), async {
            tokio::task::yield_now().await;
            daemon.kill().await.unwrap();
        });
        assert!(!why.unwrap().to_string().is_empty());
        let nowhere = timeout(SOON, notices_on("unix:path=/nowhere", |_| {})).await.unwrap();
        assert!(!nowhere.to_string().is_empty());
    }
}
