//! Job objects on Windows.
//!
//! Closing the last handle of a job kills all its processes, also when this process is killed. The
//! child starts suspended and is resumed in the job, so that its descendants cannot escape.

use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::process::ExitStatus;
use std::ptr::{from_mut, from_ref, null};

use tokio::process::{Child, Command};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED,
};

use super::program::PathKind;
use crate::process::info::threads;

pub(super) const THREAD_MUST_LIVE: bool = false;

/// A job object.
#[derive(Debug)]
pub(super) struct Group {
    job: OwnedHandle,
}

impl Group {
    /// Assigns a suspended child to a new job and resumes it.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let group = Self { job: new_job()? };
        let process = child.raw_handle().ok_or(io::ErrorKind::BrokenPipe)?;
        #[expect(unsafe_code, reason = "calls the Win32 API")]
        // SAFETY: both handles are open for the length of the call.
        let assigned = unsafe { AssignProcessToJobObject(group.job.as_raw_handle(), process) };
        if assigned == 0 {
            return Err(io::Error::last_os_error());
        }
        threads::resume(child.id().ok_or(io::ErrorKind::BrokenPipe)?)?;
        Ok(group)
    }

    /// Windows can ask a program without a window to exit only by closing its input.
    pub(super) fn ask(&self) -> bool {
        false
    }

    #[expect(unsafe_code, reason = "calls the Win32 API")]
    pub(super) fn kill(&self) {
        // SAFETY: the handle is open for as long as `self` lives.
        unsafe { TerminateJobObject(self.job.as_raw_handle(), 1) };
    }

    #[expect(unsafe_code, reason = "calls the Win32 API")]
    pub(super) fn is_empty(&self) -> bool {
        let mut counted = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the handle is open, and the buffer has the given size.
        let ok = unsafe {
            QueryInformationJobObject(
                self.job.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                from_mut(&mut counted).cast(),
                size::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>(),
                std::ptr::null_mut(),
            )
        };
        ok != 0 && counted.ActiveProcesses == 0
    }
}

#[expect(unsafe_code, reason = "calls the Win32 API")]
fn new_job() -> io::Result<OwnedHandle> {
    // SAFETY: no attributes and no name; the result is checked before it is used.
    let job = unsafe { CreateJobObjectW(null(), null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open and has no other owner.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: the handle is open, and the buffer has the given size.
    let limited = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            from_ref(&limits).cast(),
            size::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
        )
    };
    if limited == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
}

fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}

pub(super) fn prepare(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW | CREATE_SUSPENDED);
}

/// Windows has exit codes only.
pub(super) fn signal(_: ExitStatus) -> Option<i32> {
    None
}

pub(super) fn kind(path: &Path) -> PathKind {
    match std::fs::metadata(path) {
        Ok(data) if data.is_file() => PathKind::Program,
        Ok(_) => PathKind::NotExecutable,
        Err(_) => PathKind::Nothing,
    }
}
