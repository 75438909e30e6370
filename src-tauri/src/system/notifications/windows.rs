//! Notifications on Windows: toasts.
//!
//! Windows shows toasts only for applications that are installed under a known id. A toast with the
//! same tag replaces the one before.

use std::collections::BTreeMap;

use evermoor_core::policy::alerts::{Alert, AlertId};
use tauri::AppHandle;
use tokio::sync::mpsc;
use tracing::warn;
use windows::Data::Xml::Dom::XmlDocument;
use windows::Foundation::TypedEventHandler;
use windows::UI::Notifications::{
    ToastActivatedEventArgs, ToastNotification, ToastNotificationManager,
};
use windows::core::{HSTRING, IInspectable, Interface, Ref};

use crate::alerts::{NotificationClick, Notifier};

/// The id under which the installer registers the application.
const APPLICATION: &str = "dev.evermoor.app";
const GROUP: &str = "evermoor";

pub(crate) struct Notifications {
    sender: mpsc::UnboundedSender<NotificationClick>,
    clicks: mpsc::UnboundedReceiver<NotificationClick>,
    /// A toast that is dropped no longer reports clicks.
    shown: BTreeMap<AlertId, ToastNotification>,
}

impl Notifications {
    pub(crate) fn new(_app: &AppHandle) -> Self {
        let (sender, clicks) = mpsc::unbounded_channel();
        Self { sender, clicks, shown: BTreeMap::new() }
    }

    fn toast(&mut self, id: AlertId, notice: &Alert) -> windows::core::Result<()> {
        let document = XmlDocument::new()?;
        document.LoadXml(&HSTRING::from(text(notice)))?;
        let toast = ToastNotification::CreateToastNotification(&document)?;
        toast.SetTag(&tag(id))?;
        toast.SetGroup(&HSTRING::from(GROUP))?;
        // A quiet replacement does not pop up again.
        toast.SetSuppressPopup(notice.quiet && self.shown.contains_key(&id))?;
        let sender = self.sender.clone();
        toast.Activated(&TypedEventHandler::new(
            move |_: Ref<'_, ToastNotification>, event: Ref<'_, IInspectable>| {
                let event = event.ok()?.cast::<ToastActivatedEventArgs>()?;
                let _ = sender.send(NotificationClick::of(id, &event.Arguments()?.to_string()));
                Ok(())
            },
        ))?;
        let application = HSTRING::from(APPLICATION);
        ToastNotificationManager::CreateToastNotifierWithId(&application)?.Show(&toast)?;
        self.shown.insert(id, toast);
        Ok(())
    }

    fn remove(id: AlertId) -> windows::core::Result<()> {
        let (group, application) = (HSTRING::from(GROUP), HSTRING::from(APPLICATION));
        let history = ToastNotificationManager::History()?;
        history.RemoveGroupedTagWithId(&tag(id), &group, &application)
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, notice: &Alert) -> bool {
        let shown = self.toast(id, notice);
        if let Err(error) = &shown {
            warn!(%error, "cannot show a notification");
        }
        shown.is_ok()
    }

    async fn replace(&mut self, id: AlertId, notice: &Alert) {
        self.show(id, notice).await;
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

/// The toast's XML.
fn text(notice: &Alert) -> String {
    let buttons = notice.buttons.iter().map(|button| {
        format!("<action content=\"{}\" arguments=\"{}\"/>", button.label(), button.key())
    });
    let buttons: String = buttons.collect();
    let sound = if notice.quiet { "<audio silent=\"true\"/>" } else { "" };
    format!(
        "<toast><visual><binding template=\"ToastGeneric\"><text>{}</text><text>{}</text></binding>\
         </visual><actions>{buttons}</actions>{sound}</toast>",
        escaped(&notice.title),
        escaped(&notice.body),
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
