//! `evermoor demo`: shows in half a minute what Evermoor does when a server dies.
//!
//! Everything in it is real: a separate gateway in a temporary folder, a server in a separate
//! process, an MCP session over HTTP, and kill -9.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

use evermoor_client::ControlClient;
use evermoor_client::control::StatusStream;
use evermoor_client::launch::Launcher;
use evermoor_client::mcp::{Session, text_of};
use evermoor_core::api::{OverallState, Status, UpstreamState};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::{signals, spawn};

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::terminal::{self, Palette};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the server that dies: prints its address, then serves until killed.
pub(crate) fn serve(address: &str) -> Exit {
    let served = run_async(async {
        let server =
            evermoor_gateway::upstream::demo::DemoServer::start(address, &TaskTracker::new())
                .await?;
        terminal::print(&server.url());
        signals::stop_requested().await;
        Ok::<_, std::io::Error>(())
    });
    match served.flatten() {
        Ok(()) => Exit::Ok,
        Err(error) => Exit::failure(&error),
    }
}

pub(crate) fn run() -> Exit {
    let folder = std::env::temp_dir().join(format!("evermoor-demo-{}", std::process::id()));
    let shown = run_async(async {
        let mut demo = DemoRun::start(&folder).await?;
        let played = tokio::select! {
            played = demo.run() => played,
            () = signals::stop_requested() => Ok(()),
        };
        demo.stop().await;
        played
    });
    let _ = std::fs::remove_dir_all(&folder);
    match shown {
        Ok(Ok(())) => Exit::Ok,
        Ok(Err(error)) => Exit::failure(&error),
        Err(error) => Exit::failure(&error),
    }
}

/// The gateway and the server of the demo.
struct DemoRun {
    program: PathBuf,
    paths: Paths,
    launcher: Launcher,
    control: ControlClient,
    server: Child,
    address: String,
    state: StatusStream,
    began: Instant,
    colours: Palette,
}

impl DemoRun {
    async fn start(folder: &Path) -> Result<Self, AnyError> {
        let program = std::env::current_exe()?;
        let (server, address) = start_server(&program, "127.0.0.1:0").await?;
        let paths = Paths::find(Some(folder.to_owned()))?;
        std::fs::create_dir_all(folder)?;
        let config = format!(
            "[gateway]\nlisten = \"127.0.0.1:0\"\n\n[upstreams.notes]\ntitle = \"Notes\"\nurl = \"{address}\"\n"
        );
        std::fs::write(&paths.config, config)?;
        let launcher = Launcher::new(program.clone(), Some(folder.to_owned()), paths.clone());
        let control = launcher.attach().await?;
        let state = control.follow().await?;
        let (began, colours) = (Instant::now(), Palette::for_output());
        Ok(Self { program, paths, launcher, control, server, address, state, began, colours })
    }

    async fn run(&mut self) -> Result<(), AnyError> {
        self.narrate("An editor, the gateway, and an MCP server named Notes. We kill the server while the editor uses it.");
        self.until(OverallState::Healthy).await?;
        let mut editor = Session::open(&self.control.runtime().origin, "/mcp", &self.paths).await?;
        self.evermoor("is connected to Notes");
        let tools = count_tools(&editor.ask(method::TOOLS_LIST, None).await?);
        self.editor(&format!("lists the tools: {tools}"));
        let answer = call(&mut editor, "notes__echo").await?;
        self.editor(&format!("calls a tool: \"{answer}\""));
        sleep(Duration::from_secs(2)).await;

        self.narrate("kill -9: the server is gone.");
        let killed = Instant::now();
        kill(&mut self.server).await;
        self.until(OverallState::Degraded).await?;
        self.evermoor(&format!("notices after {} and keeps reconnecting", took(killed)));
        let asked = Instant::now();
        let tools = count_tools(&editor.ask(method::TOOLS_LIST, None).await?);
        self.editor(&format!(
            "lists the tools: {tools}, in {}, as if nothing had happened",
            took(asked)
        ));
        self.editor("calls a tool");
        self.evermoor("holds the call until the server is back");
        let restart = async {
            sleep(Duration::from_secs(4)).await;
            start_server(&self.program, authority(&self.address)).await
        };
        let asked = Instant::now();
        let (answer, restarted) = tokio::join!(call(&mut editor, "notes__echo"), restart);
        let (answer, (server, _)) = (answer?, restarted?);
        self.server = server;
        self.narrate("4 s later the server is back, and the call runs.");
        self.editor(&format!("gets its answer after {}: \"{answer}\"", took(asked)));
        self.until(OverallState::Healthy).await?;
        sleep(Duration::from_secs(2)).await;

        self.narrate("Now the server dies during a call.");
        let asked = Instant::now();
        let cut = async {
            sleep(Duration::from_secs(1)).await;
            kill(&mut self.server).await;
        };
        let arguments = Raw::of(&serde_json::json!({ "seconds": 30 }));
        let (answer, ()) = tokio::join!(editor.call_tool("notes__wait", &arguments), cut);
        let answer = text_of(&answer?);
        self.editor(&format!("gets a clear error after {}:", took(asked)));
        self.quote(&answer);
        let (server, _) = start_server(&self.program, authority(&self.address)).await?;
        self.server = server;
        self.until(OverallState::Healthy).await?;
        sleep(Duration::from_secs(2)).await;

        self.narrate("Finally, the gateway itself is killed and restarted.");
        let killed = Instant::now();
        kill_process(self.control.runtime().pid);
        let gateway = self.restart_gateway().await?;
        self.evermoor(&format!("is back after {}", took(killed)));
        self.control = gateway;
        let answer = call(&mut editor, "notes__echo").await?;
        self.editor(&format!("continues in the same session: \"{answer}\""));

        self.narrate("No call was lost, none ran twice, and the editor never had to reconnect.");
        Ok(())
    }

