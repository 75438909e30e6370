//! The upstreams that run, as the configuration of the moment wants them.
//!
//! # Theory of operation
//! One task owns the set. It takes each reading of the configuration, stops what is not wanted any
//! more, alters what is wanted otherwise, starts what is new, and leaves alone what stayed the same.
//! Everybody else holds a [`Lineup`]. A call that is under way on an upstream that is stopped or led
//! elsewhere keeps its connection until it is answered. A call that is held goes where its upstream
//! goes, and is told that nothing was sent if that is stopped. A reading that is a mistake changes
//! nothing but the warnings.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::{self, Change, Config};
use evermoor_core::failure::Failure;
use evermoor_core::policy::pause::Paused;
use evermoor_core::preset::Shelf;

use crate::apps::Apps;
use crate::config::presets::Trouble;
use crate::config::secrets::Secrets;
use crate::config::watch::Reading;
use crate::history::History;
use crate::monitoring::warnings;
use crate::system::environment::Chance;
use crate::upstream::catalog_cache::Store;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Interests;
use crate::upstream::{self, Handle, Known};

/// The task that owns the upstreams.
pub struct Roster {
    /// What the file says.
    written: Config,
    /// What is in force: the same, with the titles of the presets of the moment.
    config: Arc<Config>,
    /// What is wrong with the file since then.
    mistake: Option<Failure>,
    /// Where the gateway listens, whatever the configuration says since.
    listen: SocketAddr,
    members: Vec<Member>,
    board: Board,
    around: Surroundings,
}

/// What runs at this moment, as everybody but the roster sees it.
#[derive(Clone)]
pub struct Lineup {
    pub upstreams: watch::Receiver<Arc<[Handle]>>,
    /// The configuration that is in force.
    pub config: watch::Receiver<Arc<Config>>,
    pub settings: watch::Receiver<config::Gateway>,
    pub warnings: watch::Receiver<Vec<Failure>>,
    pub apps: Apps,
}

/// What upstreams are started with.
#[derive(Clone)]
pub struct Surroundings {
    pub store: Store,
    /// Notified of every change.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub chance: Chance,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
    pub news: Newsroom,
    pub interests: Interests,
    pub history: History,
    /// What a person paused.
    pub paused: watch::Receiver<Paused>,
    /// What is known of applications.
    pub apps: Apps,
    /// Where the secrets of upstreams are looked for.
    pub secrets: Secrets,
    /// All presets.
    pub shelf: watch::Receiver<Arc<Shelf>>,
    /// What is wrong with the person's.
    pub troubles: watch::Receiver<Vec<Trouble>>,
}

struct Member {
    handle: Handle,
    stop: CancellationToken,
}

/// Where the lineup is shown.
struct Board {
    upstreams: watch::Sender<Arc<[Handle]>>,
    config: watch::Sender<Arc<Config>>,
    settings: watch::Sender<config::Gateway>,
    warnings: watch::Sender<Vec<Failure>>,
}

impl Roster {
    /// Starts the upstreams of a first configuration, in a gateway that listens at `address`.
    pub async fn start(
        config: Config,
        address: SocketAddr,
        around: Surroundings,
    ) -> (Self, Lineup) {
        // Whoever asks for any port is content with every port.
        let any = config.gateway.listen.port() == 0;
        let listen = if any { config.gateway.listen } else { address };
        let (upstreams, shown) = watch::channel(Arc::from([]));
        let (settings, set) = watch::channel(config.gateway.clone());
        let warnings = watch::Sender::new(Vec::new());
        let nothing = Arc::new(Config { upstreams: Vec::new(), ..config.clone() });
        let (in_force, held) = watch::channel(Arc::clone(&nothing));
        let mut roster = Self {
            written: config,
            config: nothing,
            mistake: None,
            listen,
            members: Vec::new(),
            board: Board { upstreams, config: in_force, settings, warnings },
            around,
        };
        roster.adopt().await;
        roster.warn();
        let (warnings, apps) = (roster.board.warnings.subscribe(), roster.around.apps.clone());
        (roster, Lineup { upstreams: shown, config: held, settings: set, warnings, apps })
    }

