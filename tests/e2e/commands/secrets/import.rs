//! Importing servers from editors: they become upstreams, their secrets move to the keychain, and
//! all of it can be undone.

use super::*;
use std::path::PathBuf;

use evermoor_tests::network::proxy::Proxy;
use serde_json::{Value, json};
use tokio::time::Instant;

const TOKEN: &str = "ghp_5b1e9c07a3d24f68canary";

/// A user with two editors that share one server and have one more each.
struct Person {
    scene: Scene,
    /// The name of the server that they share, and of its secret.
    shared: String,
    cursor: PathBuf,
    codex: PathBuf,
    config: PathBuf,
}

impl Person {
    fn with_servers_at(url: &str) -> Self {
        let (scene, shared) = (Scene::new(), own_name("github"));
        let cursor = scene.path("person/.cursor/mcp.json");
        let codex = scene.path("person/.codex/config.toml");
        let config = scene.home().join("config.toml");
        for file in [&cursor, &codex, &config] {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        let servers = json!({ "theme": "dark", "mcpServers": {
            shared.as_str(): { "url": url, "headers": { "Authorization": format!("Bearer {TOKEN}") } },
            "Pieces": { "command": "pieces", "args": ["mcp", "start"] },
            "asks": { "url": "https://x.example/mcp", "headers": { "X-Key": "${input:key}" } },
        } });
        std::fs::write(&cursor, serde_json::to_string_pretty(&servers).unwrap()).unwrap();
        let servers = format!(
            "# mine\nmodel = \"x\"\n\n[mcp_servers.hub]\nurl = {url:?}\n\
             http_headers = {{ Authorization = \"Bearer {TOKEN}\" }}\n\n\
             [mcp_servers.plain]\nurl = \"http://127.0.0.1:1/mcp\" # gone\n"
        );
        std::fs::write(&codex, servers).unwrap();
        let text = "# as I like it\n[gateway]\nlisten = \"127.0.0.1:0\" # any\n";
        std::fs::write(&config, text).unwrap();
        Self { scene, shared, cursor, codex, config }
    }

    fn files(&self) -> [String; 3] {
        [&self.cursor, &self.codex, &self.config].map(|file| std::fs::read_to_string(file).unwrap())
    }

    async fn import(&self, session: &impl Session, more: &[&str]) -> (Value, Option<i32>) {
        let arguments = [&["--json", "import"], more].concat();
        let output = evermoor(&self.scene.home(), session, &arguments, "").await;
        let (said, stderr) = (output.stdout, String::from_utf8(output.stderr).unwrap());
        assert!(!String::from_utf8_lossy(&said).contains(TOKEN) && !stderr.contains(TOKEN));
        let said = serde_json::from_slice(&said).unwrap_or_else(|_| panic!("{stderr}"));
        (said, output.status.code())
    }
}

fn names(said: &Value, of: &str) -> Vec<String> {
    let all = said[of].as_array().unwrap().iter();
    let mut names: Vec<String> = all.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn servers_of_editors_become_upstreams_and_everything_can_be_put_back() {
    let (server, session) = (Scene::new(), session().await);
    let upstream = server.upstream("github").await;
    let proxy = Proxy::to(&upstream.url).await;
    let person = Person::with_servers_at(&proxy.url);
    let (home, before) = (person.scene.home(), person.files());
    let shared = person.shared.as_str();

    let (said, _) = person.import(&session, &["--dry-run"]).await;
    assert_eq!(names(&said, "adopted"), [shared, "pieces", "plain"], "{said}");
    assert_eq!(names(&said, "skipped"), ["asks"]);
    assert_eq!(said["pointed"], json!([]));
    let (said, _) = person.import(&session, &["--dry-run", "--point"]).await;
    let diff = |editor: &str| {
        let pointed = said["pointed"].as_array().unwrap();
        let of = pointed.iter().find(|one| one["editor"] == editor).expect("a preview");
        of["diff"].as_str().unwrap_or_else(|| panic!("{of}")).to_owned()
    };
    assert!(diff("Cursor").contains(&format!("/mcp/{shared}")), "{said}");
    assert!(diff("Codex").contains(&format!("\"connect\", \"{shared}\"")), "{said}");
    assert_eq!(person.files(), before, "nothing was changed");
    assert!(!done(&home, &session, &["tokens"], "").await.contains("cursor"), "no token is made");
    assert!(!done(&home, &session, &["secret", "list"], "").await.contains(shared));

    let began = Instant::now();
    let (said, code) = person.import(&session, &["--point"]).await;
    println!("three servers of two editors are imported in {:?}", began.elapsed());
    assert_eq!((names(&said, "adopted").len(), code), (3, Some(0)), "{said}");
    let [cursor, codex, config] = person.files();
    assert!(
        config.starts_with(&before[2]) && config.contains(&format!("Bearer ${{keyring:{shared}}}"))
    );
    assert!(config.contains("preset = \"pieces-os\""), "{config}");
    for file in [&cursor, &codex, &config] {
        assert!(!file.contains(TOKEN), "{file}");
    }
    assert!(cursor.contains(&format!("/mcp/{shared}")), "{cursor}");
    assert!(codex.contains(&format!("[\"connect\", \"{shared}\"")), "{codex}");
    assert!(cursor.contains("${input:key}") && cursor.contains("\"theme\": \"dark\""), "{cursor}");

    let gateway = Gateway::start_among(&home, &session.variables()).await;
    gateway.until_connected(shared).await;
    assert!(proxy.forwarded(&format!("Bearer {TOKEN}")) > 0);
    drop(gateway);

    let (again, _) = person.import(&session, &[]).await;
    assert!(!again["adopted"].to_string().contains("\"isNew\":true"), "{again}");
    assert_eq!(person.files(), [cursor, codex, config], "doing it again changes nothing");

    let (undone, code) = person.import(&session, &["--undo"]).await;
    assert_eq!((undone["secrets"].clone(), code), (json!([shared]), Some(0)), "{undone}");
    assert_eq!(person.files(), before, "byte for byte");
    let tokens = done(&home, &session, &["tokens"], "").await;
    assert!(!tokens.contains("cursor") && !tokens.contains("codex"), "{tokens}");
    assert!(!done(&home, &session, &["secret", "list"], "").await.contains(shared));
    let again = evermoor(&home, &session, &["import", "--undo"], "").await;
    assert_eq!(again.status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_a_keychain_a_server_with_a_secret_stays_where_it_is() {
    let keyring = Keyring::absent().await;
    let person = Person::with_servers_at("https://github.example/mcp");
    let before = person.files();
    let (promised, _) = person.import(&keyring, &["--from", "codex", "--dry-run"]).await;
    let (said, _) = person.import(&keyring, &["--from", "codex"]).await;
    for list in ["adopted", "skipped"] {
        assert_eq!(promised[list], said[list], "the dry run promises what is done");
    }
    assert_eq!(names(&said, "adopted"), ["plain"], "{said}");
    assert_eq!(names(&said, "skipped"), ["hub"]);
    assert!(said["skipped"][0]["why"].as_str().unwrap().contains("no keychain"), "{said}");
    let [cursor, codex, config] = person.files();
    assert_eq!([&cursor, &codex], [&before[0], &before[1]]);
    assert!(config.contains("[upstreams.plain]") && !config.contains("keyring"), "{config}");
}

#[tokio::test]
async fn the_dashboard_moves_the_servers_of_one_editor_and_undo_puts_them_back() {
    let session = session().await;
    let person = Person::with_servers_at("https://github.example/mcp");
    let (home, before) = (person.scene.home(), person.files());
    let shared = person.shared.as_str();
    let gateway = Gateway::start_among(&home, &session.variables()).await;
    let ask = |path: &'static str| gateway.control(http::Method::POST, path);

    let shown = ask("/api/setup/cursor/import/preview").await;
    assert!(!shown.to_string().contains(TOKEN), "{shown}");
    assert_eq!(names(&shown, "moves"), ["Pieces", shared]);
    assert_eq!(names(&shown, "stays"), ["asks"]);
    let change = shown["configDiff"].as_str().unwrap();
    assert!(change.contains(&format!("+[upstreams.{shared}]")), "{change}");
    assert_eq!(person.files(), before, "nothing was changed");

    ask("/api/setup/cursor/import").await;
    let [cursor, codex, config] = person.files();
    let file: Value = serde_json::from_str(&cursor).unwrap();
    let left: Vec<&String> = file["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(left, ["asks", "evermoor"], "the rest is reached through one entry");
    assert!(
        config.contains(&format!("Bearer ${{keyring:{shared}}}")) && codex == before[1],
        "{config}"
    );
    gateway.until("pieces", |_| true).await;
    let status = gateway.status().await;
    let mut upstreams: Vec<&str> = status.upstreams.iter().map(|one| one.name.as_str()).collect();
    upstreams.sort_unstable();
    assert_eq!(upstreams, [shared, "pieces"], "they are in force when it is done");

    let undone = ask("/api/setup/cursor/undo").await;
    assert_eq!((&undone["changed"], person.files()), (&json!(true), before), "byte for byte");
    assert!(!done(&home, &session, &["secret", "list"], "").await.contains(shared));
}
