//! The actions of a restart, and the checks for a new run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, join_all, ready};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::{sleep, timeout};

use evermoor_core::policy::app::command;
use evermoor_core::policy::app::command::{CommandLine, QuitMethod, StopMode};
use evermoor_core::policy::app::install::LaunchMethod;
use evermoor_core::policy::app::restart::{RestartAction, RestartEvent};
use evermoor_core::preset::{Preset, Probe};
use evermoor_platform::process::child::ChildEnvironment;
use evermoor_platform::process::quit::QuitRequest;
use evermoor_platform::process::{info, launch, quit, run};

use crate::apps::probe::{ProbeClient, ProbeReply};
use crate::apps::process;
use crate::apps::process::AppProcess;
use crate::apps::state::AppState;
use crate::apps::{OS, observe, port_finder};
use crate::system::exit;
use crate::upstream::UpstreamHandle;
use crate::upstream::delivery::in_flight::InFlightCalls;

/// Runs the actions of one restart.
#[derive(Clone)]
pub(crate) struct ActionRunner {
    pub(crate) upstream: UpstreamHandle,
    pub(crate) preset: Arc<Preset>,
    pub(crate) app: Arc<AppState>,
    pub(crate) probe: ProbeClient,
    /// The ways to launch it.
    pub(crate) launch_methods: Vec<LaunchMethod>,
    /// The calls that were in flight when the restart began.
    pub(crate) calls: Vec<Arc<InFlightCalls>>,
    /// The port where it answered when the restart began.
    pub(crate) port: Option<u16>,
}

/// A finished action or check, with the event it led to.
pub(crate) enum Completed {
    Action(Option<RestartEvent>),
    Check(Option<RestartEvent>),
}

/// Actions and checks in progress.
pub(crate) type PendingActions = FuturesUnordered<BoxFuture<'static, Completed>>;

/// How long a request to the application or a system command may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// A launcher that fails does so within this time.
const LAUNCH_FAILURE_TIMEOUT: Duration = Duration::from_secs(5);

impl ActionRunner {
    /// Begins an action of the state machine.
    pub(crate) fn begin(
        &self,
        action: &RestartAction,
        process: Option<&AppProcess>,
    ) -> BoxFuture<'static, Completed> {
        let outcome = match action {
            RestartAction::Drain => {
                let calls = self.calls.clone();
                let drained = async move { join_all(calls.iter().map(|one| one.drained())).await };
                drained.map(|_| Some(RestartEvent::Drained)).boxed()
            }
            RestartAction::AskToRestart => {
                self.ask(self.preset.restart.as_ref().map(|request| &request.ask))
            }
            RestartAction::AskToQuit => self.quit(process),
            RestartAction::End(stop_mode) => end(process, *stop_mode),
            RestartAction::Launch { way } => {
                self.app.change(|seen| seen.launching = true);
                start(
                    self.launch_methods
                        .get(*way)
                        .and_then(|launch_method| command::launch(OS, launch_method)),
                )
                .boxed()
            }
            RestartAction::Progress(_) | RestartAction::Finish(_) => ready(None).boxed(),
        };
        outcome.map(Completed::Action).boxed()
    }

    fn quit(&self, process: Option<&AppProcess>) -> BoxFuture<'static, Option<RestartEvent>> {
        match (&self.preset.quit, self.preset.on(OS), process) {
            (Some(request), _, _) => self.ask(Some(&request.ask)),
            (None, Some(on), Some(process)) => {
                let pid = process.run().pid;
                request_quit(pid, command::quit(OS, on, pid)).boxed()
            }
            (None, None, _) | (None, _, None) => refused("its process is not visible").boxed(),
        }
    }

    /// Sends it a request over HTTP. Exiting without an answer is not a refusal.
    fn ask(&self, ask: Option<&Probe>) -> BoxFuture<'static, Option<RestartEvent>> {
        let (Some(ask), Some(port)) = (ask.cloned(), self.port) else {
            return refused("it does not answer").boxed();
        };
        let probe = self.probe.clone();
        async move {
            match probe.send(port, &ask, REQUEST_TIMEOUT).await {
                ProbeReply::Answer { status, .. } if !ask.expect.answers(status) => {
                    Some(RestartEvent::Refused(format!("it answered with status {status}")))
                }
                ProbeReply::NotConnected => {
                    Some(RestartEvent::Refused("it refused the connection".into()))
                }
                ProbeReply::Answer { .. } | ProbeReply::NoReply => None,
            }
        }
        .boxed()
    }

    /// Checks after `wait` whether a new run exists, and lets the supervisor connect to it. `gone`
    /// says that the old run has exited.
    pub(crate) fn check(
        &self,
        wait: Duration,
        gone: bool,
    ) -> impl Future<Output = Completed> + use<> {
        let runner = self.clone();
        async move {
            sleep(wait).await;
            Completed::Check(runner.check_now(gone).await)
        }
    }

    async fn check_now(&self, gone: bool) -> Option<RestartEvent> {
        let leaving = self.app.leaving();
        let mut found = port_finder::find(&self.preset, &self.probe);
        let mut any_found = false;
        while let Some(port) = found.next().await {
            any_found = true;
            let run = process::at(port).await;
            let is_new = match (leaving, run) {
                (Some(old), Some(run)) => run != old,
                (None, _) | (_, None) => gone,
            };
            if is_new {
                self.app.found(port);
                self.upstream.set_stand_aside(false);
                self.upstream.app_is_reachable();
                return run.map(RestartEvent::Seen);
            }
        }
        // Without a visible process, a closed port is the only sign of its exit.
        if leaving.is_none() && !any_found && !gone {
            return Some(RestartEvent::Gone);
        }
        let other = |process: &info::ProcessInfo| leaving != Some(process::run(process));
        let seen = observe::processes(&self.preset).await.into_iter().find(other);
        seen.map(|process| RestartEvent::Seen(process::run(&process)))
    }
}

