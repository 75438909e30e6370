//! Notifications on Linux: the desktop's notification daemon, over the session bus.
//!
//! # Theory of operation
//! We connect to the bus when there is something to show, and again if the connection was lost.
//! Before each notification we query the daemon's capabilities. The reply also tells which process
//! the daemon is: notification ids belong to that process, so if another one answers, the old ids
//! are invalid. Only daemons that support buttons get them; all get the default action.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use evermoor_core::policy::alerts::{Alert, AlertId};
use futures_util::StreamExt;
use tauri::AppHandle;
use tokio::time::timeout;
use tracing::warn;
use zbus::message::Type;
use zbus::names::OwnedUniqueName;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, Message, MessageStream};

use crate::alerts::{NotificationClick, Notifier};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// How long the daemon may take to answer.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(5);
/// The icon and the desktop entry of the installed application.
const ICON: &str = "evermoor-tray";
const ENTRY: &str = "Evermoor";
/// The action of a click on the notification itself.
const CLICK: &str = "default";
/// The close reason when the user closed it.
const DISMISSED: u32 = 2;

#[derive(Default)]
pub(crate) struct Notifications {
    bus: Option<Bus>,
    shown: BTreeMap<AlertId, ShownNotification>,
}

struct Bus {
    connection: Connection,
    signals: MessageStream,
}

/// A notification that a daemon has accepted.
struct ShownNotification {
    daemon: OwnedUniqueName,
    number: u32,
    /// The user clicked something on it.
    clicked: bool,
    /// The user closed it without clicking anything.
    dismissed: bool,
}

/// A daemon and its capabilities.
struct Daemon {
    process: OwnedUniqueName,
    buttons: bool,
    markup: bool,
}

impl Notifications {
    pub(crate) fn new(_app: &AppHandle) -> Self {
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

    /// Shows a notification, replacing the one with the same id.
    async fn notify(&mut self, id: AlertId, alert: &Alert) -> zbus::Result<bool> {
        let connection = self.bus().await?;
        let daemon = Daemon::query(&connection).await?;
        let before = self.shown.get(&id).filter(|shown| shown.daemon == daemon.process);
        let unseen = self.shown.contains_key(&id) && before.is_none_or(|it| it.dismissed);
        if alert.quiet && alert.buttons.is_empty() && unseen {
            // The user no longer sees the first notification, so a follow-up without a question
            // is not needed.
            return Ok(true);
        }
        let number = before.map_or(0, |shown| shown.number);
        let body = if daemon.markup { escaped(&alert.body) } else { alert.body.clone() };
        let mut actions = vec![CLICK, "Open"];
        if daemon.buttons {
            actions.extend(alert.buttons.iter().flat_map(|it| [it.key(), it.label()]));
        }
        let urgency: u8 = if alert.quiet { 0 } else { 1 };
        let hints = HashMap::from([
            ("desktop-entry", Value::from(ENTRY)),
            ("urgency", Value::from(urgency)),
            ("suppress-sound", Value::from(alert.quiet)),
        ]);
        let (title, default_expiry) = (alert.title.as_str(), -1_i32);
        let call = ("Evermoor", number, ICON, title, body.as_str(), actions, hints, default_expiry);
        let answer = connection.call_method(Some(NAME), PATH, Some(NAME), "Notify", &call).await?;
        let number: u32 = answer.body().deserialize()?;
        let daemon = daemon.process;
        self.shown
            .insert(id, ShownNotification { daemon, number, clicked: false, dismissed: false });
        Ok(true)
    }

    async fn close(&mut self, shown: ShownNotification) -> zbus::Result<()> {
        let connection = self.bus().await?;
        if Daemon::query(&connection).await?.process == shown.daemon {
            let closing = (shown.number,);
            let (to, method) = (Some(NAME), "CloseNotification");
            connection.call_method(to, PATH, Some(NAME), method, &closing).await?;
        }
        Ok(())
    }

    /// Handles a signal of a daemon. Returns a click on one of our notifications.
    fn on_signal(&mut self, signal: &Message) -> Option<NotificationClick> {
        let header = signal.header();
        let (sender, body) = (header.sender()?.as_str(), signal.body());
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (number, key): (u32, String) = body.deserialize().ok()?;
                let (id, shown) = self.find(sender, number)?;
                shown.clicked = true;
                Some(NotificationClick::of(id, &key))
            }
            "NotificationClosed" => {
                let (number, why): (u32, u32) = body.deserialize().ok()?;
                let (_, shown) = self.find(sender, number)?;
                shown.dismissed = why == DISMISSED && !shown.clicked;
                None
            }
            _ => None,
        }
    }

    /// The notification with this number at this daemon.
    fn find(&mut self, daemon: &str, number: u32) -> Option<(AlertId, &mut ShownNotification)> {
        let is_it =
            |shown: &ShownNotification| shown.number == number && shown.daemon.as_str() == daemon;
        self.shown.iter_mut().find(|(_, shown)| is_it(shown)).map(|(id, shown)| (*id, shown))
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, alert: &Alert) -> bool {
        match timeout(DAEMON_TIMEOUT, self.notify(id, alert)).await {
            Ok(Ok(shown)) => shown,
            Ok(Err(error)) => {
                warn!(%error, "cannot show a notification");
                false
            }
            Err(_) => {
                warn!("cannot show a notification: the desktop does not answer");
                false
            }
        }
    }

    async fn replace(&mut self, id: AlertId, alert: &Alert) {
        self.show(id, alert).await;
    }

    async fn withdraw(&mut self, id: AlertId) {
        let Some(shown) = self.shown.remove(&id) else { return };
        match timeout(DAEMON_TIMEOUT, self.close(shown)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, "cannot remove a notification"),
            Err(_) => warn!("cannot remove a notification: the desktop does not answer"),
        }
    }

    async fn clicked(&mut self) -> NotificationClick {
        loop {
            let Some(bus) = &mut self.bus else { return std::future::pending().await };
            match bus.signals.next().await {
                Some(Ok(signal)) => {
                    if let Some(click) = self.on_signal(&signal) {
                        return click;
                    }
                }
                Some(Err(error)) => warn!(%error, "cannot read a signal of the desktop"),
                // The next notification connects again.
                None => self.bus = None,
            }
        }
    }
}

impl Daemon {
    async fn query(connection: &Connection) -> zbus::Result<Self> {
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

/// Escapes markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_escaped() {
        assert_eq!(escaped("<b>R&D</b>"), "&lt;b&gt;R&amp;D&lt;/b&gt;");
    }
}
