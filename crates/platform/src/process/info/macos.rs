//! Reads processes with `libproc`.

use std::ffi::OsStr;
use std::mem::{MaybeUninit, size_of};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use super::{ProcessInfo, ProcessUsage};

/// What identifies a process.
pub(crate) struct Identity {
    pub(crate) parent: u32,
    pub(crate) started: u64,
    pub(crate) exited: bool,
}

pub(crate) fn identity(pid: u32) -> Option<Identity> {
    let info = info(pid)?;
    Some(Identity {
        parent: info.pbi_ppid,
        started: u64::try_from(start(&info).as_micros()).ok()?,
        exited: info.pbi_status == libc::SZOMB,
    })
}

/// When a process started, since the epoch.
fn start(info: &libc::proc_bsdinfo) -> Duration {
    Duration::from_secs(info.pbi_start_tvsec) + Duration::from_micros(info.pbi_start_tvusec)
}

pub(super) fn of(pid: u32) -> Option<ProcessInfo> {
    let info = info(pid)?;
    let start = start(&info);
    let since_epoch = crate::clock::now().duration_since(UNIX_EPOCH).ok()?;
    let executable = executable(pid);
    let name = super::name_of(executable.as_deref(), reported(&info))?;
    Some(ProcessInfo {
        pid,
        started: u64::try_from(start.as_micros()).ok()?,
        age: since_epoch.saturating_sub(start),
        name,
        executable,
    })
}

pub(super) fn usage(pid: u32) -> Option<ProcessUsage> {
    let mut usage = MaybeUninit::<libc::rusage_info_v2>::zeroed();
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "calls libproc, a C library")]
    // SAFETY: the buffer has the type that the flavor requires, and all zeros is a valid value.
    let usage = unsafe {
        let status = libc::proc_pid_rusage(number, libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast());
        (status == 0).then(|| usage.assume_init())?
    };
    let spent = usage.ri_user_time.saturating_add(usage.ri_system_time);
    Some(ProcessUsage { memory: usage.ri_phys_footprint, processor: time(spent)? })
}

pub(crate) fn all() -> Vec<u32> {
    let mut pids = vec![0_i32; 8192];
    let size = libc::c_int::try_from(pids.len() * size_of::<i32>()).unwrap_or(0);
    #[expect(unsafe_code, reason = "calls libproc, a C library")]
    // SAFETY: the buffer has the given size.
    let found = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(found).unwrap_or(0));
    pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).collect()
}

pub(super) fn name(pid: u32) -> Option<String> {
    match executable(pid) {
        Some(path) => super::name_of(Some(&path), [&[], &[]]),
        // One more call, for the few processes whose executable was deleted.
        None => super::name_of(None, reported(&info(pid)?)),
    }
}

pub(super) fn is_stopped(pid: u32) -> bool {
    info(pid).is_some_and(|info| info.pbi_status == libc::SSTOP)
}

/// The process group that a process belongs to.
pub(super) fn group(pid: u32) -> Option<u32> {
    Some(info(pid)?.pbi_pgid)
}

/// The two names that the system reports, cut off after 32 and 16 bytes.
fn reported(info: &libc::proc_bsdinfo) -> [&[u8]; 2] {
    [bytes(&info.pbi_name), bytes(&info.pbi_comm)]
}

fn bytes(text: &[libc::c_char]) -> &[u8] {
    #[expect(unsafe_code, reason = "C has signed characters")]
    // SAFETY: both types have the same size and no invalid values.
    unsafe {
        std::slice::from_raw_parts(text.as_ptr().cast(), text.len())
    }
}

fn info(pid: u32) -> Option<libc::proc_bsdinfo> {
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let size = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "calls libproc, a C library")]
    // SAFETY: the buffer has the type and size that the flavor requires, and all zeros is a valid value.
    unsafe {
        let status =
            libc::proc_pidinfo(number, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size);
        (status == size).then(|| info.assume_init())
    }
}

fn executable(pid: u32) -> Option<PathBuf> {
    let mut path = vec![0_u8; usize::try_from(libc::PROC_PIDPATHINFO_MAXSIZE).ok()?];
    let size = u32::try_from(path.len()).ok()?;
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "calls libproc, a C library")]
    // SAFETY: the buffer has the given size.
    let length = unsafe { libc::proc_pidpath(number, path.as_mut_ptr().cast(), size) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(PathBuf::from(OsStr::from_bytes(&path)))
}

#[repr(C)]
struct Timebase {
    numerator: u32,
    denominator: u32,
}

#[expect(unsafe_code, reason = "libc has deprecated it, and one function is not worth a crate")]
unsafe extern "C" {
    fn mach_timebase_info(info: *mut Timebase) -> libc::c_int;
}

/// Converts Mach ticks.
fn time(ticks: u64) -> Option<Duration> {
    let mut base = Timebase { numerator: 0, denominator: 0 };
    #[expect(unsafe_code, reason = "calls a C function")]
    // SAFETY: the pointer is valid and of the right type.
    let status = unsafe { mach_timebase_info(&raw mut base) };
    let nanos =
        u128::from(ticks) * u128::from(base.numerator) / u128::from(base.denominator.max(1));
    (status == 0).then(|| u64::try_from(nanos).ok().map(Duration::from_nanos))?
}
