//! Tests with real processes and signals.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::ChildStdout;
use tokio::time::timeout;

use super::*;

fn sh(script: &str) -> ChildSpec {
    ChildSpec {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        ..ChildSpec::default()
    }
}

async fn start_spec(spec: &ChildSpec) -> Result<(ProcessTree, ChildPipes), SpawnError> {
    spawn(spec, &ChildEnvironment::find("test").await).await
}

async fn start_sh(script: &str) -> (ProcessTree, ChildStdin, Lines<BufReader<ChildStdout>>) {
    let (tree, pipes) = start_spec(&sh(script)).await.unwrap();
    (tree, pipes.stdin, BufReader::new(pipes.stdout).lines())
}

async fn line(output: &mut Lines<BufReader<ChildStdout>>) -> String {
    output.next_line().await.unwrap().unwrap()
}

/// Waits until a process has exited, reaped or not.
pub(crate) async fn until_gone(pid: u32) {
    let gone = async {
        loop {
            let mut ps = crate::process::spawn::command("ps");
            ps.args(["-o", "stat=", "-p", &pid.to_string()]).stdout(Stdio::piped());
            let state = ps.output().await.unwrap().stdout;
            if state.is_empty() || state.trim_ascii_start().starts_with(b"Z") {
                return;
            }
        }
    };
    let gone = timeout(Duration::from_secs(20), gone).await;
    assert!(gone.is_ok(), "process {pid} is still running");
}

#[tokio::test]
async fn a_child_gets_only_allowed_and_declared_variables() {
    let spec = ChildSpec {
        program: "env".into(),
        env: vec![("DECLARED".into(), "yes".into())],
        ..ChildSpec::default()
    };
    let (mut tree, mut pipes) = start_spec(&spec).await.unwrap();
    let mut output = String::new();
    pipes.stdout.read_to_string(&mut output).await.unwrap();
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
    let names: Vec<&str> = output.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(
        output.contains("DECLARED=yes\n") && output.contains("EVERMOOR_CHILD=test\n"),
        "{output}"
    );
    // The tests themselves run with variables that a child must not see.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
}

#[tokio::test]
async fn a_child_starts_in_its_folder_with_unchanged_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let spec = ChildSpec {
        args: ["-c", "pwd -P; echo \"$1\"", "x", "; $(touch owned) *"].map(str::to_owned).into(),
        cwd: Some(folder.path().to_str().unwrap().to_owned()),
        ..sh("")
    };
    let (_tree, pipes) = start_spec(&spec).await.unwrap();
    let mut output = BufReader::new(pipes.stdout).lines();
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(line(&mut output).await, here.to_str().unwrap());
    assert_eq!(line(&mut output).await, "; $(touch owned) *");
    assert!(!folder.path().join("owned").exists());
}

#[tokio::test]
async fn dropping_a_tree_kills_its_grandchildren() {
    let (tree, _stdin, mut output) = start_sh("sleep 600 & echo $!; wait").await;
    let (child, grandchild) = (tree.pid().unwrap(), line(&mut output).await.parse().unwrap());
    drop(tree);
    until_gone(child).await;
    until_gone(grandchild).await;
}

#[tokio::test]
async fn a_child_that_exits_when_its_input_closes_gets_no_signal() {
    let (mut tree, stdin, mut output) = start_sh("echo ready; cat > /dev/null; exit 3").await;
    assert_eq!(line(&mut output).await, "ready");
    drop(stdin);
    assert_eq!(tree.end().await, ProcessExit::Code(3));
}

#[tokio::test]
async fn grandchildren_of_an_exited_child_are_ended_too() {
    let (mut tree, _stdin, mut output) = start_sh("sleep 600 & echo $!").await;
    let grandchild = line(&mut output).await.parse().unwrap();
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
    assert_eq!(tree.end().await, ProcessExit::Code(0));
    until_gone(grandchild).await;
}

#[tokio::test]
async fn a_child_that_ignores_signals_is_killed() {
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo $!; \
                while :; do sleep 1; done";
    let (mut tree, stdin, mut output) = start_sh(script).await;
    let grandchild = line(&mut output).await.parse().unwrap();
    drop(stdin);
    assert_eq!(tree.end().await, ProcessExit::Signal(9));
    until_gone(grandchild).await;
}

#[tokio::test]
async fn a_stopped_child_is_ended() {
    let (mut tree, stdin, mut output) = start_sh("echo ready; while :; do sleep 600; done").await;
    assert_eq!(line(&mut output).await, "ready");
    let pid = rustix::process::Pid::from_raw(i32::try_from(tree.pid().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process_group(pid, rustix::process::Signal::STOP).unwrap();
    drop(stdin);
    assert_eq!(
        timeout(Duration::from_secs(20), tree.end()).await.unwrap(),
        ProcessExit::Signal(15)
    );
}

#[tokio::test]
async fn the_exit_reason_can_be_read_again() {
    let (mut tree, _stdin, _output) = start_sh("kill -ABRT $$").await;
    assert_eq!(tree.wait().await, ProcessExit::Signal(6));
    assert_eq!(tree.wait().await, ProcessExit::Signal(6));
}

#[tokio::test]
async fn an_error_names_what_cannot_be_started() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let why = async |program: String, cwd: Option<&str>| {
        let cwd = cwd.map(str::to_owned);
        start_spec(&ChildSpec { program, cwd, ..ChildSpec::default() })
            .await
            .unwrap_err()
            .to_string()
    };
    let text = file("notes.txt", "", 0o644);
    assert_eq!(why(text.clone(), None).await, format!("{text} is not executable"));
    let lost = file("lost.py", "#!/nowhere/python\n", 0o755);
    assert_eq!(why(lost.clone(), None).await, format!("the interpreter of {lost} was not found"));
    assert_eq!(why("/nowhere/x".into(), None).await, "file not found: /nowhere/x");
    let missing = why("evermoor-has-no-such".into(), None).await;
    assert_eq!(missing, "program `evermoor-has-no-such` not found on the search path");
    let nowhere = why("sh".into(), Some("/nowhere")).await;
    assert_eq!(nowhere, "working folder not found: /nowhere");
}

#[test]
fn a_child_survives_the_thread_that_requested_it() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (tree, stdin, output) = std::thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(start_sh("read line; echo $line"))).join().unwrap()
    });
    let (_tree, mut stdin, mut output) = (tree, stdin, output);
    runtime.block_on(async {
        use tokio::io::AsyncWriteExt as _;
        stdin.write_all(b"alive\n").await.unwrap();
        assert_eq!(line(&mut output).await, "alive");
    });
}
