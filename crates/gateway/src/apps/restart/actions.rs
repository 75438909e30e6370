//! What is done to an application during a restart, and what is looked for.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, join_all, ready};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::{sleep, timeout};

use evermoor_core::policy::app::command;
use evermoor_core::policy::app::command::{CommandLine, Firmness};
use evermoor_core::policy::app::install::Place;
use evermoor_core::policy::app::restart::{Action, Event};
use evermoor_core::preset::{Ask, Preset};
use evermoor_platform::process::child::Environment;
use evermoor_platform::process::{info, launch, run};

use crate::apps::probe::{Asker, Said};
use crate::apps::process;
use crate::apps::process::Process;
use crate::apps::state::Desk;
use crate::apps::{OS, finder, observe};
use crate::system::exit;
use crate::upstream::Handle;
use crate::upstream::delivery::in_flight::UnderWay;

/// What a restart works with.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) upstream: Handle,
    pub(crate) preset: Arc<Preset>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) asker: Asker,
    /// The ways to launch it.
    pub(crate) ways: Vec<Place>,
    /// The calls that were under way when it began.
    pub(crate) calls: Vec<Arc<UnderWay>>,
    /// Where it answered when the restart began.
    pub(crate) port: Option<u16>,
}

/// What became of something that was begun.
pub(crate) enum Came {
    Of(Option<Event>),
    OfLooking(Option<Event>),
}

/// Things that were begun, each of which may come to something that happened.
pub(crate) type Begun = FuturesUnordered<BoxFuture<'static, Came>>;

/// How long what was asked of it, or of the system, may take.
const ASKING: Duration = Duration::from_secs(10);
/// What launches it and complains, does so within this time.
const COMPLAINING: Duration = Duration::from_secs(5);

impl Means {
    /// Begins what the machine wants done.
    pub(crate) fn begin(
        &self,
        action: &Action,
        process: Option<&Process>,
    ) -> BoxFuture<'static, Came> {
        let doing = match action {
            Action::Drain => {
                let calls = self.calls.clone();
                let drained = async move { join_all(calls.iter().map(|one| one.drained())).await };
                drained.map(|_| Some(Event::Drained)).boxed()
            }
            Action::AskToRestart => {
                self.ask(self.preset.restart.as_ref().map(|request| &request.ask))
            }
            Action::AskToQuit => self.quit(process),
            Action::End(firmness) => end(process, *firmness),
            Action::Launch { way } => {
                self.desk.change(|seen| seen.launching = true);
                start(self.ways.get(*way).and_then(|place| command::launch(OS, place))).boxed()
            }
            Action::Say(_) | Action::Finish(_) => ready(None).boxed(),
        };
        doing.map(Came::Of).boxed()
    }

    fn quit(&self, process: Option<&Process>) -> BoxFuture<'static, Option<Event>> {
        match (&self.preset.quit, self.preset.on(OS), process) {
            (Some(request), _, _) => self.ask(Some(&request.ask)),
            (None, Some(on), Some(process)) => {
                system(command::quit(OS, on, process.run().pid)).boxed()
            }
            (None, None, _) | (None, _, None) => refused("its process cannot be seen").boxed(),
        }
    }

    /// Asks it for something over HTTP. Who ends instead of answering has not refused.
    fn ask(&self, ask: Option<&Ask>) -> BoxFuture<'static, Option<Event>> {
        let (Some(ask), Some(port)) = (ask.cloned(), self.port) else {
            return refused("it does not answer").boxed();
        };
        let asker = self.asker.clone();
        async move {
            match asker.ask(port, &ask, ASKING).await {
                Said::Answer { status, .. } if !ask.expect.answers(status) => {
                    Some(Event::Refused(format!("it answered with status {status}")))
                }
                Said::NotAsked => Some(Event::Refused("it took no connection".into())),
                Said::Answer { .. } | Said::Nothing => None,
            }
        }
        .boxed()
    }

    /// Looks after a while whether another run is there, and lets the supervisor connect to it.
    /// `gone` says that the old one is not there any more.
    pub(crate) fn look(&self, wait: Duration, gone: bool) -> impl Future<Output = Came> + use<> {
        let means = self.clone();
        async move {
            sleep(wait).await;
            Came::OfLooking(means.look_around(gone).await)
        }
    }

    async fn look_around(&self, gone: bool) -> Option<Event> {
        let leaving = self.desk.leaving();
        let mut found = finder::find(&self.preset, &self.asker);
        let mut anybody = false;
        while let Some(port) = found.next().await {
            anybody = true;
            let run = process::at(port).await;
            let is_new = match (leaving, run) {
                (Some(old), Some(run)) => run != old,
                (None, _) | (_, None) => gone,
            };
            if is_new {
                self.desk.found(port);
                self.desk.step_aside(false);
                self.upstream.is_there().await;
                return run.map(Event::Seen);
            }
        }
        // Where no process can be seen, a port that closed is the end.
        if leaving.is_none() && !anybody && !gone {
            return Some(Event::Gone);
        }
        let other = |process: &info::Facts| leaving != Some(process::run(process));
        let seen = observe::processes(&self.preset).await.into_iter().find(other);
        seen.map(|process| Event::Seen(process::run(&process)))
    }
}

fn end(process: Option<&Process>, firmness: Firmness) -> BoxFuture<'static, Option<Event>> {
    let Some(process) = process else {
        return refused("its process cannot be seen").boxed();
    };
    match process.end(firmness == Firmness::Forced) {
        Ok(()) => ready(None).boxed(),
        // Not every system has a way of its own to ask.
        Err(_) => system(command::end(OS, process.run().pid, firmness)).boxed(),
    }
}

/// Has a program of the system do it.
async fn system(line: CommandLine) -> Option<Event> {
    match run::said(&line.program, &line.args, ASKING).await {
        Some(said) if said.good => None,
        Some(said) => Some(Event::Refused(said.complaint)),
        None => Some(Event::Refused(format!("`{}` is not there, or takes too long", line.program))),
    }
}

/// Launches it. What launches it may fail at once, or say a moment later that it cannot.
async fn start(line: Option<CommandLine>) -> Option<Event> {
    let Some(line) = line else { return refused("this system has no such way").await };
    let environment = Environment::find("").await;
    let mut child = match launch::start(&line.program, &line.args, &environment) {
        Ok(child) => child,
        Err(error) => return Some(Event::Refused(format!("`{}`: {error}", line.program))),
    };
    match timeout(COMPLAINING, child.wait()).await {
        Ok(Ok(status)) if !status.success() => {
            Some(Event::Refused(format!("`{}` {}", line.program, exit::sentence(status.into()))))
        }
        Ok(_) | Err(_) => None,
    }
}

fn refused(why: &str) -> impl Future<Output = Option<Event>> + use<> {
    ready(Some(Event::Refused(why.to_owned())))
}
