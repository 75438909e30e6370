//! Freezes processes and resumes them. The system still accepts connections and bytes for a frozen
//! process.

/// Freezes a process.
#[cfg(unix)]
pub fn freeze(pid: u32) {
    signal(pid, rustix::process::Signal::STOP);
}

/// Resumes a frozen process.
#[cfg(unix)]
pub fn thaw(pid: u32) {
    signal(pid, rustix::process::Signal::CONT);
}

/// Sends a signal to a process of the test.
#[cfg(unix)]
pub(crate) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("it runs"), signal).expect("it is ours");
}

#[cfg(windows)]
pub use windows::{freeze, thaw};

#[cfg(windows)]
mod windows {
    use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, NTSTATUS};
    use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_SUSPEND_RESUME};

    #[expect(unsafe_code, reason = "declares functions that the bindings do not have")]
    #[link(name = "ntdll")]
    unsafe extern "system" {
        fn NtSuspendProcess(process: HANDLE) -> NTSTATUS;
        fn NtResumeProcess(process: HANDLE) -> NTSTATUS;
    }

    /// Freezes a process.
    pub fn freeze(pid: u32) {
        with_process(pid, NtSuspendProcess);
    }

    /// Resumes a frozen process.
    pub fn thaw(pid: u32) {
        with_process(pid, NtResumeProcess);
    }

    #[expect(unsafe_code, reason = "calls the Win32 API")]
    fn with_process(pid: u32, act: unsafe extern "system" fn(HANDLE) -> NTSTATUS) {
        // SAFETY: the handle is checked before use and closed once.
        let status = unsafe {
            let process = OpenProcess(PROCESS_SUSPEND_RESUME, 0, pid);
            assert!(!process.is_null(), "process {pid} runs");
            let status = act(process);
            CloseHandle(process);
            status
        };
        assert_eq!(status, 0, "process {pid} is ours");
    }
}
