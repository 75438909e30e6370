//! The stdio shim as a program of its own. `evermoor connect` becomes this program if it finds it beside itself.
//!
//! Each editor keeps a shim running, so it contains only what it needs while a gateway with a private socket
//! runs: no parser of commands, no HTTP client, no gateway. When it cannot begin, for whatever reason, it has read
//! nothing, and becomes `evermoor connect` again, which can do everything.

use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use evermoor_client::launch::Launcher;
use evermoor_client::shim;
use evermoor_client::shim::arguments::ShimArguments;
use evermoor_core::security::tokens::LOCAL_EDITOR;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::{memory, signals, spawn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

fn main() -> ExitCode {
    memory::use_one_heap();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let read = ShimArguments::read(&args, |name| std::env::var_os(name));
    match read.and_then(run) {
        Some(exit) => exit,
        None => run_whole_program(args),
    }
}

/// Bridges the editor and the gateway. `None` if that did not begin.
fn run(arguments: ShimArguments) -> Option<ExitCode> {
    let ShimArguments { home, upstream, editor } = arguments;
    let program = spawn::beside_this_program("evermoor").ok()?;
    let paths = Paths::find(home.clone()).ok()?;
    let editor = editor.unwrap_or_else(|| LOCAL_EDITOR.to_owned());
    let launcher = Launcher::new(program, home, paths).for_editor(&editor);
    let path = upstream.map_or_else(|| "/mcp".to_owned(), |name| format!("/mcp/{name}"));
    // This fails only if it has been set, which it has not.
    let _ = tracing::subscriber::set_global_default(StderrLog);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let exit = runtime.block_on(async {
        tokio::select! {
            done = shim::run_over_socket(launcher, path) => match done {
                Ok(Ok(())) => Some(ExitCode::SUCCESS),
                Ok(Err(error)) => {
                    print(format_args!("{error}"));
                    Some(ExitCode::FAILURE)
                }
                Err(_) => None,
            },
            () = signals::stop_requested() => Some(ExitCode::SUCCESS),
        }
    });
    // A blocking read of stdin cannot be cancelled, so do not wait for it.
    runtime.shutdown_background();
    exit
}

/// Becomes `evermoor connect`, which does the same in its own process.
fn run_whole_program(mut args: Vec<OsString>) -> ExitCode {
    // After the command, whose arguments may contain a `--`.
    args.insert(args.len().min(1), "--in-process".into());
    let error = match spawn::beside_this_program("evermoor") {
        Ok(whole) => spawn::become_program(&whole, &args),
        Err(error) => error,
    };
    print(format_args!("Evermoor is not installed completely: {error}. Reinstall it."));
    ExitCode::FAILURE
}

/// Prints what happened on stderr: standard output belongs to the protocol.
struct StderrLog;

impl Subscriber for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{} ", event.metadata().level());
        event.record(&mut FieldWriter(&mut line));
        print(format_args!("{line}"));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Appends the fields of an event to a line.
struct FieldWriter<'a>(&'a mut String);

impl Visit for FieldWriter<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write as _;
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

fn print(line: fmt::Arguments<'_>) {
    // Nobody may read it.
    let _ = writeln!(std::io::stderr(), "{line}");
}
