//! Real processes: servers written as shell scripts.

#![cfg(unix)]

use evermoor_core::failure::Code;
use evermoor_core::protocol::envelope::{Id, Notification, Request};
use evermoor_core::protocol::json::Raw;
use tokio::time::Instant;

use super::super::connection::{CallError, CallReply};
use super::super::outbound::OutboundCall;
use super::*;

/// A server; each test fills in `{discover}` and `{call}`.
const SERVER: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  case $line in
    *'"server/discover"'*) {discover} ;;
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"sh"}}' ;;
    *'"tools/call"'*) {call} ;;
  esac
done
"#;

const REFUSES: &str = "say '\"error\":{\"code\":-32601,\"message\":\"no\"}'";

fn server(discover: &str, call: &str) -> String {
    SERVER.replace("{discover}", discover).replace("{call}", call)
}

struct Fixture {
    server: StdioServer,
    tasks: TaskTracker,
    stop: CancellationToken,
}

fn fixture(command: &str, args: &[&str]) -> Fixture {
    let config = config::StdioCommand {
        command: command.to_owned(),
        args: args.iter().map(|argument| (*argument).to_owned()).collect(),
        env: std::collections::BTreeMap::new(),
        cwd: None,
        start_timeout: Duration::from_secs(60),
    };
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let name = UpstreamName::parse("x").expect("a name");
    let server =
        StdioServer::new(name, &config, Default::default(), None, tasks.clone(), stop.clone());
    Fixture { server, tasks, stop }
}

fn sh(script: &str) -> Fixture {
    fixture("sh", &["-c", script])
}

async fn call(connected: &Connected) -> Result<String, CallError> {
    call_over(&connected.connection).await
}

async fn call_over(connection: &Connection) -> Result<String, CallError> {
    let request = Request::new(Id::number(9), "tools/call", None);
    match connection.call(OutboundCall::of_gateway(&request)).await? {
        CallReply::Whole(answer) => Ok(format!("{:?}", answer.response.outcome)),
        CallReply::Stream(_) => Ok("stream".into()),
    }
}

impl Fixture {
    async fn connect(&mut self) -> Connected {
        self.server.connect(&Default::default()).await.expect("it connects")
    }

    /// Waits until every task and process has ended.
    async fn all_ended(&self) {
        self.tasks.close();
        timeout(Duration::from_secs(20), self.tasks.wait()).await.expect("nothing is left");
    }
}

#[tokio::test]
async fn a_program_is_started_called_and_ended_with_its_connection() {
    let mut fixture = sh(&server(REFUSES, "say '\"result\":\"done\"'"));
    let connected = fixture.connect().await;
    assert_eq!(connected.handshake.server.name, "sh");
    assert_eq!(call(&connected).await.unwrap(), "Result(\"done\")");
    drop(connected);
    fixture.all_ended().await;
}

#[tokio::test]
async fn a_stateless_server_gets_client_metadata_with_each_request() {
    let discovered =
        "say '\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{}}'";
    let echo = "case $line in *protocolVersion*2026-07-28*) say '\"result\":1' ;; *) say '\"result\":0' ;; esac";
    let mut fixture = sh(&server(discovered, echo));
    let connected = fixture.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
    assert!(!connected.connection.has_ping());
}

#[tokio::test]
async fn a_program_that_exits_on_discover_is_started_again_with_initialize() {
    let mut fixture = sh(&server("exit 1", "say '\"result\":1'"));
    let connected = fixture.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
    drop(connected);
    let began = Instant::now();
    fixture.connect().await;
    assert!(began.elapsed() < Duration::from_secs(2), "the version is remembered");
}

#[tokio::test]
async fn the_failure_of_a_program_that_exits_at_once_says_how_and_why() {
    let mut fixture = sh("echo 'Error: no API key.' >&2; exit 3");
    let failure =
        fixture.server.connect(&Default::default()).await.err().expect("it cannot be connected to");
    assert_eq!(failure.what, "`sh` exited with code 3: Error: no API key.");
    assert_eq!(failure.code, Code::ConnectionRefused);
}

