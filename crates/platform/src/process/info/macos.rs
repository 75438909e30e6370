//! Processes as `libproc` shows them.

use std::ffi::OsStr;
use std::mem::{MaybeUninit, size_of};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use super::{Facts, Usage};

pub(super) fn of(pid: u32) -> Option<Facts> {
    let info = info(pid)?;
    let start =
        Duration::from_secs(info.pbi_start_tvsec) + Duration::from_micros(info.pbi_start_tvusec);
    let since_epoch = crate::clock::now().duration_since(UNIX_EPOCH).ok()?;
    let executable = executable(pid);
    Some(Facts {
        pid,
        started: u64::try_from(start.as_micros()).ok()?,
        age: since_epoch.saturating_sub(start),
        name: name_in(&executable)?,
        executable,
    })
}

pub(super) fn usage(pid: u32) -> Option<Usage> {
    let mut usage = MaybeUninit::<libc::rusage_info_v2>::zeroed();
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "libproc is a library of C")]
    // SAFETY: the buffer is of the kind that the flavour names, and zeros are a value of it.
    let usage = unsafe {
        let told = libc::proc_pid_rusage(number, libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast());
        (told == 0).then(|| usage.assume_init())?
    };
    let spent = usage.ri_user_time.saturating_add(usage.ri_system_time);
    Some(Usage { memory: usage.ri_phys_footprint, processor: time(spent)? })
}

pub(super) fn all() -> Vec<u32> {
    let mut pids = vec![0_i32; 8192];
    let room = libc::c_int::try_from(pids.len() * size_of::<i32>()).unwrap_or(0);
    #[expect(unsafe_code, reason = "libproc is a library of C")]
    // SAFETY: the buffer has the size that is said.
    let found = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), room) };
    pids.truncate(usize::try_from(found).unwrap_or(0));
    pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).collect()
}

pub(super) fn name(pid: u32) -> Option<String> {
    name_in(&executable(pid))
}

/// The system's own name is cut off after 16 bytes; that of the program is not.
fn name_in(executable: &Option<PathBuf>) -> Option<String> {
    Some(executable.as_ref()?.file_name()?.to_string_lossy().into_owned())
}

fn info(pid: u32) -> Option<libc::proc_bsdinfo> {
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let size = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "libproc is a library of C")]
    // SAFETY: the buffer is of the kind that the flavour names, with the size that is said, and
    // zeros are a value of it.
    unsafe {
        let told =
            libc::proc_pidinfo(number, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size);
        (told == size).then(|| info.assume_init())
    }
}

fn executable(pid: u32) -> Option<PathBuf> {
    let mut path = vec![0_u8; usize::try_from(libc::PROC_PIDPATHINFO_MAXSIZE).ok()?];
    let room = u32::try_from(path.len()).ok()?;
    let number = libc::c_int::try_from(pid).ok()?;
    #[expect(unsafe_code, reason = "libproc is a library of C")]
    // SAFETY: the buffer has the size that is said.
    let length = unsafe { libc::proc_pidpath(number, path.as_mut_ptr().cast(), room) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(PathBuf::from(OsStr::from_bytes(&path)))
}

#[repr(C)]
struct Timebase {
    over: u32,
    under: u32,
}

#[expect(unsafe_code, reason = "libc offers it no more, and a crate for one function is much")]
unsafe extern "C" {
    fn mach_timebase_info(info: *mut Timebase) -> libc::c_int;
}

/// A count of the machine's own ticks as time.
fn time(ticks: u64) -> Option<Duration> {
    let mut base = Timebase { over: 0, under: 0 };
    #[expect(unsafe_code, reason = "the system is asked through C")]
    // SAFETY: the pointer leads to a value of the kind that is written.
    let told = unsafe { mach_timebase_info(&raw mut base) };
    let nanos = u128::from(ticks) * u128::from(base.over) / u128::from(base.under.max(1));
    (told == 0).then(|| u64::try_from(nanos).ok().map(Duration::from_nanos))?
}
