//! Linux: the notification daemon of the desktop, over the session bus.
//!
//! # Theory of operation
//! The bus is joined when there is something to show, and again if it was lost. Before each notice
//! the daemon is asked what it can do; its answer also tells which process it is. Numbers of notices
//! belong to that process: if another one answers now, the old ones are gone with theirs. Buttons are
//! given to daemons that can show them; what a click on the notice itself does is said to all.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use evermoor_core::policy::alerts::{Alert, AlertId};
use futures_util::StreamExt;
use tokio::time::timeout;
use tracing::warn;
use zbus::message::Type;
use zbus::names::OwnedUniqueName;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, Message, MessageStream};

use crate::alerts::{Notifier, Press};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// How long a daemon may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The name of the icon and of the entry of the installed application.
const ICON: &str = "evermoor-tray";
const ENTRY: &str = "Evermoor";
/// What a click on the notice itself is called.
const CLICK: &str = "default";
/// The daemon says that a person closed it.
const DISMISSED: u32 = 2;

#[derive(Default)]
pub(crate) struct Notifications {
    bus: Option<Bus>,
    shown: BTreeMap<AlertId, Shown>,
}

struct Bus {
    connection: Connection,
    signals: MessageStream,
}

/// A notice that a daemon has taken.
struct Shown {
    daemon: OwnedUniqueName,
    number: u32,
    /// A person pressed something on it.
    pressed: bool,
    /// A person closed it without pressing anything.
    dismissed: bool,
}

/// A daemon, and what it can do.
struct Daemon {
    process: OwnedUniqueName,
    buttons: bool,
    markup: bool,
}

impl Notifications {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    async fn bus(&mut self) -> zbus::Result<Connection> {
        if let Some(bus) = &self.bus {
            return Ok(bus.connection.clone());
        }
        let connection = Connection::session().await?;
        let rule = MatchRule::builder().msg_type(Type::Signal).interface(NAME)?.path(PATH)?.build();
        let signals = MessageStream::for_match_rule(rule, &connection, None).await?;
        self.bus = Some(Bus { connection: connection.clone(), signals });
        Ok(connection)
    }

    /// Has the daemon of the moment show this, in the place of what it shows under this id.
    async fn notify(&mut self, id: AlertId, notice: &Alert) -> zbus::Result<bool> {
        let connection = self.bus().await?;
        let daemon = Daemon::meet(&connection).await?;
        let before = self.shown.get(&id).filter(|shown| shown.daemon == daemon.process);
        let unseen = self.shown.contains_key(&id) && before.is_none_or(|it| it.dismissed);
        if notice.quiet && notice.buttons.is_empty() && unseen {
            // Whoever does not see the first word any more needs no second, unless it asks for something.
            return Ok(true);
        }
        let number = before.map_or(0, |shown| shown.number);
        let body = if daemon.markup { escaped(&notice.body) } else { notice.body.clone() };
        let mut actions = vec![CLICK, "Open"];
        if daemon.buttons {
            actions.extend(notice.buttons.iter().flat_map(|it| [it.key(), it.label()]));
        }
        let urgency: u8 = if notice.quiet { 0 } else { 1 };
        let hints = HashMap::from([
            ("desktop-entry", Value::from(ENTRY)),
            ("urgency", Value::from(urgency)),
            ("suppress-sound", Value::from(notice.quiet)),
        ]);
        let (title, whenever) = (notice.title.as_str(), -1_i32);
        let said = ("Evermoor", number, ICON, title, body.as_str(), actions, hints, whenever);
        let answer = connection.call_method(Some(NAME), PATH, Some(NAME), "Notify", &said).await?;
        let number: u32 = answer.body().deserialize()?;
        let daemon = daemon.process;
        self.shown.insert(id, Shown { daemon, number, pressed: false, dismissed: false });
        Ok(true)
    }

    async fn close(&mut self, shown: Shown) -> zbus::Result<()> {
        let connection = self.bus().await?;
        if Daemon::meet(&connection).await?.process == shown.daemon {
            let closing = (shown.number,);
            let (to, method) = (Some(NAME), "CloseNotification");
            connection.call_method(to, PATH, Some(NAME), method, &closing).await?;
        }
        Ok(())
    }

    /// What a signal of a daemon means, if it is about a notice of ours.
    fn hear(&mut self, signal: &Message) -> Option<Press> {
        let header = signal.header();
        let (sender, body) = (header.sender()?.as_str(), signal.body());
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (number, key): (u32, String) = body.deserialize().ok()?;
                let (id, shown) = self.ours(sender, number)?;
                shown.pressed = true;
                Some(Press::of(id, &key))
            }
            "NotificationClosed" => {
                let (number, why): (u32, u32) = body.deserialize().ok()?;
                let (_, shown) = self.ours(sender, number)?;
                shown.dismissed = why == DISMISSED && !shown.pressed;
                None
            }
            _ => None,
        }
    }

    /// The notice that this daemon knows by this number.
    fn ours(&mut self, daemon: &str, number: u32) -> Option<(AlertId, &mut Shown)> {
        let is_it = |shown: &Shown| shown.number == number && shown.daemon.as_str() == daemon;
        self.shown.iter_mut().find(|(_, shown)| is_it(shown)).map(|(id, shown)| (*id, shown))
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, notice: &Alert) -> bool {
        match timeout(PATIENCE, self.notify(id, notice)).await {
            Ok(Ok(shown)) => shown,
            Ok(Err(error)) => {
                warn!(%error, "a notification could not be shown");
                false
            }
            Err(_) => {
                warn!("a notification could not be shown: the desktop does not answer");
                false
            }
        }
    }

    async fn replace(&mut self, id: AlertId, notice: &Alert) {
        self.show(id, notice).await;
    }

    async fn withdraw(&mut self, id: AlertId) {
        let Some(shown) = self.shown.remove(&id) else { return };
        match timeout(PATIENCE, self.close(shown)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, "a notification could not be taken away"),
            Err(_) => warn!("a notification could not be taken away: the desktop does not answer"),
        }
    }

    async fn pressed(&mut self) -> Press {
        loop {
            let Some(bus) = &mut self.bus else { return std::future::pending().await };
            match bus.signals.next().await {
                Some(Ok(signal)) => {
                    if let Some(press) = self.hear(&signal) {
                        return press;
                    }
                }
                Some(Err(error)) => warn!(%error, "a word of the desktop could not be read"),
                // It is joined again for the next notice.
                None => self.bus = None,
            }
        }
    }
}

impl Daemon {
    async fn meet(connection: &Connection) -> zbus::Result<Self> {
        let method = "GetCapabilities";
        let answer = connection.call_method(Some(NAME), PATH, Some(NAME), method, &()).await?;
        let able: Vec<String> = answer.body().deserialize()?;
        let header = answer.header();
        let sender = header.sender().ok_or(zbus::Error::InvalidReply)?;
        let can = |what: &str| able.iter().any(|able| able == what);
        let process = OwnedUniqueName::from(sender.to_owned());
        Ok(Self { process, buttons: can("actions"), markup: can("body-markup") })
    }
}

/// A text in which nothing is taken for markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_taken_for_markup() {
        assert_eq!(escaped("<b>R&D</b>"), "&lt;b&gt;R&amp;D&lt;/b&gt;");
    }
}
