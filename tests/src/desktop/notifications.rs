//! A notification daemon that records notifications and presses their buttons for the test.

use std::collections::HashMap;

use tokio::sync::watch;
use tokio::time::timeout;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::OwnedValue;
use zbus::{Connection, connection, interface};

use super::PATIENCE;

pub struct NotificationServer {
    connection: Connection,
    posted: watch::Receiver<Vec<Posted>>,
}

/// A notification, as it was when it was closed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The daemon's id for it.
    pub number: u32,
    /// Whether it replaced the notification with the same number.
    pub replaced: bool,
    pub title: String,
    pub body: String,
    /// The labels of its buttons.
    pub buttons: Vec<String>,
    /// Whether it was shown without a sound.
    pub quiet: bool,
    pub closed: bool,
    keys: Vec<String>,
}

struct Daemon {
    buttons: bool,
    last: u32,
    posted: watch::Sender<Vec<Posted>>,
}

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

impl NotificationServer {
    pub(super) async fn start(address: &str, buttons: bool) -> Self {
        let (post, posted) = watch::channel(Vec::new());
        let daemon = Daemon { buttons, last: 0, posted: post };
        let connection = connection::Builder::address(address)
            .and_then(|bus| bus.serve_at(PATH, daemon))
            .and_then(|bus| bus.name(NAME))
            .expect("the daemon can be described")
            .build()
            .await
            .expect("the bus lets the daemon in");
        Self { connection, posted }
    }

    /// All notifications so far, in order.
    pub fn all(&self) -> Vec<Posted> {
        self.posted.borrow().clone()
    }

    /// The titles of all notifications so far, in order.
    pub fn titles(&self) -> Vec<String> {
        self.posted.borrow().iter().map(|posted| posted.title.clone()).collect()
    }

    /// Waits for a notification with this title.
    pub async fn until(&self, title: &str) -> Posted {
        self.until_any(title, |posted| posted.title == title).await
    }

    /// Waits until this notification is closed.
    pub async fn until_closed(&self, one: &Posted) {
        let closed = |posted: &Posted| posted.number == one.number && posted.closed;
        self.until_any(&format!("the end of \"{}\"", one.title), closed).await;
    }

    /// Presses a button, which also closes the notification.
    pub async fn press(&self, on: &Posted, button: &str) {
        let place = on.buttons.iter().position(|label| label == button);
        let place = place.unwrap_or_else(|| panic!("no button says \"{button}\": {on:?}"));
        self.invoke(on, &on.keys[place]).await;
        self.dismiss(on).await;
    }

    /// Clicks the notification itself.
    pub async fn click(&self, on: &Posted) {
        self.invoke(on, "default").await;
        self.dismiss(on).await;
    }

    async fn invoke(&self, on: &Posted, key: &str) {
        let emitter = self.emitter();
        let said = Daemon::action_invoked(&emitter, on.number, key).await;
        said.expect("the bus takes it");
    }

    async fn dismiss(&self, on: &Posted) {
        let said = Daemon::notification_closed(&self.emitter(), on.number, 2).await;
        said.expect("the bus takes it");
    }

    fn emitter(&self) -> SignalEmitter<'static> {
        SignalEmitter::new(&self.connection, PATH).expect("the path is one")
    }

    async fn until_any(&self, wanted: &str, is: impl Fn(&Posted) -> bool) -> Posted {
        let mut posted = self.posted.clone();
        let found = posted.wait_for(|all| all.iter().any(&is));
        match timeout(PATIENCE, found).await {
            Ok(all) => {
                let all = all.expect("the daemon lives as long as its connection");
                all.iter().rfind(|posted| is(posted)).expect("it was just seen").clone()
            }
            Err(_) => panic!("waited in vain for {wanted}; there were {:?}", self.titles()),
        }
    }
}

#[interface(name = "org.freedesktop.Notifications")]
impl Daemon {
    fn get_capabilities(&self) -> Vec<&str> {
        match self.buttons {
            true => vec!["actions", "body", "body-markup", "persistence"],
            false => vec!["body"],
        }
    }

    fn get_server_information(&self) -> (&str, &str, &str, &str) {
        ("tests", "Evermoor", "1", "1.2")
    }

    #[expect(clippy::too_many_arguments, reason = "the interface has them")]
    fn notify(
        &mut self,
        _app: &str,
        replaces: u32,
        _icon: &str,
        title: &str,
        body: &str,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let number = if replaces > 0 { replaces } else { self.last + 1 };
        self.last = self.last.max(number);
        let pairs = actions.chunks_exact(2).filter(|pair| pair[0] != "default");
        let (keys, buttons) = pairs.map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
        let quiet = hints.get("suppress-sound").and_then(|hint| bool::try_from(hint).ok());
        self.posted.send_modify(|all| {
            all.push(Posted {
                number,
                replaced: replaces > 0,
                title: title.to_owned(),
                body: body.to_owned(),
                buttons,
                quiet: quiet.unwrap_or(false),
                closed: false,
                keys,
            });
        });
        number
    }

    async fn close_notification(
        &self,
        id: u32,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        self.posted.send_modify(|all| {
            all.iter_mut().filter(|posted| posted.number == id).for_each(|it| it.closed = true);
        });
        Self::notification_closed(&emitter, id, 3).await?;
        Ok(())
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, key: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(
        emitter: &SignalEmitter<'_>,
        id: u32,
        reason: u32,
    ) -> zbus::Result<()>;
}
