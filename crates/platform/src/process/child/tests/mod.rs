//! Tests with real processes. [`unix`] has those with signals, [`windows`] those with jobs.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::ChildStdout;
use tokio::time::timeout;

use super::*;
use crate::process::spawn;

#[cfg(unix)]
pub(crate) use unix::until_gone;

const SOON: Duration = Duration::from_secs(20);

type Output = Lines<BufReader<ChildStdout>>;

fn spec((program, args): (&str, Vec<String>)) -> ChildSpec {
    ChildSpec { program: program.to_owned(), args, ..ChildSpec::default() }
}

async fn start_spec(spec: &ChildSpec) -> Result<(ProcessTree, ChildPipes), SpawnError> {
    super::spawn(spec, &ChildEnvironment::find("test").await).await
}

async fn start(script: (&str, Vec<String>)) -> (ProcessTree, ChildStdin, Output) {
    let (tree, pipes) = start_spec(&spec(script)).await.unwrap();
    (tree, pipes.stdin, BufReader::new(pipes.stdout).lines())
}

async fn line(output: &mut Output) -> String {
    output.next_line().await.unwrap().unwrap().trim_end().to_owned()
}

/// Waits until every process that holds the output has exited.
async fn until_closed(output: &mut Output) {
    let closed = async { while output.next_line().await.unwrap().is_some() {} };
    timeout(SOON, closed).await.expect("a process of the tree is still running");
}

#[tokio::test]
async fn a_child_gets_only_allowed_and_declared_variables() {
    let spec = ChildSpec {
        env: vec![("DECLARED".into(), "yes".into())],
        ..spec(spawn::script("env", "set"))
    };
    let (mut tree, mut pipes) = start_spec(&spec).await.unwrap();
    let mut output = String::new();
    pipes.stdout.read_to_string(&mut output).await.unwrap();
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    assert!(lines.contains(&"DECLARED=yes") && lines.contains(&"EVERMOOR_CHILD=test"), "{output}");
    // The tests themselves run with variables that a child must not see.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!lines.iter().any(|line| line.starts_with("CARGO")), "{output}");
}

#[tokio::test]
async fn a_child_starts_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let spec = ChildSpec {
        cwd: Some(folder.path().to_str().unwrap().to_owned()),
        ..spec(spawn::script("echo > here", "echo x>here"))
    };
    let (mut tree, _pipes) = start_spec(&spec).await.unwrap();
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
    assert!(folder.path().join("here").exists());
}

#[tokio::test]
async fn dropping_a_tree_kills_its_grandchildren() {
    let (tree, _stdin, mut output) = start(spawn::with_grandchild()).await;
    assert_eq!(line(&mut output).await, "started");
    drop(tree);
    until_closed(&mut output).await;
}

#[tokio::test]
async fn a_child_that_exits_when_its_input_closes_is_not_killed() {
    let script =
        spawn::script("echo ready; cat > /dev/null; exit 3", "echo ready& set /p x=& exit 3");
    let (mut tree, stdin, mut output) = start(script).await;
    assert_eq!(line(&mut output).await, "ready");
    drop(stdin);
    assert_eq!(tree.end().await, ProcessExit::Code(3));
}

#[tokio::test]
async fn grandchildren_of_an_exited_child_are_ended_too() {
    let script = spawn::script(
        "sleep 600 & echo started",
        "start /b cmd /c echo started^& set /p x=& exit 0",
    );
    let (mut tree, _stdin, mut output) = start(script).await;
    assert_eq!(line(&mut output).await, "started");
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
    assert_eq!(tree.end().await, ProcessExit::Code(0));
    until_closed(&mut output).await;
}

#[tokio::test]
async fn the_exit_reason_can_be_read_again() {
    let (mut tree, _stdin, _output) = start(spawn::script("exit 7", "exit 7")).await;
    assert_eq!(tree.wait().await, ProcessExit::Code(7));
    assert_eq!(tree.wait().await, ProcessExit::Code(7));
}

#[tokio::test]
async fn an_error_names_what_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let why = async |program: &str, cwd: Option<&str>| {
        let spec = ChildSpec { program: program.to_owned(), ..ChildSpec::default() };
        let cwd = cwd.map(str::to_owned);
        start_spec(&ChildSpec { cwd, ..spec }).await.unwrap_err().to_string()
    };
    let lost = folder.path().join("lost").display().to_string();
    assert_eq!(why(&lost, None).await, format!("file not found: {lost}"));
    let missing = why("evermoor-has-no-such", None).await;
    assert_eq!(missing, "program `evermoor-has-no-such` not found on the search path");
    let (shell, _) = spawn::script("", "");
    let nowhere = why(shell, Some(&format!("{place}/nowhere"))).await;
    assert_eq!(nowhere, format!("working folder not found: {place}/nowhere"));
}

#[test]
fn a_child_survives_the_thread_that_requested_it() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let echo = || spawn::script("read line; echo $line", "set /p line=& echo !line!");
    let (_tree, mut stdin, mut output) =
        std::thread::scope(|scope| scope.spawn(|| runtime.block_on(start(echo()))).join().unwrap());
    runtime.block_on(async {
        stdin.write_all(b"alive\r\n").await.unwrap();
        assert_eq!(line(&mut output).await, "alive");
    });
}
