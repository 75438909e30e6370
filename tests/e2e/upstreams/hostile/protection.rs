//! Files that hang their readers, and what other programs of the user can learn of a gateway.

use std::path::Path;
use std::process::Stdio;

use evermoor_core::api::{Status, UpstreamState};
use evermoor_tests::Scene;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::{self, Process, built};
use evermoor_tests::scene::wait::until;
use serde_json::json;

use super::output;

/// A pipe that nobody writes to: reading it hangs.
fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// A device that can be read forever.
fn endless_device(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).unwrap();
}

#[tokio::test]
async fn a_secret_file_that_is_a_pipe_is_refused_and_does_not_keep_the_gateway_from_ending() {
    let scene = Scene::new();
    let secret = scene.path("secret");
    pipe(&secret);
    let entry = entry::at("notes", "http://127.0.0.1:1/mcp");
    let header = format!("headers = {{ X-Key = \"${{file:{}}}\" }}\n", secret.display());
    let mut gateway = scene.gateway_of("", &(entry + &header)).await;
    let upstream = gateway.until_down("notes").await;
    let UpstreamState::Down { failure, .. } = upstream.link else { panic!("it is down") };
    assert!(failure.what.contains("not a regular file"), "{failure}");
    gateway.ask_to_stop().await;
    assert!(gateway.process.ended().await.success());
}

#[tokio::test]
async fn a_configuration_that_is_no_regular_file_is_refused_at_once() {
    let scene = Scene::new();
    let config = scene.path("pipe.toml");
    pipe(&config);
    for path in [config.to_str().unwrap(), "/dev/zero"] {
        let said = output(&scene, &["config", "validate", path]).await;
        assert!(said.contains("it is not a regular file"), "{said}");
    }
}

#[tokio::test]
async fn a_gateway_does_not_start_with_a_configuration_that_is_no_regular_file() {
    let scene = Scene::new();
    let config = scene.home().join("config.toml");
    std::fs::create_dir_all(scene.home()).unwrap();
    for make in [pipe, endless_device] {
        make(&config);
        let said = output(&scene, &["serve"]).await;
        assert!(said.contains("it is not a regular file"), "{said}");
        std::fs::remove_file(&config).unwrap();
    }
}

#[tokio::test]
async fn a_configuration_that_becomes_no_regular_file_is_told_and_the_last_one_stays() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let mut gateway = scene.gateway_of("", &program.entry()).await;
    gateway.until_connected("notes").await;
    let config = scene.home().join("config.toml");
    let before = gateway.config();
    for make in [pipe, endless_device] {
        let made = scene.path("made");
        make(&made);
        std::fs::rename(&made, &config).unwrap();
        let told = |status: &Status| {
            status.warnings.iter().any(|one| one.what.contains("it is not a regular file"))
        };
        gateway.until_status(told).await;
        gateway.until_connected("notes").await;
        std::fs::write(&made, &before).unwrap();
        std::fs::rename(&made, &config).unwrap();
        gateway.until_status(|status| status.warnings.is_empty()).await;
    }
    pipe(&scene.path("made"));
    std::fs::rename(scene.path("made"), &config).unwrap();
    gateway.ask_to_stop().await;
    assert!(gateway.process.ended().await.success());
}

#[tokio::test]
async fn the_log_warns_about_a_secret_file_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    const WARNING: &str = "others can read a secret file";
    for (mode, warns) in [(0o644, true), (0o600, false)] {
        let scene = Scene::new();
        let secret = scene.path("secret");
        std::fs::write(&secret, "a secret of a file").unwrap();
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(mode)).unwrap();
        let program = Program::new("notes", scene.path("notes.ledger"), &[]);
        let variable = format!("env = {{ TOKEN = \"${{file:{}}}\" }}\n", secret.display());
        let gateway = scene.gateway_of("", &(program.entry() + &variable)).await;
        gateway.until_connected("notes").await;
        let log = scene.home().join("logs/gateway.log");
        // The secret is read before the server starts.
        until("the connection is logged", || {
            std::fs::read_to_string(&log).is_ok_and(|log| log.contains("upstream connected"))
        })
        .await;
        let log = std::fs::read_to_string(&log).unwrap();
        assert_eq!(log.contains(WARNING), warns, "{log}");
        assert!(!log.contains("a secret of a file"), "{log}");
    }
}