#[tokio::test]
async fn the_failure_of_a_program_that_closes_its_input_first_says_how_and_why() {
    let mut fixture = sh("exec <&-; sleep 0.2; echo 'Error: no API key.' >&2; exit 3");
    let failure =
        fixture.server.connect(&Default::default()).await.err().expect("it cannot be connected to");
    assert_eq!(failure.what, "`sh` exited with code 3: Error: no API key.");
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let failure = fixture("evermoor-nothing", &[])
        .server
        .connect(&Default::default())
        .await
        .err()
        .expect("it fails");
    assert_eq!(failure.code, Code::Configuration);
    assert_eq!(failure.what, "Program `evermoor-nothing` not found on the search path.");
    assert!(failure.remedy.contains("`command`"), "{failure}");
}

#[tokio::test]
async fn a_crash_affects_only_the_call_in_flight() {
    let mut fixture = sh(&server(REFUSES, "kill -ABRT $$"));
    let mut connected = fixture.connect().await;
    let began = Instant::now();
    let error = call(&connected).await.unwrap_err();
    assert!(matches!(error, CallError::Unknown { connection_broke: true, .. }), "{error}");
    let failure = why_closed(&mut connected.incoming).await.expect("the reason is told");
    assert_eq!(failure.what, "`sh` was killed by signal 6 (SIGABRT).");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let error = call(&connected).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)), "{error}");
    assert!(fixture.server.connect(&Default::default()).await.is_ok());
}

#[tokio::test]
async fn an_answer_written_before_the_exit_is_delivered() {
    let mut fixture = sh(&server(REFUSES, "say '\"result\":\"last\"'; exit 0"));
    let connected = fixture.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(\"last\")");
}

#[tokio::test]
async fn a_flood_on_standard_error_does_not_block_calls() {
    let flood = "head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; say '\"result\":1'";
    let mut fixture = sh(&server(REFUSES, flood));
    let connected = fixture.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
}

#[tokio::test]
async fn a_line_of_32_mebibytes_fails_its_own_call_only() {
    let huge = "case $line in *filler*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"' \"$id\"; \
                head -c 33554432 /dev/zero | tr '\\0' 'x'; printf '\"}\\n' ;; *) say '\"result\":1' ;; esac";
    let mut fixture = sh(&server(REFUSES, huge));
    let connected = fixture.connect().await;
    let params = Some(Raw::of(&serde_json::json!({ "filler": 1 })));
    let request = Request::new(Id::number(9), "tools/call", params);
    let error = connected
        .connection
        .call(OutboundCall::of_gateway(&request))
        .await
        .err()
        .expect("it is too large");
    assert!(error.to_string().contains("larger than 16 MiB"), "{error}");
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
}

#[tokio::test]
async fn the_next_process_waits_for_the_end_of_the_last() {
    let folder = std::env::temp_dir().join(format!("evermoor-stdio-{}", std::process::id()));
    let once = format!("mkdir {0} || exit 9; trap 'sleep 1; rmdir {0}' EXIT\n", folder.display());
    let mut fixture = sh(&(once + &server(REFUSES, "say '\"result\":1'")));
    let first = fixture.connect().await;
    // Calls may keep a connection alive for longer than its supervisor does.
    let second = fixture.connect().await;
    assert_eq!(call(&second).await.unwrap(), "Result(1)");
    assert!(matches!(call(&first).await, Err(CallError::NotSent(_))));
    drop((first, second));
    fixture.all_ended().await;
}

#[tokio::test]
async fn a_call_in_flight_may_end_when_the_gateway_stops() {
    // The server says that it has the call, and answers when it gets another message.
    let has_it = "printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\\n'";
    let mut fixture = sh(&server(REFUSES, &format!("{has_it}; read -r line; say '\"result\":1'")));
    let Connected { connection, mut incoming, .. } = fixture.connect().await;
    let Connection::Duplex(channel) = &connection else { panic!("stdio is a duplex channel") };
    let stop = async {
        let message = incoming.recv().await;
        assert!(matches!(message, Some(ConnectionEvent::Notification(_))), "{message:?}");
        fixture.stop.cancel();
        channel.notify(&Notification::new("notifications/answer", None)).await.unwrap();
    };
    let (answer, ()) = tokio::join!(call_over(&connection), stop);
    assert_eq!(answer.unwrap(), "Result(1)");
    drop(connection);
    fixture.all_ended().await;
}
