//! What follows when an application ends or stops answering.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::app::policy::Response;
use evermoor_core::policy::app::state::{Facts, Standing};

use super::exit_cause;
use super::exit_cause::Judged;
use super::process::Process;
use super::restart::Why;
use super::watcher::Minder;
use crate::system::exit;
use crate::upstream::Link;

/// Who ended in order may be about to begin again, as after an update of its own.
const BY_ITSELF: Duration = Duration::from_secs(2);
/// How long the supervisor may take to see what is told to it.
const TOLD: Duration = Duration::from_secs(1);

impl Minder {
    /// Its process ended.
    pub(super) async fn ended(&mut self) {
        let Some(process) = self.process.take() else { return };
        let (at, title) = (self.around.chance.now(), &self.preset.title);
        let hung = self.hung;
        let what = format!("{title} ended.");
        let failure = Failure::new(Code::ConnectionLost, what, "Evermoor finds out why.");
        self.upstream.broke(failure, TOLD).await;
        let exit = process.how().await;
        self.tell(format!("Its process {}.", exit::sentence(exit)));
        let away = Standing::of(&self.preset, &Facts::default());
        self.show(|seen| {
            (seen.pid, seen.usage, seen.served, seen.answered) = (None, None, false, None);
            seen.standing = Some(away);
        });
        let (run, lived) = (process.run(), process.age());
        let end = exit_cause::End { run, exit, at, asked: false, hung, lived };
        let finding = exit_cause::find_out(Arc::clone(&self.preset), end, self.verdicts.clone());
        self.around.tasks.spawn(finding);
    }

    /// Why it ended is known, or known better.
    pub(super) async fn judged(&mut self, judged: Judged) {
        let (title, cause) = (self.preset.title.clone(), judged.verdict.cause.clone());
        let record = exit_cause::for_the_record(&title, &judged.verdict);
        self.around.history.explain(self.upstream.name().as_str(), judged.at, record);
        if self.is_back() || self.upstream.is_paused() {
            return;
        }
        self.show(|seen| seen.ended = Some(cause.clone()));
        if !judged.first {
            return;
        }
        tracing::warn!(upstream = %self.upstream.name(), run = judged.run.pid, "{}", cause.sentence(&title));
        let (policy, now) = (self.policy(), Instant::now().into_std());
        let response = self.guard.ended(policy, &cause, judged.lived, now);
        if response == Response::Restart && !cause.is_crash() && self.comes_back().await {
            return;
        }
        self.respond(response, Why::Ended).await;
    }

    /// It runs, and has answered nothing for long.
    pub(super) async fn hangs(&mut self) {
        if std::mem::replace(&mut self.hung, true) {
            return;
        }
        let (at, verdict) = (self.around.chance.now(), exit_cause::hung());
        let record = exit_cause::for_the_record(&self.preset.title, &verdict);
        self.around.history.explain(self.upstream.name().as_str(), at, record);
        let lived = self.process.as_ref().map(Process::age).unwrap_or_default();
        let response = self.guard.hung(self.policy(), lived, Instant::now().into_std());
        self.respond(response, Why::Hung).await;
    }

    async fn respond(&mut self, response: Response, why: Why) {
        if response == Response::Restart {
            return self.bring_back(why).await;
        }
        if let Some(sentence) = response.sentence(&self.preset.title) {
            self.tell(sentence.clone());
            let gave_up = self.guard.has_stopped();
            self.show(|seen| (seen.offer, seen.gave_up) = (Some(sentence), gave_up));
        }
    }

    /// A person wishes that it is restarted.
    pub(super) async fn wished(&mut self) {
        self.guard.forgive();
        self.bring_back(Why::Wished).await;
    }

    /// Waits a little whether it comes back by itself.
    async fn comes_back(&self) -> bool {
        let mut state = self.upstream.watch();
        let back = state.wait_for(|state| matches!(state.link, Link::Ready(_)));
        timeout(BY_ITSELF, back).await.is_ok()
    }

    fn is_back(&self) -> bool {
        self.process.is_some() || matches!(self.upstream.state().link, Link::Ready(_))
    }
}
