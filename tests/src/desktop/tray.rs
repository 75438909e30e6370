//! A tray icon, read and clicked as a panel does. Waiting follows the icon's D-Bus signals and
//! never sleeps.

use std::path::PathBuf;

use futures_util::StreamExt;
use tokio::time::timeout;
use zbus::message::Type;
use zbus::names::{OwnedUniqueName, UniqueName};
use zbus::zvariant::{OwnedObjectPath, Value};
use zbus::{Connection, MatchRule, MessageStream, Proxy};

use super::PATIENCE;
use super::menu::{Menu, MenuNode};

/// A tray icon with its menu.
pub struct Tray {
    connection: Connection,
    icon: Proxy<'static>,
    menu: Proxy<'static>,
}

/// The image that an icon shows.
#[derive(Clone, Debug)]
pub struct Icon {
    pub path: PathBuf,
    pub picture: Vec<u8>,
}

/// The address of an icon on the bus.
pub(super) struct BusAddress {
    pub(super) owner: OwnedUniqueName,
    pub(super) path: String,
}

impl Tray {
    pub(super) async fn at(connection: &Connection, address: BusAddress) -> zbus::Result<Self> {
        let BusAddress { owner, path } = address;
        let icon = proxy(connection, &owner, path, "org.kde.StatusNotifierItem").await?;
        let menu: OwnedObjectPath = icon.get_property("Menu").await?;
        let menu = proxy(connection, &owner, menu.to_string(), "com.canonical.dbusmenu").await?;
        Ok(Self { connection: connection.clone(), icon, menu })
    }

    /// The current menu.
    pub async fn menu(&self) -> Menu {
        self.read_menu().await.expect("the menu can be read")
    }

    /// The current image.
    pub async fn icon(&self) -> Icon {
        self.until("the icon has a picture", async || self.read_icon().await).await
    }

    /// Waits for a row with this label, in the menu or a submenu.
    pub async fn until_row(&self, label: &str) -> Menu {
        self.until_menu(&format!("a row says \"{label}\""), |menu| menu.row(label).is_some()).await
    }

    /// Waits until no row has this label.
    pub async fn until_no_row(&self, label: &str) -> Menu {
        self.until_menu(&format!("no row says \"{label}\""), |menu| menu.row(label).is_none()).await
    }

    /// Waits until the menu satisfies `is`.
    pub async fn until_menu(&self, wanted: &str, is: impl Fn(&Menu) -> bool) -> Menu {
        self.until(wanted, async || self.read_menu().await.ok().filter(|menu| is(menu))).await
    }

    /// Waits until the image differs from this one.
    pub async fn until_icon_differs(&self, from: &Icon) -> Icon {
        let other = async || self.read_icon().await.filter(|icon| icon.picture != from.picture);
        self.until("the icon changes", other).await
    }

    /// Waits for the row with this label, and clicks it.
    pub async fn click(&self, label: &str) {
        let menu = self.until_row(label).await;
        let row = menu.row(label).filter(|row| row.enabled);
        let row = row.unwrap_or_else(|| panic!("\"{label}\" is disabled in\n{menu}"));
        let click = (row.id, "clicked", Value::from(0), 0_u32);
        self.menu.call_method("Event", &click).await.expect("the row can be clicked");
    }

    /// Waits until the row with this label is ticked or not ticked.
    pub async fn until_ticked(&self, label: &str, ticked: bool) -> Menu {
        let wanted = format!("\"{label}\" is ticked: {ticked}");
        self.until_menu(&wanted, |menu| {
            menu.row(label).is_some_and(|row| row.ticked == Some(ticked))
        })
        .await
    }

    /// Opens the menu as a panel does.
    pub async fn open(&self) {
        self.tell("opened").await;
    }

    pub async fn close(&self) {
        self.tell("closed").await;
    }

    async fn tell(&self, what: &str) {
        let event = (0, what, Value::from(0), 0_u32);
        self.menu.call_method("Event", &event).await.expect("the menu hears of it");
    }

    /// Calls `look` after every signal from the icon's owner until it returns a value.
    async fn until<T>(&self, wanted: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let mut signals = self.signals().await.expect("signals can be asked for");
        let search = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                signals
                    .next()
                    .await
                    .expect("the bus lives as long as the desktop")
                    .expect("a signal can be read");
            }
        };
        match timeout(PATIENCE, search).await {
            Ok(found) => found,
            Err(_) => match self.read_menu().await {
                Ok(menu) => panic!("waited in vain until {wanted}; the menu:\n{menu}"),
                Err(error) => panic!("waited in vain until {wanted}; no menu: {error}"),
            },
        }
    }

    async fn signals(&self) -> zbus::Result<MessageStream> {
        let owner = UniqueName::try_from(self.icon.destination().as_str())?.to_owned();
        let rule = MatchRule::builder().msg_type(Type::Signal).sender(owner)?.build();
        MessageStream::for_match_rule(rule, &self.connection, Some(1024)).await
    }

    async fn read_menu(&self) -> zbus::Result<Menu> {
        self.menu.call_method("AboutToShow", &0).await?;
        let (_, root): (u32, MenuNode) =
            self.menu.call("GetLayout", &(0, -1, Vec::<&str>::new())).await?;
        Ok(Menu::read(&root))
    }

    /// `None` if the image was replaced between reading its name and its bytes.
    async fn read_icon(&self) -> Option<Icon> {
        let name: String = self.icon.get_property("IconName").await.ok()?;
        let path = PathBuf::from(name);
        let picture = tokio::fs::read(&path).await.ok()?;
        Some(Icon { path, picture })
    }
}

/// Properties are not cached, because icons announce changes with their own signals.
async fn proxy(
    connection: &Connection,
    owner: &OwnedUniqueName,
    path: String,
    interface: &'static str,
) -> zbus::Result<Proxy<'static>> {
    zbus::proxy::Builder::new(connection)
        .destination(owner.clone())?
        .path(path)?
        .interface(interface)?
        .cache_properties(zbus::proxy::CacheProperties::No)
        .build()
        .await
}
