//! Checks the machine: its disk, its clock, and what starts at login.

use std::path::Path;
use std::time::{Duration, SystemTime};

use evermoor_core::api::Check;
use evermoor_core::history::incident::text::{format_duration, format_memory};
use evermoor_platform::clock;
use evermoor_platform::fs::disk;
use evermoor_platform::paths::Paths;
use evermoor_platform::startup::{login, service};

/// With less, logs, history and settings may not be written.
const MIN_FREE_SPACE: u64 = 200 << 20;
/// A correct clock is later than this. 2026-01-01.
const RELEASE_DATE: Duration = Duration::from_secs(1_767_225_600);
/// A file from further in the future means that the clock was set back.
const MAX_AHEAD: Duration = Duration::from_secs(120);

pub(super) fn disk(paths: &Paths) -> Check {
    let (id, title) = ("disk", "Disk");
    // A folder that does not exist yet will be on the disk of its parent.
    let there = paths.data.ancestors().find(|folder| folder.exists());
    match there.and_then(disk::free) {
        None => Check::skipped(id, title, "The system does not report the free space."),
        Some(free) if free < MIN_FREE_SPACE => {
            let detail = format!("Only {} free.", format_memory(free));
            Check::bad(id, title, detail, "Free some space; without it, history and logs are lost.")
        }
        Some(free) => Check::good(id, title, format!("{} free.", format_memory(free))),
    }
}

pub(super) fn clock(paths: &Paths) -> Check {
    let files = [paths.history_file(), paths.log_file(), paths.token_file()];
    let written = files.iter().filter_map(|file| written_at(file)).max();
    judge(clock::now(), written)
}

fn written_at(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

/// Judges the clock by its own time and by the newest file.
fn judge(now: SystemTime, written: Option<SystemTime>) -> Check {
    let (id, title) = ("clock", "Clock");
    let remedy = "Let the system set the clock automatically; until then, certificate checks and times may be wrong.";
    if now < SystemTime::UNIX_EPOCH + RELEASE_DATE {
        return Check::bad(id, title, "It shows a time before Evermoor was released.", remedy);
    }
    let ahead = written.and_then(|written| written.duration_since(now).ok());
    match ahead.filter(|ahead| *ahead > MAX_AHEAD) {
        Some(ahead) => {
            let ahead = format_duration(u64::try_from(ahead.as_millis()).unwrap_or(u64::MAX));
            let detail =
                format!("It was set back by {ahead}: a file is newer than the current time.");
            Check::bad(id, title, detail, remedy)
        }
        None => Check::good(id, title, "Its time is plausible."),
    }
}

/// Checks whether the service manager runs the gateway.
pub(super) async fn service() -> Check {
    let (id, title) = ("service", "Service");
    match service::state().await {
        service::ServiceState::NotInstalled => {
            let detail = "Not installed as a service; the tray and editors start the gateway.";
            Check::skipped(id, title, detail)
        }
        service::ServiceState::NoManager => {
            let detail = "Installed, but there is no service manager to start it.";
            Check::skipped(id, title, detail)
        }
        service::ServiceState::Installed { running: true } => {
            Check::good(id, title, "The service manager runs the gateway.")
        }
        service::ServiceState::Installed { running: false } => {
            let remedy = "Run `evermoor service install` again, then `evermoor logs`.";
            Check::bad(id, title, "The service is installed but does not run.", remedy)
        }
    }
}

/// Whether the system starts the gateway at login, as a service or with the tray.
pub async fn starts_at_login() -> bool {
    let tray = login::find().await.is_some_and(|entry| entry.is_on && entry.program.is_some());
    tray || !matches!(service::state().await, service::ServiceState::NotInstalled)
}

/// Checks that the login entry starts an existing program.
pub(super) async fn login() -> Check {
    judge_login(login::find().await)
}

fn judge_login(entry: Option<login::LoginEntry>) -> Check {
    let (id, title) = ("login", "Launch at login");
    let Some(entry) = entry else {
        return Check::skipped(id, title, "The tray does not start at login.");
    };
    let remedy = "Start the tray once; it corrects the entry.";
    match entry.program {
        _ if !entry.is_on => {
            let detail = "It is turned off in your system settings.";
            Check::skipped(id, title, detail)
        }
        // The system resolves a name without a folder.
        Some(program) if program.is_absolute() && !program.exists() => {
            let (location, program) = (entry.location, program.display());
            let detail = format!("{location} starts {program}, which does not exist.");
            Check::bad(id, title, detail, remedy)
        }
        Some(program) => {
            Check::good(id, title, format!("The system starts {} at login.", program.display()))
        }
        None => {
            let detail = format!("{} names no program to start.", entry.location);
            Check::bad(id, title, detail, remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_never_set_or_was_set_back_is_reported() {
        let written = SystemTime::UNIX_EPOCH + RELEASE_DATE;
        let later = |seconds| written + Duration::from_secs(seconds);
        assert!(judge(SystemTime::UNIX_EPOCH, None).is_bad());
        assert!(!judge(later(10), None).is_bad());
        assert!(!judge(later(10), Some(later(60))).is_bad(), "two disks may differ a little");
        let back = judge(later(10), Some(later(7_210)));
        assert_eq!(back.detail, "It was set back by 2 h: a file is newer than the current time.");
    }

    #[test]
    fn a_login_entry_must_name_an_existing_program() {
        let entry = |program: Option<&str>, is_on| login::LoginEntry {
            location: "Evermoor.desktop".into(),
            program: program.map(Into::into),
            is_on,
        };
        let here = std::env::current_exe().unwrap();
        assert!(!judge_login(None).is_bad());
        assert!(!judge_login(Some(entry(here.to_str(), true))).is_bad());
        let gone = here.with_file_name("gone");
        assert!(judge_login(Some(entry(gone.to_str(), true))).is_bad());
        assert!(!judge_login(Some(entry(gone.to_str(), false))).is_bad(), "it is turned off");
        assert!(judge_login(Some(entry(None, true))).is_bad());
    }

    #[test]
    fn the_disk_of_a_folder_that_does_not_exist_yet_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().join("deep/home"))).unwrap();
        assert!(disk(&paths).detail.ends_with(" free."));
    }
}
