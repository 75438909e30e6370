//! Input that an upstream needs from an editor.
//!
//! Up to 2025-11-25 an upstream sends a request while it handles a call. In 2026-07-28 it responds
//! that it needs input and expects the call again, with the input and an opaque state.

use crate::protocol::envelope::{Id, Request};
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

use super::client_capabilities::ELICIT;
use super::response::{URL_ELICITATION_REQUIRED, code};

/// An `input_required` result of a newer upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequired {
    /// The requests, each with the key for its answer.
    pub asked: Vec<(String, Request)>,
    /// The state to send back unchanged.
    pub state: Option<Raw>,
}

impl InputRequired {
    /// Reads an `input_required` result. `None` if it is another one.
    pub fn read(result: &Raw) -> Option<Self> {
        if result.text_member("resultType").as_deref() != Some("input_required") {
            return None;
        }
        let asked = match result.member("inputRequests") {
            Some(requests) => parse_input_requests(&requests)?,
            None => Vec::new(),
        };
        Some(Self { asked, state: result.member("requestState") })
    }

    /// An `input_required` result.
    pub fn result(requests: &Raw, state: &str) -> Raw {
        let result = serde_json::json!({ "resultType": "input_required", "requestState": state });
        Raw::of(&result).with("inputRequests", requests)
    }
}

/// Whether a request may be answered with `input_required`.
pub fn may_need_input(called: &str) -> bool {
    matches!(called, method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ)
}

/// Converts the `inputRequests` of a newer upstream to requests for an older editor.
pub fn parse_input_requests(requests: &Raw) -> Option<Vec<(String, Request)>> {
    let convert = |(key, request): (String, Raw)| {
        let called = request.text_member("method")?;
        let params = request.member("params").map(|params| for_older(&called, &key, params));
        let request = Request::new(Id::text(&key), &called, params);
        Some((key, request))
    };
    requests.entries()?.into_iter().map(convert).collect()
}

/// Converts the requests of an older upstream to `inputRequests` for a newer editor.
pub fn input_requests<'a>(requests: impl Iterator<Item = (String, &'a Request)>) -> Raw {
    requests.fold(Raw::of(&serde_json::json!({})), |all, (key, request)| {
        let converted = Raw::of(&serde_json::json!({ "method": request.method }));
        let converted = match &request.params {
            Some(params) => converted.with("params", &for_newer(&request.method, params.raw())),
            None => converted,
        };
        all.with(&key, &converted)
    })
}

/// The call again, with the answers and the unchanged state.
pub fn retry_with_input(
    request: &Request,
    answers: &[(String, Raw)],
    state: Option<&Raw>,
) -> Request {
    let empty = || Raw::of(&serde_json::json!({}));
    let responses =
        answers.iter().fold(empty(), |responses, (key, answer)| responses.with(key, answer));
    let mut params = request.params.clone().unwrap_or_default();
    params = params.with("inputResponses", &responses);
    if let Some(state) = state {
        params = params.with("requestState", state);
    }
    Request { params: Some(params), ..request.clone() }
}

/// The URL elicitations of a `URLElicitationRequired` error of 2025-11-25.
pub fn required_links(error: &Raw) -> Option<Vec<Request>> {
    if code(error) != Some(URL_ELICITATION_REQUIRED) {
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

/// In 2026-07-28 an elicitation has no id and always has a mode.
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

/// In 2025-11-25 a URL elicitation has an id.
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
    fn only_an_input_required_result_needs_input() {
        let result = Raw::of(&json!({ "resultType": "input_required", "requestState": "s",
            "inputRequests": { "who": { "method": "elicitation/create", "params": { "mode": "url", "url": "https://x" } } } }));
        let needed = InputRequired::read(&result).unwrap();
        let (key, asked) = &needed.asked[0];
        assert_eq!((key.as_str(), asked.method.as_str()), ("who", ELICIT));
        assert_eq!(
            asked.params.as_ref().unwrap().text_member("elicitationId").as_deref(),
            Some("who")
        );
        let waits = json!({ "resultType": "input_required", "requestState": "s" });
        assert!(InputRequired::read(&Raw::of(&waits)).unwrap().asked.is_empty());
        assert_eq!(InputRequired::read(&Raw::of(&json!({ "resultType": "complete" }))), None);
        assert_eq!(InputRequired::read(&Raw::of(&json!({ "content": [] }))), None);
    }

    #[test]
    fn a_form_gets_a_mode_and_a_url_loses_its_id() {
        let form = Request::new(Id::number(1), ELICIT, Some(Raw::of(&json!({ "message": "?" }))));
        let link = json!({ "mode": "url", "url": "https://x", "elicitationId": "e" });
        let link = Request::new(Id::number(2), ELICIT, Some(Raw::of(&link)));
        let roots = Request::new(Id::number(3), "roots/list", None);
        let all = [("a".to_owned(), &form), ("b".to_owned(), &link), ("c".to_owned(), &roots)];
        let named: Value = input_requests(all.into_iter()).read().unwrap();
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
    fn required_urls_become_elicitations() {
        let error = json!({ "code": -32042, "message": "Open it.", "data": { "elicitations": [
            { "mode": "url", "elicitationId": "e", "url": "https://x", "message": "Sign in" } ] } });
        let asked = required_links(&Raw::of(&error)).unwrap();
        assert_eq!(asked[0].method, ELICIT);
        assert_eq!(required_links(&Raw::of(&json!({ "code": -32602, "message": "no" }))), None);
        assert_eq!(required_links(&Raw::of(&json!({ "code": -32042, "message": "no" }))), None);
    }

    proptest! {
        #[test]
        fn the_state_is_sent_back_byte_for_byte(state: String, key: String) {
            let state = Raw::of(&state);
            let request = Request::new(Id::number(1), "tools/call", Some(Raw::of(&json!({ "name": "x" }))));
            let answer = Raw::of(&json!({ "action": "accept" }));
            let again = retry_with_input(&request, &[(key.clone(), answer.clone())], Some(&state));
            let params = again.params.unwrap();
            prop_assert_eq!(params.member("requestState"), Some(state));
            prop_assert_eq!(params.member("inputResponses").unwrap().member(&key), Some(answer));
            prop_assert_eq!(params.text_member("name"), Some("x".to_owned()));
        }
    }
}