    /// Waits until the gateway reports this state.
    async fn until(&mut self, wanted: OverallState) -> Result<Status, AnyError> {
        loop {
            let status = self.state.next().await.ok_or("the gateway ended")?;
            if status.overall == wanted && settled(&status) {
                return Ok(status);
            }
        }
    }

    /// Starts another gateway at the address of the one that was killed.
    async fn restart_gateway(&mut self) -> Result<ControlClient, AnyError> {
        let address = authority(&self.control.runtime().origin).to_owned();
        let config = std::fs::read_to_string(&self.paths.config)?;
        std::fs::write(&self.paths.config, config.replace("127.0.0.1:0", &address))?;
        let control = self.launcher.attach().await?;
        self.state = control.follow().await?;
        Ok(control)
    }

    /// Kills the server and the gateway.
    async fn stop(&mut self) {
        kill(&mut self.server).await;
        kill_process(self.control.runtime().pid);
    }

    fn narrate(&self, line: &str) {
        let strong = self.colours.strong;
        let line = terminal::indented(line, 0, terminal::width());
        terminal::print(&format_args!("\n{strong}{line}{strong:#}"));
    }

    fn editor(&self, line: &str) {
        let style = self.colours.good;
        terminal::print(&format_args!("  {}  {style}editor  {style:#}  {line}", self.clock()));
    }

    fn evermoor(&self, line: &str) {
        let style = self.colours.busy;
        terminal::print(&format_args!("  {}  {style}evermoor{style:#}  {line}", self.clock()));
    }

    fn quote(&self, text: &str) {
        let quiet = self.colours.quiet;
        for line in terminal::wrap(text, 70) {
            terminal::print(&format_args!("                     {quiet}{line}{quiet:#}"));
        }
    }

    fn clock(&self) -> String {
        format!("{:5.1} s", self.began.elapsed().as_secs_f32())
    }
}

async fn start_server(program: &Path, address: &str) -> Result<(Child, String), AnyError> {
    let mut server = spawn::command(program)
        .args(["demo", "--serve-on", address])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = server.stdout.take().ok_or("the server has no output")?;
    let line = BufReader::new(output).lines().next_line().await?;
    Ok((server, line.ok_or("the server did not start")?))
}

async fn kill(server: &mut Child) {
    let _ = server.kill().await;
}

fn kill_process(pid: u32) {
    let _ = spawn::kill(pid);
}

async fn call(editor: &mut Session, tool: &str) -> Result<String, AnyError> {
    let arguments = Raw::of(&serde_json::json!({ "text": "hello" }));
    Ok(text_of(&editor.call_tool(tool, &arguments).await?))
}

fn count_tools(result: &Raw) -> usize {
    result.member("tools").and_then(|tools| tools.elements()).map_or(0, |tools| tools.len())
}

/// Whether no upstream is connecting: an outage counts once a reconnect has failed too.
fn settled(status: &Status) -> bool {
    status.upstreams.iter().all(|upstream| match &upstream.link {
        UpstreamState::Connected { .. }
        | UpstreamState::Down { .. }
        | UpstreamState::Paused { .. }
        | UpstreamState::Off => true,
        UpstreamState::Connecting => false,
    })
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

fn took(since: Instant) -> String {
    let took = since.elapsed();
    if took < Duration::from_secs(1) {
        format!("{} ms", took.as_millis().max(1))
    } else {
        format!("{:.1} s", took.as_secs_f32())
    }
}
