//! The number of tools that each editor is shown, wherever it is displayed.

use std::process::Output;

use evermoor_core::api::VisibleCounts;
use evermoor_tests::scene::programs;

use super::*;

async fn evermoor(library: &Library, arguments: &[&str]) -> String {
    let mut command = programs::evermoor(&library.scene.home());
    let Output { status, stdout, stderr } = command.args(arguments).output().await.unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

#[tokio::test]
async fn what_each_editor_is_shown_is_counted_everywhere() {
    let of_notes = "tools.allow = [\"record\"]\nresources.deny = [\"*\"]";
    let editors = "[editors.zed]\nupstreams.allow = [\"notes\"]\nprompts.deny = [\"*\"]\n";
    let library = Library::open(of_notes, editors).await;
    library.gateway.add_editor("zed").await;
    let status = library.gateway.until_status(|status| status.editors.len() == 2).await;
    let shown = |name: &str| {
        status.editors.iter().find(|editor| editor.name == name).and_then(|editor| editor.shown)
    };
    assert_eq!(shown("local"), Some(VisibleCounts { tools: 5, prompts: 8, resources: 4 }));
    assert_eq!(shown("zed"), Some(VisibleCounts { tools: 1, prompts: 0, resources: 0 }));
    let (files, notes) = (&status.upstreams[0], &status.upstreams[1]);
    assert_eq!((files.tools, files.hidden), (4, 0));
    assert_eq!((notes.tools, notes.hidden), (4, 3));
    let listed = library.gateway.control(Method::GET, "/api/editors").await;
    assert_eq!(listed[1]["shown"], json!({ "tools": 1, "prompts": 0, "resources": 0 }));

    let said = evermoor(&library, &["tokens"]).await;
    assert!(said.contains("sees 5 tools, 8 prompts, 4 resources"), "{said}");
    let zed = said.lines().find(|line| line.starts_with("zed")).unwrap();
    assert!(zed.ends_with("sees 1 tool"), "{said}");
    let said = evermoor(&library, &["status"]).await;
    assert!(said.contains("1 of 4 tools shown"), "{said}");
    assert!(said.contains("Editors   local   sees 5 tools"), "{said}");
    assert!(said.contains("          zed     sees 1 tool\n"), "{said}");
}

#[tokio::test]
async fn a_hint_names_an_editor_that_is_shown_more_tools_than_it_can_use() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    upstream.kill().await;
    let names: Vec<String> = (0..37).map(|number| format!("tool_{number}")).collect();
    upstream.start_again_with(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let hints = async |name: &str| {
        gateway.add_editor(name).await;
        let status = gateway
            .until_status(|status| status.editors.iter().any(|editor| editor.name == name))
            .await;
        status.editors.into_iter().find(|editor| editor.name == name).unwrap().hint
    };
    assert_eq!(hints("zed").await, None);
    assert_eq!(
        hints("cursor").await.unwrap(),
        "Cursor uses at most 40 tools. To show fewer, add lists under [editors.cursor] in config.toml."
    );
}
