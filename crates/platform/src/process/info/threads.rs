//! The threads of a process on Windows, which suspends and resumes them one by one.

use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr::{from_mut, null_mut};

use windows_sys::Wdk::System::Threading::{NtQueryInformationThread, ThreadSuspendCount};
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::Threading::{
    OpenThread, ResumeThread, THREAD_ACCESS_RIGHTS, THREAD_QUERY_LIMITED_INFORMATION,
    THREAD_SUSPEND_RESUME,
};

/// Whether every thread of a process is suspended, as debuggers and `NtSuspendProcess` leave it.
pub(super) fn are_suspended(process: u32) -> bool {
    of(process).is_ok_and(|threads| !threads.is_empty() && threads.into_iter().all(is_suspended))
}

/// Resumes a process that was started suspended.
pub(crate) fn resume(process: u32) -> io::Result<()> {
    let mut resumed = false;
    for thread in of(process)? {
        if let Some(thread) = open(thread, THREAD_SUSPEND_RESUME) {
            #[expect(unsafe_code, reason = "calls the Win32 API")]
            // SAFETY: the handle is open for the length of the call.
            let count = unsafe { ResumeThread(thread.as_raw_handle()) };
            resumed |= count != u32::MAX;
        }
    }
    if resumed { Ok(()) } else { Err(io::Error::other("its main thread could not be resumed")) }
}

/// The ids of the threads of a process, from the list of all threads.
#[expect(unsafe_code, reason = "calls the Win32 API")]
fn of(process: u32) -> io::Result<Vec<u32>> {
    // SAFETY: the result is checked before it is used.
    let list = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if list == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open and has no other owner.
    let list = unsafe { OwnedHandle::from_raw_handle(list) };
    let size = u32::try_from(size_of::<THREADENTRY32>()).unwrap_or(0);
    let mut entry = THREADENTRY32 { dwSize: size, ..THREADENTRY32::default() };
    let mut found = Vec::new();
    // SAFETY: the handle is open, and the entry has the size in `dwSize`.
    let mut more = unsafe { Thread32First(list.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        if entry.th32OwnerProcessID == process {
            found.push(entry.th32ThreadID);
        }
        entry.dwSize = size;
        // SAFETY: as for the first entry.
        more = unsafe { Thread32Next(list.as_raw_handle(), &raw mut entry) };
    }
    Ok(found)
}

#[expect(unsafe_code, reason = "calls the Win32 API")]
fn open(thread: u32, rights: THREAD_ACCESS_RIGHTS) -> Option<OwnedHandle> {
    // SAFETY: the handle is checked before it is owned.
    unsafe {
        let handle = OpenThread(rights, 0, thread);
        (!handle.is_null()).then(|| OwnedHandle::from_raw_handle(handle))
    }
}

fn is_suspended(thread: u32) -> bool {
    let Some(thread) = open(thread, THREAD_QUERY_LIMITED_INFORMATION) else { return false };
    let mut count = 0_u32;
    let size = u32::try_from(size_of::<u32>()).unwrap_or(0);
    #[expect(unsafe_code, reason = "calls the system's own API")]
    // SAFETY: the handle is open, and the buffer has the given size.
    let status = unsafe {
        let count = from_mut(&mut count).cast();
        NtQueryInformationThread(
            thread.as_raw_handle(),
            ThreadSuspendCount,
            count,
            size,
            null_mut(),
        )
    };
    status == 0 && count > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn;
    use windows_sys::Win32::System::Threading::CREATE_SUSPENDED;

    #[tokio::test]
    async fn a_suspended_process_is_stopped_until_it_is_resumed() {
        let (program, args) = spawn::endless();
        let mut command = spawn::command(program);
        command.args(args).creation_flags(CREATE_SUSPENDED).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        assert!(are_suspended(pid));
        resume(pid).unwrap();
        assert!(!are_suspended(pid));
        child.kill().await.unwrap();
        assert!(!are_suspended(u32::MAX - 7), "there is no such process");
    }
}
