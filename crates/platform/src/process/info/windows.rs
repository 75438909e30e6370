//! Reads processes with the Win32 API.

use std::ffi::OsString;
use std::mem::size_of;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use windows_sys::Win32::Foundation::{FILETIME, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
    QueryFullProcessImageNameW,
};

use super::{ProcessInfo, ProcessUsage};

/// The exit code of a running process.
const STILL_ACTIVE: u32 = 259;

pub(super) fn of(pid: u32) -> Option<ProcessInfo> {
    let process = open(pid).filter(is_running)?;
    let times = times(&process)?;
    let executable = executable(&process);
    let name = executable.as_ref()?.file_name()?.to_string_lossy().into_owned();
    Some(ProcessInfo { pid, started: times.started, age: age(times.started), name, executable })
}

pub(super) fn usage(pid: u32) -> Option<ProcessUsage> {
    let process = open(pid).filter(is_running)?;
    let spent = times(&process)?.spent;
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = u32::try_from(size_of::<PROCESS_MEMORY_COUNTERS>()).ok()?;
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: the handle is open, and the buffer has the given size.
    let ok = unsafe { K32GetProcessMemoryInfo(process.as_raw_handle(), &raw mut counters, size) };
    let memory = u64::try_from(counters.WorkingSetSize).ok()?;
    (ok != 0).then_some(ProcessUsage {
        memory,
        processor: Duration::from_nanos(spent.checked_mul(100)?),
    })
}

pub(super) fn name(pid: u32) -> Option<String> {
    let path = executable(&open(pid)?)?;
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Windows has no process groups: each process is one of its own.
pub(super) fn group(pid: u32) -> Option<u32> {
    Some(pid)
}

pub(super) fn is_stopped(pid: u32) -> bool {
    super::threads::are_suspended(pid)
}

pub(super) fn all() -> Vec<u32> {
    let mut found = Vec::new();
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: the snapshot is checked before use and closed once by its owner, and the entry has the
    // size in `dwSize`.
    unsafe {
        let snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
        if snapshot == INVALID_HANDLE_VALUE {
            return found;
        }
        let snapshot = OwnedHandle::from_raw_handle(snapshot);
        let mut entry = PROCESSENTRY32W {
            dwSize: u32::try_from(size_of::<PROCESSENTRY32W>()).unwrap_or(0),
            ..PROCESSENTRY32W::default()
        };
        let mut more = Process32FirstW(snapshot.as_raw_handle(), &raw mut entry);
        while more != 0 {
            found.push(entry.th32ProcessID);
            more = Process32NextW(snapshot.as_raw_handle(), &raw mut entry);
        }
    }
    found
}

#[expect(unsafe_code, reason = "calls the Win32 API")]
fn open(pid: u32) -> Option<OwnedHandle> {
    // SAFETY: the handle is checked before it is owned.
    unsafe {
        let handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid);
        (!handle.is_null()).then(|| OwnedHandle::from_raw_handle(handle))
    }
}

/// A handle can outlive its process.
fn is_running(process: &OwnedHandle) -> bool {
    let mut code = 0;
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: the handle is open and the pointer is valid.
    let ok = unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) };
    ok != 0 && code == STILL_ACTIVE
}

struct Times {
    started: u64,
    spent: u64,
}

fn times(process: &OwnedHandle) -> Option<Times> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: the handle is open and all pointers are valid and distinct.
    let ok = unsafe { GetProcessTimes(process.as_raw_handle(), created, exited, kernel, user) };
    let count =
        |time: &FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    let spent = count(kernel).saturating_add(count(user));
    (ok != 0).then(|| Times { started: count(created), spent })
}

/// Windows counts steps of 100 ns since 1601.
fn age(started: u64) -> Duration {
    const TO_UNIX: Duration = Duration::from_secs(11_644_473_600);
    let start = Duration::from_secs(started / 10_000_000);
    let now = crate::clock::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now + TO_UNIX).saturating_sub(start)
}

fn executable(process: &OwnedHandle) -> Option<PathBuf> {
    let mut path = vec![0_u16; 32_768];
    let mut length = u32::try_from(path.len()).ok()?;
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: the handle is open, and the buffer has the given size.
    let ok = unsafe {
        QueryFullProcessImageNameW(process.as_raw_handle(), 0, path.as_mut_ptr(), &raw mut length)
    };
    path.truncate(usize::try_from(length).ok()?);
    (ok != 0).then(|| PathBuf::from(OsString::from_wide(&path)))
}
