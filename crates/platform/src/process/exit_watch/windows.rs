//! A process handle, which is signaled when the process exits.

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

use crate::process::child::ProcessExit;

#[derive(Debug)]
pub(super) struct WatchedProcess {
    /// Dropped first: no callback runs after that.
    _wait: Wait,
    handle: OwnedHandle,
    ended: watch::Receiver<bool>,
}

/// A registered wait in the system's thread pool.
#[derive(Debug)]
struct Wait {
    wait: HANDLE,
    exited: *mut watch::Sender<bool>,
}

#[expect(unsafe_code, reason = "a handle may be used on any thread, but raw pointers are not Send")]
// SAFETY: only the callback uses the pointer, and `drop`, when no callback can run any more.
unsafe impl Send for Wait {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: a shared reference gives no access to the pointer.
unsafe impl Sync for Wait {}

impl WatchedProcess {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let handle = open(pid)?;
        let (exited, ended) = watch::channel(false);
        let exited = Box::into_raw(Box::new(exited));
        let mut wait: HANDLE = null_mut();
        #[expect(unsafe_code, reason = "registers a callback")]
        // SAFETY: the process handle outlives the wait, and the context lives until the wait ends.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait,
                handle.as_raw_handle(),
                Some(on_exit),
                exited.cast::<c_void>(),
                INFINITE,
                WT_EXECUTEONLYONCE,
            )
        };
        let error = io::Error::last_os_error();
        let wait = Wait { wait, exited };
        if registered == 0 { Err(error) } else { Ok(Self { _wait: wait, handle, ended }) }
    }

    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    pub(super) async fn how(&self) -> ProcessExit {
        self.ended().await;
        let mut code = 0;
        #[expect(unsafe_code, reason = "calls the Win32 API")]
        // SAFETY: the handle is open and the pointer is valid.
        let ok = unsafe { GetExitCodeProcess(self.handle.as_raw_handle(), &raw mut code) };
        if ok == 0 { ProcessExit::Unknown } else { ProcessExit::Code(code.cast_signed()) }
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        if !by_force {
            return Err(io::ErrorKind::Unsupported.into());
        }
        #[expect(unsafe_code, reason = "calls the Win32 API")]
        // SAFETY: the handle is open.
        let ended = unsafe { TerminateProcess(self.handle.as_raw_handle(), 1) };
        if ended == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Wait {
    #[expect(unsafe_code, reason = "unregisters the callback and frees its context")]
    fn drop(&mut self) {
        // SAFETY: this waits until no callback runs, so the box has no other user.
        unsafe {
            if !self.wait.is_null() {
                UnregisterWaitEx(self.wait, INVALID_HANDLE_VALUE);
            }
            drop(Box::from_raw(self.exited));
        }
    }
}

#[expect(unsafe_code, reason = "the system passes back the context pointer")]
unsafe extern "system" fn on_exit(exited: *mut c_void, _timed_out: bool) {
    // SAFETY: the context is the one of the registered wait and lives until that ends.
    let exited = unsafe { &*exited.cast::<watch::Sender<bool>>() };
    exited.send_replace(true);
}

fn open(pid: u32) -> io::Result<OwnedHandle> {
    let watch = PROCESS_SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION;
    #[expect(unsafe_code, reason = "calls the Win32 API")]
    // SAFETY: each handle is checked before it is owned.
    unsafe {
        // A process of another user can be watched, but not killed.
        for rights in [watch | PROCESS_TERMINATE, watch] {
            let handle = OpenProcess(rights, 0, pid);
            if !handle.is_null() {
                return Ok(OwnedHandle::from_raw_handle(handle));
            }
        }
    }
    Err(io::Error::last_os_error())
}
