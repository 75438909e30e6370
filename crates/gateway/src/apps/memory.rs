//! What an application uses, and what is done before it breaks of it.

use std::time::Duration;

use tokio::time::Instant;

use evermoor_core::config::size;
use evermoor_core::history::samples;
use evermoor_core::history::samples::Sample;
use evermoor_core::policy::app::policy::{Care, Pressure};

use super::restart::Why;
use super::state::Usage;
use super::watcher::{LOOKED_AT, Minder, SERVES};
use crate::history::millis;
use crate::upstream::Ready;

/// How long relief may take to be promised.
const RELIEF: Duration = Duration::from_secs(20);
/// Where no preset says when an application is idle.
const IDLE: Duration = Duration::from_secs(120);

impl Minder {
    /// Looks at its memory as the policy says.
    pub(super) async fn care(&mut self, used: u64, ready: &Ready) {
        let Some(alarm) = self.alarm() else { return };
        let relief = self.preset.relief.clone();
        let pressure = Pressure {
            used,
            alarm,
            relief: relief.as_ref().map(|request| request.within),
            idle: ready.calls().none_for(),
            idle_after: self.preset.memory.map_or(IDLE, |memory| memory.idle),
        };
        match self.guard.memory(self.policy(), pressure, Instant::now().into_std()) {
            Care::Nothing => self.show(|seen| seen.offer = None),
            Care::Wait => {}
            Care::Relieve => {
                let Some((asker, port)) = self.around.apps.asker().zip(self.desk.seen().port)
                else {
                    return;
                };
                tracing::info!(upstream = %self.upstream.name(), used, "asked to use less memory");
                if let Some(relief) = relief {
                    let asker = asker.clone();
                    let asking = async move { asker.ask(port, &relief.ask, RELIEF).await };
                    self.around.tasks.spawn(asking);
                }
            }
            Care::Recycle => self.bring_back(Why::Memory).await,
            Care::Offer => {
                let used = size::shown(used);
                let offer = format!(
                    "{} uses {used} of memory. Restart it before it fails; nothing gets lost.",
                    self.preset.title
                );
                self.show(|seen| seen.offer = Some(offer));
            }
        }
    }

    /// Keeps what it uses, not more often than history wants it.
    pub(super) fn write_down(&mut self, usage: &Usage) {
        let Some(process) = &self.process else { return };
        // Looks are never exactly as far apart as they should be.
        if self.written.is_some_and(|then| then.elapsed() + LOOKED_AT < SERVES) {
            return;
        }
        self.written = Some(Instant::now());
        let sample = Sample {
            at: millis(self.around.chance.now()),
            span: samples::EVERY,
            memory: usage.memory,
            load: usage.load,
            uptime: u64::try_from(process.age().as_millis()).unwrap_or(u64::MAX),
        };
        self.around.history.sample(self.upstream.name().as_str(), sample);
    }
}
