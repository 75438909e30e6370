//! Secrets do not leak into logs, answers, files or process lists, however they were configured.

use super::*;
use std::fmt::Write as _;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use evermoor_tests::gateway::http;
use evermoor_tests::peers::authorization::{Protected, sign_in};
use evermoor_tests::scene::programs::Process;
use evermoor_tests::scene::wait::until;
use serde_json::json;
use tokio::net::TcpListener;

/// One secret for each way to configure one. None is a prefix of another.
const HEADER: &str = "hQ7-canary-4f9a1c77e2b0";
const ADDRESS: &str = "aZ3+canary/81d06be5c3f2";
const VARIABLE: &str = "vK9_canary_c25e7f10ab94";

/// A server that echoes the credentials it refuses, in all the ways servers do.
async fn echoing_server() -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let refuse = |headers: HeaderMap, request: Request| async move {
        let shown = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
        let shown = shown.unwrap_or_default();
        let body = format!("No: {shown} {} at {}", written(&shown).join(" "), request.uri());
        let key = headers.get("x-key").map(|value| value.to_str().unwrap()).unwrap_or_default();
        let way = request.uri().query().and_then(|query| query.strip_prefix("way="));
        let body = match way {
            // The text ends within the secret.
            Some("cut") => {
                format!("cut{}{key}", " ".repeat(SEARCHED - "cut".len() - key.len() / 2))
            }
            Some(way) => format!("It was {}.", written(key)[way.parse::<usize>().unwrap()]),
            None => body,
        };
        (StatusCode::FORBIDDEN, body)
    };
    let app = Router::new().fallback(refuse);
    #[expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, serving)
}

/// A text in the encodings that other programs may use for it.
fn written(text: &str) -> Vec<String> {
    let hex = text.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let percent: String = text
        .bytes()
        .map(|byte| match byte {
            b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect();
    let each = |escape: fn(char) -> String| text.chars().map(escape).collect::<String>();
    let lower = each(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || "-._~".contains(letter) => letter.to_string(),
        letter => format!("%{:02x}", u32::from(letter)),
    });
    let entities = each(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        letter => format!("&#x{:X};", u32::from(letter)),
    });
    let json = text.replace('/', "\\/").replace('+', "\\u002b");
    vec![base64(text.as_bytes()), hex.to_uppercase(), hex, percent, lower, entities, json]
}

/// How much of a refusal is read.
const SEARCHED: usize = 2_000;

/// The ways in which a server echoes a secret: a spelling of [`written`] each, and one that is cut.
const WAYS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "cut"];

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| -> String {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        let sign = |place: usize| char::from(SIGNS[(bits >> (18 - 6 * place)) as usize & 63]);
        (0..=three.len()).map(sign).collect()
    };
    bytes.chunks(3).map(group).collect()
}

/// What must not be found anywhere: each secret, its first eight characters, and its encodings,
/// alone and after one or two other bytes.
fn traces() -> Vec<String> {
    let mut traces = Vec::new();
    for secret in [HEADER, ADDRESS, VARIABLE] {
        traces.push(secret[..8].to_owned());
        traces.extend(written(secret).into_iter().map(|form| form[..12].to_owned()));
        for before in ["x", "xx"] {
            let encoded = base64(format!("{before}{secret}").as_bytes());
            traces.push(encoded[4..16].to_owned());
        }
    }
    traces
}

/// Everything that others could read, with its source.
#[derive(Default)]
struct Collected(Vec<(String, Vec<u8>)>);

impl Collected {
    fn add(&mut self, place: &str, content: impl Into<Vec<u8>>) {
        self.0.push((place.to_owned(), content.into()));
    }

    fn read(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                self.read(&path);
            } else if let Ok(content) = std::fs::read(&path) {
                self.add(&path.display().to_string(), content);
            }
        }
    }

    fn command_lines(&mut self) {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            self.add(&entry.path().display().to_string(), line);
        }
    }

    fn assert_no_trace(&self, traces: &[String]) {
        for (place, content) in &self.0 {
            for trace in traces {
                let found = content.windows(trace.len()).any(|part| part == trace.as_bytes());
                let shown = String::from_utf8_lossy(content);
                assert!(!found, "{trace} is in {place}: {}", &shown[..shown.len().min(4000)]);
            }
        }
    }
}

