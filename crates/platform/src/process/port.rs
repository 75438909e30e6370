//! Finds the process that listens on a port.
//!
//! When the port of the endpoint is taken, the error names the process that has it. Linux has a file,
//! macOS a tool and Windows a table; pure functions read them, tested on every system.

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
        System::Windows => windows::owner(port),
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

/// Windows has a port in the first two bytes of a number, in network byte order; the others mean nothing.
#[cfg_attr(
    not(any(windows, test)),
    expect(dead_code, reason = "used on one system, tested on all")
)]
fn port_of(number: u32) -> u16 {
    let [first, second, _, _] = number.to_le_bytes();
    u16::from_be_bytes([first, second])
}

/// A socket that listens, as `/proc/net/tcp` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListeningSocket {
    inode: u64,
    user: u32,
}

/// `/proc/net/tcp`: the socket that listens (state 0A) on the port.
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "used on one system, tested on all")
)]
fn read_proc_tcp(table: &str, port: u16) -> Option<ListeningSocket> {
    let ends = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let listens = columns.get(1)?.ends_with(&ends) && columns.get(3) == Some(&"0A");
        if !listens {
            return None;
        }
        Some(ListeningSocket {
            inode: columns.get(9)?.parse().ok()?,
            user: columns.get(7)?.parse().ok()?,
        })
    })
}

/// `/proc/<pid>/status`: the user whose sockets the process opens, which is the last of the four.
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "used on one system, tested on all")
)]
fn read_user(status: &str) -> Option<u32> {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().last()?.parse().ok()
}

