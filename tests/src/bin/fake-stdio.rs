//! `fake-stdio LEDGER [WAYS…]`: an MCP server over standard input and output that keeps a ledger.
//!
//! Each life writes its process id to LEDGER.lives, and each process it starts to LEDGER.kin. Ways: `kin` starts a
//! process that does not end by itself; `strict` ends when the first message is not `initialize`; `stateless` speaks
//! 2026-07-28 only; `stays` goes on when its input is closed; `chatty` prints what is no message; `resources` offers
//! the resource `note:1`, which the tool `touch` changes.

use std::cell::Cell;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;

use evermoor_core::abilities::ELICIT;
use evermoor_core::envelope::{
    INVALID_PARAMS, Id, METHOD_NOT_FOUND, Message, Notification, Outcome, Request, Response,
};
use evermoor_core::json::Raw;
use evermoor_core::protocol::{Revision, initialize_result, method};
use evermoor_tests::ledger::Ledger;

struct Fake {
    ledger: Ledger,
    ways: Vec<String>,
    /// The call whose caller was asked something.
    asked: Cell<Option<Id>>,
}

/// The one resource.
const NOTE: &str = "note:1";

fn main() {
    let mut args = std::env::args_os().skip(1);
    let ledger = PathBuf::from(args.next().expect("a ledger"));
    let ways = args.filter_map(|way| way.into_string().ok()).collect();
    note(&ledger.with_extension("lives"), std::process::id());
    let fake = Fake { ledger: Ledger::at(ledger), ways, asked: Cell::new(None) };
    if fake.does("kin") {
        let _kin = fake.start_kin();
    }
    if fake.does("chatty") {
        say(b"Welcome to the fake server!\n\x1b[32mready\x1b[0m");
    }
    let mut first = true;
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = Message::parse(&Bytes::from(line.expect("input is text"))) else {
            continue;
        };
        match message {
            Message::Request(request) => {
                if first && fake.does("strict") && request.method != method::INITIALIZE {
                    complain("Error: expected initialize");
                    std::process::exit(1);
                }
                first = false;
                if is_call_of(&request, "ask") {
                    fake.ask(request.id);
                } else {
                    say(&fake.answer(&request).to_bytes());
                }
            }
            Message::Response(response) => fake.told(&response),
            Message::Notification(_) => {}
        }
    }
    if fake.does("stays") {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

impl Fake {
    fn does(&self, way: &str) -> bool {
        self.ways.iter().any(|known| known == way)
    }

    fn answer(&self, request: &Request) -> Response {
        let id = request.id.clone();
        let stateless = self.does("stateless");
        match request.method.as_str() {
            method::DISCOVER if stateless => {
                let found = serde_json::json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
                Response::result(id, Raw::of(&found))
            }
            method::INITIALIZE if !stateless => Response::result(id, self.initialize()),
            method::PING if !stateless => Response::result(id, Raw::of(&serde_json::json!({}))),
            method::TOOLS_LIST => Response::result(id, tools()),
            method::TOOLS_CALL => self.call(request),
            method::RESOURCES_LIST if self.does("resources") => {
                let note = serde_json::json!({ "uri": NOTE, "name": "note" });
                Response::result(id, Raw::of(&serde_json::json!({ "resources": [note] })))
            }
            method::SUBSCRIBE if self.does("resources") => {
                self.ledger.record("subscribed");
                Response::result(id, Raw::of(&serde_json::json!({})))
            }
            _ => Response::error(Some(id), METHOD_NOT_FOUND, "no such method"),
        }
    }

    fn call(&self, request: &Request) -> Response {
        let params = request.params.clone().unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let nonce = params.member("arguments").and_then(|arguments| arguments.text_member("nonce"));
        let nonce = nonce.unwrap_or_default();
        let said = match params.text_member("name").unwrap_or_default().as_str() {
            "record" => {
                self.ledger.record(&nonce);
                nonce
            }
            "hang" => {
                self.ledger.record(&nonce);
                std::thread::sleep(Duration::from_secs(3600));
                nonce
            }
            "wait" => {
                self.ledger.record(&nonce);
                while !self.ledger.is_released(&nonce) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                nonce
            }
            "touch" => {
                let params = Raw::of(&serde_json::json!({ "uri": NOTE }));
                say(&Notification::new(method::RESOURCE_UPDATED, Some(params)).to_bytes());
                "touched".into()
            }
            "steps" => {
                steps(&params);
                "done".into()
            }
            "variables" => {
                let names =
                    std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
                names.collect::<Vec<_>>().join(" ")
            }
            _ => return Response::error(Some(request.id.clone()), INVALID_PARAMS, "no such tool"),
        };
        Response::result(request.id.clone(), text(&said))
    }

    /// Asks the caller, and leaves the call without an answer until there is one.
    fn ask(&self, call: Id) {
        self.asked.set(Some(call));
        let schema = serde_json::json!({ "type": "object", "properties": {} });
        let params = serde_json::json!({ "message": "May I?", "requestedSchema": schema });
        let id = Id::text("the question");
        say(&Request::new(id, ELICIT, Some(Raw::of(&params))).to_bytes());
    }

    /// The caller answered.
    fn told(&self, response: &Response) {
        let Outcome::Result(result) = &response.outcome else { return };
        if let Some(call) = self.asked.take() {
            let said = result.text_member("action").unwrap_or_default();
            self.ledger.record(&format!("asked: {said}"));
            say(&Response::result(call, text(&said)).to_bytes());
        }
    }

    fn initialize(&self) -> Raw {
        let offered = match self.does("resources") {
            true => serde_json::json!({ "tools": {}, "resources": { "subscribe": true } }),
            false => serde_json::json!({ "tools": {} }),
        };
        initialize_result(
            Revision::LATEST,
            &Raw::of(&offered),
            &Raw::of(&serde_json::json!({ "name": "fake-stdio", "version": "1" })),
            None,
        )
    }

    /// A process that nobody ends but us, with our pipes in its hands.
    fn start_kin(&self) -> tokio::process::Child {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime can be made");
        let _runtime = runtime.enter();
        #[expect(clippy::disallowed_methods, reason = "it must be in our group, as real kin is")]
        let kin =
            tokio::process::Command::new("sleep").arg("3600").spawn().expect("sleep is there");
        note(&self.ledger.path().with_extension("kin"), kin.id().expect("it runs"));
        kin
    }
}

fn steps(params: &Raw) {
    let token = params.member("_meta").and_then(|meta| meta.member("progressToken"));
    for step in 1..=3 {
        let params = serde_json::json!({ "progressToken": token, "progress": step });
        say(&Notification::new("notifications/progress", Some(Raw::of(&params))).to_bytes());
    }
}

fn is_call_of(request: &Request, tool: &str) -> bool {
    let called = request.params.as_ref().and_then(|params| params.text_member("name"));
    request.method == method::TOOLS_CALL && called.as_deref() == Some(tool)
}

fn text(text: &str) -> Raw {
    Raw::of(&serde_json::json!({ "content": [{ "type": "text", "text": text }] }))
}

fn tools() -> Raw {
    let tool =
        |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = ["record", "hang", "steps", "variables"].map(tool).into();
    Raw::of(&serde_json::json!({ "tools": tools }))
}

fn note(path: &Path, pid: u32) {
    Ledger::at(path.to_owned()).record(&pid.to_string());
}

fn say(line: &[u8]) {
    let mut output = std::io::stdout().lock();
    let said =
        output.write_all(line).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
    // A gateway that is gone reads no more.
    if said.is_err() {
        std::process::exit(0);
    }
}

#[expect(clippy::print_stderr, reason = "this is what the gateway is to find")]
fn complain(line: &str) {
    eprintln!("{line}");
}