#[tokio::test]
async fn no_trace_of_a_secret_is_found_anywhere() {
    let (scene, keyring) = (Scene::new(), Keyring::start().await);
    let home = scene.home();
    let upstream = scene.upstream("good").await;
    let (echoing, _serving) = echoing_server().await;
    for (name, value) in [("header", HEADER), ("address", ADDRESS), ("variable", VARIABLE)] {
        done(&home, &keyring, &["secret", "set", name], value).await;
    }
    let tells =
        "echo \"Error: bad token $TOKEN, in Base64 $(printf %s \"x$TOKEN\" | base64)\" >&2; exit 1";
    let entries = format!(
        "[upstreams.good]\nurl = {:?}\nheaders.Authorization = \"Bearer ${{keyring:header}}\"\n\
         [upstreams.echoing]\nurl = \"{echoing}?key=${{keyring:address}}\"\n\
         headers.Authorization = \"Bearer ${{keyring:header}}\"\n\
         [upstreams.gone]\nurl = \"http://127.0.0.1:1/${{keyring:address}}/mcp\"\n\
         [upstreams.tells]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {tells:?}]\n\
         env = {{ TOKEN = \"${{keyring:variable}}\" }}\n",
        upstream.url
    );
    let spelling = WAYS.map(|way| {
        format!(
            "[upstreams.way-{way}]\nurl = \"{echoing}?way={way}\"\n\
             headers.X-Key = \"${{keyring:address}}\"\n"
        )
    });
    scene.write("hold = 1", &(entries + &spelling.concat()));
    let log = scene.path("log");
    let output = std::fs::File::create(&log).unwrap();
    let process = Process::evermoor(&home, |command| {
        command.arg("serve").arg("--home").arg(&home).env("EVERMOOR_LOG", "trace");
        command.env("DBUS_SESSION_BUS_ADDRESS", keyring.address()).stderr(output);
    });
    let gateway = Gateway::started(process, &home).await;
    gateway.until_connected("good").await;
    let mut collected = Collected::default();
    let refused = gateway.until_down("echoing").await;
    assert!(failure(&refused).what.contains("[secret]"), "{refused:?}");
    for way in WAYS {
        let refused = gateway.until_down(&format!("way-{way}")).await;
        assert!(failure(&refused).what.contains("[secret]"), "{refused:?}");
    }
    let ended = |it: &UpstreamStatus| matches!(&it.link, UpstreamState::Down { failure, .. } if failure.what.contains("bad token [secret]"));
    gateway.until("tells", ended).await;
    gateway.until_down("gone").await;
    until("the program that tells is in the log", || {
        std::fs::read_to_string(&log).unwrap().contains("stderr: Error: bad token")
    })
    .await;
    collected.command_lines();

    for upstream in ["echoing", "way-cut", "gone", "tells", "good"] {
        let mut editor = gateway.editor(&format!("/mcp/{upstream}")).await;
        let answer = editor.call("record", &json!({ "nonce": "canary" })).await;
        collected.add(&format!("a call of {upstream}"), answer.to_string());
    }
    for path in
        ["/api/status", "/api/incidents", "/api/incidents?format=markdown", "/api/editors", "/"]
    {
        let request = http().get(format!("{}{path}", gateway.origin));
        let answer = request.bearer_auth(&gateway.control_token).send().await.unwrap();
        collected.add(path, answer.bytes().await.unwrap().to_vec());
    }
    let mut states = gateway.states().await;
    collected.add("/api/events", serde_json::to_vec(&states.next().await).unwrap());
    drop(states);
    let commands: [&[&str]; 4] =
        [&["status"], &["incidents"], &["incidents", "--markdown"], &["secret", "list"]];
    for command in commands {
        let said = evermoor(&home, &keyring, command, "").await;
        collected.add(&command.join(" "), [said.stdout, said.stderr].concat());
    }
    stop(gateway).await;
    // The history, catalogs, logs, runtime files, and everything else a gateway leaves.
    collected.read(&home);
    collected.add("the log", std::fs::read(log).unwrap());
    let names: Vec<&str> = collected.0.iter().map(|(place, _)| place.as_str()).collect();
    assert!(names.iter().any(|name| name.ends_with("history.sqlite")), "{names:?}");
    collected.assert_no_trace(&traces());
}

/// The secret of a client that signs in.
const CLIENT: &str = "wT4~canary.72c0e9b1d6a3";

/// Like [`traces`], for secrets that others chose. Many tokens begin in the same way, so these are from
/// the end.
fn traces_of(secrets: &[String]) -> Vec<String> {
    let end = |form: String| form[form.len() - 14..form.len() - 2].to_owned();
    let forms = |secret: &String| written(secret).into_iter().chain([secret.clone()]);
    secrets.iter().flat_map(forms).map(end).collect()
}

