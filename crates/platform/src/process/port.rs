//! Finds the process that listens on a port.
//!
//! When the port of the endpoint is taken, the error names the process that has it. Each system has
//! its own tool; pure functions parse the output, tested on every system.

use crate::system::System;

/// A process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOwner {
    pub pid: u32,
    /// The name of the program, if the system reports it.
    pub name: Option<String>,
}

/// The process that listens on this TCP port of the loopback address or of all addresses.
pub async fn owner(port: u16) -> Option<PortOwner> {
    match System::HERE {
        // This reads every open file of every process, which blocks.
        System::Linux => tokio::task::spawn_blocking(move || linux::owner(port)).await.ok()?,
        System::MacOs => {
            let filter = format!("-iTCP:{port}");
            let output = run("lsof", &["-nP", &filter, "-sTCP:LISTEN", "-Fpc"]).await?;
            read_lsof(&output)
        }
        System::Windows => {
            let pid = read_netstat(&run("netstat", &["-ano", "-p", "TCP"]).await?, port)?;
            let filter = format!("PID eq {pid}");
            let output = run("tasklist", &["/FI", &filter, "/FO", "CSV", "/NH"]).await;
            Some(PortOwner { pid, name: output.as_deref().and_then(read_tasklist) })
        }
    }
}

async fn run(program: &str, args: &[&str]) -> Option<String> {
    let result =
        crate::process::run::output(program, args, std::time::Duration::from_secs(3)).await;
    result.map(|result| result.output)
}

/// `lsof -Fpc`: a line `p<pid>` and a line `c<command>` for each process.
fn read_lsof(output: &str) -> Option<PortOwner> {
    let field = |letter: char| output.lines().find_map(|line| line.strip_prefix(letter));
    Some(PortOwner { pid: field('p')?.parse().ok()?, name: field('c').map(str::to_owned) })
}

/// `netstat -ano`: protocol, local address, foreign address, state, pid. The name of
/// the state is localized, so a listener is recognized by its foreign port 0.
fn read_netstat(output: &str, port: u16) -> Option<u32> {
    let ends = format!(":{port}");
    output.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        match columns.as_slice() {
            ["TCP", local, foreign, .., pid]
                if local.ends_with(&ends) && foreign.ends_with(":0") =>
            {
                pid.parse().ok()
            }
            _ => None,
        }
    })
}

/// `tasklist /FO CSV`: the first column is the name of the program.
fn read_tasklist(output: &str) -> Option<String> {
    let name = output.trim().strip_prefix('"')?.split('"').next()?;
    Some(name.to_owned())
}

/// `/proc/net/tcp`: the inode of the socket that listens (state 0A) on the port.
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "used on one system, tested on all")
)]
fn read_proc_tcp(table: &str, port: u16) -> Option<u64> {
    let ends = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let listens = columns.get(1)?.ends_with(&ends) && columns.get(3) == Some(&"0A");
        listens.then(|| columns.get(9)?.parse().ok())?
    })
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{PortOwner, read_proc_tcp};
    use std::fs;

    pub(super) fn owner(port: u16) -> Option<PortOwner> {
        let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .find_map(|table| read_proc_tcp(&fs::read_to_string(table).ok()?, port))?;
        let socket = format!("socket:[{inode}]");
        let entries = fs::read_dir("/proc").ok()?.flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut closed = Vec::new();
        for pid in pids {
            match fs::read_dir(format!("/proc/{pid}/fd")) {
                Ok(files) => {
                    let mut targets = files.flatten().flat_map(|file| fs::read_link(file.path()));
                    if targets.any(|target| target.as_os_str() == socket.as_str()) {
                        return Some(PortOwner { pid, name: name(pid) });
                    }
                }
                Err(_) => closed.push(pid),
            }
        }
        // Another gateway of this user does not show its files either.
        let gateway = closed.into_iter().find(|pid| name(*pid).as_deref() == Some(PROGRAM))?;
        Some(PortOwner { pid: gateway, name: Some(PROGRAM.into()) })
    }

    /// The program that protects itself ([`crate::process::protect`]).
    const PROGRAM: &str = "evermoor";

    fn name(pid: u32) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(name.trim().to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn owner(_: u16) -> Option<super::PortOwner> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsof_is_parsed() {
        let owner = read_lsof("p812\ncnode\nf22\n").unwrap();
        assert_eq!(owner, PortOwner { pid: 812, name: Some("node".into()) });
        assert_eq!(read_lsof(""), None);
    }

    #[test]
    fn netstat_and_tasklist_are_parsed() {
        let output = "\n  Proto  Local Address   Foreign Address  State        PID\n  \
                    TCP    127.0.0.1:74200 0.0.0.0:0        LISTENING    1\n  \
                    TCP    127.0.0.1:7420  127.0.0.1:50000  ESTABLISHED  2\n  \
                    TCP    127.0.0.1:7420  0.0.0.0:0        ABHÖREN      812\n";
        assert_eq!(read_netstat(output, 7420), Some(812));
        assert_eq!(
            read_tasklist("\"node.exe\",\"812\",\"Console\"\r\n").as_deref(),
            Some("node.exe")
        );
        assert_eq!(read_tasklist("INFO: No tasks are running"), None);
    }

    #[test]
    fn proc_net_tcp_is_parsed() {
        let output = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                    0: 0100007F:1CFC 00000000:0000 01 00000000:00000000 00:00000000 00000000  1000        0 11 1\n   \
                    1: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1\n";
        assert_eq!(read_proc_tcp(output, 7420), Some(22));
        assert_eq!(read_proc_tcp(output, 7421), None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_port_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = owner(listener.local_addr().unwrap().port()).await.unwrap();
        assert_eq!(owner.pid, std::process::id());
    }
}
