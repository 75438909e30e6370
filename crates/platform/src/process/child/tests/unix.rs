//! Trees that get signals, and files that are not executable.

use super::*;

fn sh(script: &str) -> (&'static str, Vec<String>) {
    spawn::script(script, "")
}

/// Waits until a process has exited, reaped or not.
pub(crate) async fn until_gone(pid: u32) {
    let gone = async {
        loop {
            let mut ps = spawn::command("ps");
            ps.args(["-o", "stat=", "-p", &pid.to_string()]).stdout(Stdio::piped());
            let state = ps.output().await.unwrap().stdout;
            if state.is_empty() || state.trim_ascii_start().starts_with(b"Z") {
                return;
            }
        }
    };
    let gone = timeout(SOON, gone).await;
    assert!(gone.is_ok(), "process {pid} is still running");
}

#[tokio::test]
async fn arguments_are_not_interpreted() {
    let folder = tempfile::tempdir().unwrap();
    let spec = ChildSpec {
        args: ["-c", "pwd -P; echo \"$1\"", "x", "; $(touch owned) *"].map(str::to_owned).into(),
        cwd: Some(folder.path().to_str().unwrap().to_owned()),
        ..spec(sh(""))
    };
    let (_tree, pipes) = start_spec(&spec).await.unwrap();
    let mut output = BufReader::new(pipes.stdout).lines();
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(line(&mut output).await, here.to_str().unwrap());
    assert_eq!(line(&mut output).await, "; $(touch owned) *");
    assert!(!folder.path().join("owned").exists());
}

#[tokio::test]
async fn a_child_that_ignores_signals_is_killed() {
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo $!; \
                while :; do sleep 1; done";
    let (mut tree, stdin, mut output) = start(sh(script)).await;
    let grandchild = line(&mut output).await.parse().unwrap();
    drop(stdin);
    assert_eq!(tree.end().await, ProcessExit::Signal(9));
    until_gone(grandchild).await;
}

#[tokio::test]
async fn a_stopped_child_is_ended() {
    let (mut tree, stdin, mut output) = start(sh("echo ready; while :; do sleep 600; done")).await;
    assert_eq!(line(&mut output).await, "ready");
    let pid = rustix::process::Pid::from_raw(i32::try_from(tree.pid().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process_group(pid, rustix::process::Signal::STOP).unwrap();
    drop(stdin);
    assert_eq!(timeout(SOON, tree.end()).await.unwrap(), ProcessExit::Signal(15));
}

#[tokio::test]
async fn the_signal_that_ended_a_child_is_known() {
    let (mut tree, _stdin, _output) = start(sh("kill -ABRT $$")).await;
    assert_eq!(tree.wait().await, ProcessExit::Signal(6));
}

#[tokio::test]
async fn an_error_names_the_file_that_is_not_executable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let why = async |program: &str| {
        start_spec(&spec((program, Vec::new()))).await.unwrap_err().to_string()
    };
    let text = file("notes.txt", "", 0o644);
    assert_eq!(why(&text).await, format!("{text} is not executable"));
    let lost = file("lost.py", "#!/nowhere/python\n", 0o755);
    assert_eq!(why(&lost).await, format!("the interpreter of {lost} was not found"));
}
