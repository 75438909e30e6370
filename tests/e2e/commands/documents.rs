//! The terminal output in README.md and docs/ is what the commands print.

use std::path::Path;

use evermoor_tests::Scene;

use super::{evermoor, text};

/// The code blocks of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(page);
    let page = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let start = format!("```{language}\n");
    let blocks = page.split(&start).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn terminal_output_in_the_documents_matches_the_commands() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    for page in ["README.md", "docs/getting-started.md"] {
        let consoles = blocks(page, "console");
        assert!(!consoles.is_empty(), "{page}");
        for typed in consoles.iter().flat_map(|console| console.split("$ evermoor ").skip(1)) {
            let (arguments, shown) = typed.split_once('\n').unwrap();
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            let printed = evermoor(&scene.home(), &arguments).await;
            assert_eq!(text(&printed.stdout), shown, "{page}: {arguments:?}");
        }
    }
}

/// The demonstration takes half a minute, so its only test also checks this.
pub(super) fn assert_the_readme_shows_a_part_of(demonstration: &str) {
    let shown = blocks("README.md", "text").remove(0);
    let (shown, played) = (without_figures(&shown), without_figures(demonstration));
    assert!(played.contains(&shown), "README.md shows:\n{shown}\nIt is:\n{played}");
}

/// The text without what differs between runs: numbers, units and spaces.
fn without_figures(text: &str) -> String {
    let word = |word: &str| match word {
        "s" | "ms" => None,
        _ if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => None,
        _ => Some(word.to_owned()),
    };
    let line = |line: &str| {
        let words = line.split([' ', ',', ':']).filter(|word| !word.is_empty()).filter_map(word);
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
