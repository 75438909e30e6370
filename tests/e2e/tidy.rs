//! The rules of the architecture, as tests that fail when they are broken.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn dependencies(package: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&text).unwrap();
    let mut tables: Vec<&toml::Table> =
        manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().collect();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(toml::Table::values) {
        tables.extend(target.get("dependencies").and_then(toml::Value::as_table));
    }
    tables.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "src-tauri/src", "tests/src", "tests/e2e"] {
        sources(&root().join(folder), &mut found);
    }
    found
}

/// The part of a file that is shipped: everything before its tests.
fn shipped(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let tests = text.find("\n#[cfg(test)]\nmod tests").or_else(|| text.find("\n#[cfg(all(test,"));
    text[..tests.unwrap_or(text.len())].to_owned()
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
    for (package, allowed) in allowed {
        let ours = dependencies(package).into_iter().filter(|name| name.starts_with("evermoor"));
        for dependency in ours {
            assert!(allowed.contains(&dependency.as_str()), "{package} must not know {dependency}");
        }
    }
}

#[test]
fn the_core_does_no_io_and_the_gateway_has_no_window() {
    for banned in ["tokio", "reqwest", "hyper", "axum", "rustix", "windows-sys", "getrandom"] {
        assert!(
            !dependencies("crates/core").contains(&banned.to_owned()),
            "the core must not know {banned}"
        );
    }
    for package in ["crates/cli", "crates/gateway", "crates/client"] {
        let window = dependencies(package).into_iter().find(|name| name.starts_with("tauri"));
        assert_eq!(window, None, "{package} has no window");
    }
}

#[test]
fn systems_differ_in_the_platform_crate_and_at_the_edge_of_the_tray_only() {
    let at_home = |path: &Path| {
        let path = path.to_string_lossy().replace('\\', "/");
        ["crates/platform/", "src-tauri/src/system/", "src-tauri/src/main.rs", "tests/"]
            .iter()
            .any(|home| path.contains(home))
    };
    for path in all_sources().iter().filter(|path| !at_home(path)) {
        let text = shipped(path);
        for word in ["cfg(target_os", "cfg(unix", "cfg(windows", "unsafe {"] {
            assert!(!text.contains(word), "{} belongs in crates/platform: {word}", path.display());
        }
    }
}

#[test]
fn no_file_becomes_a_drawer() {
    for path in all_sources() {
        let lines = shipped(&path).lines().count();
        assert!(lines <= 300, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for path in all_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
    }
}
