//! Requests that a server sends to the editor whose call caused them.
//!
//! # Theory of operation
//! A tool may need its caller, to sample the model or to ask the user. Each call brings its
//! [`Caller`], and the connection knows the callers of the calls in flight. Over HTTP a request on
//! the reply stream of a call belongs to that call. Over stdio, and on the stream for messages that
//! belong to no call, nothing says whose it is: it goes to the editor that has calls in flight, if
//! there is only one. Otherwise it is rejected, because one editor's request must never be shown to
//! another. A request that is dropped is answered with an error, so that no server waits forever.
//!
//! A connection has at most [`MOST_OPEN`] requests without an answer; more are rejected. Over HTTP each
//! answer is a request of its own: [`AnswerQueue`] sends a few at a time and gives up on a server that
//! does not read them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{
    Id, METHOD_NOT_FOUND, Notification, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::translate::client_capabilities::ELICIT;
use evermoor_core::protocol::translate::client_meta::ClientMeta;

use crate::system::budget::AnswerCharge;

/// The editor that makes a call.
#[derive(Clone)]
pub struct Caller {
    /// The number of the editor's session.
    pub session: u64,
    /// The client metadata for a stateless upstream; `None` if the call already has it.
    pub client_meta: Option<Arc<ClientMeta>>,
    /// Whether it can be asked to open a page while it waits for this call.
    pub opens_pages: bool,
    /// Receives the server's requests about the call.
    pub questions: mpsc::Sender<ServerRequest>,
    /// Receives log messages that belong to no call, if the caller can only get them on its call.
    pub logs: Option<mpsc::Sender<Notification>>,
    pub delivery_progress: Arc<DeliveryProgress>,
    /// What the answer is charged to.
    pub answer_charge: AnswerCharge,
}

/// How far the delivery of a call has come.
#[derive(Debug, Default)]
pub struct DeliveryProgress {
    /// Set as soon as the upstream may have received the call.
    sent: AtomicBool,
    /// How long the call was held, in milliseconds.
    held: AtomicU64,
}

impl Caller {
    /// From now on the upstream may have received the call.
    pub(super) fn mark_sent(&self) {
        self.delivery_progress.sent.store(true, Ordering::Relaxed);
    }

    /// Adds to the time that the call was held.
    pub(super) fn add_held(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.delivery_progress.held.fetch_add(time, Ordering::Relaxed);
    }

    /// How long the call was held so far.
    pub fn held(&self) -> Duration {
        Duration::from_millis(self.delivery_progress.held.load(Ordering::Relaxed))
    }

    pub fn was_sent(&self) -> bool {
        self.delivery_progress.sent.load(Ordering::Relaxed)
    }
}

/// A request of a server that waits for an answer.
pub struct ServerRequest {
    pub request: Request,
    /// Cancelled when the server cancels the request.
    pub withdrawn: CancellationToken,
    answer: Option<SendAnswer>,
}

/// Sends an answer back to the server.
pub(super) type SendAnswer = Box<dyn FnOnce(Response) + Send>;

impl ServerRequest {
    pub fn new(request: Request, send: SendAnswer) -> Self {
        Self { request, withdrawn: CancellationToken::new(), answer: Some(send) }
    }

    /// Answers under the server's own id.
    pub fn answer(mut self, outcome: Outcome) {
        let response = Response { id: Some(self.request.id.clone()), outcome };
        if let Some(send) = self.answer.take() {
            send(response);
        }
    }

    /// Answers that the user did not respond.
    pub fn decline(self) {
        match self.request.method == ELICIT {
            true => {
                self.answer(Outcome::Result(Raw::of(&serde_json::json!({ "action": "cancel" }))))
            }
            false => self.reject("The editor did not answer."),
        }
    }

    /// Answers that the request cannot be handled.
    pub fn reject(mut self, why: &str) {
        if let Some(send) = self.answer.take() {
            send(Response::error(Some(self.request.id.clone()), METHOD_NOT_FOUND, why));
        }
    }
}

impl Drop for ServerRequest {
    fn drop(&mut self) {
        if let Some(send) = self.answer.take() {
            let id = Some(self.request.id.clone());
            send(Response::error(id, -32603, "The editor disconnected before it answered."));
        }
    }
}

/// The callers with calls in flight on a connection, and the server requests without an answer.
#[derive(Clone, Default)]
pub(super) struct ServerRequests(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    callers: BTreeMap<u64, Caller>,
    open: HashMap<Id, CancellationToken>,
}

