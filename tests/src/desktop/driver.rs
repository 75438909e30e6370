//! Drives the window of an application through WebDriver.

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{Desktop, DesktopProgram, PATIENCE};
use crate::gateway::http;
use crate::peers::free_port;

/// An application with a window, closed on drop.
pub struct Driver {
    session: String,
    http: reqwest::Client,
    _driver: DesktopProgram,
}

impl Desktop {
    /// Starts a program that opens a window, and connects to the window.
    pub async fn drive(
        &self,
        program: &Path,
        arguments: &[&str],
        variables: &[(&str, std::path::PathBuf)],
    ) -> Driver {
        let port = free_port();
        let automated = [("TAURI_WEBVIEW_AUTOMATION", "true".into())];
        let variables = automated.into_iter().chain(variables.iter().cloned());
        let option = format!("--port={port}");
        let driver = self.launch(Path::new("WebKitWebDriver"), [option.as_str()], variables);
        let (http, origin) = (http(), format!("http://127.0.0.1:{port}"));
        let ready = async {
            while http.get(format!("{origin}/status")).send().await.is_err() {
                sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, ready).await.expect("the driver answers");
        let options = json!({ "binary": program, "args": arguments });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let begun = post(&http, &format!("{origin}/session"), &wanted).await;
        let id = begun["sessionId"].as_str().expect("a session has an id");
        Driver { session: format!("{origin}/session/{id}"), http, _driver: driver }
    }
}

impl Driver {
    /// The result of a script in the page; promises are awaited.
    pub async fn answer(&self, script: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\
             (async () => {{ {script} }})().then(done, (error) => done({{ refused: error?.what ?? String(error) }}))"
        );
        let order = json!({ "script": script, "args": [] });
        post(&self.http, &format!("{}/execute/async", self.session), &order).await
    }

    /// Waits until a script in the page returns true.
    pub async fn until(&self, script: &str) {
        let seen = async {
            while self.answer(script).await != json!(true) {
                sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, seen).await.unwrap_or_else(|_| panic!("not seen in time: {script}"));
    }
}

async fn post(http: &reqwest::Client, url: &str, body: &Value) -> Value {
    let answer = http.post(url).body(body.to_string()).send();
    let answer = timeout(PATIENCE, answer).await.expect("the driver answers in time");
    let text = answer.expect("the driver answers").text().await.expect("it says something");
    let reply: Value = serde_json::from_str(&text).expect("it speaks JSON");
    assert!(reply["value"]["error"].is_null(), "{url}: {text}");
    reply["value"].clone()
}
