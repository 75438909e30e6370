//! A third-party stdio server that the gateway starts.

use super::{Maker, Over, PeerCommand, PeerRecorder};
use crate::Scene;
use crate::fakes::program::until_gone;
use crate::gateway::Gateway;
use crate::scene::entry;
use crate::scene::wait::until;

/// A server that the gateway starts.
pub struct Child {
    pub recorder: PeerRecorder,
    command: PeerCommand,
}

impl Child {
    pub async fn new(scene: &Scene, maker: Maker) -> Self {
        let recorder = maker.recorder(scene.path("peer.ledger")).await;
        let command = maker.command_line(Over::Pipes, &recorder.ledger, 0);
        Self { recorder, command }
    }

    /// Its configuration entry.
    pub fn entry(&self) -> String {
        entry::program("peer", &self.command.program, &self.command.args)
    }

    /// Kills its current process, and waits until it is gone.
    pub async fn kill(&self, gateway: &Gateway) {
        let mut found = None;
        let parent = gateway.process.pid();
        until("the program of the gateway", || {
            found = children(parent).into_iter().find(|pid| self.is_run_by(*pid));
            found.is_some()
        })
        .await;
        let pid = found.expect("it was just found");
        evermoor_platform::process::spawn::kill(pid).expect("it is ours");
        until_gone(pid).await;
    }

    fn is_run_by(&self, pid: u32) -> bool {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).skip(1).collect();
        self.command.args.iter().zip(words).all(|(wanted, word)| wanted.as_bytes() == word)
            && !line.is_empty()
    }
}

/// The child processes of a process.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("there is a list of processes");
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // A program's name may contain anything. The state and the parent follow it.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}
