//! Real programs, written in the shell.

use evermoor_core::failure::Code;
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::json::Raw;
use tokio::time::Instant;

use super::super::connection::{CallError, Reply};
use super::*;

/// Answers what it is asked; `{...}` is replaced by what a test wants to see.
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

struct Bench {
    program: Program,
    tasks: TaskTracker,
    stop: CancellationToken,
}

fn bench(command: &str, args: &[&str]) -> Bench {
    let config = config::Program {
        command: command.to_owned(),
        args: args.iter().map(|argument| (*argument).to_owned()).collect(),
        env: std::collections::BTreeMap::new(),
        cwd: None,
    };
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let name = UpstreamName::parse("x").expect("a name");
    let program = Program::new(name, &config, None, tasks.clone(), stop.clone());
    Bench { program, tasks, stop }
}

fn sh(script: &str) -> Bench {
    bench("sh", &["-c", script])
}

async fn call(connected: &Connected) -> Result<String, CallError> {
    let request = Request::new(Id::number(9), "tools/call", None);
    match connected.connection.call(&request, None).await? {
        Reply::Whole(response) => Ok(format!("{:?}", response.outcome)),
        Reply::Stream(_) => Ok("stream".into()),
    }
}

impl Bench {
    async fn connect(&mut self) -> Connected {
        self.program.connect(&Default::default()).await.expect("it connects")
    }

    /// Everything that was started has ended.
    async fn all_over(&self) {
        self.tasks.close();
        timeout(Duration::from_secs(20), self.tasks.wait()).await.expect("nothing is left");
    }
}

#[tokio::test]
async fn a_program_is_started_called_and_ended_with_its_connection() {
    let mut bench = sh(&server(REFUSES, "say '\"result\":\"done\"'"));
    let connected = bench.connect().await;
    assert_eq!(connected.handshake.server.name, "sh");
    assert_eq!(call(&connected).await.unwrap(), "Result(\"done\")");
    drop(connected);
    bench.all_over().await;
}

#[tokio::test]
async fn a_program_of_the_newer_era_is_told_who_asks_each_time() {
    let discovered =
        "say '\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{}}'";
    let echo = "case $line in *protocolVersion*2026-07-28*) say '\"result\":1' ;; *) say '\"result\":0' ;; esac";
    let mut bench = sh(&server(discovered, echo));
    let connected = bench.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
    assert!(!connected.connection.has_ping());
}

#[tokio::test]
async fn a_program_that_ends_over_the_question_is_started_again_without_it() {
    let mut bench = sh(&server("exit 1", "say '\"result\":1'"));
    let connected = bench.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
    drop(connected);
    let began = Instant::now();
    bench.connect().await;
    assert!(began.elapsed() < Duration::from_secs(2), "what was found out is remembered");
}

#[tokio::test]
async fn a_program_that_ends_at_once_says_how_and_why() {
    let mut bench = sh("echo 'Error: no API key.' >&2; exit 3");
    let failure =
        bench.program.connect(&Default::default()).await.err().expect("it cannot be connected to");
    assert_eq!(failure.what, "`sh` exited with code 3: Error: no API key.");
    assert_eq!(failure.code, Code::ConnectionRefused);
}

#[tokio::test]
async fn a_program_that_stops_listening_before_it_ends_says_how_and_why_too() {
    let mut bench = sh("exec <&-; sleep 0.2; echo 'Error: no API key.' >&2; exit 3");
    let failure =
        bench.program.connect(&Default::default()).await.err().expect("it cannot be connected to");
    assert_eq!(failure.what, "`sh` exited with code 3: Error: no API key.");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let failure = bench("evermoor-nothing", &[])
        .program
        .connect(&Default::default())
        .await
        .err()
        .expect("it fails");
    assert_eq!(failure.code, Code::Configuration);
    assert_eq!(failure.what, "Program `evermoor-nothing` not found on the search path.");
    assert!(failure.remedy.contains("`command`"), "{failure}");
}

#[tokio::test]
async fn a_program_that_dies_takes_only_the_call_in_flight_with_it() {
    let mut bench = sh(&server(REFUSES, "kill -ABRT $$"));
    let mut connected = bench.connect().await;
    let began = Instant::now();
    let error = call(&connected).await.unwrap_err();
    assert!(matches!(error, CallError::Unknown { connection_broke: true, .. }), "{error}");
    let failure = why_closed(&mut connected.incoming).await.expect("the reason is told");
    assert_eq!(failure.what, "`sh` was ended by signal 6 (SIGABRT).");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let error = call(&connected).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)), "{error}");
    assert!(bench.program.connect(&Default::default()).await.is_ok());
}

#[tokio::test]
async fn what_a_program_said_before_it_ended_still_counts() {
    let mut bench = sh(&server(REFUSES, "say '\"result\":\"last\"'; exit 0"));
    let connected = bench.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(\"last\")");
}

#[tokio::test]
async fn a_flood_on_standard_error_is_in_nobodys_way() {
    let flood = "head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; say '\"result\":1'";
    let mut bench = sh(&server(REFUSES, flood));
    let connected = bench.connect().await;
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
}

#[tokio::test]
async fn a_line_of_32_mebibytes_costs_its_call_and_no_other() {
    let huge = "case $line in *filler*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"' \"$id\"; \
                head -c 33554432 /dev/zero | tr '\\0' 'x'; printf '\"}\\n' ;; *) say '\"result\":1' ;; esac";
    let mut bench = sh(&server(REFUSES, huge));
    let connected = bench.connect().await;
    let params = Some(Raw::of(&serde_json::json!({ "filler": 1 })));
    let request = Request::new(Id::number(9), "tools/call", params);
    let error = connected.connection.call(&request, None).await.err().expect("it is too large");
    assert!(error.to_string().contains("larger than 16 MiB"), "{error}");
    assert_eq!(call(&connected).await.unwrap(), "Result(1)");
}

#[tokio::test]
async fn the_next_program_waits_for_the_end_of_the_last() {
    let folder = std::env::temp_dir().join(format!("evermoor-stdio-{}", std::process::id()));
    let once = format!("mkdir {0} || exit 9; trap 'sleep 1; rmdir {0}' EXIT\n", folder.display());
    let mut bench = sh(&(once + &server(REFUSES, "say '\"result\":1'")));
    let first = bench.connect().await;
    // The calls of a connection may hold it for longer than its supervisor does.
    let second = bench.connect().await;
    assert_eq!(call(&second).await.unwrap(), "Result(1)");
    assert!(matches!(call(&first).await, Err(CallError::NotSent(_))));
    drop((first, second));
    bench.all_over().await;
}

#[tokio::test]
async fn a_gateway_that_stops_lets_the_call_under_way_end() {
    let mut bench = sh(&server(REFUSES, "sleep 1; say '\"result\":1'"));
    let connected = bench.connect().await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        bench.stop.cancel();
    };
    let (answer, ()) = tokio::join!(call(&connected), stop);
    assert_eq!(answer.unwrap(), "Result(1)");
    bench.all_over().await;
}
