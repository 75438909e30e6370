//! The sources of the workspace, and the part of them that is shipped.

use std::path::{Path, PathBuf};

/// A Rust file.
pub(super) struct Source {
    /// Relative to the workspace root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
    /// Whether it is compiled for tests only.
    is_test: bool,
}

impl Source {
    /// Everything before the tests at the end of the file.
    pub(super) fn before_tests(&self) -> &str {
        let is_inline = |at: &usize| {
            let declaration = self.text[at + 1..].lines().nth(1).unwrap_or_default();
            declaration.starts_with("mod ") && declaration.ends_with('{')
        };
        let starts = ["\n#[cfg(test)]", "\n#[cfg(all(test,"];
        let tests = starts.iter().flat_map(|start| self.text.match_indices(start));
        let end = tests.map(|(at, _)| at).filter(is_inline).min();
        &self.text[..end.unwrap_or(self.text.len())]
    }

    /// The shipped part; empty if the whole file is a test.
    pub(super) fn shipped(&self) -> &str {
        if self.is_test { "" } else { self.before_tests() }
    }

    /// The shipped part without comment lines.
    pub(super) fn code(&self) -> String {
        let lines = self.shipped().lines();
        lines.filter(|line| !is_comment(line)).flat_map(|line| [line, "\n"]).collect()
    }

    /// Whether it is in one of these folders, or is one of these files.
    pub(super) fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every Rust file in the workspace.
pub(super) fn all() -> Vec<Source> {
    let mut sources = Vec::new();
    for folder in ["crates", "src-tauri", "tests/src", "tests/e2e"] {
        for path in files(&root().join(folder), "rs") {
            let text = read(&path);
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            let is_test = path.starts_with("tests/");
            sources.push(Source { path, text, is_test });
        }
    }
    let for_tests: Vec<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        source.is_test |= for_tests.iter().any(|module| {
            let rest = source.path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
    }
    sources
}

/// The files in a folder whose names have this ending.
pub(super) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
    found
}

pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The identifiers and keywords in a piece of code.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|sign: char| !sign.is_alphanumeric() && sign != '_').filter(|word| !word.is_empty())
}

/// The modules that a file declares for tests only, as paths without an extension.
fn test_modules(source: &Source) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap();
    let stem = name.trim_end_matches(".rs");
    let home = match ["mod", "lib", "main"].contains(&stem) {
        true => folder.to_owned(),
        false => format!("{folder}/{stem}"),
    };
    let after_cfg = source.text.split("#[cfg(test)]\n").skip(1);
    let after_cfg = after_cfg.chain(source.text.split("#[cfg(all(test, unix))]\n").skip(1));
    let declared = after_cfg.filter_map(|rest| rest.lines().next()?.trim().strip_suffix(';'));
    let modules = declared.filter_map(|line| line.split_once("mod ").map(|(_, name)| name));
    modules.map(|name| format!("{home}/{name}")).collect()
}
