//! Writes, finds and removes the login item of the tray.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::approval::approval;
use super::{LoginProgram, NAME, entry_path, is_enabled, program_of};
use crate::process::run;
use crate::system::System;

/// The timeout of `reg`.
const REGISTRY_TIMEOUT: Duration = Duration::from_millis(800);
const RUN: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";
/// Where the Task Manager records entries that the user disabled.
const APPROVED: &str =
    r"HKCU\Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run";

/// The entry that starts the tray at login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginEntry {
    /// The path of the file, or the registry key.
    pub location: String,
    /// The program that it starts, if it can be read.
    pub program: Option<PathBuf>,
    /// False if the user disabled it in the system settings.
    pub is_on: bool,
}

/// Finds the entry.
pub async fn find() -> Option<LoginEntry> {
    let (location, text) = match file() {
        Some(file) => (file.display().to_string(), std::fs::read_to_string(file).ok()?),
        None => (RUN.to_owned(), registered().await?),
    };
    let approval = approval(Path::new(&location));
    let is_on = approval.permits(is_enabled(System::HERE, &text));
    let program = program_of(System::HERE, &text);
    Some(LoginEntry { location, program, is_on })
}

/// Writes the entry that starts a program, on systems where it is a file.
pub fn write(item: &LoginProgram<'_>) -> io::Result<PathBuf> {
    let path = file().ok_or_else(|| io::Error::other("there is no home folder"))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    crate::fs::private::write_private(&path, item.text(System::HERE).as_bytes())?;
    Ok(path)
}

/// Removes the entry and returns where it was.
pub async fn remove() -> io::Result<Option<String>> {
    let Some(entry) = find().await else { return Ok(None) };
    match file() {
        Some(file) => std::fs::remove_file(file)?,
        None => {
            let result =
                run::output("reg", &["delete", RUN, "/v", NAME, "/f"], REGISTRY_TIMEOUT).await;
            let result = result.ok_or_else(|| io::Error::other("the registry did not respond"))?;
            if !result.success {
                return Err(io::Error::other(result.stderr));
            }
            // Exists only if the user once disabled the entry.
            let _ =
                run::output("reg", &["delete", APPROVED, "/v", NAME, "/f"], REGISTRY_TIMEOUT).await;
        }
    }
    Ok(Some(entry.location))
}

fn file() -> Option<PathBuf> {
    entry_path(System::HERE, |name| std::env::var_os(name))
}

/// The command line in the registry, on Windows.
async fn registered() -> Option<String> {
    match System::HERE {
        System::Windows => {
            let result = run::output("reg", &["query", RUN, "/v", NAME], REGISTRY_TIMEOUT).await?;
            result.success.then(|| value(&result.output)).flatten()
        }
        System::MacOs | System::Linux => None,
    }
}

/// The value in the output of `reg query`.
fn value(output: &str) -> Option<String> {
    output.lines().find_map(|line| line.split_once("REG_SZ")).map(|(_, value)| value.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_reg_query_is_parsed() {
        let output = "\r\nHKEY_CURRENT_USER\\Software\\Run\r\n    Evermoor    REG_SZ    \"C:\\My Apps\\evermoor-tray.exe\" --hidden\r\n\r\n";
        let line = value(output).unwrap();
        assert_eq!(line, r#""C:\My Apps\evermoor-tray.exe" --hidden"#);
        let program = program_of(System::Windows, &line).unwrap();
        assert_eq!(program.to_string_lossy(), r"C:\My Apps\evermoor-tray.exe");
        assert_eq!(value("ERROR: The system was unable to find it."), None);
    }
}
