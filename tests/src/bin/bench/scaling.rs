//! How the cost of a call grows with its payload, and with the number of sessions, servers and tools.

use evermoor_tests::scene::entry;

use crate::cycle::{SMALL, millis};
use crate::figures::share;
use crate::http::{BenchConnection, BenchEndpoint};
use crate::routes::{BenchHome, BenchRoute, BenchServer};

/// One plot: the latency of each route at each step.
pub(crate) struct Curve {
    pub(crate) title: &'static str,
    /// The routes, each with points (step, milliseconds).
    pub(crate) lines: Vec<(&'static str, Vec<(f64, f64)>)>,
}

const STEPS: [usize; 4] = [1, 10, 100, 1000];

pub(crate) fn measure(calls: usize) -> Vec<Curve> {
    vec![payload(calls), sessions(calls), upstreams(calls), tools(calls)]
}

/// The relay is measured in turn with Evermoor at every step, as a reference.
fn points(ways: &[(&'static str, BenchEndpoint, usize)], calls: usize) -> Vec<(&'static str, f64)> {
    let mut connections: Vec<_> = ways
        .iter()
        .map(|(name, endpoint, size)| {
            let connection = BenchConnection::open(endpoint).expect("a session can be opened");
            let call = connection.prepare(*size);
            (*name, connection, call, Vec::new())
        })
        .collect();
    for _ in 0..10 {
        for (_, connection, call, times) in &mut connections {
            connection.call(call);
            times.extend((0..calls / 10).map(|_| millis(connection.call(call))));
        }
    }
    connections.into_iter().map(|(name, _, _, times)| (name, share(&times, 0.5))).collect()
}

fn collect(
    title: &'static str,
    steps: impl Iterator<Item = (usize, Vec<(&'static str, f64)>)>,
) -> Curve {
    let mut lines: Vec<(&'static str, Vec<(f64, f64)>)> = Vec::new();
    for (step, values) in steps {
        for (name, value) in values {
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push((step as f64, value)),
                None => lines.push((name, vec![(step as f64, value)])),
            }
        }
    }
    Curve { title, lines }
}

fn payload(calls: usize) -> Curve {
    let server = BenchServer::start(1);
    let home = BenchHome::with_server(&server);
    let (relay, evermoor) = (BenchRoute::relay(&server), BenchRoute::evermoor(&home));
    collect(
        "payload in kB",
        STEPS.into_iter().map(|step| {
            let way = |route: &BenchRoute| (route.name, route.endpoint.clone(), step * 1000);
            let calls = if step == 1000 { calls / 10 } else { calls };
            (step, points(&[way(&relay), way(&evermoor)], calls))
        }),
    )
}

fn sessions(calls: usize) -> Curve {
    let server = BenchServer::start(1);
    let home = BenchHome::with_server(&server);
    let (relay, evermoor) = (BenchRoute::relay(&server), BenchRoute::evermoor(&home));
    let mut open = Vec::new();
    collect(
        "open sessions",
        STEPS.into_iter().map(|step| {
            while open.len() < step - 1 {
                open.push(
                    BenchConnection::open(&evermoor.endpoint).expect("a session can be opened"),
                );
            }
            let way = |route: &BenchRoute| (route.name, route.endpoint.clone(), SMALL);
            (step, points(&[way(&relay), way(&evermoor)], calls))
        }),
    )
}

fn upstreams(calls: usize) -> Curve {
    let server = BenchServer::start(1);
    collect(
        "servers",
        STEPS.into_iter().map(|step| {
            let entries =
                (0..step).map(|number| entry::at(&format!("bench{number}"), &server.url()));
            let home = BenchHome::new(&entries.collect::<String>());
            let evermoor = BenchRoute::evermoor_at(&home, "/mcp", "bench0__mirror0");
            let relay = BenchRoute::relay(&server);
            let way = |route: &BenchRoute| (route.name, route.endpoint.clone(), SMALL);
            (step, points(&[way(&relay), way(&evermoor)], calls))
        }),
    )
}

fn tools(calls: usize) -> Curve {
    collect(
        "tools of a server",
        STEPS.into_iter().map(|step| {
            let server = BenchServer::start(step);
            let home = BenchHome::with_server(&server);
            let evermoor = BenchRoute::evermoor_at(&home, "/mcp", "bench__mirror0");
            let relay = BenchRoute::relay(&server);
            let way = |route: &BenchRoute| (route.name, route.endpoint.clone(), SMALL);
            (step, points(&[way(&relay), way(&evermoor)], calls))
        }),
    )
}