fn end(
    process: Option<&AppProcess>,
    stop_mode: StopMode,
) -> BoxFuture<'static, Option<RestartEvent>> {
    let Some(process) = process else {
        return refused("its process is not visible").boxed();
    };
    match process.end(stop_mode == StopMode::Forced) {
        Ok(()) => ready(None).boxed(),
        // Not every system has an API for this.
        Err(_) => system(command::stop(OS, process.run().pid, stop_mode)).boxed(),
    }
}

async fn request_quit(pid: u32, method: QuitMethod) -> Option<RestartEvent> {
    match method {
        QuitMethod::Process(line) => system(line).await,
        QuitMethod::Application { bundle, otherwise } => {
            let asked = tokio::task::spawn_blocking(move || quit::request(pid, &bundle)).await;
            match asked {
                Ok(QuitRequest::Sent) => None,
                Ok(QuitRequest::NotAnApplication) => system(otherwise).await,
                Ok(QuitRequest::Refused) | Err(_) => refused("the system did not ask it").await,
            }
        }
    }
}

/// Runs a system command.
async fn system(line: CommandLine) -> Option<RestartEvent> {
    match run::output(&line.program, &line.args, REQUEST_TIMEOUT).await {
        Some(output) if output.success => None,
        Some(output) => Some(RestartEvent::Refused(output.stderr)),
        None => Some(RestartEvent::Refused(format!(
            "`{}` is missing or did not finish in time",
            line.program
        ))),
    }
}

/// Launches the application. The launcher may fail at once or after a moment.
async fn start(line: Option<CommandLine>) -> Option<RestartEvent> {
    let Some(line) = line else { return refused("this system does not support it").await };
    let environment = ChildEnvironment::find("").await;
    let mut child = match launch::start(&line.program, &line.args, &environment) {
        Ok(child) => child,
        Err(error) => return Some(RestartEvent::Refused(format!("`{}`: {error}", line.program))),
    };
    match timeout(LAUNCH_FAILURE_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if !status.success() => Some(RestartEvent::Refused(format!(
            "`{}` {}",
            line.program,
            exit::sentence(status.into())
        ))),
        Ok(_) | Err(_) => None,
    }
}

fn refused(why: &str) -> impl Future<Output = Option<RestartEvent>> + use<> {
    ready(Some(RestartEvent::Refused(why.to_owned())))
}
