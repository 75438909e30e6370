//! Questions: requests of an upstream to the editor whose call caused them.
//!
//! # Theory of operation
//! A tool may need its caller, to sample the model or to ask the person. Each call brings its
//! [`Caller`], and the connection knows which callers it works for at the moment. Over HTTP a
//! question that comes on a call's own stream belongs to that call. Over pipes, and on the stream
//! on which a server speaks of its own accord, nothing says whose it is: it belongs to the editor
//! that is being worked for, if there is only one. Otherwise it is turned away, for one editor's
//! question must never be shown to another. A question that nobody answers is answered for them
//! when it is dropped, so that no upstream waits for ever.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use evermoor_core::protocol::envelope::{
    Id, METHOD_NOT_FOUND, Notification, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::translate::client_capabilities::ELICIT;
use evermoor_core::protocol::translate::client_meta::WhoAsks;

/// Who makes a call.
#[derive(Clone)]
pub struct Caller {
    /// Tells editors' sessions apart.
    pub session: u64,
    /// What an upstream without handshakes is told of the caller; `None` if the call says it itself.
    pub who_asks: Option<WhoAsks>,
    /// Where questions about the call go.
    pub questions: mpsc::Sender<Question>,
    /// Where log messages go that the upstream says to nobody in particular while it works, if the
    /// caller can hear them on its call alone.
    pub logs: Option<mpsc::Sender<Notification>>,
    /// What an upstream without sessions is told in headers too, by name.
    pub headers: Vec<(String, String)>,
    pub journey: Arc<Journey>,
}

/// How far a call has come.
#[derive(Debug, Default)]
pub struct Journey {
    /// Set as soon as an upstream may have the call.
    sent: AtomicBool,
    /// How long it waited for its upstream, in milliseconds.
    held: AtomicU64,
}

impl Caller {
    /// From now on an upstream may have the call.
    pub(super) fn is_being_sent(&self) {
        self.journey.sent.store(true, Ordering::Relaxed);
    }

    /// It waited so long for its upstream, once more.
    pub(super) fn waited(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.journey.held.fetch_add(time, Ordering::Relaxed);
    }

    /// How long it waited for its upstream so far.
    pub fn held(&self) -> Duration {
        Duration::from_millis(self.journey.held.load(Ordering::Relaxed))
    }

    pub fn was_sent(&self) -> bool {
        self.journey.sent.load(Ordering::Relaxed)
    }
}

/// A request of an upstream that wants an answer.
pub struct Question {
    pub request: Request,
    /// Cancelled when the upstream does not want the answer any more.
    pub withdrawn: CancellationToken,
    answer: Option<SendAnswer>,
}

/// Takes an answer back to the upstream.
pub(super) type SendAnswer = Box<dyn FnOnce(Response) + Send>;

impl Question {
    pub fn new(request: Request, send: SendAnswer) -> Self {
        Self { request, withdrawn: CancellationToken::new(), answer: Some(send) }
    }

    /// Answers under the id that the upstream gave.
    pub fn answer(mut self, outcome: Outcome) {
        let response = Response { id: Some(self.request.id.clone()), outcome };
        if let Some(send) = self.answer.take() {
            send(response);
        }
    }

    /// Says that a person did not want to.
    pub fn decline(self) {
        match self.request.method == ELICIT {
            true => {
                self.answer(Outcome::Result(Raw::of(&serde_json::json!({ "action": "cancel" }))))
            }
            false => self.turn_away("The editor did not come back with an answer."),
        }
    }

    /// Says that nobody can answer this.
    pub fn turn_away(mut self, why: &str) {
        if let Some(send) = self.answer.take() {
            send(Response::error(Some(self.request.id.clone()), METHOD_NOT_FOUND, why));
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(send) = self.answer.take() {
            let id = Some(self.request.id.clone());
            send(Response::error(id, -32603, "The editor went away before it answered."));
        }
    }
}

/// The callers that a connection works for, and the questions that are open.
#[derive(Clone, Default)]
pub(super) struct Questions(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    callers: BTreeMap<u64, Caller>,
    open: HashMap<Id, CancellationToken>,
}

/// A place among the callers, given back with the call.
pub(super) struct AtWork {
    number: u64,
    questions: Questions,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.questions.0.lock().callers.remove(&self.number);
    }
}

impl Questions {
    /// The connection works for `caller` until the guard is dropped.
    pub(super) fn working_for(&self, number: u64, caller: &Caller) -> AtWork {
        self.0.lock().callers.insert(number, caller.clone());
        AtWork { number, questions: self.clone() }
    }

