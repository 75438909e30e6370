//! `fake-stdio LEDGER [OPTIONS…]`: a stdio MCP server that keeps a ledger.
//!
//! Each process appends its id to LEDGER.lives, and the id of each child process to LEDGER.kin.
//! Options: `kin` starts a child that never exits on its own; `strict` exits if the first message
//! is not `initialize`; `stateless` speaks 2026-07-28 only; `stays` keeps running after its input
//! is closed; `chatty` also prints lines that are not messages; `social` writes log messages and
//! offers the resource `note:1`, which the tool `touch` changes; `slow` answers nothing before the ledger
//! has the entry `go`. The tool `ask` sends a request to
//! its caller; `wait` waits until the ledger releases it.

use std::collections::VecDeque;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;

use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, Id, METHOD_NOT_FOUND, Message, Notification, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, initialize_result, method};
use evermoor_tests::oracle::ledger::Ledger;

/// The resource that `social` offers.
const NOTE: &str = "note:1";

struct Fake {
    ledger: Ledger,
    ways: Vec<String>,
    /// Calls that wait for the caller's reply.
    asking: VecDeque<Id>,
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let ledger = PathBuf::from(args.next().expect("a ledger"));
    let ways = args.filter_map(|way| way.into_string().ok()).collect();
    note(&ledger.with_extension("lives"), std::process::id());
    let mut fake = Fake { ledger: Ledger::at(ledger), ways, asking: VecDeque::new() };
    if fake.does("kin") {
        let _kin = fake.start_kin();
    }
    if fake.does("chatty") {
        say(b"Welcome to the fake server!\n\x1b[32mready\x1b[0m");
    }
    while fake.does("slow") && fake.ledger.executions("go") == 0 {
        std::thread::sleep(Duration::from_millis(20));
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
                if let Some(answer) = fake.answer(&request) {
                    say(&answer.to_bytes());
                }
            }
            Message::Response(said) => fake.pass_on(&said),
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

    /// The answer, or `None` if the caller has to be asked first.
    fn answer(&mut self, request: &Request) -> Option<Response> {
        let id = request.id.clone();
        let stateless = self.does("stateless");
        Some(match request.method.as_str() {
            method::DISCOVER if stateless => {
                let found = serde_json::json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
                Response::result(id, Raw::of(&found))
            }
            method::INITIALIZE if !stateless => Response::result(id, self.initialize()),
            method::PING if !stateless => Response::result(id, Raw::of(&serde_json::json!({}))),
            method::TOOLS_LIST => Response::result(id, tools()),
            method::TOOLS_CALL if named(request) == "ask" => {
                let question = serde_json::json!({ "message": "Who?", "requestedSchema": {} });
                let number = u64::try_from(self.asking.len()).unwrap_or_default();
                self.asking.push_back(id);
                let asked = Request::new(
                    Id::number(number),
                    "elicitation/create",
                    Some(Raw::of(&question)),
                );
                say(&asked.to_bytes());
                return None;
            }
            method::TOOLS_CALL => self.call(request),
            method::SUBSCRIBE | method::UNSUBSCRIBE | method::SET_LEVEL if self.does("social") => {
                self.ledger.record(&request.method);
                Response::result(id, Raw::of(&serde_json::json!({})))
            }
            method::RESOURCES_LIST if self.does("social") => {
                let list = serde_json::json!({ "resources": [{ "uri": NOTE, "name": "note" }] });
                Response::result(id, Raw::of(&list))
            }
            _ => Response::error(Some(id), METHOD_NOT_FOUND, "no such method"),
        })
    }

    /// Turns the caller's reply into the answer to its call.
    fn pass_on(&mut self, said: &Response) {
        let Some(call) = self.asking.pop_front() else { return };
        let words = match &said.outcome {
            Outcome::Result(result) => {
                let action = result.text_member("action").unwrap_or_default();
                self.ledger.record(&format!("asked: {action}"));
                result.as_str().to_owned()
            }
            Outcome::Error(error) => format!("refused: {error:?}"),
        };
        say(&Response::result(call, text(&words)).to_bytes());
    }

    fn initialize(&self) -> Raw {
        let offers = match self.does("social") {
            true => {
                serde_json::json!({ "tools": {}, "logging": {}, "resources": { "subscribe": true } })
            }
            false => serde_json::json!({ "tools": {} }),
        };
        initialize_result(
            SessionVersion::LATEST,
            &Raw::of(&offers),
            &Raw::of(&serde_json::json!({ "name": "fake-stdio", "version": "1" })),
            None,
        )
    }

    fn call(&self, request: &Request) -> Response {
        let params = request.params.clone().unwrap_or_default();
        let nonce = params.member("arguments").and_then(|arguments| arguments.text_member("nonce"));
        let nonce = nonce.unwrap_or_default();
        let said = match named(request).as_str() {
            "record" => {
                self.ledger.record(&nonce);
                nonce
            }
            "hang" => {
                self.ledger.record(&nonce);
                std::thread::sleep(Duration::from_secs(3600));
                nonce
            }
            "steps" => {
                steps(params.raw());
                "done".into()
            }
            "wait" => {
                self.ledger.record(&nonce);
                while !self.ledger.is_released(&nonce) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                nonce
            }
            "process" => std::process::id().to_string(),
            "log" => {
                let params = serde_json::json!({ "level": "info", "data": nonce });
                say(&Notification::new("notifications/message", Some(Raw::of(&params))).to_bytes());
                nonce
            }
            "touch" => {
                let params = Raw::of(&serde_json::json!({ "uri": NOTE }));
                say(&Notification::new("notifications/resources/updated", Some(params)).to_bytes());
                nonce
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

    /// A child that inherits our pipes and runs until we kill it.
    fn start_kin(&self) -> tokio::process::Child {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime can be made");
        let _runtime = runtime.enter();
        #[expect(clippy::disallowed_methods, reason = "it must be in our group, as real kin is")]
        let mut kin = if cfg!(windows) {
            let mut ping = tokio::process::Command::new("ping");
            // What it prints is not for the gateway.
            ping.args(["-n", "3600", "127.0.0.1"]).stdout(std::process::Stdio::null());
            ping
        } else {
            let mut sleep = tokio::process::Command::new("sleep");
            sleep.arg("3600");
            sleep
        };
        let kin = kin.spawn().expect("it is on every system");
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

fn named(request: &Request) -> String {
    request.params.as_ref().and_then(|params| params.text_member("name")).unwrap_or_default()
}

fn text(words: &str) -> Raw {
    Raw::of(&serde_json::json!({ "content": [{ "type": "text", "text": words }] }))
}

fn tools() -> Raw {
    let tool =
        |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> =
        ["record", "hang", "wait", "steps", "variables", "process", "log", "touch", "ask"]
            .map(tool)
            .into();
    Raw::of(&serde_json::json!({ "tools": tools }))
}

fn note(path: &Path, pid: u32) {
    Ledger::at(path.to_owned()).record(&pid.to_string());
}

fn say(line: &[u8]) {
    #[expect(clippy::disallowed_methods, reason = "the upstream writes the protocol to it")]
    let mut output = std::io::stdout().lock();
    let said =
        output.write_all(line).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
    // The gateway has exited.
    if said.is_err() {
        std::process::exit(0);
    }
}

#[expect(clippy::print_stderr, reason = "this is what the gateway is to find")]
fn complain(line: &str) {
    eprintln!("{line}");
}