/// How many requests of a server may wait for an answer, on each connection.
const MOST_OPEN: usize = 64;
/// How many answers may wait to be sent, and how many are sent at the same time.
const MOST_ANSWERS: usize = 64;
const ANSWERS_AT_ONCE: usize = 4;
/// How long sending an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends answers to a server's requests. A server that does not read them loses some.
#[derive(Clone)]
pub(super) struct AnswerQueue {
    slots: Arc<Semaphore>,
    sending: Arc<Semaphore>,
}

impl Default for AnswerQueue {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(MOST_ANSWERS)),
            sending: Arc::new(Semaphore::new(ANSWERS_AT_ONCE)),
        }
    }
}

impl AnswerQueue {
    pub(super) fn send(
        &self,
        tasks: &TaskTracker,
        sending: impl Future<Output = ()> + Send + 'static,
    ) {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return tracing::debug!("dropped an answer: the server does not read its answers");
        };
        let turns = Arc::clone(&self.sending);
        tasks.spawn(async move {
            let _turn = turns.acquire_owned().await;
            let _ = timeout(ANSWER_TIMEOUT, sending).await;
            drop(slot);
        });
    }
}

/// Keeps a caller registered while its call is in flight.
pub(super) struct CallerGuard {
    number: u64,
    questions: ServerRequests,
}

impl Drop for CallerGuard {
    fn drop(&mut self) {
        self.questions.0.lock().callers.remove(&self.number);
    }
}

impl ServerRequests {
    /// Registers `caller` until the guard is dropped.
    pub(super) fn register(&self, number: u64, caller: &Caller) -> CallerGuard {
        self.0.lock().callers.insert(number, caller.clone());
        CallerGuard { number, questions: self.clone() }
    }

    /// Passes a request on to its caller or, if that is not known, to the only caller there is.
    pub(super) fn dispatch(&self, request: Request, caller: Option<Caller>, send: SendAnswer) {
        if request.method == method::PING {
            return send(Response::result(request.id, Raw::of(&serde_json::json!({}))));
        }
        let id = request.id.clone();
        {
            let open = &self.0.lock().open;
            let why = if open.contains_key(&id) {
                Some("A request with this id has no answer yet.")
            } else if open.len() >= MOST_OPEN {
                Some("Too many requests of this server have no answer yet.")
            } else {
                None
            };
            if let Some(why) = why {
                return ServerRequest::new(request, send).reject(why);
            }
        }
        let question = ServerRequest::new(request, self.closing(send));
        let withdrawn = question.withdrawn.clone();
        let Some(caller) = caller.or_else(|| self.only_caller()) else {
            let why = "Evermoor cannot tell which editor this request is for.";
            return question.reject(why);
        };
        self.0.lock().open.insert(id, withdrawn);
        if let Err(refused) = caller.questions.try_send(question) {
            let why = "The editor has too many open requests.";
            refused.into_inner().reject(why);
        }
    }

    /// Sends a log message to the callers that can only get it on their call.
    pub(super) fn forward_log(&self, notification: &Notification) {
        if notification.method != method::LOG {
            return;
        }
        for caller in self.0.lock().callers.values() {
            // If the channel is full, the caller loses this message.
            let _ = caller.logs.as_ref().map(|logs| logs.try_send(notification.clone()));
        }
    }

    /// Handles a `cancelled` notification from the server. Returns whether it was about an open
    /// request.
    pub(super) fn cancel(&self, notification: &Notification) -> bool {
        let cancelled = notification.params.as_ref().and_then(|params| params.member("requestId"));
        let open = cancelled.and_then(|id| self.0.lock().open.remove(&Id::from_raw(id)?));
        open.inspect(CancellationToken::cancel).is_some()
    }

    /// Wraps `send` so that the answer also closes the request.
    fn closing(&self, send: SendAnswer) -> SendAnswer {
        let table = Arc::clone(&self.0);
        Box::new(move |response| {
            if let Some(id) = &response.id {
                table.lock().open.remove(id);
            }
            send(response);
        })
    }

