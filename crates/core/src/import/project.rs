//! Servers of a project: editors start them in the project's folder, so Evermoor does too.

use std::collections::BTreeMap;

use crate::config::edit::ServerSpec;

/// The editors' variables for the open folder.
const FOLDER: [&str; 2] = ["${workspaceFolder}", "${workspaceRoot}"];

/// Programs that download what they run, so that the folder does not matter. The same server in
/// several projects is then one upstream.
const FETCHING: [&str; 6] = ["npx", "bunx", "pnpx", "uvx", "docker", "podman"];

/// Resolves a server's paths against the project's folder.
pub(super) fn in_its_folder(way: &ServerSpec, folder: &str) -> ServerSpec {
    let fill =
        |text: &String| FOLDER.iter().fold(text.clone(), |text, it| text.replace(it, folder));
    let pairs = |pairs: &BTreeMap<String, String>| {
        pairs.iter().map(|(name, value)| (name.clone(), fill(value))).collect()
    };
    match way {
        ServerSpec::Preset(_) => way.clone(),
        ServerSpec::Http { url, headers, sign_in } => {
            let sign_in = sign_in.clone();
            ServerSpec::Http { url: fill(url), headers: pairs(headers), sign_in }
        }
        ServerSpec::Program { command, args, env, cwd } => {
            let (command, cwd) = (fill(command), cwd.as_ref().map(fill));
            let args: Vec<String> = args.iter().map(fill).collect();
            let cwd = match cwd {
                Some(cwd) => Some(below(folder, &cwd)),
                None if is_same_anywhere(&command, &args) => None,
                None => Some(folder.to_owned()),
            };
            // A command with a path is relative to the project; any other is on the search path.
            let own = command.contains(['/', '\\']);
            let command = if own { below(folder, &command) } else { command };
            ServerSpec::Program { command, args, env: pairs(env), cwd }
        }
    }
}

fn is_same_anywhere(command: &str, args: &[String]) -> bool {
    FETCHING.contains(&super::program(command).as_str())
        && !args.iter().any(|argument| is_near(argument))
}

/// Whether an argument is a relative path.
fn is_near(argument: &str) -> bool {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    let value = value.split_once("src=").map_or(value, |(_, value)| value);
    value == "."
        || value == ".."
        || ["./", "../", ".\\", "..\\"].iter().any(|it| value.starts_with(it))
}

fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\', '~']) || drive
}

/// Resolves a path against a folder.
fn below(folder: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    match path {
        path if is_absolute(path) || path.starts_with("${") => path.to_owned(),
        "" | "." => folder.to_owned(),
        path => format!("{}/{path}", folder.trim_end_matches(['/', '\\'])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str, cwd: Option<&str>) -> ServerSpec {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let (args, cwd) = (words.collect(), cwd.map(str::to_owned));
        ServerSpec::Program { command, args, env: BTreeMap::new(), cwd }
    }

    #[test]
    fn a_program_of_a_project_runs_in_its_folder() {
        for (before, after) in [
            (run("node server.js", None), run("node server.js", Some("/app"))),
            (run("./bin/server -v", None), run("/app/bin/server -v", Some("/app"))),
            (run("/usr/bin/x", None), run("/usr/bin/x", Some("/app"))),
            (run("x", Some("tools")), run("x", Some("/app/tools"))),
            (run("x", Some("${workspaceFolder}/tools")), run("x", Some("/app/tools"))),
            (run("npx -y fs ${workspaceFolder}", None), run("npx -y fs /app", None)),
            (run("npx -y fs ./docs", None), run("npx -y fs ./docs", Some("/app"))),
        ] {
            assert_eq!(in_its_folder(&before, "/app"), after);
        }
    }

    #[test]
    fn a_downloaded_server_is_the_same_in_every_project() {
        for line in ["npx -y @scope/server", "uvx tool --flag=1", r"C:\Tools\npx.cmd -y x"] {
            let one = in_its_folder(&run(line, None), "/one");
            assert_eq!(one, in_its_folder(&run(line, None), "/two"), "{line}");
        }
    }
}
