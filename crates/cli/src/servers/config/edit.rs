//! `evermoor config edit`: opens the file in the user's editor and checks it afterwards.

use std::io::IsTerminal as _;
use std::path::Path;

use evermoor_core::config::{Config, MAX_FILE_SIZE};
use evermoor_platform::fs::foreign;
use evermoor_platform::process::spawn;

use super::validate;
use crate::exit::Exit;
use crate::runtime::run_async;
use crate::terminal;

/// The content of a new file.
const FIRST: &str = "\
# Configuration of Evermoor. The gateway reloads this file automatically. To see all settings, run
# `evermoor config schema`.

# [upstreams.notes]
# url = \"http://127.0.0.1:3001/mcp\"
";

pub(super) fn run(path: &Path) -> Exit {
    let Some(editor) = editor(|name| std::env::var(name).ok()) else {
        return Exit::usage(&format_args!(
            "No editor is set. Set VISUAL or EDITOR, or edit {} yourself.",
            path.display()
        ));
    };
    if !std::io::stdin().is_terminal() && !terminal::options().yes {
        return Exit::usage(&format_args!(
            "There is no terminal for an editor. Edit {} yourself, or use --yes.",
            path.display()
        ));
    }
    if let Err(error) = prepare(path) {
        return Exit::failure(&format_args!("{} cannot be created: {error}.", path.display()));
    }
    let (program, args) = editor.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    let mut command = spawn::foreground_command(program);
    command.args(args).arg(path);
    match run_async(async { command.status().await }).flatten() {
        Ok(status) if status.success() => {}
        Ok(status) => return Exit::failure(&format_args!("`{program}` ended with {status}.")),
        Err(error) => {
            return Exit::failure(&format_args!(
                "`{program}` could not be started: {error}. Set VISUAL or EDITOR to another editor."
            ));
        }
    }
    let known =
        foreign::read_text(path, MAX_FILE_SIZE).is_ok_and(|text| Config::parse(&text).is_ok());
    let exit = validate(path);
    if !known {
        terminal::print_note(
            &"Until you correct it, Evermoor keeps using the last valid configuration.",
        );
    }
    exit
}

/// The editor's command line. The variable may contain arguments.
fn editor(env: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(env);
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    named.map(words).find(|words| !words.is_empty())
}

fn prepare(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    evermoor_platform::fs::private::write_private(path, FIRST.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_takes_precedence_over_editor() {
        let named = |variables: &[(&str, &str)]| {
            editor(|name| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(
            named(&[("EDITOR", "vi"), ("VISUAL", "code --wait")]).unwrap(),
            ["code", "--wait"]
        );
        assert_eq!(named(&[("EDITOR", "vi"), ("VISUAL", " ")]).unwrap(), ["vi"]);
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn the_content_of_a_new_file_is_valid() {
        assert!(Config::parse(FIRST).is_ok());
        let uncommented = FIRST.replace("# [", "[").replace("# url", "url");
        assert_eq!(Config::parse(&uncommented).unwrap().upstreams[0].name.as_str(), "notes");
    }
}
