//! macOS: the Notification Center.
//!
//! It serves applications in a bundle only; a program that was started outside of one has no
//! notifications, and asking for them would end it. A person is asked for their permission when
//! there is something to show for the first time.

use evermoor_core::policy::alerts::{Alert, AlertButton, AlertId};
use objc2::rc::Retained;
use objc2::runtime::{Bool, NSObjectProtocol, ProtocolObject};
use objc2::{AnyThread, DefinedClass, define_class, msg_send};
use objc2_foundation::{NSArray, NSBundle, NSError, NSObject, NSSet, NSString};
use objc2_user_notifications::{
    UNAuthorizationOptions, UNMutableNotificationContent, UNNotification, UNNotificationAction,
    UNNotificationActionOptions, UNNotificationCategory, UNNotificationCategoryOptions,
    UNNotificationPresentationOptions, UNNotificationRequest, UNNotificationResponse,
    UNNotificationSound, UNUserNotificationCenter, UNUserNotificationCenterDelegate,
};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tracing::warn;

use crate::alerts::{Notifier, Press};

pub(crate) struct Notifications {
    /// Nothing outside of a bundle.
    presses: Option<mpsc::UnboundedReceiver<Press>>,
    /// The sets of buttons that notices had so far: the system wants to know them all.
    sets: Vec<Vec<AlertButton>>,
}

impl Notifications {
    pub(crate) fn new() -> Self {
        let presses = NSBundle::mainBundle().bundleIdentifier().map(|_| listen());
        Self { presses, sets: Vec::new() }
    }

    fn know(&mut self, buttons: &[AlertButton]) {
        if !self.sets.iter().any(|set| set == buttons) {
            self.sets.push(buttons.to_vec());
            let sets: Vec<_> = self.sets.iter().map(|set| category(set)).collect();
            center().setNotificationCategories(&NSSet::from_retained_slice(&sets));
        }
    }
}

impl Notifier for Notifications {
    async fn show(&mut self, id: AlertId, notice: &Alert) -> bool {
        if self.presses.is_none() || !permitted().await.unwrap_or(false) {
            return false;
        }
        self.know(&notice.buttons);
        add(id, notice).await.unwrap_or(false)
    }

    async fn replace(&mut self, id: AlertId, notice: &Alert) {
        self.show(id, notice).await;
    }

    async fn withdraw(&mut self, id: AlertId) {
        if self.presses.is_some() {
            let names = NSArray::from_retained_slice(&[NSString::from_str(&name(id))]);
            center().removeDeliveredNotificationsWithIdentifiers(&names);
        }
    }

    async fn pressed(&mut self) -> Press {
        if let Some(presses) = &mut self.presses
            && let Some(press) = presses.recv().await
        {
            return press;
        }
        std::future::pending().await
    }
}

fn center() -> Retained<UNUserNotificationCenter> {
    UNUserNotificationCenter::currentNotificationCenter()
}

/// Hears what is pressed, for as long as the program runs.
fn listen() -> mpsc::UnboundedReceiver<Press> {
    let (press, presses) = mpsc::unbounded_channel();
    let listener = Listener::new(press);
    center().setDelegate(Some(ProtocolObject::from_ref(&*listener)));
    // What an earlier run left there speaks to nobody.
    center().removeAllDeliveredNotifications();
    // The system holds it weakly, and it is needed to the end.
    std::mem::forget(listener);
    presses
}

/// Asks the person, once; the system remembers the answer.
fn permitted() -> oneshot::Receiver<bool> {
    let (tell, told) = oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let answered = block2::RcBlock::new(move |granted: Bool, _: *mut NSError| {
        if let Some(tell) = tell.lock().take() {
            let _ = tell.send(granted.as_bool());
        }
    });
    let wanted = UNAuthorizationOptions::Alert | UNAuthorizationOptions::Sound;
    center().requestAuthorizationWithOptions_completionHandler(wanted, &answered);
    told
}

/// Shows it, in the place of the one with this id if there is one.
fn add(id: AlertId, notice: &Alert) -> oneshot::Receiver<bool> {
    let content = UNMutableNotificationContent::new();
    content.setTitle(&NSString::from_str(&notice.title));
    content.setBody(&NSString::from_str(&notice.body));
    content.setCategoryIdentifier(&NSString::from_str(&set_name(&notice.buttons)));
    if !notice.quiet {
        content.setSound(Some(&UNNotificationSound::defaultSound()));
    }
    let name = NSString::from_str(&name(id));
    let request =
        UNNotificationRequest::requestWithIdentifier_content_trigger(&name, &content, None);
    let (tell, told) = oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let added = block2::RcBlock::new(move |error: *mut NSError| {
        if !error.is_null() {
            warn!("a notification could not be shown");
        }
        if let Some(tell) = tell.lock().take() {
            let _ = tell.send(error.is_null());
        }
    });
    center().addNotificationRequest_withCompletionHandler(&request, Some(&added));
    told
}

/// What the system must know of notices with these buttons.
fn category(buttons: &[AlertButton]) -> Retained<UNNotificationCategory> {
    let actions = buttons.iter().map(|button| {
        UNNotificationAction::actionWithIdentifier_title_options(
            &NSString::from_str(button.key()),
            &NSString::from_str(button.label()),
            UNNotificationActionOptions::empty(),
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

/// Notices are known by names.
fn name(AlertId(id): AlertId) -> String {
    format!("notice {id}")
}

fn named(name: &str) -> Option<AlertId> {
    name.strip_prefix("notice ")?.parse().ok().map(AlertId)
}

define_class!(
    // SAFETY: NSObject makes no demands on those who inherit from it, and there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[name = "EvermoorNotificationListener"]
    #[ivars = mpsc::UnboundedSender<Press>]
    struct Listener;

    // SAFETY: it demands nothing.
    unsafe impl NSObjectProtocol for Listener {}

    // SAFETY: the methods have the types of the protocol.
    unsafe impl UNUserNotificationCenterDelegate for Listener {
        #[unsafe(method(userNotificationCenter:willPresentNotification:withCompletionHandler:))]
        fn shows(
            &self,
            _center: &UNUserNotificationCenter,
            _notification: &UNNotification,
            done: &block2::DynBlock<dyn Fn(UNNotificationPresentationOptions)>,
        ) {
            // Also while a window of ours is in front.
            let how = UNNotificationPresentationOptions::Banner
                | UNNotificationPresentationOptions::List
                | UNNotificationPresentationOptions::Sound;
            done.call((how,));
        }

        #[unsafe(method(userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:))]
        fn hears(
            &self,
            _center: &UNUserNotificationCenter,
            response: &UNNotificationResponse,
            done: &block2::DynBlock<dyn Fn()>,
        ) {
            let name = response.notification().request().identifier().to_string();
            if let Some(id) = named(&name) {
                let key = response.actionIdentifier().to_string();
                let _ = self.ivars().send(Press::of(id, &key));
            }
            done.call(());
        }
    }
);

impl Listener {
    #[allow(unsafe_code, reason = "an Objective-C object is made by its own initialiser")]
    fn new(press: mpsc::UnboundedSender<Press>) -> Retained<Self> {
        let this = Self::alloc().set_ivars(press);
        // SAFETY: `init` of NSObject has this signature.
        unsafe { msg_send![super(this), init] }
    }
}
