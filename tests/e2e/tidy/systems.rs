//! System-specific and unsafe code is only where it belongs.

use super::dependencies::manifest;
use super::sources::{self, Source, root, words};

const HOMES: [&str; 3] = ["crates/platform/", "src-tauri/src/system/", "tests/"];

#[test]
fn systems_differ_in_the_platform_crate_and_at_the_edge_of_the_tray_only() {
    for source in sources::all().iter().filter(|source| !source.is_in(&HOMES)) {
        let code = source.code();
        for condition in conditions(&code) {
            assert!(!is_about_the_target(condition), "{}: cfg({condition})", source.path);
        }
        for word in ["cfg_if!", "cfg_select!"] {
            assert!(!code.contains(word), "{} belongs in crates/platform: {word}", source.path);
        }
    }
    for package in ["core", "log", "setup", "client", "gateway", "cli"] {
        let package = format!("crates/{package}");
        assert!(!manifest(&package).contains_key("target"), "{package} depends on the system");
    }
}

#[test]
fn unsafe_code_is_in_the_platform_crate_and_at_the_edge_of_the_tray_only() {
    let elsewhere = |source: &&Source| !source.is_in(&HOMES);
    for source in sources::all().iter().filter(elsewhere) {
        let code = source.code();
        let found = words(&code).find(|word| ["unsafe", "unsafe_code"].contains(word));
        assert_eq!(found, None, "{} belongs in crates/platform", source.path);
    }
}

#[test]
fn every_way_to_ask_for_a_system_is_found() {
    for asked in [
        "#[cfg(unix)]",
        "#[cfg(not(windows))]",
        "#[cfg(any(target_os = \"linux\", test))]",
        "#[cfg(all(feature = \"a\", target_env = \"musl\"))]",
        "if cfg!(target_family = \"unix\") {}",
        "#![cfg_attr(\n    not(target_os = \"linux\"),\n    allow(dead_code)\n)]",
        "#[cfg_attr(windows, path = \"w.rs\")]",
    ] {
        assert!(conditions(asked).into_iter().any(is_about_the_target), "{asked}");
    }
    for other in [
        "#[cfg(test)]",
        "cfg!(debug_assertions)",
        "#[cfg_attr(not(debug_assertions), windows_subsystem = \"windows\")]",
        "#[cfg_attr(test, derive(TS))]",
    ] {
        assert!(!conditions(other).into_iter().any(is_about_the_target), "{other}");
    }
    assert!(root().join(HOMES[0]).is_dir() && root().join(HOMES[1]).is_dir());
}

/// The conditions of every `cfg(…)`, `cfg!(…)` and `cfg_attr(…, …)`.
fn conditions(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for form in ["cfg(", "cfg!(", "cfg_attr("] {
        for (at, _) in code.match_indices(form) {
            let inside = &code[at + form.len()..];
            let ends: &[char] = if form == "cfg_attr(" { &[',', ')'] } else { &[')'] };
            found.push(&inside[..end(inside, ends)]);
        }
    }
    found
}

/// The first of these characters outside of parentheses.
fn end(code: &str, ends: &[char]) -> usize {
    let mut depth = 0;
    for (at, sign) in code.char_indices() {
        match sign {
            sign if depth == 0 && ends.contains(&sign) => return at,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

fn is_about_the_target(condition: &str) -> bool {
    words(condition).any(|word| word.starts_with("target_") || ["unix", "windows"].contains(&word))
}
