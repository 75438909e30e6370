//! Command lines that launch an application, ask it to quit, end it, and look for its crashes.
//!
//! Nothing goes through a shell, except on Windows, where only PowerShell starts a program
//! minimised: there every word is quoted. A launch never takes the focus from a person.

use super::install::Place;
use crate::preset::{OnSystem, Os};

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
}

/// How firmly a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmness {
    /// It may tidy up first.
    Asked,
    /// It is not asked.
    Forced,
}

impl CommandLine {
    fn new<const N: usize>(program: &str, args: [&str; N]) -> Self {
        Self { program: program.to_owned(), args: args.map(str::to_owned).to_vec() }
    }
}

/// Launches an application without bringing it to the front.
pub fn launch(os: Os, place: &Place) -> Option<CommandLine> {
    Some(match (os, place) {
        (Os::MacOs, Place::Bundle(id)) => CommandLine::new("open", ["-g", "-b", id]),
        (Os::MacOs, Place::App(path)) => CommandLine::new("open", ["-g", "-a", path]),
        (Os::MacOs, Place::Url(url)) => CommandLine::new("open", ["-g", url]),
        (Os::Linux, Place::Snap(name)) => CommandLine::new("snap", ["run", name]),
        (Os::Linux, Place::Flatpak(id)) => CommandLine::new("flatpak", ["run", id]),
        (Os::Linux, Place::Desktop(id)) => CommandLine::new("gtk-launch", [id]),
        (Os::Linux, Place::Url(url)) => CommandLine::new("xdg-open", [url]),
        (Os::MacOs | Os::Linux, Place::Program { path, args }) => {
            CommandLine { program: path.clone(), args: args.clone() }
        }
        (Os::Windows, Place::Program { path, args }) => minimised(path, args),
        (Os::Windows, Place::Store(id)) => {
            CommandLine::new("explorer.exe", [&format!("shell:AppsFolder\\{id}")])
        }
        (Os::Windows, Place::Url(url)) => {
            CommandLine::new("rundll32.exe", ["url.dll,FileProtocolHandler", url])
        }
        (Os::MacOs | Os::Windows, Place::Snap(_) | Place::Flatpak(_) | Place::Desktop(_))
        | (Os::MacOs | Os::Linux, Place::Store(_))
        | (Os::Linux | Os::Windows, Place::Bundle(_) | Place::App(_)) => return None,
    })
}

/// Asks an application to quit as a person would, so that it can ask about unsaved work. Where the
/// system has no such way, its process is asked to end.
pub fn quit(os: Os, on: &OnSystem, pid: u32) -> CommandLine {
    match (os, &on.bundle) {
        // The system asks a person once whether this is allowed. An application that has a way of
        // its own to quit is never asked like this.
        (Os::MacOs, Some(id)) => {
            let script = format!("tell application id \"{id}\" to quit");
            CommandLine::new("osascript", ["-e", &script])
        }
        (Os::MacOs | Os::Linux | Os::Windows, _) => end(os, pid, Firmness::Asked),
    }
}

/// Ends a process. On Windows being asked means a message to its windows.
pub fn end(os: Os, pid: u32, firmness: Firmness) -> CommandLine {
    let pid = pid.to_string();
    match (os, firmness) {
        (Os::MacOs | Os::Linux, Firmness::Asked) => CommandLine::new("kill", ["-TERM", &pid]),
        (Os::MacOs | Os::Linux, Firmness::Forced) => CommandLine::new("kill", ["-KILL", &pid]),
        (Os::Windows, Firmness::Asked) => CommandLine::new("taskkill.exe", ["/PID", &pid, "/T"]),
        (Os::Windows, Firmness::Forced) => {
            CommandLine::new("taskkill.exe", ["/PID", &pid, "/T", "/F"])
        }
    }
}

/// Asks Linux for the crashes of programs and for what the kernel ended, since a moment in seconds
/// of the Unix epoch. What it prints is read by [`super::evidence::journal`].
pub fn journal(since: u64) -> CommandLine {
    let since = format!("--since=@{since}");
    let coredumps = format!("MESSAGE_ID={COREDUMP}");
    CommandLine::new(
        "journalctl",
        ["--output=json", "--no-pager", "--quiet", &since, &coredumps, "+", "_TRANSPORT=kernel"],
    )
}

/// Asks Linux for core dumps since a moment in seconds of the Unix epoch. What it prints is read by
/// [`super::evidence::coredumps`].
pub fn coredumps(since: u64) -> CommandLine {
    let since = format!("--since=@{since}");
    CommandLine::new("coredumpctl", ["list", "--json=short", "--no-pager", "--quiet", &since])
}

