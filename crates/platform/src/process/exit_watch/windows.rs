//! A handle that is signalled when the process ends.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr::null_mut;

use tokio::sync::watch;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, INFINITE, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, RegisterWaitForSingleObject, TerminateProcess,
    UnregisterWaitEx, WT_EXECUTEONLYONCE,
};

use crate::process::child::Exit;

#[derive(Debug)]
pub(super) struct Process {
    /// Dropped first: nobody calls back after that.
    _wait: Wait,
    handle: OwnedHandle,
    ended: watch::Receiver<bool>,
}

/// A wait in the system's pool of threads.
#[derive(Debug)]
struct Wait {
    wait: HANDLE,
    told: *mut watch::Sender<bool>,
}

#[expect(unsafe_code, reason = "a handle may be used on any thread; raw pointers do not say so")]
// SAFETY: the handle belongs to the system, and the pointer is touched by the callback, and once
// more when no callback can run any more.
unsafe impl Send for Wait {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: nothing is done through a shared reference.
unsafe impl Sync for Wait {}

impl Process {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let handle = open(pid)?;
        let (told, ended) = watch::channel(false);
        let told = Box::into_raw(Box::new(told));
        let mut wait: HANDLE = null_mut();
        #[expect(unsafe_code, reason = "the system is asked to call back")]
        // SAFETY: the process's handle outlives the wait, and what the callback gets lives until
        // the wait is over.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait,
                handle.as_raw_handle(),
                Some(tell),
                told.cast::<c_void>(),
                INFINITE,
                WT_EXECUTEONLYONCE,
            )
        };
        let error = io::Error::last_os_error();
        let wait = Wait { wait, told };
        if registered == 0 { Err(error) } else { Ok(Self { _wait: wait, handle, ended }) }
    }

    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    pub(super) async fn how(&self) -> Exit {
        self.ended().await;
        let mut code = 0;
        #[expect(unsafe_code, reason = "the system is asked through C")]
        // SAFETY: the handle is open, and the pointer leads to a number.
        let told = unsafe { GetExitCodeProcess(self.handle.as_raw_handle(), &raw mut code) };
        if told == 0 { Exit::Untold } else { Exit::Code(code.cast_signed()) }
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        if !by_force {
            return Err(io::ErrorKind::Unsupported.into());
        }
        #[expect(unsafe_code, reason = "a process is ended through a handle")]
        // SAFETY: the handle is open.
        let ended = unsafe { TerminateProcess(self.handle.as_raw_handle(), 1) };
        if ended == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Wait {
    #[expect(unsafe_code, reason = "what was given to the system is taken back")]
    fn drop(&mut self) {
        // SAFETY: it is waited until no callback runs; then the box is nobody else's.
        unsafe {
            if !self.wait.is_null() {
                UnregisterWaitEx(self.wait, INVALID_HANDLE_VALUE);
            }
            drop(Box::from_raw(self.told));
        }
    }
}

#[expect(unsafe_code, reason = "the system gives back the pointer that it got")]
unsafe extern "system" fn tell(told: *mut c_void, _timed_out: bool) {
    // SAFETY: the pointer is the one that was given when the wait was registered, and what it leads
    // to lives until the wait is over.
    let told = unsafe { &*told.cast::<watch::Sender<bool>>() };
    told.send_replace(true);
}

fn open(pid: u32) -> io::Result<OwnedHandle> {
    let watch = PROCESS_SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION;
    #[expect(unsafe_code, reason = "a process is watched through a handle")]
    // SAFETY: each handle is checked before it is owned.
    unsafe {
        // A process of another person may be watched, and not ended.
        for rights in [watch | PROCESS_TERMINATE, watch] {
            let handle = OpenProcess(rights, 0, pid);
            if !handle.is_null() {
                return Ok(OwnedHandle::from_raw_handle(handle));
            }
        }
    }
    Err(io::Error::last_os_error())
}
