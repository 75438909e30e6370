//! The entry as the system has it now.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{NAME, is_on, place, program_of};
use crate::process::run;
use crate::system::System;

/// How long the system may take to say what its registry has.
const GLANCE: Duration = Duration::from_millis(800);
const RUN: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";
/// Where the task manager writes down what a person turned off.
const APPROVED: &str =
    r"HKCU\Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run";

/// What starts the tray at login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file, or the key of the registry.
    pub place: String,
    /// What it starts, if that can be read.
    pub program: Option<PathBuf>,
    /// A person may have turned it off in the settings of the system.
    pub is_on: bool,
}

/// The entry, if there is one.
pub async fn found() -> Option<Entry> {
    let (place, text) = match file() {
        Some(file) => (file.display().to_string(), std::fs::read_to_string(file).ok()?),
        None => (RUN.to_owned(), registered().await?),
    };
    let (program, is_on) = (program_of(System::HERE, &text), is_on(System::HERE, &text));
    Some(Entry { place, program, is_on })
}

/// Removes the entry, and says where it was.
pub async fn remove() -> io::Result<Option<String>> {
    let Some(entry) = found().await else { return Ok(None) };
    match file() {
        Some(file) => std::fs::remove_file(file)?,
        None => {
            let said = run::said("reg", &["delete", RUN, "/v", NAME, "/f"], GLANCE).await;
            let said = said.ok_or_else(|| io::Error::other("the registry does not answer"))?;
            if !said.good {
                return Err(io::Error::other(said.complaint));
            }
            // It is there only if somebody turned the entry off once.
            let _ = run::said("reg", &["delete", APPROVED, "/v", NAME, "/f"], GLANCE).await;
        }
    }
    Ok(Some(entry.place))
}

fn file() -> Option<PathBuf> {
    place(System::HERE, |name| std::env::var_os(name))
}

/// The command line in the registry, where that is where entries are.
async fn registered() -> Option<String> {
    match System::HERE {
        System::Windows => {
            let said = run::said("reg", &["query", RUN, "/v", NAME], GLANCE).await?;
            said.good.then(|| value(&said.output)).flatten()
        }
        System::MacOs | System::Linux => None,
    }
}

/// The value in what the registry's own tool prints.
fn value(output: &str) -> Option<String> {
    output.lines().find_map(|line| line.split_once("REG_SZ")).map(|(_, value)| value.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_registrys_tool_prints_is_read() {
        let said = "\r\nHKEY_CURRENT_USER\\Software\\Run\r\n    Evermoor    REG_SZ    \"C:\\My Apps\\evermoor-tray.exe\" --hidden\r\n\r\n";
        let line = value(said).unwrap();
        assert_eq!(line, r#""C:\My Apps\evermoor-tray.exe" --hidden"#);
        let program = program_of(System::Windows, &line).unwrap();
        assert_eq!(program.to_string_lossy(), r"C:\My Apps\evermoor-tray.exe");
        assert_eq!(value("ERROR: The system was unable to find it."), None);
    }
}
