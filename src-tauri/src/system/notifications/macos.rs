//! Notifications on macOS: the Notification Center.
//!
//! It works only for applications in a bundle; outside of one, using it would crash the program, so
//! there are no notifications. The user is asked for permission in the first run, or when the first
//! notification is shown. If the system refuses the application without asking, the notification
//! plugin shows the text, with an older interface that has no such rule.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use evermoor_core::policy::alerts::{Alert, AlertButton, AlertId};
use objc2::rc::Retained;
use objc2::runtime::{Bool, NSObjectProtocol, ProtocolObject};
use objc2::{AnyThread, DefinedClass, define_class, msg_send};
use objc2_foundation::{NSArray, NSBundle, NSError, NSObject, NSSet, NSString};
use objc2_user_notifications::{
    UNAuthorizationOptions, UNAuthorizationStatus, UNMutableNotificationContent, UNNotification,
    UNNotificationAction, UNNotificationActionOptions, UNNotificationCategory,
    UNNotificationCategoryOptions, UNNotificationPresentationOptions, UNNotificationRequest,
    UNNotificationResponse, UNNotificationSettings, UNNotificationSound, UNUserNotificationCenter,
    UNUserNotificationCenterDelegate,
};
use parking_lot::Mutex;
use tauri::{AppHandle, Manager};
use tauri_plugin_notification::NotificationExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tracing::warn;

use super::CurrentDelivery;
use super::permission::{NotificationDelivery, Permission, PermissionAnswer};
use crate::alerts::{NotificationClick, Notifier};

/// How long the system may take to accept a notification.
const ADD_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Notifications {
    app: AppHandle,
    permission: Permission,
    /// `None` outside of a bundle.
    clicks: Option<mpsc::UnboundedReceiver<NotificationClick>>,
    /// The sets of buttons used so far. The system must be given all of them.
    sets: Vec<Vec<AlertButton>>,
}

impl Notifications {
    pub(crate) fn new(app: &AppHandle) -> Self {
        let clicks = is_bundled().then(listen);
        let (app, permission) = (app.clone(), Permission::default());
        Self { app, permission, clicks, sets: Vec::new() }
    }

    /// Shows the text only.
    fn show_plain(&self, alert: &Alert) -> bool {
        let shown = self.app.notification().builder().title(&alert.title).body(&alert.body).show();
        if let Err(error) = &shown {
            warn!(%error, "cannot show a notification");
        }
        shown.is_ok()
    }

    fn register(&mut self, buttons: &[AlertButton]) {
        if !self.sets.iter().any(|set| set == buttons) {
            self.sets.push(buttons.to_vec());
            let sets: Vec<_> = self.sets.iter().map(|set| category(set)).collect();
            center().setNotificationCategories(&NSSet::from_retained_slice(&sets));
        }
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, alert: &Alert) -> bool {
        if self.clicks.is_none() {
            return false;
        }
        let Some(answer) = self.permission.answer(ask).await else { return false };
        self.app.state::<CurrentDelivery>().set(answer.delivery());
        match answer.delivery() {
            NotificationDelivery::WithButtons => {
                self.register(&alert.buttons);
                timeout(ADD_TIMEOUT, add(id, alert)).await.is_ok_and(|shown| shown == Ok(true))
            }
            NotificationDelivery::Plain => self.show_plain(alert),
            NotificationDelivery::Declined => false,
        }
    }

    async fn replace(&mut self, id: AlertId, alert: &Alert) {
        self.show(id, alert).await;
    }

    async fn withdraw(&mut self, id: AlertId) {
        if self.clicks.is_some() {
            let names = NSArray::from_retained_slice(&[NSString::from_str(&name(id))]);
            center().removeDeliveredNotificationsWithIdentifiers(&names);
        }
    }

    async fn clicked(&mut self) -> NotificationClick {
        if let Some(clicks) = &mut self.clicks
            && let Some(click) = clicks.recv().await
        {
            return click;
        }
        std::future::pending().await
    }
}

fn center() -> Retained<UNUserNotificationCenter> {
    UNUserNotificationCenter::currentNotificationCenter()
}

/// Listens for clicks until the program exits.
fn listen() -> mpsc::UnboundedReceiver<NotificationClick> {
    let (sender, clicks) = mpsc::unbounded_channel();
    let listener = ClickListener::new(sender);
    center().setDelegate(Some(ProtocolObject::from_ref(&*listener)));
    // Notifications of an earlier run no longer work.
    center().removeAllDeliveredNotifications();
    // The system holds only a weak reference.
    std::mem::forget(listener);
    clicks
}

fn is_bundled() -> bool {
    NSBundle::mainBundle().bundleIdentifier().is_some()
}

/// Lets the system ask the user, without waiting for the answer.
pub(crate) fn ask_in_first_run() {
    if is_bundled() {
        drop(ask());
    }
}

