//! Calls that wait until a stateless editor comes back with input.
//!
//! An upstream with a session asks for input in the middle of a call. A stateless editor gets an
//! `input_required` result instead, and sends the call again with the input. Until then the call is
//! kept here under a signed `requestState` (see
//! `evermoor_core::protocol::translate::request_state`) that works once, for the same editor and
//! the same call, for a limited time. If the editor does not come back, the call is cancelled.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use evermoor_core::protocol::envelope::{Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::translate::input_request::{InputRequired, input_requests};
use evermoor_core::protocol::translate::request_state::{Pending, RequestState, RequestStateCheck};
use evermoor_core::security::session_id::SessionKey;

use crate::mcp::exchange::Exchange;
use crate::system::clock::ClockAndRandom;
use crate::system::keys;
use crate::upstream::ServerRequest;

/// The calls that wait for input.
pub struct PendingInput<Call = Exchange> {
    key: SessionKey,
    clock: ClockAndRandom,
    /// Identifies this run of the gateway.
    instance_id: String,
    waiting: Mutex<HashMap<String, Waiting<Call>>>,
    /// Codes that were used and have no call behind them.
    used_codes: Mutex<VecDeque<String>>,
    /// Notified when a call starts to wait.
    added: Notify,
}

struct Waiting<Call> {
    exchange: Call,
    questions: Vec<(String, ServerRequest)>,
    since: Instant,
}

/// The key of the input in `inputRequests`, followed by a number if there are several.
const ANSWER_KEY: &str = "answer";
/// How long a call is kept for its editor.
const INPUT_TIMEOUT: Duration = Duration::from_secs(600);
const MAX_PENDING: usize = 1024;

