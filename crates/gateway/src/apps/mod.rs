//! Applications that somebody else started and Evermoor looks after.
//!
//! # Theory of operation
//! An upstream with a preset is an application. Its supervisor keeps the connection, as that of any
//! upstream does; where the application is, its connector finds out anew for each connection
//! ([`finder`]). Beside it runs a [`minder`]: it watches the process, looks at how the application
//! stands, tells the supervisor that it is back, finds out why it ended ([`ending`]), and brings it
//! back ([`bringing`]). What both know lies on a [`desk`], which people see. What is to be done is
//! decided in `evermoor_core::policy::app`; here it is carried out.

mod app;
mod exit_cause;
pub(crate) mod finder;
mod memory;
pub(crate) mod observe;
mod probe;
mod process;
mod respond;
mod restart;
pub(crate) mod state;
mod watcher;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config::Transport;
use evermoor_core::failure::Failure;
use evermoor_core::preset::{Os, Preset, Shelf};
use evermoor_platform::system::System;

use crate::history::History;
use crate::system::environment::Chance;
use crate::upstream::Handle;
pub(crate) use app::App;
pub(crate) use probe::Asker;
pub(crate) use state::Desk;
use watcher::Minder;

/// The system that this is, as presets name it.
pub(crate) const OS: Os = match System::HERE {
    System::MacOs => Os::MacOs,
    System::Linux => Os::Linux,
    System::Windows => Os::Windows,
};

/// What is known of applications: of each kind, and of each one.
#[derive(Clone)]
pub struct Apps(Arc<Inner>);

struct Inner {
    shelf: watch::Receiver<Arc<Shelf>>,
    desks: Mutex<BTreeMap<UpstreamName, Arc<Desk>>>,
    /// Made when the first application is asked for something.
    asker: OnceLock<Option<Asker>>,
}

/// What minders work with.
#[derive(Clone)]
pub struct Around {
    pub apps: Apps,
    pub history: History,
    /// Notified of every change that people see.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub chance: Chance,
    pub tasks: TaskTracker,
}

impl Apps {
    pub fn new(shelf: watch::Receiver<Arc<Shelf>>) -> Self {
        Self(Arc::new(Inner { shelf, desks: Mutex::default(), asker: OnceLock::new() }))
    }

    /// The desk of an upstream.
    pub(crate) fn desk(&self, upstream: &UpstreamName) -> Arc<Desk> {
        let mut desks = self.0.desks.lock();
        Arc::clone(desks.entry(upstream.clone()).or_insert_with(|| Arc::new(Desk::new())))
    }

    /// An application, for whoever connects to it.
    pub(crate) fn of(&self, upstream: &UpstreamName) -> App {
        App { apps: self.clone(), desk: self.desk(upstream) }
    }

    pub(crate) fn preset(&self, name: &str) -> Result<Arc<Preset>, Failure> {
        self.0.shelf.borrow().get(name).cloned().map(Arc::new)
    }

    pub(crate) fn asker(&self) -> Option<&Asker> {
        self.0.asker.get_or_init(Asker::new).as_ref()
    }
}

impl Default for Apps {
    /// Those of the presets that come with Evermoor.
    fn default() -> Self {
        Self::new(watch::channel(Arc::new(Shelf::of_our_own())).1)
    }
}

/// An application that is looked after.
struct Looked {
    upstream: Handle,
    preset: Arc<Preset>,
    stop: CancellationToken,
}

/// Has every application among the upstreams looked after, whatever the configuration and the
/// presets say next.
pub async fn keep(around: Around, mut upstreams: watch::Receiver<Arc<[Handle]>>) {
    let mut looked: Vec<Looked> = Vec::new();
    let mut shelf = around.apps.0.shelf.clone();
    loop {
        let wanted = wanted(&around.apps, &upstreams.borrow_and_update());
        let still = |one: &Looked| {
            wanted.iter().any(|(upstream, preset)| {
                Arc::ptr_eq(&upstream.config, &one.upstream.config) && *preset == one.preset
            })
        };
        looked.retain(still);
        for (upstream, preset) in wanted {
            if looked.iter().any(|one| one.upstream.name() == upstream.name()) {
                continue;
            }
            let stop = CancellationToken::new();
            let minder = Minder::new(upstream.clone(), Arc::clone(&preset), around.clone());
            around.tasks.spawn(stop.clone().run_until_cancelled_owned(minder.run()));
            looked.push(Looked { upstream, preset, stop });
        }
        tokio::select! {
            changed = upstreams.changed() => if changed.is_err() { return },
            Ok(()) = shelf.changed() => {}
        }
    }
}

impl Drop for Looked {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn wanted(apps: &Apps, upstreams: &[Handle]) -> Vec<(Handle, Arc<Preset>)> {
    let app = |upstream: &Handle| match &upstream.config.transport {
        Transport::App { preset } => Some((upstream.clone(), apps.preset(preset).ok()?)),
        Transport::Http { .. } | Transport::Stdio(_) | Transport::Demo => None,
    };
    upstreams.iter().filter_map(app).collect()
}
