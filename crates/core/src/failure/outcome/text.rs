//! The text for the model about a call that got no answer from its upstream: whether it can have run,
//! and what to do now.

use std::time::SystemTime;

use super::{DeliveryStatus, NotSent, UndeliveredCall, Unknown};

impl UndeliveredCall<'_> {
    pub(super) fn text(&self) -> String {
        let Self { subject, title, detail, .. } = self;
        match self.fate {
            DeliveryStatus::NotSent(NotSent::QueueFull) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because too many calls are already \
                 waiting for it. Nothing was executed, so it is safe to call it again in a few seconds."
            ),
            DeliveryStatus::NotSent(NotSent::TooManyClients) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because {detail}. Nothing was \
                 executed. Close a client that you do not need, then call it again."
            ),
            DeliveryStatus::NotSent(NotSent::SessionRefused) => format!(
                "Not delivered: {title} repeatedly rejected \"{subject}\" ({detail}). Nothing was \
                 executed. Restart {title}, then call it again."
            ),
            DeliveryStatus::NotSent(NotSent::Busy) => format!(
                "Not delivered: {title} rejected \"{subject}\" because it is busy. Nothing was \
                 executed, so it is safe to call it again in a minute."
            ),
            DeliveryStatus::NotSent(NotSent::ShuttingDown) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because Evermoor is stopping or \
                 its configuration changed. Nothing was executed, so it is safe to call it again."
            ),
            DeliveryStatus::NotSent(NotSent::Hidden) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because a list in config.toml hides \
                 it ({detail}). Nothing was executed. To use it, change that list; no restart is needed."
            ),
            DeliveryStatus::NotSent(NotSent::Paused) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because the user paused it in \
                 Evermoor. Nothing was executed. To use it again: `evermoor resume {}`, or the tray menu.",
                self.upstream
            ),
            DeliveryStatus::NotSent(NotSent::AuthRequired) => format!(
                "Not delivered: {title} refused \"{subject}\" because it requires credentials ({detail}). \
                 Nothing was executed. Give Evermoor valid credentials for {title}, then call it again."
            ),
            DeliveryStatus::NotSent(NotSent::Slept) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because this computer slept while \
                 the call waited. Nothing was executed, so it is safe to call it again."
            ),
            DeliveryStatus::NotSent(NotSent::HoldExpired | NotSent::CrashLooping) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, which has been unavailable for {} s \
                 ({detail}). Nothing was executed, so it is safe to call it again. Evermoor keeps reconnecting.",
                self.held.as_secs()
            ),
            DeliveryStatus::Unknown(Unknown::ReplyTooLarge, _) => format!(
                "Reply lost: \"{subject}\" was executed by {title}, but {detail}, so it was discarded. \
                 Do not repeat the call; ask for less."
            ),
            DeliveryStatus::Unavailable(_) => format!(
                "Refused: {title} answered \"{subject}\" with {detail}. Most likely it was not executed, but \
                 check whether it took effect before you call it again."
            ),
            DeliveryStatus::Unknown(_, at) => format!(
                "Outcome unknown: \"{subject}\" was sent to {title} at {} but no reply arrived ({detail}). \
                 It may or may not have been executed. Do not repeat the call before checking whether it \
                 took effect.",
                moment(at)
            ),
        }
    }
}

fn moment(at: SystemTime) -> String {
    let full = humantime::format_rfc3339_seconds(at).to_string();
    full.split_once('T').map_or(full.clone(), |(_, time)| time.to_owned())
}
