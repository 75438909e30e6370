//! Notifications on Windows: toasts.
//!
//! Windows shows toasts only for applications that are registered under an id. The installer registers
//! it with a shortcut; the tray does it in the registry, so that a copy that was not installed has toasts
//! too. A toast with the same tag replaces the one before.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use evermoor_core::policy::alerts::{Alert, AlertId};
use evermoor_platform::fs::private;
use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;
use tracing::warn;
use windows::Data::Xml::Dom::XmlDocument;
use windows::Foundation::TypedEventHandler;
use windows::UI::Notifications::{
    ToastActivatedEventArgs, ToastNotification, ToastNotificationManager,
};
use windows::core::{HSTRING, IInspectable, Interface, Ref};
use windows_registry::CURRENT_USER;

use super::toast;
use crate::alerts::{NotificationClick, Notifier};
use crate::gateway::SupervisedGateway;

/// The picture that a toast shows.
const ICON: &[u8] = include_bytes!("../../../../icons/128x128.png");
const GROUP: &str = "evermoor";

pub(crate) struct Notifications {
    sender: mpsc::UnboundedSender<NotificationClick>,
    clicks: mpsc::UnboundedReceiver<NotificationClick>,
    /// A toast that is dropped no longer reports clicks.
    shown: BTreeMap<AlertId, ToastNotification>,
}

impl Notifications {
    pub(crate) fn new(app: &AppHandle) -> Self {
        if let Err(error) = register(&app.state::<SupervisedGateway>().supervisor().paths().data) {
            warn!(%error, "cannot register for notifications");
        }
        let (sender, clicks) = mpsc::unbounded_channel();
        Self { sender, clicks, shown: BTreeMap::new() }
    }

    fn toast(&mut self, id: AlertId, alert: &Alert) -> windows::core::Result<()> {
        let document = XmlDocument::new()?;
        document.LoadXml(&HSTRING::from(toast::xml(alert)))?;
        let toast = ToastNotification::CreateToastNotification(&document)?;
        toast.SetTag(&tag(id))?;
        toast.SetGroup(&HSTRING::from(GROUP))?;
        // A quiet replacement does not pop up again.
        toast.SetSuppressPopup(alert.quiet && self.shown.contains_key(&id))?;
        let sender = self.sender.clone();
        toast.Activated(&TypedEventHandler::new(
            move |_: Ref<'_, ToastNotification>, event: Ref<'_, IInspectable>| {
                let event = event.ok()?.cast::<ToastActivatedEventArgs>()?;
                let _ = sender.send(NotificationClick::of(id, &event.Arguments()?.to_string()));
                Ok(())
            },
        ))?;
        let application = HSTRING::from(toast::APPLICATION);
        ToastNotificationManager::CreateToastNotifierWithId(&application)?.Show(&toast)?;
        self.shown.insert(id, toast);
        Ok(())
    }

    fn remove(id: AlertId) -> windows::core::Result<()> {
        let (group, application) = (HSTRING::from(GROUP), HSTRING::from(toast::APPLICATION));
        let history = ToastNotificationManager::History()?;
        history.RemoveGroupedTagWithId(&tag(id), &group, &application)
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, alert: &Alert) -> bool {
        let shown = self.toast(id, alert);
        if let Err(error) = &shown {
            warn!(%error, "cannot show a notification");
        }
        shown.is_ok()
    }

    async fn replace(&mut self, id: AlertId, alert: &Alert) {
        self.show(id, alert).await;
    }

    async fn withdraw(&mut self, id: AlertId) {
        if self.shown.remove(&id).is_some()
            && let Err(error) = Self::remove(id)
        {
            warn!(%error, "cannot remove a notification");
        }
    }

    async fn clicked(&mut self) -> NotificationClick {
        match self.clicks.recv().await {
            Some(click) => click,
            None => std::future::pending().await,
        }
    }
}

fn tag(AlertId(id): AlertId) -> HSTRING {
    HSTRING::from(format!("notice{id}"))
}

/// Registers the application for this user. The picture must be a file.
fn register(folder: &Path) -> io::Result<()> {
    let icon = folder.join("icon.png");
    private::write_private(&icon, ICON)?;
    let key = CURRENT_USER.create(toast::registration_key())?;
    for (name, value) in toast::registration(&icon) {
        key.set_string(name, value)?;
    }
    Ok(())
}