    /// Hands a question on: to the caller it is known to belong to, or to the only one there is.
    pub(super) fn ask(&self, request: Request, caller: Option<Caller>, send: SendAnswer) {
        if request.method == method::PING {
            return send(Response::result(request.id, Raw::of(&serde_json::json!({}))));
        }
        let id = request.id.clone();
        let question = Question::new(request, self.closing(send));
        let withdrawn = question.withdrawn.clone();
        let Some(caller) = caller.or_else(|| self.only_caller()) else {
            let why = "It cannot be told which editor this is for.";
            return question.turn_away(why);
        };
        self.0.lock().open.insert(id, withdrawn);
        if let Err(refused) = caller.questions.try_send(question) {
            let why = "The editor has too many questions open.";
            refused.into_inner().turn_away(why);
        }
    }

    /// Lets callers hear a log message that they could not hear otherwise.
    pub(super) fn overhear(&self, told: &Notification) {
        if told.method != method::LOG {
            return;
        }
        for caller in self.0.lock().callers.values() {
            // One that is this far behind can do without.
            let _ = caller.logs.as_ref().map(|logs| logs.try_send(told.clone()));
        }
    }

    /// Passes on that the upstream does not want an answer any more. Says whether it was about a
    /// question.
    pub(super) fn withdraw(&self, notification: &Notification) -> bool {
        let asked = notification.params.as_ref().and_then(|params| params.member("requestId"));
        let open = asked.and_then(|id| self.0.lock().open.remove(&Id::from_raw(id)?));
        open.inspect(CancellationToken::cancel).is_some()
    }

    /// The same answer, after which the question is not open any more.
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

/// The parameters of a call as a server wants them that shook hands, or that did not.
pub(super) fn signed(
    params: Option<Raw>,
    caller: Option<&Caller>,
    stateless: Option<&WhoAsks>,
) -> Option<Raw> {
    match (stateless, caller) {
        (Some(gateway), None) => Some(gateway.sign(params)),
        (Some(_), Some(Caller { who_asks: Some(editor), .. })) => Some(editor.sign(params)),
        (Some(_), Some(Caller { who_asks: None, .. })) => params,
        (None, Some(Caller { who_asks: None, .. })) => WhoAsks::strip(params),
        (None, _) => params,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    fn caller(session: u64) -> (Caller, mpsc::Receiver<Question>) {
        let (questions, asked) = mpsc::channel(4);
        (
            Caller {
                session,
                who_asks: None,
                questions,
                logs: None,
                headers: Vec::new(),
                journey: Arc::default(),
            },
            asked,
        )
    }

    fn ask(questions: &Questions, number: u64) -> oneshot::Receiver<Response> {
        let (send, answered) = oneshot::channel();
        let request = Request::new(Id::number(number), "elicitation/create", None);
        questions.ask(request, None, Box::new(move |response| drop(send.send(response))));
        answered
    }

    #[tokio::test]
    async fn a_question_reaches_the_one_editor_that_is_worked_for() {
        let questions = Questions::default();
        let (one, mut asked) = caller(1);
        let _places = [questions.working_for(1, &one), questions.working_for(2, &one)];
        let answered = ask(&questions, 9);
        let question = asked.recv().await.unwrap();
        question.answer(Outcome::Result(Raw::of("yes")));
        assert_eq!(answered.await.unwrap(), Response::result(Id::number(9), Raw::of("yes")));
    }

    #[tokio::test]
    async fn a_question_that_could_be_anybodys_is_shown_to_nobody() {
        let questions = Questions::default();
        let ((one, mut first), (other, mut second)) = (caller(1), caller(2));
        let _places = [questions.working_for(1, &one), questions.working_for(2, &other)];
        let answer = ask(&questions, 9).await.unwrap();
        assert!(matches!(answer.outcome, Outcome::Error(_)));
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        drop(_places);
        assert!(matches!(ask(&questions, 10).await.unwrap().outcome, Outcome::Error(_)));
    }

    #[tokio::test]
    async fn a_question_that_is_dropped_is_answered_all_the_same() {
        let questions = Questions::default();
        let (one, mut asked) = caller(1);
        let _place = questions.working_for(1, &one);
        let answered = ask(&questions, 9);
        drop(asked.recv().await.unwrap());
        assert!(matches!(answered.await.unwrap().outcome, Outcome::Error(_)));
    }

    #[tokio::test]
    async fn an_upstream_can_take_a_question_back_once() {
        let questions = Questions::default();
        let (one, mut asked) = caller(1);
        let _place = questions.working_for(1, &one);
        let _answered = ask(&questions, 9);
        let question = asked.recv().await.unwrap();
        let params = Raw::of(&serde_json::json!({ "requestId": 9 }));
        let cancelled = Notification::new(method::CANCELLED, Some(params));
        assert!(questions.withdraw(&cancelled));
        assert!(question.withdrawn.is_cancelled());
        assert!(!questions.withdraw(&cancelled));
    }
}