/// What systemd-coredump writes into the journal bears this id.
const COREDUMP: &str = "fc2e22bc6ee647b6b90729ab34a250b1";

fn minimised(path: &str, args: &[String]) -> CommandLine {
    let mut script = format!("Start-Process -WindowStyle Minimized -FilePath {}", quoted(path));
    if !args.is_empty() {
        // PowerShell joins them with spaces and quotes none of them.
        let words: Vec<String> = args.iter().map(|word| quoted(&windows_word(word))).collect();
        script.push_str(" -ArgumentList ");
        script.push_str(&words.join(","));
    }
    CommandLine::new(
        "powershell.exe",
        ["-NoProfile", "-NonInteractive", "-WindowStyle", "Hidden", "-Command", &script],
    )
}

/// A text that PowerShell takes as it is. It knows four more signs that end one.
fn quoted(text: &str) -> String {
    let mut whole = String::from("'");
    for sign in text.chars() {
        if matches!(sign, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            whole.push(sign);
        }
        whole.push(sign);
    }
    whole.push('\'');
    whole
}

/// A word as the programs of Windows split their command lines.
fn windows_word(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '"']) {
        return word.to_owned();
    }
    let mut whole = String::from("\"");
    let mut slashes = 0;
    for sign in word.chars() {
        let doubled = if sign == '"' { slashes + 1 } else { 0 };
        whole.extend(std::iter::repeat_n('\\', doubled));
        slashes = if sign == '\\' { slashes + 1 } else { 0 };
        whole.push(sign);
    }
    whole.extend(std::iter::repeat_n('\\', slashes));
    whole.push('"');
    whole
}

#[cfg(test)]
mod tests {
    use super::super::install::{signs, ways};
    use super::*;
    use crate::preset::Shelf;

    fn written(line: &CommandLine) -> String {
        format!("{} {}", line.program, line.args.join(" | "))
    }

    /// Every way to launch, quit and end every preset, on each system, as a person can read it.
    #[test]
    fn the_command_lines_of_every_preset_on_every_system() {
        let shelf = Shelf::of_our_own();
        let env = |name: &str| match name {
            "HOME" => Some("/Users/a".to_owned()),
            "LOCALAPPDATA" => Some(r"C:\Users\a b\AppData\Local".to_owned()),
            "PATH" => Some("/usr/bin".to_owned()),
            _ => None,
        };
        let mut all = String::new();
        for preset in shelf.all() {
            for os in [Os::MacOs, Os::Linux, Os::Windows] {
                let Some(on) = preset.on(os) else { continue };
                let found = signs(os, on, env).into_iter().filter_map(|sign| sign.place).collect();
                all.push_str(&format!("{} on {os:?}\n", preset.title));
                for way in ways(os, on, found, Some(r"C:\seen\running.exe")) {
                    let line = launch(os, &way).expect("a way of this system");
                    all.push_str(&format!("  launch {}\n", written(&line)));
                }
                all.push_str(&format!("  quit   {}\n", written(&quit(os, on, 812))));
                all.push_str(&format!("  end    {}\n", written(&end(os, 812, Firmness::Forced))));
            }
        }
        all.push_str(&format!("journal {}\n", written(&journal(1_700_000_000))));
        all.push_str(&format!("cores {}\n", written(&coredumps(1_700_000_000))));
        insta::assert_snapshot!(all);
    }

    #[test]
    fn nothing_in_a_path_is_a_command_to_powershell() {
        let path = "C:\\it's; Remove-Item\u{2019}$(calc)\\a.exe";
        let args = ["--name".to_owned(), "two words".to_owned(), "a\"b\\".to_owned()];
        let line = minimised(path, &args);
        assert_eq!(
            line.args.last().unwrap(),
            "Start-Process -WindowStyle Minimized -FilePath 'C:\\it''s; Remove-Item\u{2019}\u{2019}$(calc)\\a.exe' \
             -ArgumentList '--name','\"two words\"','\"a\\\"b\\\\\"'"
        );
    }

    #[test]
    fn a_way_of_another_system_is_none() {
        assert_eq!(launch(Os::Windows, &Place::Snap("x".into())), None);
        assert_eq!(launch(Os::Linux, &Place::Bundle("x".into())), None);
        assert_eq!(launch(Os::MacOs, &Place::Store("x".into())), None);
    }
}
