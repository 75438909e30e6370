//! The rules of the architecture, as tests.
//!
//! - [`dependencies`]: which crates and folders may use which
//! - [`systems`]: where system-specific and unsafe code may be
//! - [`locks`]: what may happen while a lock is held
//! - [`documents`]: links and lengths of the documents
//! - [`layout`]: what types are called, and how many entries a folder has
//! - [`sources`]: reads the sources for all of them

mod dependencies;
mod documents;
mod layout;
mod locks;
mod sources;
mod systems;

use sources::{files, is_comment, read, root, words};

#[test]
fn no_file_is_too_long() {
    for source in sources::all() {
        let lines = source.before_tests().lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", source.path);
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for source in sources::all() {
        assert!(source.text.starts_with("//!"), "{} does not say what it is for", source.path);
    }
}

/// The modules that one line of a layout lists: each is in backticks before a colon, as in
/// ``- [`row`], `read`: what they do; `task`: what it does``.
fn listed_modules(line: &str) -> Vec<&str> {
    let Some(items) = line.strip_prefix("//! - ") else { return Vec::new() };
    let heads = items.split("; ").filter_map(|item| item.split_once(": ")).map(|(head, _)| head);
    let heads = heads.filter(|head| head.starts_with('`') || head.starts_with("[`"));
    let names = heads.flat_map(|head| head.split('`').skip(1).step_by(2));
    let is_name = |name: &&str| {
        name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    names.filter(is_name).collect()
}

#[test]
fn what_a_layout_lists_are_modules() {
    assert_eq!(
        listed_modules("//! - [`row`], `read`: rows; `task`: a task"),
        ["row", "read", "task"]
    );
    let mut found = 0;
    for source in sources::all() {
        let declared = |name: &str| {
            source.text.contains(&format!("mod {name};"))
                || source.text.contains(&format!("mod {name} {{"))
        };
        if !source
            .text
            .lines()
            .any(|line| line.ends_with(';') && words(line).any(|word| word == "mod"))
        {
            continue;
        }
        for name in source.text.lines().flat_map(listed_modules) {
            assert!(
                declared(name),
                "{} lists `{name}`, which is not one of its modules",
                source.path
            );
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn the_core_asks_neither_the_system_nor_a_clock() {
    let banned = ["std::fs", "std::env", "std::process", "std::thread", "std::io", "TcpStream"];
    for source in sources::all().iter().filter(|source| source.is_in(&["crates/core/src/"])) {
        let code = source.code();
        for banned in banned.iter().chain(&["Instant::now", "SystemTime::now", "async fn"]) {
            assert!(!code.contains(banned), "{} is not pure: {banned}", source.path);
        }
    }
}

#[test]
fn no_revision_of_mcp_is_named_outside_the_core() {
    let is_date = |text: &str| {
        let form = |(at, sign): (usize, char)| match at {
            4 | 7 => sign == '-',
            _ => sign.is_ascii_digit(),
        };
        text.len() == 10 && text.char_indices().all(form)
    };
    for source in sources::all().iter().filter(|source| !source.is_in(&["crates/core/"])) {
        let named = source.code().split('"').find(|text| is_date(text)).map(str::to_owned);
        assert_eq!(named, None, "{} names an MCP version: use core::protocol", source.path);
    }
}

#[test]
fn no_function_that_others_call_fails_with_a_mere_string() {
    for source in sources::all() {
        for function in
            source.code().split("\n    pub").flat_map(|part| part.split("\npub")).skip(1)
        {
            let head = function.split(['{', ';']).next().unwrap_or_default();
            let Some((head, answer)) = head.split_once("->") else { continue };
            let is_ours = head.starts_with(' ') || head.starts_with("(crate) ");
            let fails =
                answer.trim().starts_with("Result<") && answer.trim().ends_with(", String>");
            assert!(!(is_ours && fails), "{}: pub{head}->{answer}", source.path);
        }
    }
}

#[test]
fn what_others_say_is_queued_within_bounds_and_no_thread_sleeps() {
    // A system callback cannot wait, and the tray only receives clicks.
    let free = ["crates/platform/", "src-tauri/"];
    // Windows does not say when another program closes a file.
    let may_sleep = ["crates/platform/src/fs/rename.rs"];
    for source in sources::all() {
        let code = source.code();
        let unbounded = code.contains("unbounded_channel") && !source.is_in(&free);
        assert!(!unbounded, "{} has a queue without bounds", source.path);
        let sleeps = code.contains("thread::sleep") && !source.is_in(&may_sleep);
        assert!(!sleeps, "{} sleeps", source.path);
    }
}

#[test]
fn no_type_has_a_meaningless_name() {
    for source in sources::all() {
        let code = source.code();
        let names = words(&code).zip(words(&code).skip(1));
        let types = names.filter(|(kind, _)| ["struct", "enum", "trait"].contains(kind));
        for (_, name) in types {
            let vague = ["Manager", "Helper", "Util", "Utils", "Processor"];
            let vague = vague.iter().find(|vague| name.ends_with(*vague));
            assert_eq!(vague, None, "{}: {name} fits everything", source.path);
        }
    }
}

#[test]
fn no_test_is_left_out_and_none_waits_for_a_panic() {
    for source in sources::all() {
        let left_out = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("#[ignore") || line.starts_with("#[should_panic")
        };
        assert_eq!(source.text.lines().find(left_out), None, "{}", source.path);
    }
    let nextest = read(&root().join(".config/nextest.toml"));
    assert!(nextest.contains("\nretries = 0\n"), "no test is retried");
}

#[test]
fn no_comment_is_a_plan() {
    for source in sources::all() {
        for comment in source.text.lines().filter(|line| is_comment(line)) {
            let plan = words(comment).find(|word| ["TODO", "FIXME", "XXX", "HACK"].contains(word));
            assert_eq!(plan, None, "{}: {comment}", source.path);
        }
    }
}

#[test]
fn no_component_of_the_dashboard_knows_fetch_or_tauri() {
    let components = files(&root().join("ui/src"), "svelte");
    assert!(!components.is_empty());
    for component in components {
        let text = read(&component);
        for banned in ["fetch(", "EventSource", "XMLHttpRequest", "@tauri-apps", "__TAURI"] {
            assert!(!text.contains(banned), "{} knows {banned}", component.display());
        }
    }
}

#[test]
fn what_the_documents_name_exists() {
    let functions: Vec<String> = sources::all()
        .iter()
        .flat_map(|source| source.text.split("fn ").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|rest| Some(rest.split_once('(')?.0.to_owned()))
        .collect();
    let folders = ["crates/", "src-tauri/", "tests/", "ui/", "scripts/", "docs/"];
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(&root().join(document));
        let prose: String = text.split("```").step_by(2).collect();
        for name in prose.split('`').skip(1).step_by(2) {
            let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./".contains(sign);
            let is_path = folders.iter().any(|folder| name.starts_with(folder));
            if is_path && name.chars().all(is_plain) {
                assert!(root().join(name).exists(), "{document}: there is no {name}");
            }
            if name.matches('_').count() > 3
                && name.chars().all(|sign| "_".contains(sign) || sign.is_ascii_lowercase())
            {
                assert!(
                    functions.contains(&name.to_owned()),
                    "{document}: there is no test {name}"
                );
            }
        }
    }
}

#[test]
fn tests_start_programs_without_the_environment_of_the_person_who_runs_them() {
    let direct = ["process::spawn::", "command("].concat();
    let is_test = |source: &&sources::Source| source.is_in(&["tests/"]);
    for source in sources::all().iter().filter(is_test) {
        let is_allowed = source.is_in(&["tests/src/scene/programs.rs"]);
        assert!(
            is_allowed || !source.text.contains(&direct),
            "{}: use `programs::command`",
            source.path
        );
    }
}
