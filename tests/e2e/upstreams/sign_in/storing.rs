//! Where tokens are, and where they are not.

use std::path::Path;

use http::Method;
use serde_json::{Value, json};

use super::Signed;

/// Every text in a JSON value.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The files in a folder that contain one of these texts.
pub(super) fn files_with(folder: &Path, needles: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, needles));
        } else if let Ok(content) = std::fs::read(&path) {
            let text = String::from_utf8_lossy(&content);
            if needles.iter().any(|needle| text.contains(needle.as_str())) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn tokens_are_in_one_file_of_the_owner_and_nowhere_else() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    let secrets = |scene: &evermoor_tests::Scene| {
        let kept = std::fs::read_to_string(scene.path("sign-ins.json")).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let grant = kept.as_object().unwrap().values().next().unwrap().clone();
        let tokens = &grant["credentials"]["token_response"];
        let mut found = Vec::new();
        for name in ["access_token", "refresh_token"] {
            texts(&tokens[name], &mut found);
        }
        assert_eq!(found.len(), 2, "{kept}");
        found
    };
    let mut all = secrets(&signed.scene);
    signed.server.expire().await;
    editor.call("record", &json!({ "nonce": "renewed" })).await;
    all.extend(secrets(&signed.scene));
    all.dedup();
    assert_eq!(all.len(), 4, "both tokens were replaced");
    assert_eq!(files_with(&signed.scene.home(), &all), [""; 0]);
    for path in ["/api/status", "/api/settings", "/api/logs", "/api/incidents?since=0"] {
        let answer = signed.gateway.control(Method::GET, path).await.to_string();
        assert!(!all.iter().any(|secret| answer.contains(secret.as_str())), "{path}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let kept = std::fs::metadata(signed.scene.path("sign-ins.json")).unwrap();
        assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    }
}
