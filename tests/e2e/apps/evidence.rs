//! Why an application exited, when the system's records say more than its exit status.
//!
//! In these tests `journalctl` is a script that prints recorded lines.

use std::os::unix::fs::PermissionsExt as _;

use evermoor_core::history::incident::Incident;
use evermoor_core::policy::app::state::NextStep;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::Gateway;

use super::{ended, gateway_among, incidents, until_app};

const OUT_OF_MEMORY: &str = r#"{"_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"<now>","MESSAGE":"Out of memory: Killed process <pid> (os_server) total-vm:4100000kB, anon-rss:3000000kB"}"#;
const ABORTED: &str = r##"{"MESSAGE_ID":"fc2e22bc6ee647b6b90729ab34a250b1","COREDUMP_PID":"<pid>","COREDUMP_SIGNAL":"6","COREDUMP_SIGNAL_NAME":"SIGABRT","COREDUMP_COMM":"os_server","COREDUMP_TIMESTAMP":"<now>","MESSAGE":"Process <pid> (os_server) of user 1000 dumped core.\n\nStack trace of thread <pid>:\n#0  0x00007f21 abort (/home/jo/libc.so.6 + 0x2587)"}"##;
const LISTED: &str = r#"[{"time":<now>,"pid":<pid>,"uid":1000,"gid":1000,"sig":11,"corefile":"present","exe":"/snap/pieces-os/x1/os_server","size":1000}]"#;

/// Scripts in place of the system's crash-reporting programs.
struct Records<'s>(&'s Scene);

impl Records<'_> {
    /// From now on this program prints this text, about this process and with the current time.
    fn say(&self, program: &str, said: &str, pid: u32) {
        let said = said.replace("<pid>", &pid.to_string());
        let script = format!("#!/bin/sh\nsed \"s/<now>/$(date +%s%6N)/\" <<'END'\n{said}\nEND\n");
        self.put(program, &script);
    }

    /// From now on this program fails.
    fn fail(&self, program: &str) {
        self.put(program, "#!/bin/sh\nexit 1\n");
    }

    fn put(&self, program: &str, script: &str) {
        let folder = self.0.path("bin");
        std::fs::create_dir_all(&folder).unwrap();
        // A running program cannot be overwritten, but it can be replaced.
        let (new, place) = (folder.join("new"), folder.join(program));
        std::fs::write(&new, script).unwrap();
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(new, place).unwrap();
    }
}

/// A running PiecesOS, and a gateway that consults these records about it.
async fn recorded(scene: &Scene) -> (Pieces, Gateway, Records<'_>) {
    let records = Records(scene);
    for program in ["journalctl", "coredumpctl"] {
        records.fail(program);
    }
    let pieces = Pieces::start(scene).await;
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", scene.path("bin").display());
    let gateway = gateway_among(scene, &pieces, "", &[("PATH", &path)]).await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    (pieces, gateway, records)
}

async fn newest(gateway: &Gateway) -> Incident {
    incidents(gateway).await.remove(0)
}

#[tokio::test]
async fn a_restart_is_only_offered_after_an_unexplained_kill() {
    let scene = Scene::new();
    let (pieces, gateway, _records) = recorded(&scene).await;
    pieces.kill().await;
    let app = until_app(&gateway, |app| app.offer.is_some() && app.word == "Exited").await;
    assert_eq!((app.next, app.restart, pieces.starts()), (NextStep::Start, None, 1));
    let why = "PiecesOS exited for an unknown reason.";
    assert_eq!(newest(&gateway).await.why(), why);
}

#[tokio::test]
async fn an_application_killed_for_lack_of_memory_is_restarted_automatically() {
    let scene = Scene::new();
    let (pieces, gateway, records) = recorded(&scene).await;
    records.say("journalctl", OUT_OF_MEMORY, pieces.pid());
    pieces.kill().await;
    assert_eq!(ended(&gateway, 1).await.end.unwrap().failure, None);
    assert_eq!(pieces.starts(), 2);
    let why = "The system ran out of memory and killed PiecesOS.";
    assert_eq!(newest(&gateway).await.why(), why);
}

#[tokio::test]
async fn journal_lines_about_other_processes_are_ignored() {
    let scene = Scene::new();
    let (pieces, gateway, records) = recorded(&scene).await;
    records.say("journalctl", OUT_OF_MEMORY, 1);
    pieces.kill().await;
    until_app(&gateway, |app| app.offer.is_some()).await;
    assert_eq!(pieces.starts(), 1);
}

#[tokio::test]
async fn a_core_dump_in_the_journal_adds_its_stack_to_the_record() {
    let scene = Scene::new();
    let (pieces, gateway, records) = recorded(&scene).await;
    records.say("journalctl", ABORTED, pieces.pid());
    pieces.newest().tell_last(Fault::Abort).await;
    ended(&gateway, 1).await;
    let outage = newest(&gateway).await;
    assert_eq!(outage.why(), "PiecesOS crashed (SIGABRT).");
    let evidence = outage.cause.unwrap().evidence.unwrap();
    assert_eq!(evidence.source, "The system wrote a crash report: SIGABRT.");
    assert_eq!(evidence.excerpt, "Signal: SIGABRT\n#0 0x00007f21 abort (libc.so.6 + 0x2587)");
}

#[tokio::test]
async fn the_list_of_core_dumps_is_the_fallback_for_the_journal() {
    let scene = Scene::new();
    let (pieces, gateway, records) = recorded(&scene).await;
    records.say("coredumpctl", LISTED, pieces.pid());
    pieces.kill().await;
    ended(&gateway, 1).await;
    assert_eq!(newest(&gateway).await.why(), "PiecesOS crashed (SIGSEGV).");
}