/// What an editor that sends a call finds.
pub enum Resume<Call = Exchange> {
    /// It is a new call.
    New,
    /// The kept call continues with the input.
    Resumed(Box<Call>),
    /// The upstream rejected the call before; it is made again now that the links were opened.
    Retry,
    /// The user declined what the upstream needs, so the call is not repeated.
    Declined,
    /// The `requestState` is invalid.
    Refused(&'static str),
    /// The `requestState` is valid but its call is gone. Its outcome is unknown since this time.
    Lost(SystemTime, &'static str),
}

impl<Call> PendingInput<Call> {
    pub fn new(key: SessionKey, instance_id: &str, clock: ClockAndRandom) -> Self {
        let (waiting, used_codes) = (Mutex::default(), Mutex::default());
        Self {
            key,
            clock,
            instance_id: instance_id.to_owned(),
            waiting,
            used_codes,
            added: Notify::new(),
        }
    }

    /// Keeps a call and returns the `input_required` result for the editor.
    pub fn keep(
        &self,
        exchange: Call,
        questions: Vec<ServerRequest>,
        editor: &str,
        request: &Request,
    ) -> Option<Raw> {
        let state_token = self.new_state(editor, request)?;
        let questions = with_keys(questions);
        let asked = questions.iter().map(|(key, question)| (key.clone(), &question.request));
        let needed = input_requests(asked);
        let result = InputRequired::result(&needed, &state_token.sign(&self.key));
        let mut all = self.waiting.lock();
        if all.len() >= MAX_PENDING {
            return None;
        }
        all.insert(state_token.nonce, Waiting { exchange, questions, since: Instant::now() });
        drop(all);
        self.added.notify_one();
        Some(result)
    }

    /// The `input_required` result for a call that its upstream rejected until these links are
    /// opened.
    pub fn links(&self, links: &[Request], editor: &str, request: &Request) -> Option<Raw> {
        let state_token = self.new_state(editor, request)?.for_rejected_call();
        let named = (1..).zip(links).map(|(number, link)| (format!("{ANSWER_KEY}{number}"), link));
        Some(InputRequired::result(&input_requests(named), &state_token.sign(&self.key)))
    }

    /// Finds the call that an editor sends again, and passes on the input it brings.
    pub fn resume(&self, editor: &str, request: &Request) -> Resume<Call> {
        let params = request.params.as_ref();
        let Some(state) = params.and_then(|params| params.text_member("requestState")) else {
            return Resume::New;
        };
        let responses = params.and_then(|params| params.member("inputResponses"));
        let state_token = match RequestState::verify(&state, &self.key, editor, request, self.now())
        {
            RequestStateCheck::Foreign => return Resume::New,
            RequestStateCheck::Rejected => {
                return Resume::Refused("`requestState` does not belong to this call.");
            }
            RequestStateCheck::Expired(state_token) if state_token.pending == Pending::Rejected => {
                return Resume::Refused(
                    "`requestState` has expired. Make the call again without it.",
                );
            }
            RequestStateCheck::Expired(state_token) => {
                let why = "the input did not arrive in time, so the call was cancelled";
                return Resume::Lost(issued(&state_token), why);
            }
            RequestStateCheck::Valid(state_token) => state_token,
        };
        let used = || Resume::Refused("`requestState` works once, and was already used.");
        if state_token.pending == Pending::Rejected {
            return match self.consume(state_token.nonce) {
                true if responses.is_some_and(|responses| accepted(&responses)) => Resume::Retry,
                true => Resume::Declined,
                false => used(),
            };
        }
        let Some(waiting) = self.waiting.lock().remove(&state_token.nonce) else {
            return match state_token.instance_id == self.instance_id {
                true => used(),
                false => {
                    let why = "Evermoor restarted while the call waited for input";
                    Resume::Lost(issued(&state_token), why)
                }
            };
        };
        for (key, question) in waiting.questions {
            match responses.as_ref().and_then(|responses| responses.member(&key)) {
                Some(answer) => question.answer(Outcome::Result(answer)),
                None => question.reject("The client sent no answer."),
            }
        }
        Resume::Resumed(Box::new(waiting.exchange))
    }

    /// Cancels calls whose editors do not come back. Never returns.
    pub async fn evict_expired(&self) {
        loop {
            let oldest = self.waiting.lock().values().map(|waiting| waiting.since).min();
            match oldest {
                Some(since) => sleep_until(since + INPUT_TIMEOUT).await,
                None => self.added.notified().await,
            }
            let expired =
                |_: &String, waiting: &mut Waiting<Call>| waiting.since.elapsed() >= INPUT_TIMEOUT;
            let expired: Vec<_> = self.waiting.lock().extract_if(expired).collect();
            for (_, waiting) in expired {
                waiting.questions.into_iter().for_each(|(_, question)| question.decline());
                // Dropping the exchange cancels the call at the upstream.
                drop(waiting.exchange);
            }
        }
    }

    fn new_state(&self, editor: &str, request: &Request) -> Option<RequestState> {
        let state_token =
            RequestState::new(keys::random_token().ok()?, &self.instance_id, editor, request);
        Some(state_token.issued(self.now(), INPUT_TIMEOUT.as_secs()))
    }

    fn now(&self) -> u64 {
        self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    /// Returns whether the code was still unused.
    fn consume(&self, nonce: String) -> bool {
        let mut used_codes = self.used_codes.lock();
        if used_codes.contains(&nonce) {
            return false;
        }
        used_codes.push_back(nonce);
        if used_codes.len() > MAX_PENDING {
            used_codes.pop_front();
        }
        true
    }
}

/// Adds the keys under which the answers come back.
fn with_keys(questions: Vec<ServerRequest>) -> Vec<(String, ServerRequest)> {
    let alone = questions.len() == 1;
    let name =
        |number: usize| if alone { ANSWER_KEY.to_owned() } else { format!("{ANSWER_KEY}{number}") };
    (1..).zip(questions).map(|(number, question)| (name(number), question)).collect()
}

/// Whether the user accepted every request.
fn accepted(responses: &Raw) -> bool {
    let answers = responses.entries().unwrap_or_default();
    let done = |answer: &Raw| answer.text_member("action").as_deref() == Some("accept");
    !answers.is_empty() && answers.iter().all(|(_, answer)| done(answer))
}

fn issued(state_token: &RequestState) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(state_token.issued)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::{Id, Response};
    use std::sync::Arc;
    use tokio::sync::oneshot;
    use tokio::time::{advance, sleep};
    use tokio_util::sync::{CancellationToken, DropGuard};

    const EDITOR: &str = "claude";

    /// Calls that only have to be dropped. The wall clock follows the paused clock.
    fn pending_input(instance_id: &str) -> Arc<PendingInput<DropGuard>> {
        let (began, from) = (Instant::now(), UNIX_EPOCH + Duration::from_secs(1_000_000));
        let clock = ClockAndRandom::new(|| 0, move || from + began.elapsed());
        Arc::new(PendingInput::new(SessionKey::new([1; 32]), instance_id, clock))
    }

    fn call(tool: &str) -> Request {
        let params = Raw::of(&serde_json::json!({ "name": tool }));
        Request::new(Id::number(1), "tools/call", Some(params))
    }

    fn back(tool: &str, result: &Raw) -> Request {
        let answer = serde_json::json!({ ANSWER_KEY: { "action": "accept" } });
        let mut request = call(tool);
        let params = request.params.take().unwrap();
        let params = params.with("requestState", &result.member("requestState").unwrap());
        request.params = Some(params.with("inputResponses", &Raw::of(&answer)));
        request
    }

    fn question() -> (ServerRequest, oneshot::Receiver<Response>) {
        let (send, answered) = oneshot::channel();
        let request = Request::new(Id::number(9), "elicitation/create", None);
        (ServerRequest::new(request, Box::new(move |it| drop(send.send(it)))), answered)
    }

    fn action(response: Response) -> String {
        match response.outcome {
            Outcome::Result(result) => result.text_member("action").unwrap(),
            Outcome::Error(error) => panic!("{error:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_editor_finds_its_call_within_ten_minutes_and_not_later() {
        let all = pending_input("life");
        let (question, answered) = question();
        let pending = CancellationToken::new();
        let result =
            all.keep(pending.clone().drop_guard(), vec![question], EDITOR, &call("a")).unwrap();
        advance(INPUT_TIMEOUT - Duration::from_secs(1)).await;
        let Resume::Resumed(resumed) = all.resume(EDITOR, &back("a", &result)) else {
            panic!("it waits")
        };
        assert_eq!(action(answered.await.unwrap()), "accept");
        assert!(!pending.is_cancelled());
        drop(resumed);
        assert!(
            matches!(all.resume(EDITOR, &back("a", &result)), Resume::Refused(_)),
            "works once"
        );
        advance(Duration::from_secs(1)).await;
        assert!(matches!(all.resume(EDITOR, &back("a", &result)), Resume::Lost(..)), "expired");
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    async fn a_call_whose_editor_does_not_come_back_is_cancelled_after_ten_minutes() {
        let all = pending_input("life");
        let evicting = Arc::clone(&all);
        drop(tokio::spawn(async move { evicting.evict_expired().await }));
        let (question, answered) = question();
        let pending = CancellationToken::new();
        let result =
            all.keep(pending.clone().drop_guard(), vec![question], EDITOR, &call("a")).unwrap();
        sleep(INPUT_TIMEOUT - Duration::from_millis(1)).await;
        assert!(!pending.is_cancelled());
        pending.cancelled().await;
        assert_eq!(action(answered.await.unwrap()), "cancel");
        assert!(matches!(all.resume(EDITOR, &back("a", &result)), Resume::Lost(..)));
    }

    #[tokio::test(start_paused = true)]
    async fn several_requests_have_keys_of_their_own_and_one_without_an_answer_is_declined() {
        let all = pending_input("life");
        let ((one, answered), (other, turned_away)) = (question(), question());
        let pending = CancellationToken::new().drop_guard();
        let result = all.keep(pending, vec![one, other], EDITOR, &call("a")).unwrap();
        let needed = result.member("inputRequests").unwrap();
        assert!(needed.member("answer1").is_some() && needed.member("answer2").is_some());
        let mut back = back("a", &result);
        let answer = Raw::of(&serde_json::json!({ "answer1": { "action": "accept" } }));
        back.params = back.params.map(|params| params.with("inputResponses", &answer));
        assert!(matches!(all.resume(EDITOR, &back), Resume::Resumed(_)));
        assert_eq!(action(answered.await.unwrap()), "accept");
        assert!(matches!(turned_away.await.unwrap().outcome, Outcome::Error(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_state_works_for_one_editor_and_one_call_only() {
        let all = pending_input("life");
        let (question, _answered) = question();
        let pending = CancellationToken::new();
        let result =
            all.keep(pending.clone().drop_guard(), vec![question], EDITOR, &call("a")).unwrap();
        assert!(matches!(all.resume("cursor", &back("a", &result)), Resume::Refused(_)));
        assert!(matches!(all.resume(EDITOR, &back("b", &result)), Resume::Refused(_)));
        let forged = result.text_member("requestState").unwrap() + "x";
        let forged = result.with("requestState", &Raw::of(&forged));
        assert!(matches!(all.resume(EDITOR, &back("a", &forged)), Resume::Refused(_)));
        assert!(matches!(all.resume(EDITOR, &call("a")), Resume::New));
        let next = pending_input("next life");
        assert!(matches!(next.resume(EDITOR, &back("a", &result)), Resume::Lost(..)));
        assert!(
            matches!(all.resume(EDITOR, &back("a", &result)), Resume::Resumed(_)),
            "still there"
        );
        assert!(pending.is_cancelled());
    }
}
