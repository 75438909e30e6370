//! One repetition: starts every route, measures all figures, and ends them again.
//!
//! Within a repetition, short rounds alternate between the routes, so that other load on the machine
//! affects all of them alike.

use std::path::Path;
use std::time::Duration;

use crate::figures::{Figure, Results, share};
use crate::http::{BenchConnection, throughput};
use crate::routes::{BenchHome, BenchRoute, BenchServer, BenchShim, EVERMOOR};
use crate::stdio::Pipes;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) repetitions: usize,
    /// Rounds per repetition, and calls per round.
    rounds: usize,
    small: usize,
    large: usize,
    /// Calls of a throughput measurement.
    many: usize,
    many_large: usize,
    sessions: usize,
    /// How long a program rests after the load before its memory is read.
    pub(crate) rest: Duration,
}

pub(crate) const SMALL: usize = 100;
pub(crate) const LARGE: usize = 1_000_000;

impl Effort {
    pub(crate) fn full() -> Self {
        Self {
            repetitions: 5,
            rounds: 10,
            small: 200,
            large: 4,
            many: 20_000,
            many_large: 320,
            sessions: 1000,
            rest: Duration::from_secs(10),
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            repetitions: 3,
            rounds: 5,
            small: 100,
            large: 4,
            many: 6400,
            many_large: 96,
            sessions: 1000,
            rest: Duration::from_secs(2),
        }
    }
}

/// Runs one repetition. `peers` is the folder of other proxies, if they take part.
pub(crate) fn run(
    server: &BenchServer,
    home: &BenchHome,
    peers: Option<&Path>,
    effort: Effort,
    results: &mut Results,
) {
    let folder = home.path();
    let mut routes =
        vec![BenchRoute::direct(server), BenchRoute::relay(server), BenchRoute::evermoor(home)];
    routes.extend(peers.map(|peers| BenchRoute::mcp_proxy(peers, &folder, server)));
    for route in &routes {
        if let Some(program) = &route.program {
            results.record(Figure::Start, route.name, millis(route.started));
            results.record(Figure::RestingMemory, route.name, program.memory());
        }
    }
    latencies(&routes, effort, results);
    loads(&routes, effort, results);
    sessions(server, effort, results);
    let mut shims = vec![BenchShim::bare(&routes[1]), BenchShim::evermoor(home)];
    shims.extend(peers.into_iter().flat_map(|peers| BenchShim::others(peers, &folder, server)));
    stdio(shims, effort, results);
    std::thread::sleep(effort.rest);
    for route in &routes {
        if let Some(program) = &route.program {
            results.record(Figure::LoadedMemory, route.name, program.memory());
        }
    }
}

fn latencies(routes: &[BenchRoute], effort: Effort, results: &mut Results) {
    let open = |route: &BenchRoute| {
        BenchConnection::open(&route.endpoint).expect("a session can be opened")
    };
    let mut connections: Vec<_> = routes.iter().map(open).collect();
    let mut times = vec![[const { Vec::new() }; 2]; routes.len()];
    for _ in 0..effort.rounds {
        for (connection, times) in connections.iter_mut().zip(&mut times) {
            let sizes = [(SMALL, effort.small), (LARGE, effort.large)];
            for ((size, count), times) in sizes.into_iter().zip(times) {
                let call = connection.prepare(size);
                // The first call after another route's turn finds cold caches.
                connection.call(&call);
                times.extend((0..count).map(|_| millis(connection.call(&call))));
            }
        }
    }
    for (route, [small, large]) in routes.iter().zip(&times) {
        results.record(Figure::HttpP50, route.name, share(small, 0.50));
        results.record(Figure::HttpP95, route.name, share(small, 0.95));
        results.record(Figure::HttpP99, route.name, share(small, 0.99));
        results.record(Figure::HttpLarge, route.name, share(large, 0.50));
    }
}

fn loads(routes: &[BenchRoute], effort: Effort, results: &mut Results) {
    for route in routes {
        let before = route.program.as_ref().map(|program| program.busy());
        let per_second = throughput(&route.endpoint, 64, SMALL, effort.many);
        results.record(Figure::CallsPerSecond, route.name, per_second);
        if let (Some(program), Some(before)) = (&route.program, before) {
            let used = (program.busy() - before).as_secs_f64();
            results.record(Figure::Processor, route.name, used * 10_000.0 / effort.many as f64);
        }
    }
    for route in routes {
        let per_second = throughput(&route.endpoint, 16, LARGE, effort.many_large);
        results.record(Figure::LargePerSecond, route.name, per_second);
    }
}

/// The latency of one session of a gateway that has no other, and of one with many others.
fn sessions(server: &BenchServer, effort: Effort, results: &mut Results) {
    let homes = [BenchHome::with_server(server), BenchHome::with_server(server)];
    let routes = [BenchRoute::evermoor(&homes[0]), BenchRoute::evermoor(&homes[1])];
    let open = |route: &BenchRoute| {
        BenchConnection::open(&route.endpoint).expect("a session can be opened")
    };
    let others: Vec<BenchConnection> = (0..effort.sessions).map(|_| open(&routes[1])).collect();
    let mut connections = [open(&routes[0]), open(&routes[1])];
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..effort.rounds {
        for (connection, times) in connections.iter_mut().zip(&mut times) {
            let call = connection.prepare(SMALL);
            connection.call(&call);
            times.extend((0..effort.small / 2).map(|_| millis(connection.call(&call))));
        }
    }
    drop(others);
    for (figure, times) in [Figure::OneSession, Figure::ManySessions].into_iter().zip(&times) {
        results.record(figure, EVERMOOR, share(times, 0.5));
    }
}

fn stdio(shims: Vec<BenchShim>, effort: Effort, results: &mut Results) {
    let open = |shim: BenchShim| (shim.name, Pipes::open(shim.command, "mirror0"));
    let mut shims: Vec<_> = shims.into_iter().map(open).collect();
    let mut times = vec![[const { Vec::new() }; 2]; shims.len()];
    for round in 0..effort.rounds {
        for ((name, pipes), [small, large]) in shims.iter_mut().zip(&mut times) {
            pipes.calls(SMALL, 1);
            small.extend(pipes.calls(SMALL, effort.small).into_iter().map(millis));
            if round == 0 {
                results.record(Figure::ShimMemory, name, pipes.program.memory());
            }
            large.extend(pipes.calls(LARGE, effort.large).into_iter().map(millis));
        }
    }
    for ((name, pipes), [small, large]) in shims.iter_mut().zip(&times) {
        results.record(Figure::ShimP50, name, share(small, 0.50));
        results.record(Figure::ShimP99, name, share(small, 0.99));
        results.record(Figure::ShimLarge, name, share(large, 0.50));
        let per_second = pipes.throughput(16, LARGE, effort.many_large / 4);
        results.record(Figure::ShimLargePerSecond, name, per_second);
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
