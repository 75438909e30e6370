//! The machine itself: its disk, its clock, and what it starts at login.

use std::path::Path;
use std::time::{Duration, SystemTime};

use evermoor_core::api::Check;
use evermoor_core::history::incident::text::{length, memory};
use evermoor_platform::fs::disk;
use evermoor_platform::paths::Paths;
use evermoor_platform::startup::{login, service};

/// Less than this, and logs, history and settings may not be written.
const MIN_FREE_SPACE: u64 = 200 << 20;
/// No clock that is right says less: this was written later. 2026-01-01.
const RELEASE_DATE: Duration = Duration::from_secs(1_767_225_600);
/// A file from further in the future was written before the clock was set back.
const MAX_AHEAD: Duration = Duration::from_secs(120);

pub(super) fn disk(paths: &Paths) -> Check {
    let (id, title) = ("disk", "Disk");
    // A folder that is not made yet will be on the disk of the one above it.
    let there = paths.data.ancestors().find(|folder| folder.exists());
    match there.and_then(disk::free) {
        None => Check::skipped(id, title, "The system does not say how much is free."),
        Some(free) if free < MIN_FREE_SPACE => {
            let detail = format!("Only {} are free.", memory(free));
            Check::bad(id, title, detail, "Free some space: history and logs are lost without it.")
        }
        Some(free) => Check::good(id, title, format!("{} are free.", memory(free))),
    }
}

pub(super) fn clock(paths: &Paths) -> Check {
    let files = [paths.history_file(), paths.log_file(), paths.token_file()];
    let written = files.iter().filter_map(|file| written_at(file)).max();
    judge(SystemTime::now(), written)
}

fn written_at(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

/// What a clock says of itself, and what a file says of it.
fn judge(now: SystemTime, written: Option<SystemTime>) -> Check {
    let (id, title) = ("clock", "Clock");
    let remedy =
        "Have the system set the clock by itself. Certificates and times are wrong until then.";
    if now < SystemTime::UNIX_EPOCH + RELEASE_DATE {
        return Check::bad(id, title, "It says a time before Evermoor was written.", remedy);
    }
    let ahead = written.and_then(|written| written.duration_since(now).ok());
    match ahead.filter(|ahead| *ahead > MAX_AHEAD) {
        Some(ahead) => {
            let ahead = length(u64::try_from(ahead.as_millis()).unwrap_or(u64::MAX));
            let detail = format!("It was set back by {ahead}: a file was written later than now.");
            Check::bad(id, title, detail, remedy)
        }
        None => Check::good(id, title, "It goes forward, and says a time that can be."),
    }
}

/// Whether the system starts the gateway.
pub(super) async fn service() -> Check {
    let (id, title) = ("service", "Service");
    match service::state().await {
        service::State::NotInstalled => {
            let detail = "The system does not start the gateway; the tray and editors do.";
            Check::skipped(id, title, detail)
        }
        service::State::NoManager => {
            let detail = "It is installed, and there is no service manager to start it.";
            Check::skipped(id, title, detail)
        }
        service::State::Installed { running: true } => {
            Check::good(id, title, "The system starts the gateway, and it runs.")
        }
        service::State::Installed { running: false } => {
            let remedy = "Run `evermoor service install` again, then `evermoor logs`.";
            Check::bad(id, title, "The system should run the gateway, and does not.", remedy)
        }
    }
}

/// Whether what starts the tray at login leads to a program.
pub(super) async fn login() -> Check {
    judge_login(login::found().await)
}

fn judge_login(entry: Option<login::Entry>) -> Check {
    let (id, title) = ("login", "Launch at login");
    let Some(entry) = entry else {
        return Check::skipped(id, title, "The tray is not started at login.");
    };
    let remedy = "Start the tray once: it puts the entry right.";
    match entry.program {
        _ if !entry.is_on => {
            let detail = "The settings of your system have turned it off.";
            Check::skipped(id, title, detail)
        }
        // A name without a folder is looked for by the system.
        Some(program) if program.is_absolute() && !program.exists() => {
            let (place, program) = (entry.place, program.display());
            let detail = format!("{place} starts {program}, which is not there.");
            Check::bad(id, title, detail, remedy)
        }
        Some(program) => {
            Check::good(id, title, format!("The system starts {}.", program.display()))
        }
        None => {
            let detail = format!("{} does not say what to start.", entry.place);
            Check::bad(id, title, detail, remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_never_set_or_was_set_back_is_told() {
        let written = SystemTime::UNIX_EPOCH + RELEASE_DATE;
        let later = |seconds| written + Duration::from_secs(seconds);
        assert!(judge(SystemTime::UNIX_EPOCH, None).is_bad());
        assert!(!judge(later(10), None).is_bad());
        assert!(!judge(later(10), Some(later(60))).is_bad(), "two disks may differ a little");
        let back = judge(later(10), Some(later(7_210)));
        assert_eq!(back.detail, "It was set back by 2 h: a file was written later than now.");
    }

    #[test]
    fn an_entry_for_login_must_lead_to_a_program() {
        let entry = |program: Option<&str>, is_on| login::Entry {
            place: "Evermoor.desktop".into(),
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
    fn the_disk_of_a_folder_that_is_not_made_yet_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().join("deep/home"))).unwrap();
        assert!(disk(&paths).detail.ends_with("are free."));
    }
}
