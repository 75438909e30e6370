//! Tasks of session-based upstreams that wait for input from a stateless editor.
//!
//! Such an upstream sends its server request while a `tasks/result` request is open. A stateless
//! editor polls the task instead, sees the `input_required` state with what is needed, and answers
//! with `tasks/update`.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use evermoor_core::protocol::envelope::{INVALID_PARAMS, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::translate::input_request::input_requests;

use crate::mcp::exchange::{Exchange, ExchangeEvent};
use crate::upstream::ServerRequest;

#[derive(Default)]
pub struct InputRequiredTasks(Mutex<HashMap<(String, Raw), WaitingTask>>);

struct WaitingTask {
    /// Keeps `tasks/result` open: without it the upstream could not send its request.
    exchange: Exchange,
    question: ServerRequest,
    /// The task as the editor sees it.
    state: Raw,
    since: Instant,
}

const ANSWER_KEY: &str = "answer";
const INPUT_TIMEOUT: Duration = Duration::from_secs(600);

impl InputRequiredTasks {
    /// Keeps a task's server request and returns the task as the editor sees it. Returns its
    /// arguments if the exchange does not poll a task.
    pub fn park(
        &self,
        exchange: Exchange,
        question: ServerRequest,
        editor: &str,
    ) -> Result<Raw, Box<(Exchange, ServerRequest)>> {
        let needed = input_requests([(ANSWER_KEY.to_owned(), &question.request)].into_iter());
        let Some((task, state)) = exchange.waiting_task(&needed) else {
            return Err(Box::new((exchange, question)));
        };
        let since = Instant::now();
        let waiting = WaitingTask { exchange, question, state: state.clone(), since };
        let mut all = self.0.lock();
        let expired = all.extract_if(|_, waiting| waiting.since.elapsed() >= INPUT_TIMEOUT);
        expired.for_each(|(_, waiting)| waiting.question.decline());
        all.insert((editor.to_owned(), task), waiting);
        Ok(state)
    }

    /// Answers a request about a task that waits for its editor, and returns the exchange to follow
    /// from then on. `None` if no such task waits.
    pub fn answer(&self, editor: &str, request: &Request) -> Option<(Response, Option<Exchange>)> {
        let params = request.params.as_ref()?;
        let key = (editor.to_owned(), params.member("taskId")?);
        let id = request.id.clone();
        match request.method.as_str() {
            method::TASKS_GET => {
                let all = self.0.lock();
                Some((Response::result(id, all.get(&key)?.state.clone()), None))
            }
            method::TASKS_UPDATE => {
                let waiting = self.0.lock().remove(&key)?;
                let responses = params.member("inputResponses");
                let response = match responses.and_then(|responses| responses.member(ANSWER_KEY)) {
                    Some(answer) => {
                        waiting.question.answer(Outcome::Result(answer));
                        Response::result(id, Raw::of(&serde_json::json!({})))
                    }
                    None => {
                        waiting.question.decline();
                        let why =
                            "`inputResponses` does not contain the input that the task needs.";
                        Response::error(Some(id), INVALID_PARAMS, why)
                    }
                };
                Some((response, Some(waiting.exchange)))
            }
            _ => None,
        }
    }

    /// Follows a task after its editor has answered, in case it asks for more.
    pub async fn follow(&self, mut exchange: Exchange, editor: &str) {
        while let Some(part) = exchange.next().await {
            if let ExchangeEvent::ServerRequest(question) = part {
                drop(self.park(exchange, question, editor));
                return;
            }
        }
    }
}
