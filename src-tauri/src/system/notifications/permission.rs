//! Whether the system lets this application show notifications.
//!
//! macOS asks the user once. The dialog can stay unanswered for hours, and alerts must not wait for it.

use std::time::Duration;

use serde::Serialize;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::time::timeout;

/// How long an alert waits for an answer. The system gives one at once, unless it asks the user.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// What the system answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "only macOS asks")]
pub(crate) enum PermissionAnswer {
    Granted,
    /// The user said no, now or before.
    Declined,
    /// It refuses this application without asking, as it can do without the signature of a developer.
    NotAsked,
}

/// How notifications reach the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum NotificationDelivery {
    #[default]
    WithButtons,
    /// As plain text, without buttons.
    Plain,
    /// Not at all: the user said no.
    Declined,
}

impl PermissionAnswer {
    #[allow(dead_code, reason = "only macOS asks")]
    pub(crate) fn delivery(self) -> NotificationDelivery {
        match self {
            Self::Granted => NotificationDelivery::WithButtons,
            Self::Declined => NotificationDelivery::Declined,
            Self::NotAsked => NotificationDelivery::Plain,
        }
    }
}

/// The question to the system, which may be unanswered.
#[derive(Default)]
#[allow(dead_code, reason = "only macOS asks")]
pub(crate) struct Permission {
    unanswered: Option<oneshot::Receiver<PermissionAnswer>>,
}

#[allow(dead_code, reason = "only macOS asks")]
impl Permission {
    /// The answer, or `None` while the user has not given one. Asks again each time, because the user can
    /// change their mind, but not while a question is open. Only the first alert after a question waits.
    pub(crate) async fn answer(
        &mut self,
        ask: impl FnOnce() -> oneshot::Receiver<PermissionAnswer>,
    ) -> Option<PermissionAnswer> {
        if let Some(open) = &mut self.unanswered {
            match open.try_recv() {
                Err(TryRecvError::Empty) => return None,
                Ok(answer) => {
                    self.unanswered = None;
                    return Some(answer);
                }
                Err(TryRecvError::Closed) => self.unanswered = None,
            }
        }
        let mut asked = ask();
        match timeout(ANSWER_TIMEOUT, &mut asked).await {
            Ok(answer) => answer.ok(),
            Err(_) => {
                self.unanswered = Some(asked);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[test]
    fn only_a_system_that_did_not_ask_gets_plain_text() {
        assert_eq!(PermissionAnswer::Granted.delivery(), NotificationDelivery::WithButtons);
        assert_eq!(
            PermissionAnswer::Declined.delivery(),
            NotificationDelivery::Declined,
            "a no is a no"
        );
        assert_eq!(PermissionAnswer::NotAsked.delivery(), NotificationDelivery::Plain);
    }

    #[tokio::test(start_paused = true)]
    async fn alerts_do_not_wait_for_a_dialog_that_nobody_answers() {
        let mut permission = Permission::default();
        let (dialog, question) = oneshot::channel();
        let began = Instant::now();
        assert_eq!(permission.answer(|| question).await, None);
        assert_eq!(began.elapsed(), ANSWER_TIMEOUT);
        let again = || -> oneshot::Receiver<PermissionAnswer> { panic!("the question is open") };
        assert_eq!(permission.answer(again).await, None);
        assert_eq!(began.elapsed(), ANSWER_TIMEOUT, "the second alert did not wait");
        dialog.send(PermissionAnswer::Granted).unwrap();
        assert_eq!(permission.answer(again).await, Some(PermissionAnswer::Granted));
    }

    #[tokio::test(start_paused = true)]
    async fn the_system_is_asked_for_each_alert_because_the_user_can_change_their_mind() {
        let mut permission = Permission::default();
        for answer in
            [PermissionAnswer::Granted, PermissionAnswer::Declined, PermissionAnswer::NotAsked]
        {
            let (system, question) = oneshot::channel();
            system.send(answer).unwrap();
            assert_eq!(permission.answer(|| question).await, Some(answer));
        }
        let (system, question) = oneshot::channel::<PermissionAnswer>();
        drop(system);
        assert_eq!(permission.answer(|| question).await, None);
    }
}