    /// Follows the readings of the configuration and of the presets.
    pub async fn run(mut self, mut readings: mpsc::Receiver<Reading>) {
        loop {
            tokio::select! {
                // A warning about a preset goes when the preset is used.
                biased;
                Ok(()) = self.around.shelf.changed() => self.adopt().await,
                Ok(()) = self.around.troubles.changed() => {}
                reading = readings.recv() => match reading {
                    Some(reading) => self.read(reading).await,
                    None => return,
                },
            }
            self.warn();
            self.around.changed.notify_one();
        }
    }

    async fn read(&mut self, reading: Reading) {
        match reading {
            Ok(config) => {
                (self.written, self.mistake) = (config, None);
                self.adopt().await;
            }
            Err(failure) => {
                tracing::warn!(%failure, "the configuration is kept as it was");
                self.mistake = Some(failure);
            }
        }
    }

    /// Says what is worth knowing at this moment.
    fn warn(&self) {
        let shelf = Arc::clone(&self.around.shelf.borrow());
        let mut warnings = warnings::of(self.listen, &self.config, self.mistake.as_ref());
        let troubles = self.around.troubles.borrow();
        warnings.extend(warnings::of_presets(&self.config, &shelf, &troubles));
        self.board.warnings.send_replace(warnings);
    }

    /// Makes what runs what is written.
    async fn adopt(&mut self) {
        let shelf = Arc::clone(&self.around.shelf.borrow_and_update());
        let config = self.written.clone().entitled(&shelf);
        let change = Change::between(&self.config, &config);
        self.board.settings.send_replace(config.gateway.clone());
        let (stopped, mut members): (Vec<Member>, Vec<Member>) = std::mem::take(&mut self.members)
            .into_iter()
            .partition(|member| change.stop.contains(member.handle.name()));
        for member in stopped {
            tracing::info!(upstream = %member.handle.name(), "upstream stopped");
            member.stop.cancel();
        }
        for upstream in change.alter {
            let member = members.iter_mut().find(|member| *member.handle.name() == upstream.name);
            let Some(member) = member else { continue };
            tracing::info!(upstream = %upstream.name, "upstream altered");
            let known = known(&self.around.store, &upstream, &member.handle).await;
            member.handle = member.handle.configure(upstream, known).await;
        }
        for upstream in change.start {
            tracing::info!(upstream = %upstream.name, "upstream started");
            let known = self.around.store.recall(&upstream).await;
            members.push(self.member(upstream, known));
        }
        members.sort_by(|one, other| one.handle.name().cmp(other.handle.name()));
        let handles = members.iter().map(|member| member.handle.clone()).collect();
        self.config = Arc::new(config);
        self.board.config.send_replace(Arc::clone(&self.config));
        self.board.upstreams.send_replace(handles);
        let names = members.iter().map(|member| member.handle.name().to_string()).collect();
        self.around.history.present(names, self.around.chance.now());
        self.members = members;
    }

    fn member(&self, upstream: config::Upstream, known: Option<Arc<Known>>) -> Member {
        let stop = self.around.stop.child_token();
        let around = upstream::Surroundings {
            settings: self.board.settings.subscribe(),
            changed: Arc::clone(&self.around.changed),
            wakes: self.around.wakes.clone(),
            chance: self.around.chance.clone(),
            tasks: self.around.tasks.clone(),
            news: self.around.news.clone(),
            interests: self.around.interests.clone(),
            history: self.around.history.clone(),
            paused: self.around.paused.clone(),
            apps: self.around.apps.clone(),
            secrets: self.around.secrets.clone(),
        };
        let handle = Handle::start(upstream, known, &around, stop.clone());
        Member { handle, stop }
    }
}

