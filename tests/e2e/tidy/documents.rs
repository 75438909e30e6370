//! The documents: their links work, and they stay short.

use super::sources::{self, is_comment, root};
use std::path::PathBuf;

/// The folders at the top of the repository that comments and documents refer to.
const TOPS: [&str; 9] =
    ["crates", "docs", "fuzz", "icons", "presets", "scripts", "src-tauri", "tests", "ui"];

/// Every document that a reader may open.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [".", "docs", "docs/adr"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().flatten();
        let files = entries.map(|entry| entry.path());
        found.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// What a document links to: other documents, sections and images, but no other sites.
fn links(text: &str) -> Vec<String> {
    let ends = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')];
    let found = ends.iter().flat_map(|(start, end)| {
        text.split(start).skip(1).filter_map(|rest| rest.split_once(*end)).map(|(link, _)| link)
    });
    found.filter(|link| !link.contains("://")).map(str::to_owned).collect()
}

/// The anchors of a document's headings.
fn sections(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    };
    headings
        .map(|line| line.trim_start_matches('#').trim().chars().filter_map(kept).collect())
        .collect()
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let (path, section) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => document.clone(),
                _ => document.parent().unwrap().join(path),
            };
            assert!(target.exists(), "{}: {link}", document.display());
            if !section.is_empty() {
                let sections = sections(&std::fs::read_to_string(&target).unwrap());
                assert!(
                    sections.iter().any(|known| known == section),
                    "{}: {link}",
                    document.display()
                );
            }
        }
    }
}

/// The paths from the top of the repository in a text. A path with a placeholder is not one of them.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |sign: char| sign.is_alphanumeric() || "/_-.<>*{}$~".contains(sign);
    let words = text.split(move |sign: char| !is_part(sign));
    let words = words.map(|word| word.trim_end_matches(['.', '/']));
    words.filter(|word| {
        word.split_once('/').is_some_and(|(top, _)| TOPS.contains(&top))
            && !word.contains(['<', '>', '*', '{', '}', '$', '~'])
    })
}

#[test]
fn every_path_in_a_comment_or_a_document_for_engineers_exists() {
    let mut texts: Vec<(String, String)> = Vec::new();
    for source in sources::all() {
        let comments: Vec<_> = source.text.lines().filter(|line| is_comment(line)).collect();
        texts.push((source.path.clone(), comments.join("\n")));
    }
    // The pages of docs/ are about the files of users.
    for document in documents().into_iter().filter(|path| !path.parent().unwrap().ends_with("docs"))
    {
        let text = std::fs::read_to_string(&document).unwrap();
        texts.push((document.display().to_string(), text));
    }
    let mut count = 0;
    for (place, text) in &texts {
        for path in named_paths(text) {
            let exists = root().join(path).exists() || root().join(format!("{path}.rs")).exists();
            assert!(exists, "{place} names {path}");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn paths_are_found_in_a_text() {
    let text =
        "See `ui/src/a.ts`, (crates/b/src/). Not presets/NAME/{name}.toml, a/docs/c, or ui alone.";
    assert_eq!(named_paths(text).collect::<Vec<_>>(), ["ui/src/a.ts", "crates/b/src"]);
}

#[test]
fn the_main_documents_stay_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap().replace("\r\n", "\n");
    assert!(readme.len() <= 8 * 1024, "README.md has {} bytes: move details to docs", readme.len());
    for command in ["npm start", "npm test"] {
        assert!(readme.contains(&format!("\n{command}\n")), "README.md does not show `{command}`");
    }
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let length = architecture.replace("\r\n", "\n").len();
    assert!(length <= 16 * 1024, "ARCHITECTURE.md has {length} bytes: leave details to the code");
    let glossary = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let lines = glossary.lines().count();
    assert!(lines <= 40, "docs/glossary.md has {lines} lines");
}
