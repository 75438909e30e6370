//! The set of running upstreams, as the current configuration defines it.
//!
//! # Theory of operation
//! One task owns the set. For each reading of the configuration it stops the upstreams that were
//! removed, reconfigures those that changed, starts the new ones and leaves the others alone. It also
//! pauses and resumes them as the user wants.
//! Everyone else holds an [`UpstreamSetHandle`]. A call in flight on an upstream that is stopped or
//! moved keeps its connection until it is answered. A held call follows its upstream to the new
//! address, or is answered that nothing was sent if the upstream is stopped. A reading with a
//! mistake changes only the warnings.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::Catalog;
use evermoor_core::config::{self, Config, ConfigDiff, TransportConfig};
use evermoor_core::failure::Failure;
use evermoor_core::policy::pause::PausedUpstreams;
use evermoor_core::preset::PresetSet;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, SessionVersion, initialize_result};

use crate::apps::Apps;
use crate::config::presets::PresetProblem;
use crate::config::programs::{NewPrograms, Programs};
use crate::config::secrets::Secrets;
use crate::config::warnings;
use crate::config::watch::Reading;
use crate::history::History;
use crate::system::budget::Budgets;
use crate::system::clock::ClockAndRandom;
use crate::upstream::catalog_cache::CatalogCache;
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::subscriptions::Subscriptions;
use crate::upstream::{self, KnownCatalog, SignIns, UpstreamHandle};

/// Owns the upstreams. [`UpstreamSet::run`] is its task.
pub struct UpstreamSet {
    /// The configuration as written in the file.
    written: Config,
    /// The configuration in force: `written`, with titles from the current presets.
    config: Arc<Config>,
    /// What is wrong with the file now, if anything.
    mistake: Option<Failure>,
    /// Where the gateway listens, even if the configuration now says otherwise.
    listen: SocketAddr,
    members: Vec<Member>,
    /// New programs in the file: those that were started since, and those that wait for approval.
    new_programs: NewPrograms,
    publisher: Publisher,
    context: UpstreamSetContext,
}

/// What runs and what is in force, for everyone but the task that owns the set.
#[derive(Clone)]
pub struct UpstreamSetHandle {
    pub upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
    /// The configuration in force.
    pub config: watch::Receiver<Arc<Config>>,
    pub settings: watch::Receiver<config::GatewayConfig>,
    pub warnings: watch::Receiver<Vec<Failure>>,
    pub apps: Apps,
}

/// What the set and its upstreams need from the rest of the gateway.
#[derive(Clone)]
pub struct UpstreamSetContext {
    pub store: CatalogCache,
    /// Notified when something that users see has changed.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub clock: ClockAndRandom,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
    pub notification_log: NotificationLog,
    pub upstream_subscriptions: Subscriptions,
    pub history: History,
    /// What the user paused.
    pub paused: watch::Receiver<PausedUpstreams>,
    pub apps: Apps,
    pub secrets: Secrets,
    pub sign_ins: SignIns,
    pub programs: Programs,
    pub budgets: Budgets,
    /// The built-in presets and the user's.
    pub preset_set: watch::Receiver<Arc<PresetSet>>,
    /// What is wrong with the user's presets.
    pub problems: watch::Receiver<Vec<PresetProblem>>,
}

struct Member {
    handle: UpstreamHandle,
    stop: CancellationToken,
}

/// The sending side of [`UpstreamSetHandle`].
struct Publisher {
    upstreams: watch::Sender<Arc<[UpstreamHandle]>>,
    config: watch::Sender<Arc<Config>>,
    settings: watch::Sender<config::GatewayConfig>,
    warnings: watch::Sender<Vec<Failure>>,
}