/// What is known of an upstream before it has spoken as `new` wants it: what it said before, if it
/// is the same server, or what lies on the disk.
async fn known(store: &Store, new: &config::Upstream, old: &Handle) -> Option<Arc<Known>> {
    if old.config.transport.fingerprint() == new.transport.fingerprint() {
        return old.state().known;
    }
    store.recall(new).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::presets::Presets;
    use crate::system::write_lease::Pen;
    use evermoor_core::failure::Code;
    use futures_util::FutureExt as _;
    use std::time::Duration;

    fn config(entries: &[(&str, u16)]) -> Config {
        let text = entries.iter().fold("[gateway]\nhold = 7\n".to_owned(), |text, (name, port)| {
            format!("{text}[upstreams.{name}]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")
        });
        Config::parse(&text).unwrap()
    }

    /// A roster, what it shows, and the way to give it readings.
    async fn roster(entries: &[(&str, u16)]) -> (Lineup, mpsc::Sender<Reading>, tempfile::TempDir) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let (tasks, presets) = (TaskTracker::new(), Presets::of_our_own());
        let around = Surroundings {
            store: Store::new(folder.path().to_owned(), Pen::new(true), tasks.clone()),
            wakes: watch::channel(0).1,
            chance: Chance::real(),
            changed: Arc::default(),
            tasks: tasks.clone(),
            stop: CancellationToken::new(),
            news: Newsroom::default(),
            interests: Interests::default(),
            history: History::nowhere(),
            paused: watch::channel(Paused::default()).1,
            apps: Default::default(),
            secrets: Secrets::of_the_system(),
            shelf: presets.shelf,
            troubles: presets.troubles,
        };
        let (roster, lineup) =
            Roster::start(config(entries), config(entries).gateway.listen, around).await;
        let (readings, read) = mpsc::channel(1);
        tasks.spawn(roster.run(read));
        (lineup, readings, folder)
    }

    fn names(upstreams: &[Handle]) -> Vec<&str> {
        upstreams.iter().map(|upstream| upstream.name().as_str()).collect()
    }

    fn runs(upstream: &Handle) -> bool {
        upstream.stopped().now_or_never().is_none()
    }

    #[tokio::test]
    async fn only_what_changed_is_touched() {
        let (mut lineup, readings, _folder) = roster(&[("a", 1), ("b", 2), ("d", 4)]).await;
        let before = Arc::clone(&lineup.upstreams.borrow_and_update());
        assert_eq!(names(&before), ["a", "b", "d"]);
        readings.send(Ok(config(&[("a", 1), ("b", 3), ("c", 3)]))).await.unwrap();
        lineup.upstreams.changed().await.unwrap();
        let after = Arc::clone(&lineup.upstreams.borrow());
        assert_eq!(names(&after), ["a", "b", "c"]);
        assert!(Arc::ptr_eq(&before[0].config, &after[0].config), "the same one goes on");
        assert!(!Arc::ptr_eq(&before[1].config, &after[1].config), "it is another now");
        assert!(runs(&before[0]) && runs(&before[1]), "and keeps the calls that wait for it");
        before[2].stopped().await;
    }

    #[tokio::test]
    async fn a_mistake_changes_the_warnings_and_nothing_else() {
        let (mut lineup, readings, _folder) = roster(&[("a", 1)]).await;
        let before = Arc::clone(&lineup.upstreams.borrow_and_update());
        let mistake = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        readings.send(Err(mistake.clone())).await.unwrap();
        lineup.warnings.changed().await.unwrap();
        assert_eq!(*lineup.warnings.borrow_and_update(), [mistake]);
        assert!(!lineup.upstreams.has_changed().unwrap() && runs(&before[0]));
        readings.send(Ok(config(&[("a", 1)]))).await.unwrap();
        lineup.warnings.changed().await.unwrap();
        assert!(lineup.warnings.borrow().is_empty());
        assert!(runs(&before[0]));
    }

    #[tokio::test]
    async fn settings_reach_upstreams_that_run_already() {
        let (mut lineup, readings, _folder) = roster(&[("a", 1)]).await;
        assert_eq!(lineup.settings.borrow_and_update().hold.as_secs(), 7);
        let mut new = config(&[("a", 1)]);
        new.gateway.hold = Duration::from_secs(1);
        readings.send(Ok(new)).await.unwrap();
        lineup.settings.changed().await.unwrap();
        assert_eq!(lineup.settings.borrow().hold.as_secs(), 1);
    }
}