    fn only_caller(&self) -> Option<Caller> {
        let table = self.0.lock();
        let (_, last) = table.callers.last_key_value()?;
        let alone = table.callers.values().all(|caller| caller.session == last.session);
        alone.then(|| last.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    fn caller(session: u64) -> (Caller, mpsc::Receiver<ServerRequest>) {
        let (questions, asked) = mpsc::channel(4);
        (
            Caller {
                session,
                client_meta: None,
                opens_pages: false,
                questions,
                logs: None,
                delivery_progress: Arc::default(),
                answer_charge: AnswerCharge::default(),
            },
            asked,
        )
    }

    fn dispatch(questions: &ServerRequests, number: u64) -> oneshot::Receiver<Response> {
        let (send, answered) = oneshot::channel();
        let request = Request::new(Id::number(number), "elicitation/create", None);
        questions.dispatch(request, None, Box::new(move |response| drop(send.send(response))));
        answered
    }

    #[tokio::test]
    async fn a_request_reaches_the_only_editor_with_calls_in_flight() {
        let questions = ServerRequests::default();
        let (one, mut asked) = caller(1);
        let _guards = [questions.register(1, &one), questions.register(2, &one)];
        let answered = dispatch(&questions, 9);
        let question = asked.recv().await.unwrap();
        question.answer(Outcome::Result(Raw::of("yes")));
        assert_eq!(answered.await.unwrap(), Response::result(Id::number(9), Raw::of("yes")));
    }

    #[tokio::test]
    async fn a_request_that_could_belong_to_two_editors_is_shown_to_neither() {
        let questions = ServerRequests::default();
        let ((one, mut first), (other, mut second)) = (caller(1), caller(2));
        let _guards = [questions.register(1, &one), questions.register(2, &other)];
        let answer = dispatch(&questions, 9).await.unwrap();
        assert!(matches!(answer.outcome, Outcome::Error(_)));
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        drop(_guards);
        assert!(matches!(dispatch(&questions, 10).await.unwrap().outcome, Outcome::Error(_)));
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_is_answered_with_an_error() {
        let questions = ServerRequests::default();
        let (one, mut asked) = caller(1);
        let _guard = questions.register(1, &one);
        let answered = dispatch(&questions, 9);
        drop(asked.recv().await.unwrap());
        assert!(matches!(answered.await.unwrap().outcome, Outcome::Error(_)));
    }

    #[tokio::test]
    async fn a_server_with_too_many_open_requests_is_refused() {
        let questions = ServerRequests::default();
        let (send, mut asked) = mpsc::channel(1_000);
        let one = Caller { questions: send, ..caller(1).0 };
        let _guard = questions.register(1, &one);
        let answers: Vec<_> = (0..200).map(|number| dispatch(&questions, number)).collect();
        let mut open = Vec::new();
        while let Ok(question) = asked.try_recv() {
            open.push(question);
        }
        assert_eq!(open.len(), MOST_OPEN);
        for refused in answers.into_iter().skip(MOST_OPEN) {
            assert!(matches!(refused.await.unwrap().outcome, Outcome::Error(_)));
        }
        open.pop();
        let _answer = dispatch(&questions, 1_000);
        assert!(asked.try_recv().is_ok(), "an answer makes room");
    }

    #[tokio::test]
    async fn a_request_that_repeats_an_open_id_is_refused() {
        let questions = ServerRequests::default();
        let (one, mut asked) = caller(1);
        let _guard = questions.register(1, &one);
        let (_first, second) = (dispatch(&questions, 9), dispatch(&questions, 9));
        assert!(matches!(second.await.unwrap().outcome, Outcome::Error(_)));
        assert!(asked.try_recv().is_ok() && asked.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_a_server_does_not_read_are_bounded_and_end() {
        let (queue, tasks) = (AnswerQueue::default(), TaskTracker::new());
        for _ in 0..1_000 {
            queue.send(&tasks, std::future::pending());
        }
        assert_eq!(tasks.len(), MOST_ANSWERS);
        tasks.close();
        tasks.wait().await;
        assert_eq!(queue.slots.available_permits(), MOST_ANSWERS);
    }

    #[tokio::test]
    async fn a_server_can_cancel_a_request_once() {
        let questions = ServerRequests::default();
        let (one, mut asked) = caller(1);
        let _guard = questions.register(1, &one);
        let _answered = dispatch(&questions, 9);
        let question = asked.recv().await.unwrap();
        let params = Raw::of(&serde_json::json!({ "requestId": 9 }));
        let cancelled = Notification::new(method::CANCELLED, Some(params));
        assert!(questions.cancel(&cancelled));
        assert!(question.withdrawn.is_cancelled());
        assert!(!questions.cancel(&cancelled));
    }
}
