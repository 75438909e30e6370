//! Trees in jobs, and what Windows can start.

use super::*;

#[tokio::test]
async fn a_tree_that_does_not_exit_when_its_input_closes_is_killed() {
    let (mut tree, stdin, mut output) = start(spawn::endless()).await;
    drop(stdin);
    assert_eq!(timeout(SOON, tree.end()).await.unwrap(), ProcessExit::Code(1));
    until_closed(&mut output).await;
}

#[tokio::test]
async fn a_batch_file_is_started_by_its_name_without_an_extension() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("server.cmd"), "@echo ready %1\r\n").unwrap();
    std::fs::write(folder.path().join("server"), "#!/bin/sh\n").unwrap();
    let spec = ChildSpec {
        env: vec![("PATH".into(), folder.path().to_str().unwrap().to_owned())],
        ..spec(("server", vec!["one".to_owned()]))
    };
    let (mut tree, pipes) = start_spec(&spec).await.unwrap();
    let mut output = BufReader::new(pipes.stdout).lines();
    assert_eq!(line(&mut output).await, "ready one");
    assert_eq!(tree.wait().await, ProcessExit::Code(0));
}

#[tokio::test]
async fn a_file_that_is_not_a_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.exe");
    std::fs::write(&path, "notes").unwrap();
    let program = path.to_str().unwrap();
    let error = start_spec(&spec((program, Vec::new()))).await.unwrap_err();
    assert!(matches!(error, SpawnError::Refused { .. }), "{error}");
}