/// Asks for permission. The system asks the user once and remembers the answer.
fn ask() -> oneshot::Receiver<PermissionAnswer> {
    let (sender, answer) = oneshot::channel();
    let reply = Reply::new(sender);
    let asked = block2::RcBlock::new(move |granted: Bool, _: *mut NSError| {
        if granted.as_bool() {
            return reply.send(PermissionAnswer::Granted);
        }
        // Denied by the user, or refused without a question?
        let reply = reply.clone();
        let found = block2::RcBlock::new(move |settings: NonNull<UNNotificationSettings>| {
            #[allow(unsafe_code, reason = "the system passes a pointer")]
            // SAFETY: the system passes a valid object, which lives until the block returns.
            let status = unsafe { settings.as_ref() }.authorizationStatus();
            let asked = status != UNAuthorizationStatus::NotDetermined;
            reply.send(if asked { PermissionAnswer::Declined } else { PermissionAnswer::NotAsked });
        });
        center().getNotificationSettingsWithCompletionHandler(&found);
    });
    let options = UNAuthorizationOptions::Alert | UNAuthorizationOptions::Sound;
    center().requestAuthorizationWithOptions_completionHandler(options, &asked);
    answer
}

/// Sends the first answer; a block may be called again as far as the compiler knows.
#[derive(Clone)]
struct Reply(Arc<Mutex<Option<oneshot::Sender<PermissionAnswer>>>>);

impl Reply {
    fn new(sender: oneshot::Sender<PermissionAnswer>) -> Self {
        Self(Arc::new(Mutex::new(Some(sender))))
    }

    fn send(&self, answer: PermissionAnswer) {
        if let Some(sender) = self.0.lock().take() {
            // The alert may have stopped waiting.
            let _ = sender.send(answer);
        }
    }
}

/// Shows a notification, replacing the one with the same id.
fn add(id: AlertId, alert: &Alert) -> oneshot::Receiver<bool> {
    let content = UNMutableNotificationContent::new();
    content.setTitle(&NSString::from_str(&alert.title));
    content.setBody(&NSString::from_str(&alert.body));
    content.setCategoryIdentifier(&NSString::from_str(&set_name(&alert.buttons)));
    if !alert.quiet {
        content.setSound(Some(&UNNotificationSound::defaultSound()));
    }
    let name = NSString::from_str(&name(id));
    let request =
        UNNotificationRequest::requestWithIdentifier_content_trigger(&name, &content, None);
    let (sender, shown) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let added = block2::RcBlock::new(move |error: *mut NSError| {
        if !error.is_null() {
            warn!("cannot show a notification");
        }
        if let Some(sender) = sender.lock().take() {
            let _ = sender.send(error.is_null());
        }
    });
    center().addNotificationRequest_withCompletionHandler(&request, Some(&added));
    shown
}

/// The category of notifications with these buttons.
fn category(buttons: &[AlertButton]) -> Retained<UNNotificationCategory> {
    let actions = buttons.iter().map(|button| {
        UNNotificationAction::actionWithIdentifier_title_options(
            &NSString::from_str(button.key()),
            &NSString::from_str(button.label()),
            match button.opens_window() {
                true => UNNotificationActionOptions::Foreground,
                false => UNNotificationActionOptions::empty(),
            },
        )
    });
    let actions: Vec<_> = actions.collect();
    UNNotificationCategory::categoryWithIdentifier_actions_intentIdentifiers_options(
        &NSString::from_str(&set_name(buttons)),
        &NSArray::from_retained_slice(&actions),
        &NSArray::new(),
        UNNotificationCategoryOptions::empty(),
    )
}

fn set_name(buttons: &[AlertButton]) -> String {
    let keys: Vec<&str> = buttons.iter().map(|button| button.key()).collect();
    format!("buttons {}", keys.join(" "))
}

/// The system identifies notifications by strings.
fn name(AlertId(id): AlertId) -> String {
    format!("notice {id}")
}

fn parse_name(name: &str) -> Option<AlertId> {
    name.strip_prefix("notice ")?.parse().ok().map(AlertId)
}

define_class!(
    // SAFETY: NSObject has no requirements for subclasses, and there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[name = "EvermoorNotificationListener"]
    #[ivars = mpsc::UnboundedSender<NotificationClick>]
    struct ClickListener;

    // SAFETY: the protocol has no requirements.
    unsafe impl NSObjectProtocol for ClickListener {}

    // SAFETY: the methods have the types of the protocol.
    unsafe impl UNUserNotificationCenterDelegate for ClickListener {
        #[unsafe(method(userNotificationCenter:willPresentNotification:withCompletionHandler:))]
        fn shows(
            &self,
            _center: &UNUserNotificationCenter,
            _notification: &UNNotification,
            done: &block2::DynBlock<dyn Fn(UNNotificationPresentationOptions)>,
        ) {
            // Show it even while our window is in front.
            let how = UNNotificationPresentationOptions::Banner
                | UNNotificationPresentationOptions::List
                | UNNotificationPresentationOptions::Sound;
            done.call((how,));
        }

        #[unsafe(method(userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:))]
        fn on_response(
            &self,
            _center: &UNUserNotificationCenter,
            response: &UNNotificationResponse,
            done: &block2::DynBlock<dyn Fn()>,
        ) {
            let name = response.notification().request().identifier().to_string();
            if let Some(id) = parse_name(&name) {
                let key = response.actionIdentifier().to_string();
                let _ = self.ivars().send(NotificationClick::of(id, &key));
            }
            done.call(());
        }
    }
);

impl ClickListener {
    #[allow(unsafe_code, reason = "an Objective-C object is created by its initialiser")]
    fn new(clicks: mpsc::UnboundedSender<NotificationClick>) -> Retained<Self> {
        let this = Self::alloc().set_ivars(clicks);
        // SAFETY: `init` of NSObject has this signature.
        unsafe { msg_send![super(this), init] }
    }
}
