//! Turns an upstream's `input_required` result into requests to the editor, and repeats the call
//! with the answers.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::translate::client_capabilities::ELICIT;
use evermoor_core::protocol::translate::input_request::{InputRequired, retry_with_input};

use crate::upstream::ServerRequest;

/// The requests to the editor, and a future that resolves when all of them are answered.
pub(crate) struct InputRound {
    pub(crate) questions: Vec<ServerRequest>,
    pub(crate) gathering: BoxFuture<'static, GatheredInput>,
}

/// The result of an input round.
pub(crate) enum GatheredInput {
    /// The request to send to the upstream next.
    Call(Request),
    /// The editor declined, for this reason.
    Refused(String),
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Asks the editor for the needed input, then repeats `request`. `rounds` is the number of rounds
/// before this one.
pub(crate) fn round(request: &Request, needed: InputRequired, rounds: u32) -> InputRound {
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for (key, asked) in needed.asked {
        let (send, answered) = oneshot::channel::<Response>();
        let send = move |response| drop(send.send(response));
        let called = asked.method.clone();
        questions.push(ServerRequest::new(asked, Box::new(send)));
        answers.push(async move { (key, called, answered.await.ok()) });
    }
    let (state, request, idle) = (needed.state, request.clone(), questions.is_empty());
    let gathering = async move {
        if idle {
            // The upstream only asks to be called again. Wait longer each time.
            sleep((FIRST_PAUSE * 2_u32.saturating_pow(rounds)).min(MAX_PAUSE)).await;
        }
        let mut given = Vec::new();
        for (key, called, answer) in join_all(answers).await {
            match read(&called, answer) {
                Ok(answer) => given.push((key, answer)),
                Err(why) => return GatheredInput::Refused(why),
            }
        }
        GatheredInput::Call(retry_with_input(&request, &given, state.as_ref()))
    };
    InputRound { questions, gathering: gathering.boxed() }
}

/// Sends a request to the upstream after a pause.
pub(crate) fn later(pause: Duration, request: Request) -> BoxFuture<'static, GatheredInput> {
    async move {
        sleep(pause).await;
        GatheredInput::Call(request)
    }
    .boxed()
}

/// Reads an editor's answer. A dismissed elicitation counts as an answer.
fn read(called: &str, answer: Option<Response>) -> Result<Raw, String> {
    match answer.map(|response| response.outcome) {
        Some(Outcome::Result(result)) => Ok(result),
        Some(Outcome::Error(_)) | None if called == ELICIT => {
            Ok(Raw::of(&serde_json::json!({ "action": "cancel" })))
        }
        Some(Outcome::Error(error)) => {
            let reason = error.text_member("message").unwrap_or_default();
            Err(format!("the client declined `{called}`: {reason}"))
        }
        None => Err(format!("the client did not answer `{called}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::Id;
    use tokio::time::Instant;

    fn request() -> Request {
        let params = Raw::of(&serde_json::json!({ "name": "x" }));
        Request::new(Id::number(1), "tools/call", Some(params))
    }

    fn needed(result: &serde_json::Value) -> InputRequired {
        InputRequired::read(&Raw::of(result)).unwrap()
    }

    fn asks(method: &str) -> InputRequired {
        needed(
            &serde_json::json!({ "resultType": "input_required", "requestState": "opaque=\u{e9}",
            "inputRequests": { "who": { "method": method, "params": { "m": 1 } } } }),
        )
    }

    #[tokio::test]
    async fn the_call_is_repeated_with_the_answers_and_the_unchanged_request_state() {
        let InputRound { mut questions, gathering } = round(&request(), asks(ELICIT), 0);
        let question = questions.remove(0);
        assert_eq!(question.request.method, ELICIT);
        question.answer(Outcome::Result(Raw::of(&serde_json::json!({ "action": "accept" }))));
        let GatheredInput::Call(again) = gathering.await else { panic!("it is asked") };
        let params: serde_json::Value = again.params.unwrap().read().unwrap();
        assert_eq!(
            params,
            serde_json::json!({
                "name": "x",
                "inputResponses": { "who": { "action": "accept" } },
                "requestState": "opaque=\u{e9}",
            })
        );
    }

    #[tokio::test]
    async fn a_dismissed_elicitation_is_an_answer_and_a_declined_sampling_request_is_not() {
        let InputRound { questions, gathering } = round(&request(), asks(ELICIT), 0);
        drop(questions);
        let GatheredInput::Call(again) = gathering.await else { panic!("it is asked") };
        let given = again.params.unwrap().member("inputResponses").unwrap();
        assert_eq!(given.as_str(), r#"{"who":{"action":"cancel"}}"#);
        let InputRound { questions, gathering } =
            round(&request(), asks("sampling/createMessage"), 0);
        questions.into_iter().for_each(|question| question.reject("No."));
        let GatheredInput::Refused(why) = gathering.await else { panic!("it is refused") };
        assert!(why.ends_with("No."), "{why}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_upstream_that_only_asks_for_a_retry_is_called_after_growing_pauses() {
        let waits = serde_json::json!({ "resultType": "input_required", "requestState": "s" });
        let mut paused = Vec::new();
        for rounds in [0, 1, 10] {
            let began = Instant::now();
            let GatheredInput::Call(_) = round(&request(), needed(&waits), rounds).gathering.await
            else {
                panic!("it is asked")
            };
            paused.push(began.elapsed());
        }
        assert_eq!(paused, [FIRST_PAUSE, FIRST_PAUSE * 2, MAX_PAUSE]);
    }
}
