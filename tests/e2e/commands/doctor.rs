//! `evermoor doctor`: on a healthy machine, on one with problems, and after repairs.

use evermoor_core::api::Check;
use evermoor_tests::Scene;
use http::Method;
use serde_json::Value;

use super::{evermoor, evermoor_among, json, text};

fn check(data: &Value, id: &str) -> Check {
    let checks: Vec<Check> = serde_json::from_value(data["checks"].clone()).unwrap();
    checks.into_iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no {id}: {data}"))
}

#[tokio::test]
async fn on_a_healthy_machine_everything_is_in_order() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let looked = evermoor_among(&scene.home(), &["doctor"], &[("PATH", "")]).await;
    let said = text(&looked.stdout);
    assert_eq!(looked.status.code(), Some(0), "{said}");
    for line in ["✓ Gateway", "✓ Version", "✓ Endpoint", "✓ Configuration", "✓ Tokens", "✓ notes"]
    {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(said.contains("answered in"), "{said}");
    assert!(said.trim_end().ends_with(", no problems."), "{said}");
}

#[tokio::test]
async fn an_unreachable_upstream_is_reported_with_the_failing_step_and_what_to_do() {
    let scene = Scene::new();
    let (gateway, _upstream) = scene.gateway_in_outage("notes").await;
    let looked = evermoor(&scene.home(), &["doctor"]).await;
    let said = text(&looked.stdout);
    assert_eq!(looked.status.code(), Some(4), "{said}");
    assert!(said.contains("✗ notes"), "{said}");
    assert!(said.contains("not reached. Connection refused"), "{said}");
    assert!(said.contains("→ Start the server"), "{said}");
    let inside = gateway.control(Method::GET, "/api/doctor").await;
    assert!(check(&inside, "upstream.notes").fixable);
    let fixed = gateway.control(Method::POST, "/api/doctor/upstream.notes/fix").await;
    assert_eq!(fixed["what"], "Reconnecting to notes.");
}

#[tokio::test]
async fn without_a_gateway_the_doctor_checks_by_itself_and_starts_one() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let looked = evermoor(&scene.home(), &["doctor", "--json"]).await;
    assert_eq!(looked.status.code(), Some(3));
    let data = json(&looked);
    assert!(check(&data, "gateway").is_bad());
    assert!(!check(&data, "config").is_bad());
    let fixed = evermoor(&scene.home(), &["doctor", "--fix", "--json"]).await;
    let data = json(&fixed);
    assert!(!check(&data, "gateway").is_bad(), "{data}");
    assert_eq!(data["fixed"][0]["id"], "gateway");
    assert_eq!(evermoor(&scene.home(), &["stop"]).await.status.code(), Some(0));
}

#[tokio::test]
async fn a_port_in_use_and_a_configuration_error_are_reported() {
    let scene = Scene::new();
    let squatter = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = squatter.local_addr().unwrap();
    scene.configure(&format!("listen = \"{address}\""), &[]);
    let data = json(&evermoor(&scene.home(), &["doctor", "--json"]).await);
    let port = check(&data, "port");
    assert!(port.is_bad() && port.detail.contains(&address.port().to_string()), "{port:?}");
    scene.configure("hold = \"soon\"", &[]);
    let data = json(&evermoor(&scene.home(), &["doctor", "--json"]).await);
    assert!(check(&data, "config").detail.contains("line 3"), "{data}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_doctor_makes_files_private_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (tokens, data) = (scene.home().join("data/tokens.json"), scene.home().join("data"));
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    open(&tokens, 0o644);
    open(&data, 0o755);
    let found = gateway.control(Method::GET, "/api/doctor").await;
    assert!(check(&found, "tokens").is_bad() && check(&found, "folders").is_bad(), "{found}");
    let fixed = json(&evermoor(&scene.home(), &["doctor", "--fix", "--json"]).await);
    assert!(!check(&fixed, "tokens").is_bad() && !check(&fixed, "folders").is_bad(), "{fixed}");
    assert_eq!((mode(&tokens) & 0o777, mode(&data) & 0o777), (0o600, 0o700));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_tray_of_another_evermoor_is_not_counted() {
    use evermoor_platform::fs::private::write_private;
    use evermoor_platform::paths::Paths;
    use evermoor_tests::scene::programs::Process;
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    // It has the name of a tray, and runs until the test ends.
    let program = scene.path("evermoor-tray");
    std::fs::copy("/bin/cat", &program).unwrap();
    let tray = Process::start(&program, |command| {
        command.stdin(std::process::Stdio::piped());
    });
    let data = json(&evermoor(&scene.home(), &["doctor", "--json"]).await);
    assert!(check(&data, "tray").detail.starts_with("Not running."), "{data}");
    let paths = Paths::find(Some(scene.home())).unwrap();
    let pid = tray.pid().to_string();
    write_private(&paths.listener_holder_pid_file(), pid.as_bytes()).unwrap();
    let data = json(&evermoor(&scene.home(), &["doctor", "--json"]).await);
    assert_eq!(check(&data, "tray").detail, format!("Running (process {}).", tray.pid()));
}
