//! `evermoor config edit`: the person's own editor, and a look at the file afterwards.

use std::io::IsTerminal as _;
use std::path::Path;

use evermoor_core::config::Config;
use evermoor_platform::process::spawn;

use super::validate;
use crate::exit::Exit;
use crate::inspect::status::run_async;
use crate::terminal;

/// What a new file begins with.
const FIRST: &str = "\
# Evermoor. `evermoor config schema` prints the form of this file, and the gateway follows it by itself.

# [upstreams.notes]
# url = \"http://127.0.0.1:3001/mcp\"
";

pub(super) fn run(path: &Path) -> Exit {
    let Some(editor) = editor(|name| std::env::var(name).ok()) else {
        return Exit::usage(&format_args!(
            "No editor is named. Set VISUAL or EDITOR, or edit {} yourself.",
            path.display()
        ));
    };
    if !std::io::stdin().is_terminal() && !terminal::manner().yes {
        return Exit::usage(&format_args!(
            "There is no terminal for an editor. Edit {} itself, or say --yes.",
            path.display()
        ));
    }
    if let Err(error) = prepare(path) {
        return Exit::failure(&format_args!("{} cannot be made: {error}.", path.display()));
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
    let known = std::fs::read_to_string(path).is_ok_and(|text| Config::parse(&text).is_ok());
    let exit = validate(&path.to_owned());
    if !known {
        terminal::remark(&"Until it is corrected, what was good before goes on running.");
    }
    exit
}

/// The editor's command line; a person may have put arguments into the variable.
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
    fn the_editor_is_the_one_that_a_person_named() {
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
    fn what_a_new_file_begins_with_is_a_configuration() {
        assert!(Config::parse(FIRST).is_ok());
        let said = FIRST.replace("# [", "[").replace("# url", "url");
        assert_eq!(Config::parse(&said).unwrap().upstreams[0].name.as_str(), "notes");
    }
}
