//! The start of an upstream: its supervisor, and the handle that everybody else holds.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use evermoor_core::config;

use super::delivery::retry_budget::Budget;
use super::per_client::Privates;
use super::supervisor::Pausing;
use super::supervisor::published;
use super::transport::connector::{Connect, Connector};
use super::{Handle, Known, Lane, Link, State, Surroundings, supervisor};

impl Handle {
    /// Starts the supervisor of one upstream, of which `known` is remembered from an earlier life.
    /// It runs until `stop`.
    pub fn start(
        config: config::Upstream,
        known: Option<Arc<Known>>,
        around: &Surroundings,
        stop: CancellationToken,
    ) -> Self {
        let privates = Arc::new(Privates::new(around.clone(), stop.clone()));
        let lane = Lane::shared(&config.name);
        let privates = Some(privates);
        Self { privates, ..Self::on_lane(lane, config, known, around, stop) }
    }

    pub(super) fn on_lane(
        lane: Lane,
        config: config::Upstream,
        known: Option<Arc<Known>>,
        around: &Surroundings,
        stop: CancellationToken,
    ) -> Self {
        let dialect = known.as_ref().and_then(|known| known.dialect);
        let app = around.apps.of(&config.name);
        let (secrets, tasks) = (around.secrets.clone(), around.tasks.clone());
        let connector = Connector::new(&config, app, secrets, dialect, tasks, stop.clone());
        Self::begin(lane, config, connector, known, around, stop)
    }

    #[cfg(test)]
    pub(super) fn start_with(
        config: config::Upstream,
        connector: impl Connect,
        known: Option<Arc<Known>>,
        around: &Surroundings,
        stop: CancellationToken,
    ) -> Self {
        Self::begin(Lane::shared(&config.name), config, connector, known, around, stop)
    }

    fn begin(
        lane: Lane,
        config: config::Upstream,
        connector: impl Connect,
        known: Option<Arc<Known>>,
        around: &Surroundings,
        stop: CancellationToken,
    ) -> Self {
        let chance = around.chance.clone();
        let pausing = Pausing { paused: around.paused.clone(), upstream: config.name.clone() };
        let link = match pausing.is_paused() {
            true => Link::Paused { since: chance.now() },
            false => Link::Connecting,
        };
        let (show, state) = watch::channel(State { link, known });
        let (commands, orders) = mpsc::channel(64);
        let held = Arc::new(watch::Sender::new(0));
        let config = Arc::new(config);
        let chronicle = around.history.of(config.name.as_str());
        let tallies = chronicle.tallies();
        let supervisor = supervisor::Supervisor::new(
            Arc::clone(&config),
            connector,
            published::Board {
                lane: lane.clone(),
                show,
                changed: Arc::clone(&around.changed),
                news: around.news.clone(),
                chronicle,
                paused: around.paused.clone(),
                aside: around.apps.desk(&config.name).aside(),
                wanted: around.interests.on_lane(&lane),
            },
            orders,
            held.subscribe(),
            around.wakes.clone(),
            chance.clone(),
        );
        around.tasks.spawn(stop.run_until_cancelled_owned(supervisor.run()));
        let budget = Arc::new(Mutex::new(Budget::new(tokio::time::Instant::now())));
        let settings = around.settings.clone();
        let held_bytes = Arc::default();
        Self {
            config,
            lane,
            privates: None,
            state,
            commands,
            held,
            held_bytes,
            budget,
            settings,
            tallies,
            chance,
        }
    }
}