impl UpstreamSet {
    /// Starts the upstreams of the first configuration, in a gateway that listens on `address`.
    pub async fn start(
        config: Config,
        address: SocketAddr,
        context: UpstreamSetContext,
    ) -> (Self, UpstreamSetHandle) {
        // With port 0 any port is right, so there is nothing to warn about.
        let any = config.gateway.listen.port() == 0;
        let listen = if any { config.gateway.listen } else { address };
        let (upstreams, shown) = watch::channel(Arc::from([]));
        let (settings, settings_receiver) = watch::channel(config.gateway.clone());
        let warnings = watch::Sender::new(Vec::new());
        let nothing = Arc::new(Config { upstreams: Vec::new(), ..config.clone() });
        let (in_force, held) = watch::channel(Arc::clone(&nothing));
        let mut set = Self {
            written: config,
            config: nothing,
            mistake: None,
            listen,
            members: Vec::new(),
            new_programs: NewPrograms::default(),
            publisher: Publisher { upstreams, config: in_force, settings, warnings },
            context,
        };
        set.adopt().await;
        set.warn();
        let (warnings, apps) = (set.publisher.warnings.subscribe(), set.context.apps.clone());
        (
            set,
            UpstreamSetHandle {
                upstreams: shown,
                config: held,
                settings: settings_receiver,
                warnings,
                apps,
            },
        )
    }

    /// Applies changes of the configuration and of the presets.
    pub async fn run(mut self, mut readings: mpsc::Receiver<Reading>) {
        loop {
            tokio::select! {
                // Presets first: a warning about one must go once it is used.
                biased;
                Ok(()) = self.context.preset_set.changed() => self.adopt().await,
                Ok(()) = self.context.problems.changed() => {}
                Ok(()) = self.context.paused.changed() => self.pause(),
                reading = readings.recv() => match reading {
                    Some(reading) => self.read(reading).await,
                    None => return,
                },
            }
            self.warn();
            self.context.changed.notify_one();
        }
    }

    /// Pauses and resumes upstreams as the user wants.
    fn pause(&mut self) {
        let paused = self.context.paused.borrow_and_update();
        for member in &self.members {
            member.handle.set_paused(paused.is(member.handle.name().as_str()));
        }
    }

    async fn read(&mut self, reading: Reading) {
        match reading {
            Ok(config) => {
                (self.written, self.mistake) = (config, None);
                self.adopt().await;
            }
            Err(failure) => {
                tracing::warn!(%failure, "the last configuration stays in force");
                self.mistake = Some(failure);
            }
        }
    }

    /// Publishes the current warnings.
    fn warn(&self) {
        let preset_set = Arc::clone(&self.context.preset_set.borrow());
        let mut warnings = warnings::of(self.listen, &self.config, self.mistake.as_ref());
        let problems = self.context.problems.borrow();
        warnings.extend(warnings::of_presets(&self.config, &preset_set, &problems));
        let NewPrograms { started, waiting } = &self.new_programs;
        warnings.extend(started.iter().chain(waiting).cloned());
        self.publisher.warnings.send_replace(warnings);
    }

