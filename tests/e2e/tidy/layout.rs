//! Names and folders: a name means one thing, and a folder can be read at a glance.

use std::collections::BTreeMap;
use std::path::Path;

use super::sources::{self, root, words};

/// Types that are defined twice on purpose, and why.
const DEFINED_TWICE: [(&str, &str); 1] =
    [("Turn", "`keychain/quiet.rs` is compiled for macOS only; elsewhere it has no content")];

/// Types that are defined once where they are shipped and once for scenarios, because they stand for the
/// same thing.
const SAME_CONCEPT: [(&str, &str); 3] = [
    ("Editor", "an editor: as the gateway knows it, and as a scenario attaches it"),
    ("Gateway", "a running gateway: from the inside, and as a scenario starts it"),
    ("Tray", "the tray: from the inside, and as a panel shows it"),
];

/// A module with one of these names is compiled for some systems only.
const SYSTEMS: [&str; 5] = ["linux", "macos", "unix", "unsupported", "windows"];

/// The entries at the top of a folder that are read at a glance.
const MOST_ENTRIES: usize = 12;

#[test]
fn the_name_of_a_type_means_one_thing() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources::all() {
        for (name, _) in defined_types(&source.code()) {
            homes.entry(name.to_owned()).or_default().push(source.path.clone());
        }
        if source.is_in(&["tests/src/"]) {
            for (name, _) in
                defined_types(source.before_tests()).filter(|(_, is_public)| *is_public)
            {
                homes.entry(name.to_owned()).or_default().push(source.path.clone());
            }
        }
    }
    assert!(homes.len() > 500, "{}", homes.len());
    homes.retain(|_, paths| paths.len() > 1 && !is_one_module(paths));
    for (name, reason) in DEFINED_TWICE.into_iter().chain(SAME_CONCEPT) {
        assert!(homes.remove(name).is_some(), "{name} needs no exception any more: {reason}");
    }
    assert_eq!(homes, BTreeMap::new(), "these names mean several things");
}

#[test]
fn definitions_are_found() {
    let code = "pub(super) struct One<T>(T);\n    enum Two {}\ntype Three = u8;\n    type Output = One;\n\
                let text = \"struct\"; trait Four {}\npub(crate) trait Four: Sized {}\n";
    let public = [("One", true), ("Two", false), ("Three", false), ("Four", true)];
    assert_eq!(defined_types(code).collect::<Vec<_>>(), public);
    let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert!(is_one_module(&paths(&["a/b/linux.rs", "a/b/windows.rs"])));
    assert!(!is_one_module(&paths(&["a/b/linux.rs", "a/c/windows.rs"])));
    assert!(!is_one_module(&paths(&["a/b/one.rs", "a/b/two.rs"])));
}

/// The types that this code defines, and whether other modules see them. An associated type is not one.
fn defined_types(code: &str) -> impl Iterator<Item = (&str, bool)> {
    code.lines().filter_map(|line| {
        let definition = line.trim_start();
        let is_nested = definition.len() < line.len();
        let public = definition.strip_prefix("pub");
        let definition = match public {
            Some(public) => public.split_once(") ").map_or(public, |(_, rest)| rest).trim_start(),
            None => definition,
        };
        let (keyword, rest) = definition.split_once(' ')?;
        let is_definition = match keyword {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !is_nested,
            _ => false,
        };
        let name = words(rest).next().filter(|_| is_definition)?;
        Some((name, public.is_some()))
    })
}

/// Whether these files are one module, written for several systems.
fn is_one_module(paths: &[String]) -> bool {
    let homes = paths.iter().map(|path| {
        let (folder, file) = path.rsplit_once('/')?;
        SYSTEMS.contains(&file.trim_end_matches(".rs")).then_some(folder)
    });
    let homes: Vec<_> = homes.collect();
    homes.iter().all(|home| home.is_some() && *home == homes[0])
}

#[test]
fn the_top_of_a_crate_is_read_at_a_glance() {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().flatten();
    let mut tops: Vec<_> = crates.map(|one| one.path().join("src")).collect();
    tops.extend(["src-tauri/src", "tests/src", "tests/e2e"].map(|top| root().join(top)));
    for top in tops {
        let entries = entries(&top);
        assert!(entries <= MOST_ENTRIES, "{} has {entries} entries", top.display());
    }
}

/// The files and folders in a folder.
fn entries(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten().count();
    assert!(entries > 0, "{} is empty", folder.display());
    entries
}
