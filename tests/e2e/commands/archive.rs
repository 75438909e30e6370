//! Archives for bug reports, and uninstalling.

use evermoor_tests::Scene;

use super::{evermoor, json, text};

#[cfg(unix)]
#[tokio::test]
async fn an_archive_for_a_bug_report_has_everything_but_secrets() {
    const CANARY: &str = "canary-secret-of-mine";
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let (notes, file) =
        (evermoor_tests::scene::entry::at("notes", &upstream.url), scene.path("report.tar.gz"));
    let program = format!(
        "\n[upstreams.files]\nenabled = false\ncommand = \"npx\"\nargs = [\"--token\", \"{CANARY}\"]\nenv = {{ ANY = \"{CANARY}\" }}\n"
    );
    let gateway = scene.gateway_of("", &(notes + &program)).await;
    gateway.until_connected("notes").await;
    let output = file.to_string_lossy();
    let made = evermoor(&scene.home(), &["diagnostics", "-o", &output, "--json"]).await;
    let contains = json(&made)["contains"].to_string();
    for page in ["versions.json", "doctor.json", "config.toml", "gateway.log", "status.json"] {
        assert!(contains.contains(page), "{contains}");
    }
    let unpacked = scene.path("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let mut tar = evermoor_tests::scene::programs::command("tar");
    tar.arg("xzf").arg(&file).arg("-C").arg(&unpacked);
    assert!(tar.status().await.unwrap().success());
    let read = |name: &str| {
        std::fs::read_to_string(unpacked.join("evermoor-diagnostics").join(name)).unwrap()
    };
    let config = read("config.toml");
    assert!(config.contains("[upstreams.files]") && config.contains("ANY"), "{config}");
    for page in ["versions.json", "doctor.json", "config.toml", "gateway.log", "status.json"] {
        assert!(!read(page).contains(CANARY), "{page}: {}", read(page));
        assert!(!read(page).contains(&gateway.token()), "{page}");
        assert!(!read(page).contains(&gateway.control_token), "{page}");
    }
    let again = evermoor(&scene.home(), &["diagnostics", "-o", &output]).await;
    assert_eq!(again.status.code(), Some(1), "nothing is overwritten");
}

#[tokio::test]
async fn uninstalling_asks_first_undoes_everything_and_says_what_it_did() {
    let scene = Scene::new();
    scene.configure("", &[]);
    assert_eq!(evermoor(&scene.home(), &["start"]).await.status.code(), Some(0));
    let asked = evermoor(&scene.home(), &["uninstall"]).await;
    assert_eq!(asked.status.code(), Some(2));
    assert!(text(&asked.stderr).contains("Nothing was changed"));
    assert!(scene.home().join("config.toml").exists());
    std::fs::write(scene.home().join("somebody-elses.txt"), "x").unwrap();

    let gone = evermoor(&scene.home(), &["uninstall", "--yes"]).await;
    let said = text(&gone.stdout);
    assert_eq!(gone.status.code(), Some(0), "{said}{}", text(&gone.stderr));
    assert!(said.contains("✓ Stopped the gateway."), "{said}");
    assert!(said.contains("✓ Removed "), "{said}");
    let left: Vec<String> = std::fs::read_dir(scene.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["somebody-elses.txt"]);
    let again = json(&evermoor(&scene.home(), &["uninstall", "--yes", "--json"]).await);
    assert!(again["steps"].is_array(), "{again}");
}