#[tokio::test]
async fn no_trace_of_a_sign_in_is_found_anywhere_but_in_its_store() {
    let (scene, keyring) = (Scene::new(), Keyring::start().await);
    let home = scene.home();
    let client = json!({
        "client_id": "mine", "client_secret": CLIENT, "application_type": "native",
        "token_endpoint_auth_method": "client_secret_post",
        "redirect_uris": ["http://127.0.0.1/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    });
    let server = Protected::start(&json!({ "registration": false, "clients": [client] })).await;
    done(&home, &keyring, &["secret", "set", "client"], CLIENT).await;
    let store = scene.path("sign-ins.json");
    let entry = format!(
        "{}[upstreams.linear.oauth]\nclient_id = \"mine\"\nclient_secret = \"${{keyring:client}}\"\n\
         scopes = [\"openid\", \"mcp:use\"]\n",
        server.entry("linear")
    );
    scene.write(&format!("hold = 1\nsign_ins_file = {store:?}"), &entry);
    let log = scene.path("log");
    let output = std::fs::File::create(&log).unwrap();
    let process = Process::evermoor(&home, |command| {
        command.arg("serve").arg("--home").arg(&home);
        command.env("EVERMOOR_LOG", "trace,rmcp::transport=trace,oauth2::client=trace");
        command.env("DBUS_SESSION_BUS_ADDRESS", keyring.address()).stderr(output);
    });
    let gateway = Gateway::started(process, &home).await;
    let mut collected = Collected::default();
    let page = sign_in(&gateway, "linear").await;
    assert_eq!(page.status, 200, "{page:?}");
    collected.add("the page of the callback", page.text);
    gateway.until_connected("linear").await;
    let mut editor = gateway.editor("/mcp/linear").await;
    for nonce in ["first", "renewed"] {
        let answer = editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(answer["content"][0]["text"], nonce);
        server.expire().await;
    }
    let kept = std::fs::read_to_string(&store).unwrap();
    collected.command_lines();
    // The authorization server gets its clients as an argument.
    collected
        .0
        .retain(|(_, line)| !String::from_utf8_lossy(line).contains("authorization/main.mjs"));
    server.control(&json!({ "endGrant": true })).await;
    let answer = editor.call("record", &json!({ "nonce": "refused" })).await;
    collected.add("a call without a sign-in", answer.to_string());
    gateway.until_down("linear").await;
    for path in [
        "/api/status",
        "/api/settings",
        "/api/logs",
        "/api/incidents",
        "/api/incidents?format=markdown",
        "/api/upstreams/linear/sign-in",
    ] {
        let request = http().get(format!("{}{path}", gateway.origin));
        let answer = request.bearer_auth(&gateway.control_token).send().await.unwrap();
        collected.add(path, answer.bytes().await.unwrap().to_vec());
    }
    let mut states = gateway.states().await;
    collected.add("/api/events", serde_json::to_vec(&states.next().await).unwrap());
    drop(states);
    let archive = scene.path("made.tar.gz");
    let archive = archive.to_str().unwrap();
    let commands: [&[&str]; 4] =
        [&["status"], &["incidents", "--markdown"], &["doctor"], &["diagnostics", "-o", archive]];
    for command in commands {
        let said = evermoor(&home, &keyring, command, "").await;
        collected.add(&command.join(" "), [said.stdout, said.stderr].concat());
    }
    let unpacked = scene.path("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let mut tar = evermoor_tests::scene::programs::command("tar");
    let tar = tar.args(["-xzf", archive, "-C"]).arg(&unpacked).status().await;
    assert!(tar.unwrap().success());
    collected.read(&unpacked);
    stop(gateway).await;
    collected.read(&home);
    collected.add("the log", std::fs::read(log).unwrap());
    let mut secrets = server.happened().await.secrets;
    secrets.push(CLIENT.to_owned());
    secrets.sort_unstable();
    secrets.dedup();
    // A code, its verifier, the client's secret, an id token, and two access and refresh tokens.
    assert!(secrets.len() >= 8, "{secrets:?}");
    assert!(secrets.iter().any(|secret| kept.contains(secret.as_str())), "the store has tokens");
    assert!(secrets.iter().any(|secret| secret.starts_with("eyJ")), "there is an id token");
    collected.assert_no_trace(&traces_of(&secrets));
}

/// Stops the gateway as a user would, so that everything is written to disk.
async fn stop(mut gateway: Gateway) {
    let pid = i32::try_from(gateway.process.pid()).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::TERM).unwrap();
    gateway.process.ended().await;
}
