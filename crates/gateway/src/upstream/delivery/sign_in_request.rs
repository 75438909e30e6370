//! Asks the editor that made a call to open the page of a sign-in, and waits until the user has signed
//! in.
//!
//! Only an editor that declared that it opens pages is asked, and only about its own calls. Calls of one
//! session that need the same sign-in ask once; calls of different editors share the sign-in. The page is
//! that of a sign-in that Evermoor began itself: it contains no token, and whoever opens it must sign in.

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use evermoor_core::api::SignInPage;
use evermoor_core::protocol::envelope::{Id, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::translate::client_capabilities::ELICIT;

use crate::system::keys;
use crate::upstream::auth::ProtectedServer;
use crate::upstream::auth::sign_in::{SignInProgress, SignIns};
use crate::upstream::{Caller, ServerRequest};

/// A sign-in that an editor is asked for.
pub(super) struct SignInRequest<'a> {
    sign_ins: &'a SignIns,
    server: ProtectedServer,
    caller: &'a Caller,
    page: SignInPage,
    progress: watch::Receiver<SignInProgress>,
    /// The answer of the session, for its other calls as long as this one waits.
    answer: Option<watch::Sender<Option<bool>>>,
}

impl<'a> SignInRequest<'a> {
    /// Begins the sign-in, unless it has begun. `None` if the editor cannot be asked for it, or it cannot
    /// begin.
    pub(super) async fn begin(
        sign_ins: &'a SignIns,
        server: Option<ProtectedServer>,
        caller: Option<&'a Caller>,
    ) -> Option<Self> {
        let caller = caller.filter(|caller| caller.opens_pages)?;
        let server = server.filter(|server| server.oauth.grant.needs_a_person())?;
        // Boxed, because every call keeps room for it otherwise.
        let (page, progress) = Box::pin(sign_ins.waiting_or_new(&server)).await.ok()?;
        Some(Self { sign_ins, server, caller, page, progress, answer: None })
    }

    /// Asks the editor, at most until `deadline`. Returns whether it opens the page, or need not any more.
    pub(super) async fn ask(&mut self, deadline: Instant) -> bool {
        let upstream = self.server.name.clone();
        loop {
            match self.sign_ins.asks_session(&upstream, self.caller.session) {
                AskedSession::First(answer) => {
                    let accepted = self.ask_once(deadline).await;
                    answer.send_replace(Some(accepted));
                    self.answer = Some(answer);
                    return accepted;
                }
                AskedSession::Already(mut answered) => {
                    let answer = answered.wait_for(Option::is_some);
                    match timeout_at(deadline, answer).await {
                        Ok(Ok(answer)) => return *answer == Some(true),
                        // The call that asked has ended, so this one asks.
                        Ok(Err(_)) => {}
                        Err(_) => return false,
                    }
                }
            }
        }
    }

    async fn ask_once(&mut self, deadline: Instant) -> bool {
        let Some(request) = request(&self.server, &self.page) else { return false };
        let (send, answered) = oneshot::channel();
        let question = ServerRequest::new(request, Box::new(|answer| drop(send.send(answer))));
        let withdrawn = question.withdrawn.clone();
        if self.caller.questions.try_send(question).is_err() {
            return false;
        }
        let asking = async {
            tokio::select! {
                biased;
                answer = answered => answer.is_ok_and(|answer| match answer.outcome {
                    Outcome::Result(result) => {
                        result.text_member("action").as_deref() == Some("accept")
                    }
                    Outcome::Error(_) => false,
                }),
                // The user signs in elsewhere.
                ended = self.progress.wait_for(has_ended) => {
                    ended.is_ok_and(|ended| *ended == SignInProgress::Done)
                }
            }
        };
        let accepted = timeout_at(deadline, asking).await.unwrap_or(false);
        // If it was answered, this has no effect.
        withdrawn.cancel();
        accepted
    }

    /// Waits until the user has signed in, at most until `deadline`.
    pub(super) async fn signed_in(mut self, deadline: Instant) -> bool {
        loop {
            let ended = timeout_at(deadline, self.progress.wait_for(has_ended)).await;
            match ended.map(|ended| ended.map(|ended| ended.clone())) {
                Ok(Ok(ended)) => return ended == SignInProgress::Done,
                Err(_) => return false,
                // Another sign-in has replaced it.
                Ok(Err(_)) => match self.sign_ins.progress(&self.server.name) {
                    Some(next) if next.has_changed().is_ok() || has_ended(&next.borrow()) => {
                        self.progress = next;
                    }
                    Some(_) | None => return false,
                },
            }
        }
    }
}

/// Whether a session is asked to open the page already.
pub(crate) enum AskedSession {
    /// It is not. The answer is for the other calls of this session.
    First(watch::Sender<Option<bool>>),
    /// It is; this will be the answer.
    Already(watch::Receiver<Option<bool>>),
}

fn has_ended(progress: &SignInProgress) -> bool {
    !matches!(progress, SignInProgress::Waiting(_))
}

/// What the editor is asked.
fn request(server: &ProtectedServer, page: &SignInPage) -> Option<Request> {
    let title = &server.title;
    let message = match &page.code {
        Some(code) => format!("{title} wants you to sign in. Enter the code {code} on this page."),
        None => format!("{title} wants you to sign in. Sign in on this page."),
    };
    let asked = serde_json::json!({
        "mode": "url",
        "elicitationId": keys::random_token().ok()?,
        "url": page.url_with_code.as_ref().unwrap_or(&page.url),
        "message": message,
    });
    // The connection to the editor gives it an id of its own.
    Some(Request::new(Id::number(0), ELICIT, Some(Raw::of(&asked))))
}
