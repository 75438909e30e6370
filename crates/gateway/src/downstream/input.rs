//! What an upstream of the newer revision needs before it can answer, as questions to an editor.
//!
//! Its answer names what it needs and a state that only it understands. The same call is made
//! again with the editor's answers and that state, byte for byte.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;

use evermoor_core::envelope::{Id, Outcome, Request, Response};
use evermoor_core::json::Raw;

use crate::upstream::Question;

/// What to ask, and the call to make when everything has been answered.
pub(super) struct Round {
    pub(super) questions: Vec<Question>,
    pub(super) gathering: BoxFuture<'static, Request>,
}

/// Reads a result that asks for input. `None` if it does not.
pub(super) fn round(request: &Request, result: &Raw) -> Option<Round> {
    if result.text_member("resultType").as_deref() != Some("input_required") {
        return None;
    }
    let wanted = result.member("inputRequests").and_then(|wanted| wanted.entries());
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for (key, wanted) in wanted.unwrap_or_default() {
        let method = wanted.text_member("method")?;
        let (send, answered) = oneshot::channel::<Response>();
        let send = move |response| drop(send.send(response));
        let asked = Request::new(Id::text(&key), &method, wanted.member("params"));
        questions.push(Question::new(asked, Box::new(send)));
        answers.push(async move { (key, answered.await.ok()) });
    }
    let (state, request) = (result.member("requestState"), request.clone());
    let gathering = async move {
        let answers = join_all(answers).await;
        again(&request, answers, state.as_ref())
    };
    Some(Round { questions, gathering: gathering.boxed() })
}

/// The same call with the answers.
fn again(
    request: &Request,
    answers: Vec<(String, Option<Response>)>,
    state: Option<&Raw>,
) -> Request {
    let nothing = || Raw::of(&serde_json::json!({}));
    let mut given = nothing();
    for (key, answer) in answers {
        // A question that was refused is left unanswered, which the upstream must understand.
        if let Some(Response { outcome: Outcome::Result(result), .. }) = answer {
            given = given.with(&key, &result);
        }
    }
    let mut params = request.params.clone().unwrap_or_else(nothing);
    params = params.with("inputResponses", &given);
    if let Some(state) = state {
        params = params.with("requestState", state);
    }
    Request { params: Some(params), ..request.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_call_is_made_again_with_the_answers_and_the_state_as_it_came() {
        let params = Raw::of(&serde_json::json!({ "name": "x" }));
        let request = Request::new(Id::number(1), "tools/call", Some(params));
        let result = Raw::of(&serde_json::json!({
            "resultType": "input_required",
            "inputRequests": { "who": { "method": "elicitation/create", "params": { "m": 1 } } },
            "requestState": "opaque=\u{e9}",
        }));
        let Round { mut questions, gathering } = round(&request, &result).unwrap();
        let question = questions.remove(0);
        assert_eq!(question.request.method, "elicitation/create");
        question.answer(Outcome::Result(Raw::of(&serde_json::json!({ "action": "accept" }))));
        let params: serde_json::Value = gathering.await.params.unwrap().read().unwrap();
        assert_eq!(
            params,
            serde_json::json!({
                "name": "x",
                "inputResponses": { "who": { "action": "accept" } },
                "requestState": "opaque=\u{e9}",
            })
        );
    }

    #[test]
    fn an_answer_that_is_complete_asks_for_nothing() {
        let request = Request::new(Id::number(1), "tools/call", None);
        let result = Raw::of(&serde_json::json!({ "resultType": "complete" }));
        assert!(round(&request, &result).is_none());
    }
}
