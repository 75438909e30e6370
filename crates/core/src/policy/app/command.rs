//! Command lines that launch an app, ask it to quit, stop it, and look for its crashes.
//!
//! No shell is involved, except on Windows, where only PowerShell can start a program minimised;
//! there every argument is quoted. A launch never takes the keyboard focus.

use super::install::LaunchMethod;
use crate::preset::{Os, PlatformSpec};

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
}

/// How a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// It is asked to exit and may clean up first.
    Graceful,
    /// It is killed.
    Forced,
}

impl CommandLine {
    fn new<const N: usize>(program: &str, args: [&str; N]) -> Self {
        Self { program: program.to_owned(), args: args.map(str::to_owned).to_vec() }
    }
}

/// Launches an app without bringing it to the front. `None` if the system has no such launch method.
pub fn launch(os: Os, launch_method: &LaunchMethod) -> Option<CommandLine> {
    Some(match (os, launch_method) {
        (Os::MacOs, LaunchMethod::Bundle(id)) => CommandLine::new("open", ["-g", "-b", id]),
        (Os::MacOs, LaunchMethod::App(path)) => CommandLine::new("open", ["-g", "-a", path]),
        (Os::MacOs, LaunchMethod::Url(url)) => CommandLine::new("open", ["-g", url]),
        (Os::Linux, LaunchMethod::Snap(name)) => CommandLine::new("snap", ["run", name]),
        (Os::Linux, LaunchMethod::Flatpak(id)) => CommandLine::new("flatpak", ["run", id]),
        (Os::Linux, LaunchMethod::Desktop(id)) => CommandLine::new("gtk-launch", [id]),
        (Os::Linux, LaunchMethod::Url(url)) => CommandLine::new("xdg-open", [url]),
        (Os::MacOs | Os::Linux, LaunchMethod::Program { path, args }) => {
            CommandLine { program: path.clone(), args: args.clone() }
        }
        (Os::Windows, LaunchMethod::Program { path, args }) => minimised(path, args),
        (Os::Windows, LaunchMethod::Store(id)) => {
            CommandLine::new("explorer.exe", [&format!("shell:AppsFolder\\{id}")])
        }
        (Os::Windows, LaunchMethod::Url(url)) => {
            CommandLine::new("rundll32.exe", ["url.dll,FileProtocolHandler", url])
        }
        (
            Os::MacOs | Os::Windows,
            LaunchMethod::Snap(_) | LaunchMethod::Flatpak(_) | LaunchMethod::Desktop(_),
        )
        | (Os::MacOs | Os::Linux, LaunchMethod::Store(_))
        | (Os::Linux | Os::Windows, LaunchMethod::Bundle(_) | LaunchMethod::App(_)) => return None,
    })
}

/// How an app is asked to quit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuitMethod {
    /// By a request of the system to an application, as its user would ask, so that it can ask about
    /// unsaved work. If the process turns out to be no application, it is asked to exit.
    Application { bundle: String, otherwise: CommandLine },
    /// Its process is asked to exit.
    Process(CommandLine),
}

/// Asks an app to quit. Apps whose preset has a quit request are not asked this way.
pub fn quit(os: Os, on: &PlatformSpec, pid: u32) -> QuitMethod {
    let exit = stop(os, pid, StopMode::Graceful);
    match (os, &on.bundle) {
        (Os::MacOs, Some(bundle)) => {
            QuitMethod::Application { bundle: bundle.clone(), otherwise: exit }
        }
        (Os::MacOs | Os::Linux | Os::Windows, _) => QuitMethod::Process(exit),
    }
}

/// Stops a process. On Windows, asking means a message to its windows.
pub fn stop(os: Os, pid: u32, stop_mode: StopMode) -> CommandLine {
    let pid = pid.to_string();
    match (os, stop_mode) {
        (Os::MacOs | Os::Linux, StopMode::Graceful) => CommandLine::new("kill", ["-TERM", &pid]),
        (Os::MacOs | Os::Linux, StopMode::Forced) => CommandLine::new("kill", ["-KILL", &pid]),
        (Os::Windows, StopMode::Graceful) => CommandLine::new("taskkill.exe", ["/PID", &pid, "/T"]),
        (Os::Windows, StopMode::Forced) => {
            CommandLine::new("taskkill.exe", ["/PID", &pid, "/T", "/F"])
        }
    }
}

/// Lists crashes and processes killed by the kernel on Linux since `since`, in seconds of the Unix
/// epoch. [`super::evidence::journal`] reads the output.
pub fn journal(since: u64) -> CommandLine {
    let since = format!("--since=@{since}");
    let coredumps = format!("MESSAGE_ID={COREDUMP}");
    CommandLine::new(
        "journalctl",
        ["--output=json", "--no-pager", "--quiet", &since, &coredumps, "+", "_TRANSPORT=kernel"],
    )
}

