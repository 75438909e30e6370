//! The dependencies allowed between crates, and between the folders of `core` and of `gateway`.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{read, root};

pub(super) fn manifest(package: &str) -> toml::Table {
    toml::from_str(&read(&root().join(package).join("Cargo.toml"))).unwrap()
}

fn dependencies(package: &str) -> Vec<String> {
    let manifest = manifest(package);
    let mut tables: Vec<&toml::Table> =
        manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().collect();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(toml::Table::values) {
        tables.extend(target.get("dependencies").and_then(toml::Value::as_table));
    }
    tables.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

/// Every member of the workspace.
fn members() -> Vec<String> {
    let workspace = manifest(".");
    let members = workspace["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

#[test]
fn dependencies_point_down_only() {
    let allowed = BTreeMap::from([
        ("crates/core", vec![]),
        ("crates/platform", vec![]),
        ("crates/log", vec!["evermoor-core", "evermoor-platform"]),
        ("crates/client", vec!["evermoor-core", "evermoor-platform"]),
        ("crates/setup", vec!["evermoor-core", "evermoor-platform"]),
        (
            "crates/gateway",
            vec!["evermoor-core", "evermoor-log", "evermoor-platform", "evermoor-setup"],
        ),
        (
            "crates/cli",
            vec![
                "evermoor-client",
                "evermoor-core",
                "evermoor-gateway",
                "evermoor-log",
                "evermoor-platform",
                "evermoor-setup",
            ],
        ),
        (
            "src-tauri",
            vec!["evermoor-client", "evermoor-core", "evermoor-log", "evermoor-platform"],
        ),
    ]);
    for package in members().iter().filter(|member| *member != "tests") {
        let allowed = &allowed[package.as_str()];
        let ours = dependencies(package).into_iter().filter(|name| name.starts_with("evermoor"));
        for dependency in ours {
            assert!(allowed.contains(&dependency.as_str()), "{package} must not know {dependency}");
        }
    }
}

#[test]
fn every_member_is_held_to_the_lints_of_the_workspace() {
    for package in members() {
        let lints = manifest(&package)["lints"]["workspace"].as_bool();
        assert_eq!(lints, Some(true), "{package} has lints of its own");
    }
}

/// Everything a package is built with, directly or not, on any system and for its tests.
fn all_dependencies(package: &str) -> BTreeSet<String> {
    let lock: toml::Table = toml::from_str(&read(&root().join("Cargo.lock"))).unwrap();
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in lock["package"].as_array().unwrap() {
        let needed = entry.get("dependencies").and_then(toml::Value::as_array);
        let needed = needed.into_iter().flatten().filter_map(toml::Value::as_str);
        // Several versions of one crate count as one; the version follows the name.
        let names = needed.filter_map(|needed| needed.split(' ').next());
        known.entry(entry["name"].as_str().unwrap()).or_default().extend(names);
    }
    let mut found = BTreeSet::new();
    let mut next = vec![package];
    while let Some(name) = next.pop() {
        if found.insert(name.to_owned()) {
            next.extend(known[name].iter().copied());
        }
    }
    found
}

#[test]
fn the_core_does_no_io_and_the_gateway_has_no_window() {
    let core = dependencies("crates/core");
    for banned in ["tokio", "reqwest", "hyper", "axum", "rustix", "windows-sys", "getrandom"] {
        assert!(!core.contains(&banned.to_owned()), "the core must not know {banned}");
    }
    for package in ["evermoor", "evermoor-gateway", "evermoor-client"] {
        let all = all_dependencies(package);
        assert!(all.contains("tokio"), "{package} was looked at");
        for window in ["tauri", "wry", "tao", "gtk", "webkit2gtk"] {
            assert!(!all.contains(window), "{package} is built with {window}");
        }
    }
}

/// A folder, and the folders that it may use.
type Rule = (&'static str, &'static [&'static str]);

/// What the folders at the top of a crate may use of each other. `*` stands for every folder.
const FOLDERS: [(&str, &[Rule]); 2] = [
    (
        "crates/core/src/",
        &[
            ("api", &["catalog", "config", "failure", "history", "policy", "protocol"]),
            ("catalog", &["protocol"]),
            ("config", &["api", "catalog", "policy", "preset", "security"]),
            ("failure", &["protocol"]),
            ("history", &["api", "failure", "security"]),
            ("import", &["catalog", "config", "security"]),
            ("lifecycle", &[]),
            ("policy", &["api", "catalog", "config", "failure", "preset", "protocol"]),
            ("preset", &["config", "failure"]),
            ("protocol", &["catalog", "failure", "security"]),
            ("security", &["failure", "protocol"]),
        ],
    ),
    (
        "crates/gateway/src/",
        &[
            ("apps", &["history", "system", "upstream"]),
            ("config", &["apps", "history", "system", "upstream"]),
            ("editors", &["config", "system"]),
            ("history", &["system"]),
            ("lifecycle", &["*"]),
            ("mcp", &["editors", "monitoring", "routing", "system", "upstream"]),
            ("monitoring", &["config", "editors", "history", "routing", "system", "upstream"]),
            ("routing", &["monitoring", "upstream"]),
            (
                "server",
                &[
                    "apps",
                    "config",
                    "editors",
                    "history",
                    "mcp",
                    "monitoring",
                    "routing",
                    "system",
                    "upstream",
                ],
            ),
            ("system", &[]),
            ("upstream", &["apps", "config", "history", "monitoring", "system"]),
        ],
    ),
];

#[test]
fn folders_use_only_the_folders_they_may() {
    for (crate_folder, folders) in FOLDERS {
        let known: BTreeMap<&str, &[&str]> = folders.iter().copied().collect();
        let sources = super::sources::all();
        for source in sources.iter().filter(|source| source.is_in(&[crate_folder])) {
            let Some((folder, _)) = source.path[crate_folder.len()..].split_once('/') else {
                continue;
            };
            let allowed =
                known.get(folder).unwrap_or_else(|| panic!("{folder} is not in the table"));
            for used in used_folders(&source.code()) {
                let is_allowed = used == folder
                    || !known.contains_key(used.as_str())
                    || allowed.iter().any(|name| *name == "*" || *name == used);
                assert!(is_allowed, "{}: {folder} must not use {used}", source.path);
            }
        }
    }
}

/// The first segment of every path that starts with `crate::`, also within braces.
fn used_folders(code: &str) -> BTreeSet<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(name(rest));
            continue;
        };
        let mut depth = 0;
        let mut is_start = true;
        for (at, sign) in group.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => is_start = true,
                sign if is_start && sign.is_alphabetic() && depth == 0 => {
                    found.insert(name(&group[at..]));
                    is_start = false;
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn used_folders_are_found_in_every_form_of_a_path() {
    let code = "use crate::{api::A, config::{B, C}};\nfn f(x: crate::policy::D) {}";
    assert_eq!(Vec::from_iter(used_folders(code)), ["api", "config", "policy"]);
}
