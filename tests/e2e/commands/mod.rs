//! The command line, through the real binary.
//!
//! - [`lifecycle`], [`settings`], [`entries`]: the gateway, its service and its configuration
//! - [`doctor`], [`logs`], [`archive`]: finding and reporting problems
//! - [`editors`]: `evermoor setup`
//! - [`secrets`]: the keychain and importing servers
//! - [`layout`], [`documents`]: what the output looks like

mod archive;
mod doctor;
mod documents;
pub(crate) mod editors;
mod entries;
mod layout;
mod lifecycle;
mod logs;
#[cfg(not(target_os = "macos"))]
pub(crate) mod secrets;
mod settings;

use std::path::Path;
use std::process::Output;

use evermoor_tests::Scene;
use evermoor_tests::scene::programs;
use serde_json::Value;

async fn evermoor(home: &Path, arguments: &[&str]) -> Output {
    evermoor_among(home, arguments, &[]).await
}

/// The same with these environment variables.
async fn evermoor_among(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = programs::evermoor(home);
    command.args(arguments).envs(variables.iter().copied()).output().await.unwrap()
}

/// The JSON that a command printed, with its format version checked.
fn json(output: &Output) -> Value {
    let data: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data["schema"], 1, "{data}");
    data
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn with_nothing_configured_a_newcomer_can_make_a_call() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let called = evermoor(&scene.home(), &["call", "demo__add", "a=1", "b=2"]).await;
    assert_eq!((called.status.code(), text(&called.stdout).as_str()), (Some(0), "3\n"));
    let listed = evermoor(&scene.home(), &["tools"]).await;
    assert!(text(&listed.stdout).starts_with("demo__echo    Returns the text.\n"));
}

#[tokio::test]
async fn status_reports_in_text_json_and_exit_code() {
    let scene = Scene::new();
    let absent = evermoor(&scene.home(), &["status"]).await;
    assert_eq!(absent.status.code(), Some(3));
    assert!(text(&absent.stderr).contains("Run `evermoor start`"));
    let data = json(&evermoor(&scene.home(), &["status", "--json"]).await);
    assert_eq!(data["error"]["code"], "not_running");

    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let healthy = evermoor(&scene.home(), &["--json", "status"]).await;
    let data: Value = serde_json::from_slice(&healthy.stdout).unwrap();
    assert_eq!(
        (healthy.status.code(), &data["schema"], &data["overall"]),
        (Some(0), &1.into(), &"healthy".into())
    );

    upstream.kill().await;
    gateway.until_down("notes").await;
    let degraded = evermoor(&scene.home(), &["status"]).await;
    assert_eq!(degraded.status.code(), Some(4));
    let said = text(&degraded.stdout);
    assert!(said.starts_with("notes is not running\n"), "{said}");
    assert!(said.contains("Start the server; Evermoor reconnects automatically."), "{said}");
}

#[tokio::test]
async fn a_second_gateway_says_that_one_is_running_and_exits_successfully() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let second = evermoor(&scene.home(), &["serve"]).await;
    assert_eq!(second.status.code(), Some(0));
    let wanted = format!("Evermoor is already running at {}/mcp.\n", gateway.origin);
    assert_eq!(text(&second.stdout), wanted);
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_reported_with_line_and_remedy() {
    let scene = Scene::new();
    scene.configure("hold = \"soon\"", &[]);
    let refused = evermoor(&scene.home(), &["serve"]).await;
    assert_eq!(refused.status.code(), Some(78));
    let said = text(&refused.stderr);
    assert!(said.contains("config.toml, line 3: `soon` is not a duration."), "{said}");
    assert!(said.contains("Write a number of seconds"), "{said}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_reported_with_the_process_that_has_it() {
    let scene = Scene::new();
    let squatter = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = squatter.local_addr().unwrap();
    scene.configure(&format!("listen = \"{address}\""), &[]);
    let refused = evermoor(&scene.home(), &["serve"]).await;
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said.contains(&format!("Port {} is used by", address.port())), "{said}");
    #[cfg(target_os = "linux")]
    assert!(said.contains(&format!("(process {})", std::process::id())), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_token_file_that_others_can_read_stops_the_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let mut gateway = scene.gateway(&[]).await;
    gateway.process.kill().await;
    let tokens = scene.home().join("data/tokens.json");
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = evermoor(&scene.home(), &["serve"]).await;
    assert_eq!(refused.status.code(), Some(78));
    assert!(text(&refused.stderr).contains("chmod 600"), "{}", text(&refused.stderr));
}

#[tokio::test]
async fn a_mistyped_command_is_a_usage_error() {
    let scene = Scene::new();
    let mistyped = evermoor(&scene.home(), &["statsu"]).await;
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(text(&mistyped.stderr).contains("status"), "{}", text(&mistyped.stderr));
}

#[tokio::test]
async fn the_demonstration_runs_to_its_end() {
    let scene = Scene::new();
    let demo = evermoor(&scene.home(), &["demo"]).await;
    let said = text(&demo.stdout);
    assert_eq!(demo.status.code(), Some(0), "{said}{}", text(&demo.stderr));
    assert!(said.contains("Outcome unknown: \"wait\""), "{said}");
    assert!(
        said.ends_with(
            "No call was lost, none ran twice, and the editor never had to reconnect.\n"
        )
    );
    documents::assert_the_readme_shows_a_part_of(&said);
}