/// Lists core dumps on Linux since `since`, in seconds of the Unix epoch.
/// [`super::evidence::coredumps`] reads the output.
pub fn coredumps(since: u64) -> CommandLine {
    let since = format!("--since=@{since}");
    CommandLine::new("coredumpctl", ["list", "--json=short", "--no-pager", "--quiet", &since])
}

/// The message id of systemd-coredump in the journal.
const COREDUMP: &str = "fc2e22bc6ee647b6b90729ab34a250b1";

fn minimised(path: &str, args: &[String]) -> CommandLine {
    let mut script =
        format!("Start-Process -WindowStyle Minimized -FilePath {}", powershell_string(path));
    if !args.is_empty() {
        // PowerShell joins the arguments with spaces and quotes none of them.
        let quoted: Vec<String> =
            args.iter().map(|arg| powershell_string(&windows_argument(arg))).collect();
        script.push_str(" -ArgumentList ");
        script.push_str(&quoted.join(","));
    }
    CommandLine::new(
        "powershell.exe",
        ["-NoProfile", "-NonInteractive", "-WindowStyle", "Hidden", "-Command", &script],
    )
}

/// A literal PowerShell string. PowerShell treats four more characters as single quotes.
fn powershell_string(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        if matches!(character, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            quoted.push(character);
        }
        quoted.push(character);
    }
    quoted.push('\'');
    quoted
}

/// An argument, quoted the way Windows programs split their command lines.
fn windows_argument(argument: &str) -> String {
    if !argument.is_empty() && !argument.contains([' ', '\t', '"']) {
        return argument.to_owned();
    }
    let mut quoted = String::from("\"");
    let mut backslashes = 0;
    for character in argument.chars() {
        let doubled = if character == '"' { backslashes + 1 } else { 0 };
        quoted.extend(std::iter::repeat_n('\\', doubled));
        backslashes = if character == '\\' { backslashes + 1 } else { 0 };
        quoted.push(character);
    }
    quoted.extend(std::iter::repeat_n('\\', backslashes));
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::install::{install_markers, launch_methods};
    use super::*;
    use crate::preset::PresetSet;

    fn shown(line: &CommandLine) -> String {
        format!("{} {}", line.program, line.args.join(" | "))
    }

    /// Every command line of every preset on each system.
    #[test]
    fn the_command_lines_of_every_preset_on_every_system() {
        let presets = PresetSet::bundled();
        let env = |name: &str| match name {
            "HOME" => Some("/Users/a".to_owned()),
            "LOCALAPPDATA" => Some(r"C:\Users\a b\AppData\Local".to_owned()),
            "PATH" => Some("/usr/bin".to_owned()),
            _ => None,
        };
        let mut all = String::new();
        for preset in presets.all() {
            for os in [Os::MacOs, Os::Linux, Os::Windows] {
                let Some(on) = preset.on(os) else { continue };
                let found = install_markers(os, on, env)
                    .into_iter()
                    .filter_map(|sign| sign.launch_method)
                    .collect();
                all.push_str(&format!("{} on {os:?}\n", preset.title));
                for way in launch_methods(os, on, found, Some(r"C:\seen\running.exe")) {
                    let line = launch(os, &way).expect("a launch method of this system");
                    all.push_str(&format!("  launch {}\n", shown(&line)));
                }
                let quit = match quit(os, on, 812) {
                    QuitMethod::Application { bundle, otherwise } => {
                        format!("application 812 of {bundle}, or {}", shown(&otherwise))
                    }
                    QuitMethod::Process(line) => shown(&line),
                };
                all.push_str(&format!("  quit   {quit}\n"));
                all.push_str(&format!("  end    {}\n", shown(&stop(os, 812, StopMode::Forced))));
            }
        }
        all.push_str(&format!("journal {}\n", shown(&journal(1_700_000_000))));
        all.push_str(&format!("cores {}\n", shown(&coredumps(1_700_000_000))));
        insta::assert_snapshot!(all);
    }

    #[test]
    fn a_path_cannot_inject_a_powershell_command() {
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
    fn a_launch_method_of_another_system_is_none() {
        assert_eq!(launch(Os::Windows, &LaunchMethod::Snap("x".into())), None);
        assert_eq!(launch(Os::Linux, &LaunchMethod::Bundle("x".into())), None);
        assert_eq!(launch(Os::MacOs, &LaunchMethod::Store("x".into())), None);
    }
}
