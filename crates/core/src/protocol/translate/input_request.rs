//! What an upstream asks of an editor, in the words of either era.
//!
//! Up to 2025-11-25 an upstream asks while it works. In 2026-07-28 it answers that it needs input and
//! expects the same call again with that input, and with a state that only it understands.

use crate::protocol::envelope::{Id, Request};
use crate::protocol::json::Raw;

use super::client_capabilities::ELICIT;
use super::response::{LINK_REQUIRED, code};

/// What a newer upstream needs before it can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// What to ask, each under the name that its answer is to have.
    pub asked: Vec<(String, Request)>,
    /// What must come back as it is.
    pub state: Option<Raw>,
}

impl Needed {
    /// Reads a result that asks for input. `None` if it does not.
    pub fn read(result: &Raw) -> Option<Self> {
        if result.text_member("resultType").as_deref() != Some("input_required") {
            return None;
        }
        let asked = match result.member("inputRequests") {
            Some(requests) => questions(&requests)?,
            None => Vec::new(),
        };
        Some(Self { asked, state: result.member("requestState") })
    }

    /// The result that asks for input.
    pub fn result(questions: &Raw, state: &str) -> Raw {
        let result = serde_json::json!({ "resultType": "input_required", "requestState": state });
        Raw::of(&result).with("inputRequests", questions)
    }
}

/// Questions by name, as a newer upstream puts them, for an editor that is asked while it waits.
pub fn questions(requests: &Raw) -> Option<Vec<(String, Request)>> {
    let one = |(key, wanted): (String, Raw)| {
        let called = wanted.text_member("method")?;
        let params = wanted.member("params").map(|params| for_older(&called, &key, params));
        let request = Request::new(Id::text(&key), &called, params);
        Some((key, request))
    };
    requests.entries()?.into_iter().map(one).collect()
}

/// Questions of an older upstream by name, for an editor that is asked between two calls.
pub fn by_name<'a>(questions: impl Iterator<Item = (String, &'a Request)>) -> Raw {
    questions.fold(Raw::of(&serde_json::json!({})), |all, (key, question)| {
        let asked = Raw::of(&serde_json::json!({ "method": question.method }));
        let asked = match &question.params {
            Some(params) => asked.with("params", &for_newer(&question.method, params)),
            None => asked,
        };
        all.with(&key, &asked)
    })
}

/// The same call with the answers, and with the state as it came.
pub fn again(request: &Request, answers: &[(String, Raw)], state: Option<&Raw>) -> Request {
    let nothing = || Raw::of(&serde_json::json!({}));
    let given = answers.iter().fold(nothing(), |given, (key, answer)| given.with(key, answer));
    let mut params = request.params.clone().unwrap_or_else(nothing);
    params = params.with("inputResponses", &given);
    if let Some(state) = state {
        params = params.with("requestState", state);
    }
    Request { params: Some(params), ..request.clone() }
}

/// The links that a person must open before a call can be made, if an error of 2025-11-25 says so.
pub fn links_required(error: &Raw) -> Option<Vec<Request>> {
    if code(error) != Some(LINK_REQUIRED) {
        return None;
    }
    let links = error.member("data")?.member("elicitations")?.elements()?;
    let asked: Vec<Request> = (1..)
        .zip(links)
        .map(|(number, link)| {
            let link = link.with("mode", &Raw::of("url"));
            Request::new(Id::number(number), ELICIT, Some(link))
        })
        .collect();
    (!asked.is_empty()).then_some(asked)
}

/// Elicitation has no ids in the newer revision, and always says of which kind it is.
fn for_newer(called: &str, params: &Raw) -> Raw {
    if called != ELICIT {
        return params.clone();
    }
    let params = params.without(&["elicitationId"]);
    match params.member("mode") {
        Some(_) => params,
        None => params.with("mode", &Raw::of("form")),
    }
}

/// A link has an id in 2025-11-25, by which a server could say that it was used.
fn for_older(called: &str, key: &str, params: Raw) -> Raw {
    let is_link = called == ELICIT && params.text_member("mode").as_deref() == Some("url");
    match is_link && params.member("elicitationId").is_none() {
        true => params.with("elicitationId", &Raw::of(key)),
        false => params,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn what_is_needed_is_read_and_what_is_complete_needs_nothing() {
        let result = Raw::of(&json!({ "resultType": "input_required", "requestState": "s",
            "inputRequests": { "who": { "method": "elicitation/create", "params": { "mode": "url", "url": "https://x" } } } }));
        let needed = Needed::read(&result).unwrap();
        let (key, asked) = &needed.asked[0];
        assert_eq!((key.as_str(), asked.method.as_str()), ("who", ELICIT));
        assert_eq!(
            asked.params.as_ref().unwrap().text_member("elicitationId").as_deref(),
            Some("who")
        );
        let waits = json!({ "resultType": "input_required", "requestState": "s" });
        assert!(Needed::read(&Raw::of(&waits)).unwrap().asked.is_empty());
        assert_eq!(Needed::read(&Raw::of(&json!({ "resultType": "complete" }))), None);
        assert_eq!(Needed::read(&Raw::of(&json!({ "content": [] }))), None);
    }

    #[test]
    fn a_form_says_that_it_is_one_and_a_link_has_no_id() {
        let form = Request::new(Id::number(1), ELICIT, Some(Raw::of(&json!({ "message": "?" }))));
        let link = json!({ "mode": "url", "url": "https://x", "elicitationId": "e" });
        let link = Request::new(Id::number(2), ELICIT, Some(Raw::of(&link)));
        let roots = Request::new(Id::number(3), "roots/list", None);
        let all = [("a".to_owned(), &form), ("b".to_owned(), &link), ("c".to_owned(), &roots)];
        let named: Value = by_name(all.into_iter()).read().unwrap();
        assert_eq!(
            named,
            json!({
                "a": { "method": ELICIT, "params": { "message": "?", "mode": "form" } },
                "b": { "method": ELICIT, "params": { "mode": "url", "url": "https://x" } },
                "c": { "method": "roots/list" },
            })
        );
    }

    #[test]
    fn links_that_must_be_opened_first_are_questions() {
        let error = json!({ "code": -32042, "message": "Open it.", "data": { "elicitations": [
            { "mode": "url", "elicitationId": "e", "url": "https://x", "message": "Sign in" } ] } });
        let asked = links_required(&Raw::of(&error)).unwrap();
        assert_eq!(asked[0].method, ELICIT);
        assert_eq!(links_required(&Raw::of(&json!({ "code": -32602, "message": "no" }))), None);
        assert_eq!(links_required(&Raw::of(&json!({ "code": -32042, "message": "no" }))), None);
    }

    proptest! {
        #[test]
        fn a_state_comes_back_byte_for_byte(state: String, key: String) {
            let state = Raw::of(&state);
            let request = Request::new(Id::number(1), "tools/call", Some(Raw::of(&json!({ "name": "x" }))));
            let answer = Raw::of(&json!({ "action": "accept" }));
            let again = again(&request, &[(key.clone(), answer.clone())], Some(&state));
            let params = again.params.unwrap();
            prop_assert_eq!(params.member("requestState"), Some(state));
            prop_assert_eq!(params.member("inputResponses").unwrap().member(&key), Some(answer));
            prop_assert_eq!(params.text_member("name"), Some("x".to_owned()));
        }
    }
}