    /// Applies the written configuration to the running upstreams.
    async fn adopt(&mut self) {
        let preset_set = Arc::clone(&self.context.preset_set.borrow_and_update());
        let config = self.written.clone().with_preset_titles(&preset_set);
        let config = self.without_unapproved(config).await;
        let change = ConfigDiff::between(&self.config, &config);
        self.publisher.settings.send_replace(config.gateway.clone());
        self.context.sign_ins.grants().keep_in(config.gateway.sign_ins_file.as_deref());
        self.context.budgets.set_limits(config.gateway.buffer_limits);
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
            tracing::info!(upstream = %upstream.name, "upstream reconfigured");
            let known = known(&self.context.store, &upstream, &member.handle).await;
            member.handle = member.handle.configure(upstream, known).await;
        }
        for upstream in change.start {
            tracing::info!(upstream = %upstream.name, "upstream started");
            let known = self.context.store.load(&upstream).await;
            let known = known.or_else(|| presumed(&upstream, &preset_set));
            members.push(self.member(upstream, known));
        }
        members.sort_by(|one, other| one.handle.name().cmp(other.handle.name()));
        let handles = members.iter().map(|member| member.handle.clone()).collect();
        self.config = Arc::new(config);
        self.publisher.config.send_replace(Arc::clone(&self.config));
        self.publisher.upstreams.send_replace(handles);
        let names = members.iter().map(|member| member.handle.name().to_string()).collect();
        self.context.history.set_upstreams(names, self.context.clock.now());
        self.members = members;
    }

    /// The configuration without the programs that wait for approval.
    async fn without_unapproved(&mut self, config: Config) -> Config {
        let (programs, given) = (self.context.programs.clone(), config.clone());
        let checked = self.context.tasks.spawn_blocking(move || programs.check(given)).await;
        let Ok((config, found)) = checked else { return config };
        for new in found.started.iter().chain(&found.waiting) {
            tracing::warn!("{new}");
        }
        self.new_programs.started.extend(found.started);
        self.new_programs.waiting = found.waiting;
        config
    }

    fn member(&self, upstream: config::UpstreamConfig, known: Option<Arc<KnownCatalog>>) -> Member {
        let stop = self.context.stop.child_token();
        let context = upstream::UpstreamContext {
            settings: self.publisher.settings.subscribe(),
            changed: Arc::clone(&self.context.changed),
            wakes: self.context.wakes.clone(),
            clock: self.context.clock.clone(),
            tasks: self.context.tasks.clone(),
            notification_log: self.context.notification_log.clone(),
            upstream_subscriptions: self.context.upstream_subscriptions.clone(),
            history: self.context.history.clone(),
            apps: self.context.apps.clone(),
            secrets: self.context.secrets.clone(),
            sign_ins: self.context.sign_ins.clone(),
            budgets: self.context.budgets.clone(),
        };
        let paused = self.context.paused.borrow().is(upstream.name.as_str());
        let handle = UpstreamHandle::start(upstream, known, paused, &context, stop.clone());
        Member { handle, stop }
    }
}

/// The catalog and handshake to use until a reconfigured upstream has connected: the current ones if
/// it is the same server, otherwise the cached ones.
async fn known(
    store: &CatalogCache,
    new: &config::UpstreamConfig,
    old: &UpstreamHandle,
) -> Option<Arc<KnownCatalog>> {
    if old.config.transport.fingerprint() == new.transport.fingerprint() {
        return old.state().known;
    }
    store.load(new).await
}

