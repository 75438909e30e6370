//! Checks the examples in README.md and docs/ against the program, so that a reader can copy them.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use evermoor_core::config::Config;
use evermoor_core::preset::PresetSet;
use serde_json::Value;

use crate::args::Args;

/// One file of the documentation.
struct Page {
    name: String,
    /// The text outside of code blocks.
    prose: String,
    blocks: Vec<Block>,
}

/// A fenced code block.
struct Block {
    language: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

/// README.md and every page of docs/.
fn pages() -> Vec<Page> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.chain([root().join("README.md")]).map(|path| Page::read(&path)).collect()
}

impl Page {
    fn read(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (mut prose, mut blocks) = (String::new(), Vec::<Block>::new());
        let mut inside = false;
        for line in read(path).lines() {
            match (line.strip_prefix("```"), inside) {
                (Some(language), false) => {
                    blocks.push(Block { language: language.to_owned(), text: String::new() });
                    inside = true;
                }
                (Some(_), true) => inside = false,
                (None, true) => {
                    let block = blocks.last_mut().unwrap();
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, false) => {
                    prose.push_str(line);
                    prose.push('\n');
                }
            }
        }
        assert!(!inside, "{name}: a code block has no end");
        Self { name, prose, blocks }
    }

    fn named(name: &str) -> Self {
        Self::read(&root().join("docs").join(name))
    }

    fn blocks(&self, language: &str) -> impl Iterator<Item = &str> {
        let blocks = self.blocks.iter().filter(move |block| block.language == language);
        blocks.map(|block| block.text.as_str())
    }

    /// The command lines in the page's code blocks.
    fn command_lines(&self) -> Vec<String> {
        let shell = self.blocks("sh").flat_map(str::lines);
        let console = self.blocks("console").flat_map(str::lines);
        let typed = console.filter_map(|line| line.strip_prefix("$ "));
        let code = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
        shell.chain(typed).map(code).filter(|line| !line.is_empty()).collect()
    }

    /// The commands that the prose mentions, such as `evermoor status`.
    fn mentioned(&self) -> impl Iterator<Item = &str> {
        let code = self.prose.split('`').skip(1).step_by(2);
        code.filter(|code| code.starts_with("evermoor "))
    }
}

fn parse(line: &str) -> Result<Args, clap::Error> {
    Args::try_parse_from(line.split_whitespace())
}

#[test]
fn every_command_line_in_the_documents_is_valid() {
    let package: Value = serde_json::from_str(&read(&root().join("package.json"))).unwrap();
    let mut seen = 0;
    for page in pages() {
        for line in page.command_lines() {
            seen += 1;
            let Some(npm) = line.strip_prefix("npm ") else {
                assert!(line.starts_with("evermoor "), "{}: {line}", page.name);
                parse(&line).unwrap_or_else(|error| panic!("{}: {line}\n{error}", page.name));
                continue;
            };
            let script = npm.strip_prefix("run ").unwrap_or(npm);
            assert!(package["scripts"][script].is_string(), "{}: {line}", page.name);
        }
    }
    assert!(seen >= 30, "{seen}");
}

#[test]
fn every_command_that_the_documents_mention_exists() {
    let mut seen = 0;
    for page in pages() {
        for line in page.mentioned() {
            seen += 1;
            let placeholder = line.split_whitespace().nth(1) == Some("COMMAND");
            let Err(error) = parse(line) else { continue };
            // Prose may omit arguments, or name a placeholder.
            let incomplete = matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    | ErrorKind::DisplayHelp
                    | ErrorKind::InvalidValue
            );
            assert!(incomplete || placeholder, "{}: {line}\n{error}", page.name);
        }
    }
    assert!(seen >= 60, "{seen}");
}

#[test]
fn every_configuration_and_preset_in_the_documents_is_valid() {
    for page in pages() {
        for example in page.blocks("toml") {
            let first = example.lines().next().unwrap_or_default();
            if first == "# config.toml" {
                let config = Config::parse(example).unwrap_or_else(|mistake| {
                    panic!("{}, line {:?}: {mistake}", page.name, mistake.line)
                });
                assert_eq!(config.warnings, [], "{}", page.name);
                continue;
            }
            let name = first.strip_prefix("# presets/").and_then(|name| name.strip_suffix(".toml"));
            let name = name.unwrap_or_else(|| panic!("{}: of which file is {first}", page.name));
            let (_, misread) = PresetSet::bundled().with([(name, example)]);
            assert_eq!(misread, [], "{}", page.name);
        }
    }
}

#[test]
fn every_json_example_in_the_documents_is_json() {
    for page in pages() {
        for example in page.blocks("json") {
            let parsed = serde_json::from_str::<Value>(example);
            assert!(parsed.is_ok(), "{}: {parsed:?}", page.name);
        }
    }
}

#[test]
fn the_page_about_the_command_line_has_every_command_and_option() {
    let page = Page::named("command-line.md");
    let commands = Args::command();
    check(&commands, "evermoor", &page.prose);

    fn check(command: &clap::Command, path: &str, page: &str) {
        for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
            let Some(long) = option.get_long() else { continue };
            assert!(
                page.contains(&format!("`--{long}")) || page.contains(&format!(" --{long}")),
                "command-line.md does not have --{long} of {path}"
            );
        }
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let path = format!("{path} {}", inner.get_name());
            assert!(page.contains(&format!("`{path}")), "command-line.md does not have `{path}`");
            check(inner, &path, page);
        }
    }
}

#[test]
fn the_page_about_editors_has_every_editor() {
    let page = Page::named("editors.md");
    for client in evermoor_setup::clients() {
        let name = format!("`{}`", client.id);
        assert!(page.prose.contains(&name), "editors.md does not have {name}");
    }
    let readme = read(&root().join("README.md"));
    let count = format!("{} editors", evermoor_setup::clients().len());
    assert!(readme.contains(&count), "README.md does not say {count}");
}
