//! Each kind of task request between two versions, step by step.

use super::*;
use crate::protocol::mcp::SessionVersion;
use serde_json::{Value, json};

const OLD: ProtocolVersion = ProtocolVersion::Session(SessionVersion::V2025_11_25);
const NEW: ProtocolVersion = ProtocolVersion::Stateless;

fn request(called: &str, params: Value) -> Request {
    Request::new(Id::number(7), called, Some(Raw::of(&params)))
}

fn result(value: Value) -> Outcome {
    Outcome::Result(Raw::of(&value))
}

fn task(status: &str, more: Value) -> Outcome {
    let mut task = json!({ "taskId": "t", "status": status, "createdAt": "a", "lastUpdatedAt": "b", "ttlMs": 5 });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    result(task)
}

fn read(step: TaskStep) -> Value {
    let TaskStep::Done(Outcome::Result(result)) = step else { panic!("{step:?}") };
    result.read().unwrap()
}

fn asked(step: TaskStep) -> (String, Value) {
    let TaskStep::Ask(_, request) = step else { panic!("{step:?}") };
    (request.method, request.params.unwrap().read().unwrap())
}

#[test]
fn an_older_editor_gets_the_task_that_a_newer_server_created() {
    let call = request("tools/call", json!({ "name": "x", "task": { "ttl": 1 } }));
    let (mut adapter, first) = TaskAdapter::of(&call, OLD, NEW, true).unwrap();
    assert_eq!(first.params.unwrap().as_str(), r#"{"name":"x"}"#);
    let made =
        read(adapter.next(task("working", json!({ "resultType": "task", "pollIntervalMs": 9 }))));
    assert_eq!(
        made,
        json!({ "task": { "taskId": "t", "status": "working", "createdAt": "a", "lastUpdatedAt": "b",
            "ttl": 5, "pollInterval": 9 } })
    );
    let (mut adapter, _) = TaskAdapter::of(&call, OLD, NEW, true).unwrap();
    let finished = adapter.next(result(json!({ "resultType": "complete", "content": [] })));
    assert_eq!(finished, TaskStep::Finished(Raw::of(&json!({ "content": [] }))));
}

#[test]
fn an_older_editor_waits_for_the_result_and_is_asked_for_input_once() {
    let wait = request("tasks/result", json!({ "taskId": "t" }));
    let (mut adapter, first) = TaskAdapter::of(&wait, OLD, NEW, false).unwrap();
    assert_eq!(first.method, "tasks/get");
    let step = adapter.next(task("working", json!({ "pollIntervalMs": 1 })));
    assert_eq!(step, TaskStep::Ask(Duration::from_millis(20), adapter.request("tasks/get")));
    let needs = json!({ "inputRequests": { "who": { "method": "elicitation/create" } } });
    let TaskStep::Input(needed, update) = adapter.next(task("input_required", needs.clone()))
    else {
        panic!("the editor is asked")
    };
    assert_eq!(needed.as_str(), r#"{"who":{"method":"elicitation/create"}}"#);
    assert_eq!(
        (update.method.as_str(), update.params.unwrap().as_str()),
        ("tasks/update", r#"{"taskId":"t"}"#)
    );
    assert_eq!(asked(adapter.next(result(json!({ "resultType": "complete" })))).0, "tasks/get");
    assert_eq!(asked(adapter.next(task("input_required", needs))).0, "tasks/get");
    let end =
        read(adapter.next(task(
            "completed",
            json!({ "result": { "resultType": "complete", "content": [] } }),
        )));
    assert_eq!(end, json!({ "content": [], "_meta": { task::RELATED: { "taskId": "t" } } }));
}

#[test]
fn a_failed_or_cancelled_task_is_an_error() {
    let wait = request("tasks/result", json!({ "taskId": "t" }));
    let (mut adapter, _) = TaskAdapter::of(&wait, OLD, NEW, false).unwrap();
    let failure = json!({ "code": 5, "message": "no" });
    let step = adapter.clone().next(task("failed", json!({ "error": failure })));
    assert_eq!(step, TaskStep::Done(Outcome::Error(Raw::of(&failure))));
    let TaskStep::Done(Outcome::Error(_)) = adapter.next(task("cancelled", json!({}))) else {
        panic!("an error")
    };
}

#[test]
fn an_older_editor_that_cancels_gets_the_status() {
    let cancel = request("tasks/cancel", json!({ "taskId": "t" }));
    let (mut adapter, first) = TaskAdapter::of(&cancel, OLD, NEW, false).unwrap();
    assert_eq!(first.method, "tasks/cancel");
    assert_eq!(
        asked(adapter.next(result(json!({})))),
        ("tasks/get".into(), json!({ "taskId": "t" }))
    );
    assert_eq!(read(adapter.next(task("cancelled", json!({}))))["status"], "cancelled");
}

#[test]
fn a_newer_editor_gets_the_task_that_an_older_server_created() {
    let call = request("tools/call", json!({ "name": "x" }));
    let (mut adapter, first) = TaskAdapter::of(&call, NEW, OLD, true).unwrap();
    assert_eq!(first.params.unwrap().as_str(), r#"{"name":"x","task":{}}"#);
    let made =
        json!({ "task": { "taskId": "t", "status": "working", "ttl": null, "pollInterval": 3 } });
    assert_eq!(
        read(adapter.next(result(made))),
        json!({ "resultType": "task", "taskId": "t", "status": "working", "ttlMs": null, "pollIntervalMs": 3 })
    );
}

#[test]
fn a_newer_editor_gets_the_result_with_the_status() {
    let get = request("tasks/get", json!({ "taskId": "t" }));
    let (mut adapter, _) = TaskAdapter::of(&get, NEW, OLD, false).unwrap();
    let mut other = adapter.clone();
    assert_eq!(read(adapter.clone().next(task("working", json!({}))))["status"], "working");
    let (called, _) = asked(adapter.next(task("completed", json!({}))));
    assert_eq!(called, "tasks/result");
    let completed = json!({ "content": [], "_meta": { task::RELATED: { "taskId": "t" } } });
    let end = read(adapter.next(result(completed)));
    assert_eq!((&end["status"], &end["result"]), (&json!("completed"), &json!({ "content": [] })));
    asked(other.next(task("failed", json!({}))));
    let failure = Raw::of(&json!({ "code": 5, "message": "no" }));
    let end = read(other.next(Outcome::Error(failure)));
    assert_eq!((&end["status"], &end["error"]["code"]), (&json!("failed"), &json!(5)));
}

#[test]
fn a_newer_editor_gets_the_input_requests_of_an_older_servers_task() {
    let get = request("tasks/get", json!({ "taskId": "t" }));
    let (mut adapter, _) = TaskAdapter::of(&get, NEW, OLD, false).unwrap();
    let needed = Raw::of(&json!({ "answer": { "method": "elicitation/create" } }));
    assert_eq!(adapter.waiting(&needed), None);
    assert_eq!(asked(adapter.next(task("input_required", json!({})))).0, "tasks/result");
    let status: Value = adapter.waiting(&needed).unwrap().read().unwrap();
    assert_eq!(
        (&status["status"], &status["inputRequests"]["answer"]["method"]),
        (&json!("input_required"), &json!("elicitation/create"))
    );
}

#[test]
fn equal_versions_need_no_adapter() {
    let get = request("tasks/get", json!({ "taskId": "t" }));
    assert!(
        TaskAdapter::of(&get, OLD, OLD, true).is_none()
            && TaskAdapter::of(&get, NEW, NEW, true).is_none()
    );
    let list = request("tools/list", json!({}));
    assert!(TaskAdapter::of(&list, OLD, NEW, true).is_none());
}
