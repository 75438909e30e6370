//! The login item that starts the tray: writes it as text and parses it.
//!
//! A desktop entry on Linux, a launch agent on macOS, a command line in the Windows registry. The
//! system's settings can disable an entry by a key in it, without removing it; those of macOS keep this
//! to themselves, and [`mod@approval`] asks them. [`found`] writes, finds and removes the entry.
//!
//! On macOS it is a launch agent and not a login item of `SMAppService`, which only applications in a
//! bundle can have, and only from macOS 13 on.

pub mod approval;
mod found;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::startup::xml::{escaped, plain};
use crate::system::System;

pub use found::{LoginEntry, find, remove, write};

/// The name of the entry.
pub const NAME: &str = "Evermoor";

/// A program that is started at login.
#[derive(Clone, Copy, Debug)]
pub struct LoginProgram<'a> {
    pub program: &'a Path,
    pub arguments: &'a [&'a str],
}

/// The path of the entry; `None` on Windows, where it is in the registry.
pub fn entry_path(system: System, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || set("HOME");
    match system {
        System::MacOs => Some(home()?.join("Library/LaunchAgents").join(format!("{NAME}.plist"))),
        System::Linux => {
            let given = set("XDG_CONFIG_HOME").filter(|folder| system.is_absolute(folder));
            let folder = given.or_else(|| Some(home()?.join(".config")))?;
            Some(folder.join("autostart").join(format!("{NAME}.desktop")))
        }
        System::Windows => None,
    }
}

impl LoginProgram<'_> {
    /// The text of the entry.
    pub fn text(&self, system: System) -> String {
        match system {
            System::MacOs => self.launch_agent(),
            System::Linux => self.desktop_entry(),
            System::Windows => self.command_line(),
        }
    }

    /// Whether an entry starts this program, regardless of other edits.
    pub fn is_started_by(&self, system: System, entry: &str) -> bool {
        entry.contains(&match system {
            System::MacOs => format!("<string>{}</string>", escaped(&self.program())),
            System::Linux => format!("Exec={}", desktop_word(&self.program())),
            System::Windows => format!("\"{}\"", self.program()),
        })
    }

    fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn desktop_entry(&self) -> String {
        let mut command = desktop_word(&self.program());
        for argument in self.arguments {
            command.push(' ');
            command.push_str(argument);
        }
        format!(
            "[Desktop Entry]\nType=Application\nVersion=1.0\nName={NAME}\n\
             Comment=Keeps your editors connected to their MCP servers\nExec={command}\n\
             Icon=evermoor-tray\nTerminal=false\nStartupNotify=false\n\
             X-GNOME-Autostart-enabled=true\n"
        )
    }

    fn launch_agent(&self) -> String {
        let words = std::iter::once(self.program())
            .chain(self.arguments.iter().map(|&argument| argument.to_owned()));
        let words: String =
            words.map(|word| format!("    <string>{}</string>\n", escaped(&word))).collect();
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{NAME}</string>
  <key>AssociatedBundleIdentifiers</key>
  <string>dev.evermoor.app</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>LimitLoadToSessionType</key>
  <string>Aqua</string>
  <key>ProcessType</key>
  <string>Interactive</string>
</dict>
</plist>
"#
        )
    }

    fn command_line(&self) -> String {
        let mut line = format!("\"{}\"", self.program());
        for argument in self.arguments {
            line.push(' ');
            line.push_str(argument);
        }
        line
    }
}

/// Whether an entry is enabled.
pub fn is_enabled(system: System, entry: &str) -> bool {
    let has = |key: &str, value: &str| {
        entry
            .lines()
            .filter_map(|line| line.split_once('='))
            .any(|(found, actual)| found.trim() == key && actual.trim().eq_ignore_ascii_case(value))
    };
    match system {
        System::Linux => !has("Hidden", "true") && !has("X-GNOME-Autostart-enabled", "false"),
        System::MacOs => {
            let mut keys = entry.split("<key>Disabled</key>").skip(1);
            !keys.any(|after| after.trim_start().starts_with("<true/>"))
        }
        System::Windows => true,
    }
}

/// The program that an entry starts.
pub fn program_of(system: System, entry: &str) -> Option<PathBuf> {
    let program = match system {
        System::Linux => {
            let command = entry.lines().find_map(|line| line.trim().strip_prefix("Exec="))?;
            first_desktop_word(command.trim())
        }
        System::MacOs => {
            let (_, words) = entry.split_once("<key>ProgramArguments</key>")?;
            let (_, first) = words.split_once("<string>")?;
            plain(first.split_once("</string>")?.0)
        }
        System::Windows => match entry.trim().strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?.to_owned(),
            None => entry.split_whitespace().next()?.to_owned(),
        },
    };
    (!program.is_empty()).then(|| PathBuf::from(program))
}

/// Quotes a word of `Exec` in a desktop entry: first as a command, then as the value of a key.
fn desktop_word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '`' | '$' | '\\' => {
                quoted.push_str("\\\\");
                if letter == '\\' {
                    quoted.push('\\');
                }
                quoted.push(letter);
            }
            '%' => quoted.push_str("%%"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The first word of `Exec` in a desktop entry.
fn first_desktop_word(command: &str) -> String {
    // Unescape the value of the key, then the command.
    let command = command.replace("\\\\", "\\");
    let Some(quoted) = command.strip_prefix('"') else {
        return command.split_whitespace().next().unwrap_or_default().replace("%%", "%");
    };
    let (mut word, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => word.extend(letters.next()),
            letter => word.push(letter),
        }
    }
    word.replace("%%", "%")
}
