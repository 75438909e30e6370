//! Measures calls to a server that wants a sign-in, next to calls to the same server without one, through
//! the same gateway.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use evermoor_platform::fs::private;
use evermoor_tests::Scene;
use evermoor_tests::scene::entry;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::BenchConnection;
use crate::routes::{BenchHome, BenchRoute, BenchServer};
use crate::say;

const ROUNDS: usize = 40;
const CALLS: usize = 100;
/// The size of an argument.
const SIZE: usize = 100;

pub(crate) fn measure() {
    let (server, scene) = (BenchServer::start(1), Scene::new());
    let file = scene.path("sign-ins.json");
    let kept = grants(&server.url()).to_string();
    private::write_private(&file, kept.as_bytes()).expect("a file can be written");
    let home = BenchHome::new(&format!(
        "sign_ins_file = {file:?}\n{}{}auth = \"oauth\"\n",
        entry::at("plain", &server.url()),
        entry::at("signed", &server.url()),
    ));
    let _gateway = BenchRoute::evermoor_at(&home, "/mcp/plain", "mirror0");
    let mut connections = ["/mcp/plain", "/mcp/signed"].map(|path| {
        let endpoint = home.endpoint(path, "mirror0");
        BenchConnection::open(&endpoint).expect("a session can be opened")
    });
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (connection, times) in connections.iter_mut().zip(&mut times) {
            let call = connection.prepare(SIZE);
            // The first call after the other one's turn finds cold caches.
            connection.call(&call);
            times.extend((0..CALLS).map(|_| connection.call(&call)));
        }
    }
    let [plain, signed] = times.map(|mut times| {
        times.sort_unstable();
        [times[times.len() / 2], times[times.len() * 99 / 100]]
    });
    say("a call of 100 B over HTTP    without a sign-in    with a sign-in");
    for (name, plain, signed) in [("p50", plain[0], signed[0]), ("p99", plain[1], signed[1])] {
        say(&format!("{name:<28} {:>14} µs {:>14} µs", micros(plain), micros(signed)));
    }
}

fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

/// The file of the sign-ins, with a token for this address that does not expire. Its name is that of
/// `upstream/auth/stored_grant`; under another one, the gateway would not find it, and no call would be
/// answered.
fn grants(url: &str) -> Value {
    let digest = Sha256::digest(format!("{url}\n\n\nauthorization-code"));
    let name = format!("oauth:{}", URL_SAFE_NO_PAD.encode(&digest[..18]));
    let token = json!({ "access_token": "a-token-of-the-benchmark", "token_type": "bearer" });
    let credentials = json!({
        "client_id": "bench", "issuer": "http://127.0.0.1", "granted_scopes": [],
        "token_received_at": 0, "token_response": token,
    });
    json!({ name: { "resource": url, "credentials": credentials } })
}