/// The tools that an application is known to have, until it was connected once.
fn presumed(upstream: &config::UpstreamConfig, presets: &PresetSet) -> Option<Arc<KnownCatalog>> {
    let TransportConfig::App { preset } = &upstream.transport else { return None };
    let preset = presets.get(preset).ok().filter(|preset| !preset.tools.is_empty())?;
    let schema = serde_json::json!({ "type": "object" });
    let tools = preset.tools.iter().map(|tool| {
        Raw::of(&serde_json::json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": schema,
        }))
    });
    let catalog = Catalog { tools: tools.collect(), ..Catalog::default() };
    let handshake = Handshake::read(&initialize_result(
        SessionVersion::LATEST,
        &Raw::of(&serde_json::json!({ "tools": {} })),
        &Raw::of(&serde_json::json!({ "name": preset.title, "version": "" })),
        None,
    ))?;
    Some(Arc::new(KnownCatalog::presumed(handshake, catalog)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::presets::Presets;
    use crate::system::write_lease::WriteLease;
    use evermoor_core::failure::Code;
    use futures_util::FutureExt as _;
    use std::time::Duration;

    fn config(entries: &[(&str, u16)]) -> Config {
        let text = entries.iter().fold("[gateway]\nhold = 7\n".to_owned(), |text, (name, port)| {
            format!("{text}[upstreams.{name}]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")
        });
        Config::parse(&text).unwrap()
    }

    /// The handle of a running set, and the sender of readings.
    async fn set(
        entries: &[(&str, u16)],
    ) -> (UpstreamSetHandle, mpsc::Sender<Reading>, tempfile::TempDir) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let (tasks, presets) = (TaskTracker::new(), Presets::bundled());
        let context = UpstreamSetContext {
            store: CatalogCache::new(
                folder.path().to_owned(),
                WriteLease::new(true),
                tasks.clone(),
            ),
            wakes: watch::channel(0).1,
            clock: ClockAndRandom::real(),
            changed: Arc::default(),
            tasks: tasks.clone(),
            stop: CancellationToken::new(),
            notification_log: NotificationLog::default(),
            upstream_subscriptions: Subscriptions::default(),
            history: History::disabled(),
            paused: watch::channel(PausedUpstreams::default()).1,
            apps: Default::default(),
            secrets: Secrets::system_default(),
            sign_ins: upstream::SignIns::unused(),
            budgets: Budgets::default(),
            programs: Programs::new(folder.path().join("programs.json")),
            preset_set: presets.preset_set,
            problems: presets.problems,
        };
        let (set, handle) =
            UpstreamSet::start(config(entries), config(entries).gateway.listen, context).await;
        let (readings, read) = mpsc::channel(1);
        tasks.spawn(set.run(read));
        (handle, readings, folder)
    }

    fn names(upstreams: &[UpstreamHandle]) -> Vec<&str> {
        upstreams.iter().map(|upstream| upstream.name().as_str()).collect()
    }

    fn runs(upstream: &UpstreamHandle) -> bool {
        upstream.stopped().now_or_never().is_none()
    }

    #[tokio::test]
    async fn only_changed_upstreams_are_reconfigured() {
        let (mut handle, readings, _folder) = set(&[("a", 1), ("b", 2), ("d", 4)]).await;
        let before = Arc::clone(&handle.upstreams.borrow_and_update());
        assert_eq!(names(&before), ["a", "b", "d"]);
        readings.send(Ok(config(&[("a", 1), ("b", 3), ("c", 3)]))).await.unwrap();
        handle.upstreams.changed().await.unwrap();
        let after = Arc::clone(&handle.upstreams.borrow());
        assert_eq!(names(&after), ["a", "b", "c"]);
        assert!(Arc::ptr_eq(&before[0].config, &after[0].config), "it keeps running");
        assert!(!Arc::ptr_eq(&before[1].config, &after[1].config), "it was reconfigured");
        assert!(runs(&before[0]) && runs(&before[1]), "and keeps its held calls");
        before[2].stopped().await;
    }

    #[tokio::test]
    async fn a_mistake_changes_only_the_warnings() {
        let (mut handle, readings, _folder) = set(&[("a", 1)]).await;
        let before = Arc::clone(&handle.upstreams.borrow_and_update());
        let mistake = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        readings.send(Err(mistake.clone())).await.unwrap();
        handle.warnings.changed().await.unwrap();
        assert_eq!(*handle.warnings.borrow_and_update(), [mistake]);
        assert!(!handle.upstreams.has_changed().unwrap() && runs(&before[0]));
        readings.send(Ok(config(&[("a", 1)]))).await.unwrap();
        handle.warnings.changed().await.unwrap();
        assert!(handle.warnings.borrow().is_empty());
        assert!(runs(&before[0]));
    }

    #[tokio::test]
    async fn new_settings_reach_running_upstreams() {
        let (mut handle, readings, _folder) = set(&[("a", 1)]).await;
        assert_eq!(handle.settings.borrow_and_update().hold.as_secs(), 7);
        let mut new = config(&[("a", 1)]);
        new.gateway.hold = Duration::from_secs(1);
        readings.send(Ok(new)).await.unwrap();
        handle.settings.changed().await.unwrap();
        assert_eq!(handle.settings.borrow().hold.as_secs(), 1);
    }

    #[test]
    fn an_application_has_the_tools_of_its_preset_until_it_was_connected() {
        let config = Config::parse("[upstreams.pieces]\npreset = \"pieces-os\"\n").unwrap();
        let known = presumed(&config.upstreams[0], &PresetSet::bundled()).unwrap();
        let names = known.catalog.tools.iter().filter_map(|tool| tool.text_member("name"));
        assert_eq!(names.collect::<Vec<_>>(), ["ask_pieces_ltm", "create_pieces_memory"]);
        let server = Config::parse("[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n").unwrap();
        assert_eq!(presumed(&server.upstreams[0], &PresetSet::bundled()), None);
    }
}