/// `/proc/<pid>/cmdline`: whether this command line runs a gateway.
#[cfg_attr(
    not(any(target_os = "linux", test)),
    expect(dead_code, reason = "used on one system, tested on all")
)]
fn serves(command_line: &[u8]) -> bool {
    command_line.split(|byte| *byte == 0).skip(1).any(|argument| argument == b"serve")
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{ListeningSocket, PortOwner, read_proc_tcp, read_user, serves};
    use std::fs;

    pub(super) fn owner(port: u16) -> Option<PortOwner> {
        // The kernel shows the table in parts; a row can be missed if another socket closes in between.
        let socket = (0..3).find_map(|_| listening(port))?;
        let link = format!("socket:[{}]", socket.inode);
        let entries = fs::read_dir("/proc").ok()?.flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut closed = Vec::new();
        for pid in pids {
            match fs::read_dir(format!("/proc/{pid}/fd")) {
                Ok(files) => {
                    let mut targets = files.flatten().flat_map(|file| fs::read_link(file.path()));
                    if targets.any(|target| target.as_os_str() == link.as_str()) {
                        return Some(PortOwner { pid, name: name(pid) });
                    }
                }
                Err(_) => closed.push(pid),
            }
        }
        // A gateway does not show its files, even to its own user. It is named only if no other process
        // can be meant.
        let mut gateways = closed.into_iter().filter(|pid| is_gateway_of(*pid, socket.user));
        let gateway = gateways.next()?;
        let only = gateways.next().is_none();
        only.then(|| PortOwner { pid: gateway, name: Some(PROGRAM.into()) })
    }

    fn listening(port: u16) -> Option<ListeningSocket> {
        ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .find_map(|table| read_proc_tcp(&fs::read_to_string(table).ok()?, port))
    }

    /// The program that protects itself ([`crate::process::protect`]).
    const PROGRAM: &str = "evermoor";

    fn is_gateway_of(pid: u32, user: u32) -> bool {
        let status = || fs::read_to_string(format!("/proc/{pid}/status")).ok();
        let command_line = || fs::read(format!("/proc/{pid}/cmdline")).ok();
        pid != std::process::id()
            && name(pid).as_deref() == Some(PROGRAM)
            && status().and_then(|status| read_user(&status)) == Some(user)
            && command_line().is_some_and(|command_line| serves(&command_line))
    }

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

#[cfg(windows)]
mod windows {
    use std::mem::size_of;
    use std::ptr::null_mut;

    use windows_sys::Win32::NetworkManagement::IpHelper::{
        GetExtendedTcpTable, MIB_TCP6ROW_OWNER_PID, MIB_TCPROW_OWNER_PID,
        TCP_TABLE_OWNER_PID_LISTENER,
    };
    use windows_sys::Win32::Networking::WinSock::{AF_INET, AF_INET6};

    use super::PortOwner;

    pub(super) fn owner(port: u16) -> Option<PortOwner> {
        let ipv4 = rows::<MIB_TCPROW_OWNER_PID>(AF_INET);
        let ipv4 = ipv4.iter().map(|row| (row.dwLocalPort, row.dwOwningPid));
        let ipv6 = rows::<MIB_TCP6ROW_OWNER_PID>(AF_INET6);
        let ipv6 = ipv6.iter().map(|row| (row.dwLocalPort, row.dwOwningPid));
        // Without an owner, the id is 0.
        let wanted = |(local, pid): &(u32, u32)| super::port_of(*local) == port && *pid != 0;
        let (_, pid) = ipv4.chain(ipv6).find(wanted)?;
        Some(PortOwner { pid, name: crate::process::info::of(pid).map(|process| process.name) })
    }

    /// The rows of the table of listening sockets: a count, then the rows.
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    fn rows<Row: Copy>(family: u16) -> Vec<Row> {
        let mut size = 0;
        let mut table: Vec<u32> = Vec::new();
        // The table can grow between two calls.
        for _ in 0..5 {
            table.resize(usize::try_from(size).unwrap_or(0).div_ceil(size_of::<u32>()), 0);
            let place = if table.is_empty() { null_mut() } else { table.as_mut_ptr().cast() };
            // SAFETY: the buffer has at least the given size.
            let result = unsafe {
                let listeners = TCP_TABLE_OWNER_PID_LISTENER;
                GetExtendedTcpTable(place, &raw mut size, 0, u32::from(family), listeners, 0)
            };
            if result == 0 && !table.is_empty() {
                break;
            }
        }
        let Some((count, words)) = table.split_first() else { return Vec::new() };
        let count = usize::try_from(*count).unwrap_or(0);
        let each = size_of::<Row>() / size_of::<u32>();
        let rows = words.chunks_exact(each).take(count);
        // SAFETY: a row consists of 32-bit numbers and bytes, and the chunk has its size and alignment.
        rows.map(|row| unsafe { row.as_ptr().cast::<Row>().read() }).collect()
    }
}

#[cfg(not(windows))]
mod windows {
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
    fn a_port_in_network_byte_order_is_read() {
        let [first, second] = 7420_u16.to_be_bytes();
        assert_eq!(port_of(u32::from_le_bytes([first, second, 0, 0])), 7420);
        assert_eq!(port_of(u32::from_le_bytes([first, second, 0xcd, 0xab])), 7420);
    }

    #[test]
    fn proc_net_tcp_is_parsed() {
        let output = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                    0: 0100007F:1CFC 00000000:0000 01 00000000:00000000 00:00000000 00000000  1000        0 11 1\n   \
                    1: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1\n";
        let socket = ListeningSocket { inode: 22, user: 1000 };
        assert_eq!(read_proc_tcp(output, 7420), Some(socket));
        assert_eq!(read_proc_tcp(output, 7421), None);
    }

    #[test]
    fn the_user_of_a_process_is_parsed() {
        assert_eq!(read_user("Name:\tevermoor\nUid:\t0\t0\t0\t65534\nGid:\t0\n"), Some(65_534));
        assert_eq!(read_user("Name:\tevermoor\n"), None);
    }

    #[test]
    fn a_gateway_is_told_from_a_shim_by_its_command_line() {
        assert!(serves(b"/opt/evermoor\0serve\0--home\0/home/person\0"));
        assert!(serves(b"evermoor\0--home\0/home/person\0serve\0"));
        assert!(!serves(b"evermoor\0connect\0"));
        assert!(!serves(b"serve\0"));
    }

    #[tokio::test]
    async fn a_port_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = owner(listener.local_addr().unwrap().port()).await.unwrap();
        assert_eq!(owner.pid, std::process::id());
        assert!(owner.name.is_some());
    }
}
