//! Prints the table, and writes `docs/performance.md` with its plots.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::figures::{Figure, Results};
use crate::plot;
use crate::routes::{BARE_SHIM, DIRECT, EVERMOOR, MCP_PROXY, RELAY};
use crate::scaling::Curve;

const HTTP_ROUTES: [&str; 4] = [DIRECT, RELAY, EVERMOOR, MCP_PROXY];
const STDIO_ROUTES: [&str; 5] =
    [BARE_SHIM, EVERMOOR, "mcp-remote", "supergateway", "mcp-proxy (PyPI)"];

/// How the figures were measured.
pub(crate) struct Run {
    pub(crate) repetitions: usize,
    pub(crate) rest: u64,
    pub(crate) machine: String,
}

/// The two tables as Markdown.
pub(crate) fn tables(results: &Results) -> String {
    table(results, &HTTP_ROUTES, false) + "\n" + &table(results, &STDIO_ROUTES, true)
}

fn table(results: &Results, routes: &[&'static str], stdio: bool) -> String {
    let figures = Figure::ALL.into_iter().filter(|figure| figure.is_stdio() == stdio);
    let figures: Vec<Figure> = figures.collect();
    let measured = |route: &&&'static str| {
        figures.iter().any(|figure| results.median(*figure, route).is_some())
    };
    let routes: Vec<_> = routes.iter().filter(measured).collect();
    let mut text = String::from("| |");
    for route in &routes {
        let _ = write!(text, " {route} |");
    }
    text += " goal | reached |\n|---|";
    text += &"---|".repeat(routes.len() + 2);
    text.push('\n');
    for figure in &figures {
        let _ = write!(text, "| {} |", figure.label());
        for route in &routes {
            let value = results.median(*figure, route);
            let shown = value.map_or_else(|| "–".into(), |value| figure.shown(value));
            let _ = write!(text, " {shown} |");
        }
        let (goal, reached) = results.against_goals(*figure);
        let _ = writeln!(text, " {goal} | {reached} |");
    }
    text
}

/// Writes the page and its plots.
pub(crate) fn write(results: &Results, curves: &[Curve], run: &Run) -> std::io::Result<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let folder = docs.join("performance");
    std::fs::create_dir_all(&folder)?;
    for theme in &plot::THEMES {
        let http = [Figure::HttpP50, Figure::HttpP95, Figure::HttpP99];
        // The direct way has no colour of its own: the relay is the reference.
        let calls =
            plot::bars(theme, "A call of 100 bytes over HTTP", &http, &HTTP_ROUTES[1..], results);
        let stdio = [Figure::ShimP50, Figure::ShimP99];
        let shims =
            plot::bars(theme, "A call of 100 bytes over stdio", &stdio, &STDIO_ROUTES, results);
        let scaling = plot::curves(theme, "What a call costs as things grow", curves);
        for (name, svg) in [("http", calls), ("stdio", shims), ("scaling", scaling)] {
            std::fs::write(folder.join(format!("{name}-{}.svg", theme.name)), svg)?;
        }
    }
    let page = docs.join("performance.md");
    std::fs::write(&page, text(results, run))?;
    Ok(page)
}

fn text(results: &Results, run: &Run) -> String {
    let Run { repetitions, rest, machine } = run;
    let picture = |name: &str, what: &str| {
        format!(
            "<picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"performance/{name}-dark.svg\">\n  \
             <img alt=\"{what}\" src=\"performance/{name}-light.svg\" width=\"760\">\n</picture>\n"
        )
    };
    format!(
        "# Performance\n\n\
         `npm run bench` measures the release build and writes this page. Each figure is the median of {repetitions} repetitions. \
         Within a\nrepetition, short rounds alternate between the routes, so other load on the machine affects all of them alike. \
         Compare\nthe columns of one table, not the tables of two machines.\n\n\
         - **direct**: the client talks to the server.\n\
         - **relay**: a process in between copies bytes and knows nothing of MCP. This is the least that a gateway can cost.\n\
         - **bare shim**: a program that sends each line of its input to the relay and prints the answer.\n\
         - **Evermoor**: `evermoor serve`; over stdio, `evermoor connect` in front of it.\n\
         - The others are there after `npm run bench -- --peers`, which installs them.\n\n\
         Memory is resident memory (RSS), at rest right after the first answer, and again after all calls and {rest} s of rest. \
         CPU is\nthe processor time of the process in between while 64 clients call at once.\n\n\
         {}\n{}\n{}\n{}\n## The machine\n\n{machine}\n",
        tables(results),
        picture("http", "Latency of a call over HTTP: relay, Evermoor and others"),
        picture("stdio", "Latency of a call over stdio: bare shim, Evermoor and others"),
        picture("scaling", "Latency against payload, sessions, servers and tools"),
    )
}

/// The processor, its cores, the memory and the system.
pub(crate) fn machine() -> String {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let found = text.lines().find(|line| line.starts_with(name));
        found.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = line("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".into());
    let memory = line("/proc/meminfo", "MemTotal");
    let memory = memory.and_then(|size| size.split(' ').next()?.parse::<u64>().ok()).unwrap_or(0);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{processor}, {cores} cores, {} GB of memory, {} {}. Evermoor {}.",
        memory >> 20,
        std::env::consts::OS,
        kernel.trim(),
        env!("CARGO_PKG_VERSION")
    )
}