#[tokio::test]
async fn a_secret_in_the_environment_is_used_and_removed_from_it() {
    const SECRET: &str = "a secret of the environment";
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let secret = "env = { TOKEN = \"${env:SCENE_KEY}\" }\n";
    scene.write("", &(program.entry() + secret));
    let gateway = Gateway::start_among(&scene.home(), &[("SCENE_KEY", SECRET)]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let result = editor.call("variables", &json!({})).await;
    let names: Vec<&str> = result["content"][0]["text"].as_str().unwrap().split(' ').collect();
    assert!(names.contains(&"TOKEN") && !names.contains(&"SCENE_KEY"), "{names:?}");
    match std::fs::read(format!("/proc/{}/environ", gateway.process.pid())) {
        Ok(environment) => {
            let environment = String::from_utf8_lossy(&environment);
            assert!(environment.contains("HOME="), "the rest is still there");
            assert!(!environment.contains(SECRET), "{environment}");
        }
        // Only root may look into a protected process.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
}

/// A user without privileges, whose gateways other programs of that user cannot look into.
const NOBODY: u32 = 65_534;

/// `evermoor serve`, run by a normal user, even if root runs the test. The build folder may be in a home folder
/// that this user cannot read, so the program is copied.
fn serve_as_normal_user(home: &Path, command: &mut tokio::process::Command) {
    let program = home.with_file_name("evermoor");
    std::fs::copy(built("evermoor"), &program).unwrap();
    let variables: Vec<_> = command
        .as_std()
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    let mut copy = programs::command(&program);
    for (name, value) in variables {
        match value {
            Some(value) => copy.env(name, value),
            None => copy.env_remove(name),
        };
    }
    copy.stdout(Stdio::piped()).kill_on_drop(true);
    *command = copy;
    command.arg("serve").arg("--home").arg(home);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// A scene whose folder a normal user may write to.
fn scene_of_normal_user(settings: &str) -> Scene {
    let scene = Scene::new();
    scene.write(settings, "");
    std::fs::create_dir_all(scene.path("person")).unwrap();
    if rustix::process::geteuid().is_root() {
        let home = scene.home();
        let folders = [home.parent().unwrap().to_owned(), scene.path("person"), home.clone()];
        for path in folders.into_iter().chain([home.join("config.toml")]) {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    scene
}

/// What a second gateway of that user says when the first one has its port.
async fn refused_port(first: &Gateway) -> String {
    let address = first.origin.trim_start_matches("http://");
    let scene = scene_of_normal_user("");
    let config = scene.home().join("config.toml");
    std::fs::write(&config, format!("[gateway]\nlisten = \"{address}\"\n")).unwrap();
    let mut second = programs::evermoor(&scene.home());
    serve_as_normal_user(&scene.home(), &mut second);
    let done = second.output().await.unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let said = said.lines().find(|line| line.contains(" is used by "));
    said.unwrap_or_else(|| panic!("the port is taken: {done:?}")).to_owned()
}

async fn gateway_of_normal_user(scene: &Scene) -> Gateway {
    let home = scene.home();
    let process = Process::evermoor(&home, |command| serve_as_normal_user(&home, command));
    Gateway::started(process, &home).await
}

#[tokio::test]
async fn a_normal_user_learns_which_protected_gateway_has_the_port_unless_several_could_have_it() {
    let scene = scene_of_normal_user("");
    let first = gateway_of_normal_user(&scene).await;
    let said = refused_port(&first).await;
    let named = format!("is used by \"evermoor\" (process {})", first.process.pid());
    // Without root, the gateways of other tests belong to the same user.
    let several = !rustix::process::geteuid().is_root() && said.contains("by another program");
    assert!(said.contains(&named) || several, "{said}, not process {}", first.process.pid());

    let other = scene_of_normal_user("");
    let _other = gateway_of_normal_user(&other).await;
    let said = refused_port(&first).await;
    assert!(said.contains("is used by another program"), "{said}");
}
